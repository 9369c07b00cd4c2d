"""What the Ask page is asked: the question and the strategy; the questions before it; how its evidence was found."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.models import Scope
from backend.questions import MAX_REACH, STRATEGIES, Named, Retrieval
from components import address, asking, markup, wording
from components.address import AskView, ExploreView

_QUESTION, _STRATEGY = "ask-question", "ask-strategy"
_SHOWN, _LINKS = 8, 6  # questions asked before, and entities that lead on


def draw(view: AskView) -> None:
    """The box for the question, and the choice of the strategy."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask-bar"):
        address.hold(_QUESTION, view.text)
        st.text_input(
            "Ask a question",
            key=_QUESTION,
            type="search",
            placeholder="Ask a question",
            icon=":material/forum:",
            label_visibility="collapsed",
            on_change=_asked,
        )
        address.hold(_STRATEGY, view.strategy)
        st.selectbox(
            "Strategy",
            STRATEGIES,
            key=_STRATEGY,
            format_func=wording.strategy,
            label_visibility="collapsed",
            width=150,
            on_change=_asked,
        )
        st.button("Ask", key="ask-now", type="primary", on_click=_asked)


def draw_before(shown: AskView) -> None:
    """The questions that were asked before, each of which opens again under its strategy and scope."""
    others = [view for view in asking.asked() if view != shown][:_SHOWN]
    if not others:
        return
    st.html(markup.tag("h2", "Asked before", css="at-heading"))
    with st.container(key="asked", gap=None):
        for number, view in enumerate(others):
            text = markup.label(_described(view), 160)
            st.button(text, key=f"asked-{number}", type="tertiary", on_click=address.go_ask, args=(view,))


def draw_steps(found: Retrieval) -> None:
    """How the evidence was found: strategy and why that, then each step with what it found and how long it took."""
    chosen = found.strategy
    total = sum(found.timings_ms.values())
    name = wording.strategy(chosen.chosen)
    title = f"How it was found: {name}, {wording.count(len(found.steps), 'step')}, {total:.0f} ms"
    with st.expander(title, icon=":material/footprint:", type="compact"):
        automatic = f"{wording.strategy(chosen.asked)} chose {name}. " if chosen.asked != chosen.chosen else ""
        st.html(markup.tag("p", f"{automatic}{chosen.why}", css="at-quiet"))
        rows = [(step.name.capitalize(), wording.number(step.found), f"{step.ms:.1f}") for step in found.steps]
        st.html(markup.table(("Step", "Found", "Milliseconds"), rows, numbers_from=1))


def draw_bound(found: Retrieval, view: AskView) -> None:
    """A button that raises the bound on candidates, where that has cut what was looked at and can be raised."""
    target = wider(found, view)
    if target is not None:
        text = f"Read {wording.number(target.reach)} times as many"
        icon = ":material/unfold_more:"
        st.button(text, key="bound-raise", icon=icon, type="tertiary", on_click=address.go_ask, args=(target,))


def wider(found: Retrieval, view: AskView) -> AskView | None:
    """The same question with twice the reach; None where no bound has cut that this moves."""
    if "candidate" not in found.truncated_by or view.reach >= MAX_REACH:
        return None
    return replace(view, reach=min(MAX_REACH, 2 * view.reach))


def draw_ways_on(found: Retrieval, scope: Scope) -> None:
    """The graph around the entity that most of the evidence mentions, two steps wide; the others are one click away."""
    if not found.entities:
        return
    best, *others = found.entities[: 1 + _LINKS]
    told = "Two steps around the one that most of these passages mention, where what they tell of it is:"
    with st.container(key="mentioned", gap="xxsmall"):
        st.html(
            markup.join((markup.tag("h2", "Open in Explore", css="at-heading"), markup.tag("p", told, css="at-quiet")))
        )
        _draw_link(best, ExploreView(best.id, depth=2, scope=scope))
        if others:
            st.html(
                markup.tag("p", "A graph begins at one entity. Begin at another that they mention:", css="at-quiet")
            )
            with st.container(horizontal=True, gap="xsmall"):
                for entity in others:
                    _draw_link(entity, ExploreView(entity.id, scope=scope))


def _draw_link(entity: Named, view: ExploreView) -> None:
    st.page_link(
        address.FILES[address.EXPLORE],
        label=markup.label(entity.name, 40),
        icon=":material/hub:",
        query_params=address.explore_params(view),
    )


def _described(view: AskView) -> str:
    parts = [view.text]
    parts += [wording.strategy(view.strategy)] if view.strategy != AskView().strategy else []
    parts += [", ".join(view.scope.collections)] if view.scope.collections else []
    parts += [wording.condition(condition) for condition in view.scope.conditions]
    parts += [wording.count(len(view.scope.document_ids), "document")] if view.scope.document_ids else []
    parts += [f"as of {view.scope.as_of}"] if view.scope.as_of else []
    return " · ".join(parts)


def _asked() -> None:
    """A callback: what the widgets say is asked."""
    state = st.session_state
    address.go_ask(replace(address.ask(), text=state[_QUESTION], strategy=state[_STRATEGY], reach=1))
