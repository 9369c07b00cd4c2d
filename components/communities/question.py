"""A question to communities: what it is about, the communities found with their signals, and the passages behind."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.communities.scoring import OVERLAP, SEMANTIC, STRUCTURE
from backend.communities.values import (
    RRF,
    WEIGHTED,
    CommunityHit,
    CommunityResult,
    ContextItem,
    MatchedEntity,
    ReportOrigin,
    TimeSpan,
)
from backend.models import Condition, Cut
from components import address, cached, markup, passages, wording
from components.address import CommunitiesView, ExploreView
from components.communities import words
from components.communities.forest import Forest

_TEXT, _LEVEL, _SCORE = "communities-question", "communities-level", "communities-score"
_SCORES = {RRF: "By ranks", WEIGHTED: "Weighted sum"}
_ALL = -1  # in the list of levels
_MATCHED, _SUMMARY = 8, 320
_SIGNALS = {SEMANTIC: "meaning", OVERLAP: "names", STRUCTURE: "relations"}
_EXPLAINED = (
    ("Meaning", "how near the report is to the question"),
    ("Names", "the share of entities that community and question have in common, of all that either has"),
    ("Relations", "the weight of the relations from its members to the entities of the question, for its size"),
)


def draw_box(view: CommunitiesView) -> None:
    """The box for a question."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="communities-bar"):
        address.hold(_TEXT, view.text)
        st.text_input(
            "Ask the communities",
            key=_TEXT,
            type="search",
            placeholder="Ask a question",
            icon=":material/forum:",
            label_visibility="collapsed",
            on_change=_asked,
        )
        st.button("Ask", key="communities-ask", type="primary", on_click=_asked)


