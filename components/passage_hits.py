"""Passages as the hits of a search: where each stands, why it was found, and the entities that it mentions."""

from __future__ import annotations

import streamlit as st

from backend.models import EVERYTHING, Mode, Passage, PassageHit, PassageQuery, PassageResult, Scope
from components import address, cached, hits, markup, passages, wording
from components.address import ExploreView, SearchView

_LINKS = 12  # entities of a passage that lead on


def draw(result: PassageResult, view: SearchView) -> None:
    """The passages, best first, each on a card; a click shows it whole beside the list."""
    hits.say_count(len(result.hits))
    for cut in result.cuts:
        hits.say(wording.passage_cut(cut))
    for hit in result.hits:
        passage = hit.passage
        with st.container(key=f"hit-{passage.id}", border=True, gap=None):
            st.html(markup.join((_head(passage), _body(hit))))
            name = f"{markup.label(passage.document.title, 80)}, {passage.position + 1}"
            st.button(f"Read {name}", key=f"pick-{passage.id}", on_click=hits.pick, args=(passage.id,))
    hits.draw_more(len(result.hits), view)


def selected(result: PassageResult, view: SearchView) -> PassageHit:
    """Of the hits, of which there is one at least, the one that was picked, else the first."""
    return next((hit for hit in result.hits if hit.passage.id == view.hit), result.hits[0])


def draw_pane(hit: PassageHit, result: PassageResult, scope: Scope) -> None:
    """The passage whole, and one step from it to each entity that it mentions."""
    title = markup.name(hit.passage.document.title), " ", markup.tag("small", _place(hit.passage))
    st.html(markup.tag("h2", *title, css="at-title"))
    passages.draw([hit.passage], place="hit", scope=scope, first=result.hits.index(hit) + 1)
    entities = cached.mentioned(hit.passage.id, scope)
    if not entities:
        return
    st.html(markup.tag("h2", "Explore what it mentions", css="at-heading"))
    with st.container(horizontal=True, gap="xsmall", key="mentioned"):
        for entity in entities[:_LINKS]:
            st.page_link(
                address.FILES[address.EXPLORE],
                label=markup.label(entity.name, 40),
                icon=":material/hub:",
                query_params=address.explore_params(ExploreView(entity.id, scope=scope)),
            )
    if len(entities) > _LINKS:
        hits.say(f"And {wording.number(len(entities) - _LINKS)} more.")


def draw_nothing(query: PassageQuery) -> None:
    """What was tried, and a way to try more."""
    tried = {Mode.HYBRID: "words and meaning", Mode.LEXICAL: "words", Mode.SEMANTIC: "meaning"}
    within, current = cached.scope_size(query.scope)
    places = f"{wording.number(within)} of {wording.count(current, 'document')}"
    title = markup.tag("p", "No passage found for “", markup.name(query.text), "”.", css="at-nothing")
    st.html(markup.join((title, markup.tag("p", f"Tried {tried[query.mode]}, in {places}.", css="at-quiet"))))
    if query.scope != EVERYTHING:
        st.button("Everything in scope", key="nothing-scope", icon=":material/public:", on_click=hits.everything)


def _head(passage: Passage) -> markup.Html:
    document = passage.document
    day = markup.plain(wording.day(document.date), 24)
    where = markup.join((part for part in (document.collection, _place(passage), day) if part), " · ")
    return markup.tag("div", markup.name(document.title), markup.tag("small", where), css="at-hit at-hit-passage")


def _place(passage: Passage) -> str:
    return passage.heading or f"passage {wording.number(passage.position + 1)}"


def _body(hit: PassageHit) -> markup.Html:
    line = markup.tag("div", wording.why_passage(hit), css="at-why")
    return markup.join((line, markup.excerpt(hit.passage.text, hit.passage.mentions)))
