"""The graph view: a walk drawn by vis-network inside the page, which says what was clicked.

Two Streamlit components share the work. The first carries the picture; its data changes only with the walk, so after
a click Streamlit sends a hash in its place. The second carries what is selected, some bytes that change all the time.
Selecting a row of a table thus never draws the graph again, and nothing in it moves.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import streamlit as st

from backend.models import WalkResult
from components.graph.assets import published
from components.graph.layout import Point, positions
from components.graph.network import Drawing, drawing

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

Kind: TypeAlias = Literal["node", "edge", "expand", "none"]
_KINDS: tuple[Kind, ...] = ("node", "edge", "expand", "none")
_STARTS_KEPT = 24  # per session: going back to one of so many walks finds its picture as it was left
_CACHED_FROM = 10_000  # bytes of a message from which on Streamlit sends a hash the second time


@dataclass(frozen=True, slots=True)
class Event:
    """What the reader did: chose a node or an edge, asked to walk on from a node (`expand`), or let go (`none`)."""

    kind: Kind
    id: str | None = None


def graph_view(
    walk: WalkResult,
    *,
    selected: str | None,
    key: str,
    height: str = "calc(100vh - 172px)",
    aspect: float = 1.15,
    labels: Iterable[str] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Event | None:
    """Draw the walk and return what was just done in it, in the one run that follows a click and never again.

    `selected` is the id of the node or edge to highlight; a click is highlighted at once and needs no second run.
    `height` is a CSS length (at least 320 px are used), `aspect` about the width of the pane by its height. `labels`
    are all labels of the store, so that each has one look in every walk. `on_event` is called before the run.
    """
    memory = _memory(key)
    picture = _picture(walk, tuple(labels), aspect, memory)
    show, select = _components()
    with st.container(gap=None):
        result = show(
            key=key,
            data=picture | {"key": key, "height": height},
            on_event_change=partial(_heard, key, on_event),
        )
        event = _event(cast(object, result.get("event")), memory)
        chosen = selected if event is None else event.id
        select(key=f"{key}-selection", data={"key": key, "selected": chosen, "turn": memory.turn})
    return event


def warm() -> None:
    """What the first graph would otherwise wait a second for; worth a thread when the application starts."""
    published()
    importlib.import_module("pyvis.network")


# --- what a session remembers ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Memory:
    """The picture of the last run, the places of the nodes per start, and the number of the last click."""

    drawn: object = None
    picture: Drawing = field(default_factory=dict)
    places: dict[str, Mapping[str, Point]] = field(default_factory=dict)
    turn: int = 0
    ids: frozenset[str] = frozenset()


def _memory(key: str) -> _Memory:
    state = cast(MutableMapping[str, Any], st.session_state)
    return cast(_Memory, state.setdefault(f"{key}-memory", _Memory()))


def _picture(walk: WalkResult, labels: tuple[str, ...], aspect: float, memory: _Memory) -> Drawing:
    """The same walk gives the very same data, so that Streamlit does not send it twice."""
    drawn = (
        walk.start.id,
        walk.truncated_by,
        tuple((node.id, node.name, node.label, node.status, node.hidden_relations) for node in walk.nodes),
        tuple((edge.id, edge.kind, edge.counts, edge.weight, edge.type) for edge in walk.edges),
        labels,
    )
    if drawn == memory.drawn:
        return memory.picture
    before = memory.places.pop(walk.start.id, {})
    places = positions(walk.nodes, walk.edges, walk.start.id, aspect, before)
    while len(memory.places) >= _STARTS_KEPT:
        memory.places.pop(next(iter(memory.places)))
    memory.places[walk.start.id] = places
    picture = drawing(walk, places, labels)
    picture["filler"] = _filler(picture)
    memory.picture, memory.drawn = picture, drawn
    memory.ids = frozenset({node.id for node in walk.nodes} | {edge.id for edge in walk.edges})
    return picture


# --- what comes back -------------------------------------------------------------------------------------------------


def _heard(key: str, on_event: Callable[[Event], None] | None) -> None:
    """Streamlit's callback: before the run, with the click in the session's state."""
    if on_event is not None:
        state = cast(Mapping[str, Any], st.session_state).get(key) or {}
        event = _event(state.get("event"), _memory(key))
        if event is not None:
            on_event(event)


def _event(sent: object, memory: _Memory) -> Event | None:
    """What the browser says was clicked, if it makes sense; a browser may send anything."""
    if not isinstance(sent, Mapping):
        return None
    kind, target, turn = sent.get("kind"), sent.get("id"), sent.get("turn")
    if isinstance(turn, int):
        memory.turn = turn
    if kind == "none":
        return Event("none")
    if kind not in _KINDS or not isinstance(target, str) or target not in memory.ids:
        return None
    return Event(kind, target)


# --- the two components ----------------------------------------------------------------------------------------------

_HERE = Path(__file__).resolve().parent
_HTML = (_HERE / "graph.html").read_text("utf-8")
_CSS = (_HERE / "graph.css").read_text("utf-8")


@cache
def _components() -> tuple[ComponentRenderer, ComponentRenderer]:
    """Defined once per process, with the first graph: until then the scripts need not lie where they are served."""
    return (
        st.components.v2.component("attest.graph", html=_HTML, css=_CSS, js=_loader("draw")),
        st.components.v2.component("attest.graph_selection", js=_loader("select")),
    )


def _loader(function: str) -> str:
    """The little that travels inline: it fetches the scripts, once per page, and passes on what it is given."""
    return f"""
const scripts = new URL("{published()}graph.js", document.baseURI).href;
export default async function (component) {{
  try {{
    return (await import(scripts)).{function}(component);
  }} catch (error) {{
    console.error(error);
    const place = component.parentElement.querySelector(".attest-wait");
    if (place) place.textContent = "The graph could not be drawn. The table shows the same.";
  }}
}}
"""


def _filler(picture: Drawing) -> str:
    """Streamlit remembers only large messages; a small graph would travel again with every click."""
    return " " * max(0, _CACHED_FROM - len(_HTML) - len(_CSS) - len(json.dumps(picture)))
