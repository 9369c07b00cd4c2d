"""The tree, the picture and the report as they are drawn in the browser, and what the reader does there.

Each is a Streamlit component of a few lines. They make text of whatever they are given, never HTML; what comes back is
checked against what was drawn, since a browser may send anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

TREE, PICTURE, REPORT = "tree", "picture", "report"
_ASSETS = Path(__file__).resolve().parent / "assets"


@dataclass(frozen=True, slots=True)
class Event:
    """What the reader did, and to what.

    `choose` or `open` a community, `unfold` or `fold` a row of the tree, ask for `more` rows, `enter` a field of the
    picture, follow a citation (`cite`).
    """

    kind: str
    id: str


def draw(what: str, data: Mapping[str, Any], *, key: str, known: Set[str], on_event: Callable[[Event], None]) -> None:
    """Draws one of the three; `on_event` is called before the run that follows what was done to something known."""
    _component(what)(key=key, data=dict(data), on_event_change=partial(_heard, key, known, on_event))


def _heard(key: str, known: Set[str], on_event: Callable[[Event], None]) -> None:
    state = cast(Mapping[str, Any], st.session_state).get(key) or {}
    sent = state.get("event")
    if isinstance(sent, Mapping):
        kind, target = sent.get("kind"), sent.get("id")
        if isinstance(kind, str) and isinstance(target, str) and target in known:
            on_event(Event(kind, target))


@cache
def _component(what: str) -> ComponentRenderer:
    """Defined once per process."""
    html, css, js = ((_ASSETS / f"{what}.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component(f"attest.communities_{what}", html=html, css=css, js=js)
