"""The controls of a walk, and the line with its name."""

from __future__ import annotations

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
    known = cached.relation_types(view.entity, view.scope)
    counts = {kind.name: kind for kind in known}
    options = list(dict.fromkeys((*counts, *view.types)))

    def caption(name: str) -> str:
        kind = counts.get(name)
        text = markup.plain(name, 60)
        return f"{text} · {wording.number(kind.edges)}{'' if kind.exact else '+'}" if kind else text

    address.hold(_TYPES, list(view.types))
    st.multiselect(
        "Relation types",
        options,
        key=_TYPES,
        format_func=caption,
        placeholder=_all(len(known)),
        label_visibility="collapsed",
        on_change=_changed,
    )


def _all(types: int) -> str:
    if types == 0:
        return "No relation types"
    return "1 relation type" if types == 1 else f"All {wording.number(types)} relation types"


def _changed() -> None:
    """A callback: what the controls say is the view, with nothing else changed."""
    state = st.session_state
    view = address.explore()
    address.go_explore(replace(view, depth=state[_DEPTH], types=tuple(state.get(_TYPES, ())), shown=state[_SHOWN]))
