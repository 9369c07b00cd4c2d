"""The hierarchy as a picture: one level, each community as large as it has members, with the next level in it.

The fields are laid out by squarified treemaps (Bruls, Huizing, van Wijk 2000): row by row along the shorter side, each
row as long as its fields come nearer to squares. The same hierarchy gives the same picture everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import streamlit as st

from components import address, cached, frame, markup, wording
from components.address import CommunitiesView
from components.communities import drawing, words
from components.communities.drawing import Event
from components.communities.forest import Forest
from components.communities.tree import title_of

_FIELDS, _INNER = 60, 12  # communities of the level, and of the next one within each
_ASPECT = 1.15  # about the width of the pane by its height
_HEAD = 40.0  # of a pane of so many units of height: the room for a title above what is within
_PANE = 560.0
_NAMED = 42.0, 20.0  # a field within one has room for its name from this width and height on
_COUNTED = 80.0  # and a field for its size from this width on
_GAP = 3.0


class Box(NamedTuple):
    """A field: its left upper corner, its width and its height."""

    x: float
    y: float
    width: float
    height: float


def draw(forest: Forest, view: CommunitiesView, height: str, on_event: Callable[[Event], None]) -> None:
    """Draws what is within the community that is selected, or beside it where nothing is within it."""
    parent = inside_of(forest, view.at)
    level = _level(forest, parent)
    _way(forest, parent, view)
    tiles = _tiles(forest, level, view)
    drawing.draw(
        drawing.PICTURE,
        {"tiles": tiles, "selected": view.at, "height": height, "label": _label(forest, parent, level)},
        key="communities-picture",
        known=set(level),
        on_event=on_event,
    )


def inside_of(forest: Forest, at: str | None) -> str | None:
    """The community whose inside is shown; None for the whole."""
    if at is None or at not in forest.heads:
        return None
    if forest.within.get(at):
        return at
    above = forest.path(at)[:-1]
    return above[-1] if above else None


def _level(forest: Forest, parent: str | None) -> tuple[str, ...]:
    if parent is not None:
        return forest.within[parent]
    every = [one for own in forest.tops.values() for one in own]
    return tuple(sorted(every, key=lambda one: (-forest.heads[one].size, one)))


def _label(forest: Forest, parent: str | None, level: Sequence[str]) -> str:
    where = "at the top" if parent is None else "within the community"
    return f"{wording.count(len(level), 'community')} {where}, each as large as it has members; the tree has the same"


def _way(forest: Forest, parent: str | None, view: CommunitiesView) -> None:
    """The way back: each level above is one click away."""
    way = forest.path(parent) if parent else ()
    titles = cached.community_titles([forest.heads[one] for one in way], view.scope)
    with st.container(horizontal=True, gap="xxsmall", key="way", vertical_alignment="center"):
        _step("Everything", None, here=not way, view=view)
        for one in way:
            _step(title_of(titles[one], 34), one, here=one == way[-1], view=view)


def _step(text: str, community: str | None, *, here: bool, view: CommunitiesView) -> None:
    if here:
        st.html(markup.tag("span", text, css="at-here"))
    else:
        target = view.selecting(community)
        label = markup.label(text)
        st.button(label, key=f"way-{community}", type="tertiary", on_click=_go, args=(target,))


def _go(target: CommunitiesView) -> None:
    """A callback: another level, and beside it what it is within."""
    address.go_communities(target)
    frame.redraw("hierarchy", "evidence")


def _tiles(forest: Forest, level: Sequence[str], view: CommunitiesView) -> list[dict[str, Any]]:
    shown, rest = level[:_FIELDS], level[_FIELDS:]
    sizes = [_weight(forest.heads[one].size) for one in shown] + [_weight(len(rest))] * bool(rest)
    boxes = squarified(sizes, Box(0, 0, _ASPECT * _PANE, _PANE))
    inner = {one: _inner(forest, one, box) for one, box in zip(shown, boxes, strict=False)}
    named = [one for own in inner.values() for one, box in own if _has_room(box)]
    heads = [forest.heads[one] for one in (*shown, *named)]
    titles, ranks = cached.community_titles(heads, view.scope), cached.community_ranks(heads, view.scope)
    tiles = []
    for one, box in zip(shown, boxes, strict=False):
        head = forest.heads[one]
        about = words.place(head, len(forest.within.get(one, ())), ranks.get(one))
        tiles.append(
            {
                "id": one,
                "title": title_of(titles[one], 200),
                "about": wording.count(head.size, "member") if box.width > _COUNTED else "",
                "full": " · ".join((about, *words.marks(head))),
                "marked": bool(words.marks(head)),
                "place": _shares(box, Box(0, 0, _ASPECT * _PANE, _PANE)),
                "inner": [_inside(other, small, box, titles) for other, small in inner[one]],
            }
        )
    if rest:
        said = f"and {wording.count(len(rest), 'smaller one')}"
        place = _shares(boxes[-1], Box(0, 0, _ASPECT * _PANE, _PANE))
        tiles.append({"id": "", "title": said, "about": "", "full": "The tree has them.", "place": place, "inner": []})
    return tiles


def _weight(size: int) -> float:
    """How large a field is: not so small for a small community that nothing could be read in it."""
    return float(max(size, 1) ** 0.75)


def _inner(forest: Forest, community: str, box: Box) -> list[tuple[str, Box]]:
    """The fields within a field, where there is room for them below its title."""
    room = Box(box.x + _GAP, box.y + _HEAD, box.width - 2 * _GAP, box.height - _HEAD - _GAP)
    if room.width < 30 or room.height < 18:
        return []
    within = forest.within.get(community, ())[:_INNER]
    return list(zip(within, squarified([_weight(forest.heads[one].size) for one in within], room), strict=True))


def _inside(community: str, box: Box, around: Box, titles: dict[str, str]) -> dict[str, Any]:
    named = {"title": title_of(titles[community], 60)} if _has_room(box) else {}
    return {"place": _shares(box, around), **named}


def _has_room(box: Box) -> bool:
    return box.width > _NAMED[0] and box.height > _NAMED[1]


def _shares(box: Box, around: Box) -> list[float]:
    """The field as percent of what it lies in."""
    return [
        round(100 * (box.x - around.x) / around.width, 3),
        round(100 * (box.y - around.y) / around.height, 3),
        round(100 * box.width / around.width, 3),
        round(100 * box.height / around.height, 3),
    ]


def squarified(sizes: Sequence[float], room: Box) -> list[Box]:
    """Fields of these sizes (largest first) that fill the room, as near to squares as rows allow."""
    total = sum(sizes)
    if not total:
        return []
    scale = room.width * room.height / total
    return list(_rows([size * scale for size in sizes], room))


def _rows(areas: Sequence[float], room: Box) -> Iterator[Box]:
    first = 0
    while first < len(areas):
        side = min(room.width, room.height)
        last = first + 1
        while last < len(areas) and _worst(areas[first : last + 1], side) <= _worst(areas[first:last], side):
            last += 1
        row = areas[first:last]
        thick = sum(row) / side
        along = 0.0
        for area in row:
            long = area / thick
            if room.width >= room.height:
                yield Box(room.x, room.y + along, thick, long)
            else:
                yield Box(room.x + along, room.y, long, thick)
            along += long
        if room.width >= room.height:
            room = Box(room.x + thick, room.y, max(room.width - thick, 1e-9), room.height)
        else:
            room = Box(room.x, room.y + thick, room.width, max(room.height - thick, 1e-9))
        first = last


def _worst(row: Sequence[float], side: float) -> float:
    """How far the field of a row that is least like a square is from one."""
    total = sum(row)
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in row)
