"""The controls of a walk, and the line with its name."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import streamlit as st

from backend.models import WalkResult
from components import address, cached, markup, wording
from components.address import GRAPH, TABLE, ExploreView

_DEPTH, _TYPES, _SHOWN = "walk-depth", "walk-types", "walk-shown"


def controls(view: ExploreView) -> None:
    """Steps, relation types with their counts, graph or table."""
    address.hold(_DEPTH, view.depth)
    st.segmented_control(
        "Steps",
        (1, 2),
        key=_DEPTH,
        required=True,
        format_func=wording.steps,
        label_visibility="collapsed",
        on_change=_changed,
    )
    _types(view)
    address.hold(_SHOWN, view.shown)
    st.segmented_control(
        "Shown as",
        (GRAPH, TABLE),
        key=_SHOWN,
        required=True,
        format_func=str.capitalize,
        label_visibility="collapsed",
        on_change=_changed,
    )


def name_line(walk: WalkResult) -> None:
    title = markup.tag(
        "h1",
        markup.name(walk.start.name),
        " ",
        markup.kind(walk.start.label),
        markup.tag("small", f" · {wording.counts(walk.start.counts)}"),
        css="at-focus",
    )
    st.html(title)


def _types(view: ExploreView) -> None:
    """The types around the start with their counts, then those that a second step adds, and any that was asked for."""
    known = cached.relation_types(view.entity, view.scope)
    counts = {kind.name: kind for kind in known}
    beyond, complete = _beyond(view, counts.keys())
    options = list(dict.fromkeys((*counts, *beyond, *view.types)))

    def caption(name: str) -> str:
        kind = counts.get(name)
        text = markup.plain(name, 60)
        if kind is None:
            return f"{text} · in step 2" if name in beyond else text
        return f"{text} · {wording.number(kind.edges)}{'' if kind.exact else '+'}"

    address.hold(_TYPES, list(view.types))
    st.multiselect(
        "Relation types",
        options,
        key=_TYPES,
        format_func=caption,
        placeholder=_all(len(counts) + len(beyond), complete=complete and all(kind.exact for kind in known)),
        label_visibility="collapsed",
        on_change=_changed,
    )


def _beyond(view: ExploreView, around: Set[str]) -> tuple[list[str], bool]:
    """The types that only a second step shows where all are walked, and whether no bound can have hidden another."""
    if view.depth == 1:
        return [], True
    walk = cached.walk(replace(view.query, relation_types=()))
    return sorted({edge.type for edge in walk.edges} - around), set(walk.truncated_by) <= {"depth"}


def _all(types: int, *, complete: bool) -> str:
    if types == 0:
        return "No relation types"
    if not complete:
        return "All relation types"
    return "1 relation type" if types == 1 else f"All {wording.number(types)} relation types"


def _changed() -> None:
    """A callback: what the controls say is the view, with nothing else changed."""
    state = st.session_state
    view = address.explore()
    address.go_explore(replace(view, depth=state[_DEPTH], types=tuple(state.get(_TYPES, ())), shown=state[_SHOWN]))