def draw_choices(view: CommunitiesView, forest: Forest) -> None:
    """The level that is asked, and how signals become one score."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="communities-choices"):
        asked = set() if view.level is None else {view.level}
        levels = sorted({head.level for head in forest.heads.values()} | asked)
        address.hold(_LEVEL, _ALL if view.level is None else view.level)
        st.selectbox(
            "Level",
            [_ALL, *levels],
            key=_LEVEL,
            format_func=lambda level: "All levels" if level == _ALL else f"Level {level}",
            label_visibility="collapsed",
            width=118,
            on_change=_asked,
        )
        address.hold(_SCORE, view.score)
        st.selectbox(
            "Score",
            list(_SCORES),
            key=_SCORE,
            format_func=_SCORES.__getitem__,
            label_visibility="collapsed",
            width=136,
            on_change=_asked,
        )


def _asked() -> None:
    """A callback: what the widgets say is asked."""
    state = st.session_state
    view = replace(address.communities().closed, text=state[_TEXT])
    if _LEVEL in state:  # they are there once something was asked
        view = replace(view, level=None if state[_LEVEL] == _ALL else state[_LEVEL], score=state[_SCORE])
    address.go_communities(view)


# --- what the question is about ---------------------------------------------------------------------------------------


def draw_intent(found: CommunityResult, view: CommunitiesView) -> None:
    """Names, other forms, themes, times and mood of the question, and the entities that were matched."""
    intent = found.intent
    fields = [
        ("Names", " · ".join(intent.entities)),
        ("Also as", " · ".join(intent.aliases)),
        ("Themes", " · ".join(intent.themes)),
        ("Time", " · ".join(f"{span.text} ({span.start} – {span.end})" for span in intent.time)),
        ("Mood", " · ".join(intent.sentiment)),
    ]
    told = [
        markup.join((markup.tag("span", f"{key}: ", css="at-quiet-word"), markup.tag("bdi", value)))
        for key, value in fields
        if value
    ]
    if told:
        st.html(markup.tag("p", markup.join(told, "   "), css="at-intent"))
    if found.entities or intent.time:
        with st.container(horizontal=True, gap="xsmall", key="mentioned"):
            for span in intent.time:
                _draw_time(span, view)
            for entity in found.entities[:_MATCHED]:
                _draw_matched(entity, view)
    if not found.entities:
        text = "No entity of the graph is named: the reports are compared with the question by meaning."
        st.html(markup.tag("p", text, css="at-quiet"))


def _draw_time(span: TimeSpan, view: CommunitiesView) -> None:
    wanted = within(view, span)
    st.button(
        f"Only documents of {markup.label(span.text, 40)}",
        key=f"time-{span.start}-{span.end}",
        icon=":material/event:",
        type="tertiary",
        disabled=wanted.scope == view.scope,
        help="Documents with a date in it; others, and those without a date, leave the scope.",
        on_click=address.go_communities,
        args=(wanted,),
    )


def within(view: CommunitiesView, span: TimeSpan) -> CommunitiesView:
    """The same view with only documents that are dated within a time."""
    dated = (Condition("date", ">=", (span.start,)), Condition("date", "<=", (span.end,)))
    others = tuple(one for one in view.scope.conditions if one not in dated)
    return replace(view, scope=replace(view.scope, conditions=(*others, *dated)))


def _draw_matched(entity: MatchedEntity, view: CommunitiesView) -> None:
    channels = ", ".join(f"{name} {wording.ordinal(rank)}" for name, rank in entity.channels.items())
    st.page_link(
        address.FILES[address.EXPLORE],
        label=f"{markup.label(entity.name, 34)} · {markup.label(', '.join(entity.channels), 40)}",
        icon=":material/hub:",
        help=markup.label(f"{entity.label}, found by {channels}"),
        query_params=address.explore_params(ExploreView(entity.id, scope=view.scope)),
    )


# --- what was found --------------------------------------------------------------------------------------------------


def draw_hits(found: CommunityResult, view: CommunitiesView) -> None:
    """The communities, best first, each with its three signals; a click opens one."""
    if not found.communities:
        st.html(markup.tag("p", "No community is about this.", css="at-nothing"))
        return
    for cut in found.cuts:
        st.html(markup.tag("p", said_of(cut), css="at-quiet"))
    for number, hit in enumerate(found.communities, 1):
        with st.container(key=f"hit-{hit.id}", border=True, gap=None):
            st.html(_card(hit, number))
            title = markup.label(hit.title or "Without a title", 80)
            st.button(f"Open {title}", key=f"pick-{hit.id}", on_click=_open, args=(view.opened(hit.id),))


def _open(target: CommunitiesView) -> None:
    address.go_communities(target)


def _card(hit: CommunityHit, number: int) -> markup.Html:
    badges = [markup.tag("span", words.ORIGINS[ReportOrigin(hit.origin)], css="at-badge")]
    badges += [markup.tag("span", words.STALE, css="at-badge at-hollow")] * hit.stale
    badges += [markup.tag("span", words.COVERS_MORE, css="at-badge at-hollow")] * hit.covers_more
    head = markup.tag(
        "div",
        markup.tag("b", f"{number} "),
        markup.name(hit.title or "Without a title"),
        markup.tag("small", f"level {hit.level} · {wording.count(hit.size, 'member')}"),
        css="at-hit at-community-hit",
    )
    signals = " · ".join(
        f"{name} {words.signal(hit.signals[key], 2 if key != OVERLAP else 3)}"
        for key, name in _SIGNALS.items()
        if key in hit.signals
    )
    why = markup.tag("div", f"{signals} · score {hit.score:.4f}", css="at-why")
    summary = hit.report.summary or " ".join(sentence.text for sentence in hit.report.sentences[:2]) or hit.report.text
    told = markup.tag("p", markup.tag("bdi", markup.plain(summary, _SUMMARY)), css="at-excerpt")
    return markup.join((head, markup.tag("div", *badges, css="at-counts"), why, told))


def said_of(cut: Cut) -> str:
    """What a bound left out; of a branch only one community is shown."""
    if cut.bound == "relative":
        missing = wording.count(cut.missing or 0, "community")
        return f"{missing} left out, of which one above or within is shown already."
    return wording.cut(cut)


def draw_explained(found: CommunityResult) -> None:
    """What the signals mean, how they become one score, and how long each step took."""
    total = sum(found.timings_ms.values())
    with st.expander(f"How they were ranked, {total:.0f} ms", icon=":material/footprint:", type="compact"):
        query = found.query
        score = (
            "The score adds up 1 / (60 + rank) over the three ranks."
            if query.score == RRF
            else f"The score is {query.alpha:g} × meaning + {query.beta:g} × names + {query.gamma:g} × relations, "
            "relations as a share of the largest."
        )
        st.html(markup.facts([*_EXPLAINED, ("Score", score), ("Weights", found.weighting)]))


# --- the passages ----------------------------------------------------------------------------------------------------


def draw_evidence(found: CommunityResult, view: CommunitiesView) -> None:
    """The passages that the communities lead to, numbered, and the background that leads to them."""
    title = wording.count(len(found.evidence), "passage") if found.evidence else "No passage was found"
    st.html(markup.tag("h2", title, css="at-title"))
    lacking = [
        wording.count(count, noun)
        for kind, noun in (("evidence", "further passage"), ("context", "further note"))
        if (count := sum(one.kind == kind for one in found.left_out))
    ]
    if lacking:
        st.html(markup.tag("p", f"Left out for want of room: {' and '.join(lacking)}.", css="at-quiet"))
    if found.context:
        notes = wording.count(len(found.context), "note")
        with st.expander(f"Background, {notes}", icon=":material/menu_book:", type="compact"):
            told = "What the communities say. It may be given to a model beside the passages; it is no evidence."
            st.html(markup.join((markup.tag("p", told, css="at-quiet"), *map(_background, found.context))))
    passages.draw_evidence(found.evidence, view.scope)


def _background(item: ContextItem) -> markup.Html:
    leads = markup.join(markup.citation(n, f"passage {n}") for n in item.evidence)
    origin = words.ORIGINS[ReportOrigin(item.origin)] if item.origin in set(ReportOrigin) else "as stored"
    head = markup.tag("div", markup.tag("b", item.kind), f" · {origin} ", leads, css="at-why")
    return markup.join((head, markup.tag("p", markup.tag("bdi", item.text), css="at-text")))


@st.fragment(run_every=1)
def wait_for_meaning() -> None:
    """Until the encoder is there, which a question needs."""
    if not cached.encoder_coming():
        st.rerun()
