"""Back, forward and the trail of an exploration: the views that were visited, in a stack of this session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from backend.models import WalkResult
from components import address, markup
from components.address import ExploreView

_DEPTH = 100  # views that can be gone back to
_CRUMBS = 2  # entities of the trail that fit beside the controls


@dataclass(frozen=True, slots=True)
class History:
    """Views in the order they were visited, and which of them is shown."""

    views: tuple[ExploreView, ...] = ()
    position: int = -1

    def visited(self, view: ExploreView) -> History:
        """The history with this view shown: in its place when only the selection differs or it is a neighbour."""
        for step in (0, -1, 1):  # the browser's own Back and Forward come to the neighbours
            place = self.position + step
            if 0 <= place < len(self.views) and self.views[place].unselected == view.unselected:
                return replace(self, views=(*self.views[:place], view, *self.views[place + 1 :]), position=place)
        views = (*self.views[: self.position + 1], view)[-_DEPTH:]
        return History(views, len(views) - 1)

    def at(self, position: int) -> History:
        return replace(self, position=max(0, min(position, len(self.views) - 1)))

    @property
    def shown(self) -> ExploreView:
        return self.views[self.position]

    def trail(self) -> tuple[int, ...]:
        """Where each entity on the way to what is shown was left last, the shown one at the end."""
        places: list[int] = []
        for place, view in enumerate(self.views[: self.position + 1]):
            if places and self.views[places[-1]].entity == view.entity:
                places.pop()
            places.append(place)
        return tuple(places)


def current() -> History:
    kept: History = st.session_state.get("history", History())
    return kept


def visit(view: ExploreView) -> None:
    st.session_state["history"] = current().visited(view)


def select(*, node: str | None = None, edge: str | None = None) -> None:
    """Selects a node or an edge of the view that is shown; it stays where it is in the history."""
    view = replace(address.explore(), node=node, edge=edge)
    visit(view)
    address.go_explore(view)


def names(walk: WalkResult) -> dict[str, str]:
    """The names of the entities that this session has walked from, by id."""
    known: dict[str, str] = st.session_state.setdefault("names", {})
    known[walk.start.id] = walk.start.name
    return known


def draw_recent() -> None:
    """Where nothing is explored: the entities that this session has walked from, last first."""
    history = current()
    known: dict[str, str] = st.session_state.get("names", {})
    places = {view.entity: place for place, view in enumerate(history.views) if view.entity in known}
    if not places:
        return
    st.html(markup.tag("h2", "Explored before", css="at-heading"))
    with st.container(horizontal=True, gap="xsmall", key="recent"):
        for entity_id, place in sorted(places.items(), key=lambda item: -item[1])[:10]:
            st.button(markup.label(known[entity_id], 40), key=f"recent-{place}", on_click=_go, args=(place,))


def draw_buttons() -> None:
    history = current()
    back, forward = history.position > 0, history.position < len(history.views) - 1
    with st.container(horizontal=True, width="content", gap="xsmall", key="history"):
        _button("Back", ":material/arrow_back:", history.position - 1, back, "Alt+Left")
        _button("Forward", ":material/arrow_forward:", history.position + 1, forward, "Alt+Right")


def draw_trail(names: Mapping[str, str]) -> None:
    """The search that led here and the entities on the way; each of them is one step back to it."""
    history = current()
    places = history.trail()
    with st.container(horizontal=True, gap="xxsmall", key="trail", vertical_alignment="center"):
        searched = st.session_state.get("addresses", {}).get(address.SEARCH, {})
        text = (searched.get(address.TEXT) or [""])[-1]
        if text:
            st.page_link(
                address.FILES[address.SEARCH], label=f"“{markup.label(text, 24)}”", icon=None, query_params=searched
            )
        for place in places[-_CRUMBS:-1]:
            crumb = markup.label(names.get(history.views[place].entity, "…"), 24)
            st.button(crumb, key=f"crumb-{place}", type="tertiary", on_click=_go, args=(place,))
        here = names.get(history.shown.entity, "")
        st.html(markup.tag("span", markup.plain(here, 40), css="at-here"))


def _button(label: str, icon: str, place: int, enabled: bool, shortcut: str) -> None:
    st.button(
        label, key=f"history-{label}", icon=icon, disabled=not enabled, shortcut=shortcut, on_click=_go, args=(place,)
    )


def _go(position: int) -> None:
    history = current().at(position)
    st.session_state["history"] = history
    address.go_explore(history.shown)
