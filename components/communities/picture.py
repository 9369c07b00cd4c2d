"""The hierarchy as a picture: one level, each community as large as it has members, with the next level in it.

The fields are laid out by squarified treemaps (Bruls, Huizing, van Wijk 2000): row by row along the shorter side, each
row as long as its fields come nearer to squares. The same hierarchy gives the same picture everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import streamlit as st

from components import address, cached, frame, markup, wording
from components.address import CommunitiesView
from components.communities import drawing, words
from components.communities.drawing import Event
from components.communities.forest import DATASET, Forest
from components.communities.tree import title_of

_FIELDS, _INNER = 36, 10  # communities of the level, and of the next one within each
_ASPECT = 1.15  # about the width of the pane by its height
_HEAD = 40.0  # of a pane of so many units of height: the room for a title above what is within
_PANE = 560.0
_NAMED = 42.0, 20.0  # a field within one has room for its name from this width and height on
_LINE, _HIGH = 16.0, 18.0  # the height of a line of it, and of one of a title
_COUNTED = 80.0  # and a field for its size from this width on
_GAP = 3.0


class Box(NamedTuple):
    """A field: its left upper corner, its width and its height."""

    x: float
    y: float
    width: float
    height: float


def draw(forest: Forest, view: CommunitiesView, height: str, on_event: Callable[[Event], None]) -> None:
    """Draws what is within the place that is selected, or beside it where nothing is within it."""
    around = _around(forest, view.at)
    places = _places(forest, around)
    _way(forest, around, view)
    drawn = _tiles(forest, places, view)
    drawing.draw(
        drawing.PICTURE,
        {"tiles": drawn, "selected": view.at, "height": height, "label": _label(places, around)},
        key="communities-picture",
        known=set(places),
        on_event=on_event,
    )


def _around(forest: Forest, at: str | None) -> tuple[str, ...]:
    """The places around what is shown, from the outermost in; none for the whole."""
    if at is None or (at not in forest.heads and not forest.below(at)):
        return ()
    if at.startswith(DATASET):
        return (at,)
    way = (DATASET + forest.heads[at].dataset, *forest.path(at))
    way = way if forest.within.get(at) else way[:-1]
    return way if len(forest.tops) > 1 else way[1:]


def _places(forest: Forest, around: Sequence[str]) -> tuple[str, ...]:
    """What is shown: datasets where there are several, else communities."""
    if around:
        return forest.below(around[-1])
    datasets = [DATASET + dataset for dataset in forest.tops]
    if len(datasets) == 1:
        return forest.below(datasets[0])
    return tuple(sorted(datasets, key=lambda place: (-forest.size(place), place)))


def _label(places: Sequence[str], around: Sequence[str]) -> str:
    noun = "dataset" if any(place.startswith(DATASET) for place in places) else "community"
    where = "within what is selected" if around else "at the top"
    return f"{wording.count(len(places), noun)} {where}, each as large as it has members; the tree has the same"


def _way(forest: Forest, around: Sequence[str], view: CommunitiesView) -> None:
    """The way back: each level above is one click away."""
    names = _titles(forest, around, view)
    with st.container(horizontal=True, gap="xxsmall", key="way", vertical_alignment="center"):
        _step("Everything", None, here=not around, view=view)
        for place in around:
            _step(title_of(names[place], 34), place, here=place == around[-1], view=view)


def _step(text: str, place: str | None, *, here: bool, view: CommunitiesView) -> None:
    if here:
        st.html(markup.tag("span", text, css="at-here"))
    else:
        target = view.selecting(place)
        label = markup.label(text)
        st.button(label, key=f"way-{place}", type="tertiary", on_click=_go, args=(target,))


def _go(target: CommunitiesView) -> None:
    """A callback: another level, and beside it what it is within."""
    address.go_communities(target)
    frame.redraw("hierarchy", "evidence")


def _titles(forest: Forest, places: Iterable[str], view: CommunitiesView) -> dict[str, str]:
    """What datasets and communities are called."""
    places = list(places)
    heads = [forest.heads[place] for place in places if place in forest.heads]
    datasets = {place: place.removeprefix(DATASET) for place in places if place.startswith(DATASET)}
    return datasets | cached.community_titles(heads, view.scope)


def _tiles(forest: Forest, places: Sequence[str], view: CommunitiesView) -> list[dict[str, Any]]:
    shown, rest = places[:_FIELDS], places[_FIELDS:]
    room = Box(0, 0, _ASPECT * _PANE, _PANE)
    sizes = [_weight(forest.size(place)) for place in shown] + [_weight(len(rest))] * bool(rest)
    boxes = squarified(sizes, room)
    inner = {place: _inner(forest, place, box) for place, box in zip(shown, boxes, strict=False)}
    named = [place for own in inner.values() for place, box in own if _has_room(box)]
    titles = _titles(forest, (*shown, *named), view)
    tiles = [
        _tile(forest, place, box, titles[place], [_inside(one, small, box, titles) for one, small in inner[place]])
        | {"place": _shares(box, room)}
        for place, box in zip(shown, boxes, strict=False)
    ]
    if rest:
        said = f"and {wording.count(len(rest), 'smaller one')}"
        last = {"id": "", "title": said, "about": "", "full": "The tree has them.", "inner": []}
        tiles.append(last | {"place": _shares(boxes[-1], room)})
    return tiles


def _tile(forest: Forest, place: str, box: Box, title: str, inner: list[dict[str, Any]]) -> dict[str, Any]:
    members = wording.count(forest.size(place), "member")
    head = forest.heads.get(place)
    marks = words.marks(head) if head else []
    about = words.place(head, len(forest.below(place))) if head else f"a dataset · {members}"
    return {
        "id": place,
        "title": title_of(title, 200),
        "about": members if box.width > _COUNTED and box.height > _HEAD else "",
        "full": " · ".join((about, *marks)),
        "marked": bool(marks),
        "lines": 1 if inner else max(1, int((box.height - 25) / _HIGH)),
        "inner": inner,
    }


def _weight(size: int) -> float:
    """How large a field is: not so small for a small community that nothing could be read in it."""
    return float(max(size, 1) ** 0.75)


def _inner(forest: Forest, place: str, box: Box) -> list[tuple[str, Box]]:
    """The fields within a field, where there is room for them below its title."""
    room = Box(box.x + _GAP, box.y + _HEAD, box.width - 2 * _GAP, box.height - _HEAD - _GAP)
    if room.width < 60 or room.height < 24:
        return []
    within = forest.below(place)[:_INNER]
    return list(zip(within, squarified([_weight(forest.size(one)) for one in within], room), strict=True))


def _inside(community: str, box: Box, around: Box, titles: dict[str, str]) -> dict[str, Any]:
    named = {"title": title_of(titles[community], 60), "lines": int(box.height / _LINE)} if _has_room(box) else {}
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
