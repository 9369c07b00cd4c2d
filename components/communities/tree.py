"""The hierarchy as a tree: only what is opened is shown, and only of that are the titles read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import streamlit as st

from backend.communities.values import CommunityHead
from backend.models import Scope
from backend.words import fold
from components import cached, markup, wording
from components.address import CommunitiesView
from components.communities import drawing, words
from components.communities.drawing import Event
from components.communities.forest import DATASET, Forest

# Rows below one parent at first, and with each "more"; rows found; and communities of which a title has to be made
# anew to be compared, since the scope does not see them whole.
STEP, FOUND, MADE = 50, 50, 300
_STATE, _MORE = "communities-tree", "more:"
_FEW = 30  # communities at the top of all datasets together, so that each is open at first
_TITLE = 110


class _Row(NamedTuple):
    kind: str  # dataset, community or more
    id: str
    depth: int


@dataclass(slots=True)
class _Opened:
    """What this session has opened and closed, and how many rows it asked for below a parent."""

    changed: dict[str, bool] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    shown: str | None = None  # the community to which the tree was opened last


def draw(forest: Forest, view: CommunitiesView, find: str, height: str, on_event: Callable[[Event], None]) -> None:
    """Draws the tree, or where words are looked for, the communities whose titles have them."""
    if find.strip():
        found, cut = matching(forest, find, view.scope)
        shown = [_Row("community", one, 0) for one in found[:FOUND]]
        _say(_found(len(found), cut))
    else:
        _open_to(forest, view.at)
        shown = list(_rows(forest))
    if not shown:
        return
    drawing.draw(
        drawing.TREE,
        {"rows": _drawn(forest, shown, view, flat=bool(find.strip())), "height": height, "label": "Communities"},
        key="communities-hierarchy",
        known={row.id for row in shown},
        on_event=partial(_heard, forest, dict(_opened().rows), on_event),
    )


def matching(forest: Forest, find: str, scope: Scope) -> tuple[list[str], int]:
    """The communities whose titles have all the words, largest first, and how many titles were not compared."""
    asked = fold(find).split()
    heads = sorted(forest.heads.values(), key=lambda head: (-head.size, head.level, head.id))
    lacking = [head for head in heads if not head.is_whole]
    titles = cached.community_titles(lacking[:MADE], scope) if lacking else {}
    folded = ((head.id, fold(titles.get(head.id, head.title if head.is_whole else ""))) for head in heads)
    return [one for one, title in folded if all(word in title for word in asked)], max(0, len(lacking) - MADE)


def _found(count: int, cut: int) -> str:
    left = f" {wording.count(cut, 'smaller one')} in this scope could not be compared." if cut else ""
    if not count:
        return f"No community has these words in its title.{left}"
    shown = f"The largest {FOUND} of {wording.number(count)}" if count > FOUND else wording.number(count)
    noun = "community" if count == 1 else "communities"
    return f"{shown} {noun} found.{left}"


# --- what is open ----------------------------------------------------------------------------------------------------


def _opened() -> _Opened:
    state: _Opened = st.session_state.setdefault(_STATE, _Opened())
    return state


def _is_open(forest: Forest, row: str) -> bool:
    few = sum(map(len, forest.tops.values())) <= _FEW or len(forest.tops) == 1
    return _opened().changed.get(row, row.startswith(DATASET) and few)


def _open_to(forest: Forest, community: str | None) -> None:
    """Opens what the community is in, once for each: what the reader closes then stays closed."""
    state = _opened()
    if community is None or community == state.shown or community not in forest.heads:
        return
    state.shown = community
    dataset = DATASET + forest.heads[community].dataset
    way = [dataset, *forest.path(community)]
    for above, below in pairwise(way):
        state.changed[above] = True
        siblings = forest.below(above)
        needed = siblings.index(below) + 1
        state.rows[above] = max(state.rows.get(above, STEP), needed)


def _rows(forest: Forest) -> Iterator[_Row]:
    for dataset in forest.tops:
        yield from _branch(forest, _Row("dataset", DATASET + dataset, 0))


def _branch(forest: Forest, row: _Row) -> Iterator[_Row]:
    yield row
    below = forest.below(row.id) if _is_open(forest, row.id) else ()
    limit = _opened().rows.get(row.id, STEP)
    for one in below[:limit]:
        yield from _branch(forest, _Row("community", one, row.depth + 1))
    if len(below) > limit:
        yield _Row("more", _MORE + row.id, row.depth + 1)


def _heard(forest: Forest, drawn: Mapping[str, int], on_event: Callable[[Event], None], event: Event) -> None:
    """Takes an event of the tree as it was `drawn`, with so many rows below a parent; it may be told twice."""
    state = _opened()
    if event.kind in {"unfold", "fold"}:
        state.changed[event.id] = event.kind == "unfold"
    elif event.kind == "more":
        parent = event.id.removeprefix(_MORE)
        state.rows[parent] = drawn.get(parent, STEP) + STEP
    elif event.id in forest.heads:
        on_event(event)


# --- how it looks ----------------------------------------------------------------------------------------------------


def _drawn(forest: Forest, shown: list[_Row], view: CommunitiesView, *, flat: bool) -> list[dict[str, Any]]:
    families: dict[str | None, list[CommunityHead]] = defaultdict(list)
    for row in shown:
        if row.kind == "community":
            families[forest.heads[row.id].parent].append(forest.heads[row.id])
    titles: dict[str, str] = {}
    ranks: dict[str, float] = {}
    for heads in families.values():  # each is asked for by itself: those that were open before are at hand
        titles |= cached.community_titles(heads, view.scope)
        ranks |= cached.community_ranks(heads, view.scope)
    return [_row(forest, row, titles, ranks, view.at, flat=flat) for row in shown]


def _row(
    forest: Forest, row: _Row, titles: Mapping[str, str], ranks: Mapping[str, float], at: str | None, *, flat: bool
) -> dict[str, Any]:
    drawn: dict[str, Any] = {"kind": row.kind, "id": row.id, "depth": row.depth, "marks": [], "open": None}
    if row.kind == "dataset":
        name = row.id.removeprefix(DATASET)
        counts = wording.count(forest.count(name), "community")
        levels = wording.count(forest.levels(name), "level")
        return drawn | {"title": markup.plain(name), "about": f"{counts} on {levels}", "open": _is_open(forest, row.id)}
    if row.kind == "more":
        parent = row.id.removeprefix(_MORE)
        rest = len(forest.below(parent)) - _opened().rows.get(parent, STEP)
        return drawn | {"title": f"{min(STEP, rest)} more of {wording.number(rest)} smaller ones"}
    head, within = forest.heads[row.id], forest.within.get(row.id, ())
    is_open = _is_open(forest, row.id) if within and not flat else None
    return drawn | {
        "title": title_of(titles[row.id]),
        "full": markup.plain(titles[row.id], 600),
        "about": about(head, len(within), ranks.get(row.id), level=flat),
        "marks": words.marks(head),
        "open": is_open,
        "selected": row.id == at,
    }


def title_of(title: str, limit: int = _TITLE) -> str:
    """What a community is called, on one line."""
    return markup.plain(title, limit) or "Without a title"


def about(head: CommunityHead, within: int, rank: float | None, *, level: bool) -> str:
    place = words.place(head, within, rank)
    return f"Level {head.level} · {place}" if level else place


def _say(text: str) -> None:
    st.html(markup.tag("p", text, css="at-quiet", role="status"))
