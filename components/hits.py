"""The hits of a search, each explaining itself, with its best passage; and what to say where there are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import streamlit as st

from backend.models import EVERYTHING, MAX_LIMIT, EntityHit, EntityQuery, EntityResult, Facet, Mode, Span, Status
from backend.words import Word, fold, words
from components import address, cached, frame, markup, wording
from components.address import ExploreView, SearchView
from components.clicks import once

_PILLS = 8  # labels shown as pills; the rest are in a list
_NEAREST = 5
_MORE = 10  # hits with each "more"
_SHORTEST = 3  # letters of a beginning that is still worth trying
_TOKEN = re.compile(r"\w+")
_FILTER, _MORE_LABELS, _RESULTS = "search-labels", "search-more-labels", "search-results"


# --- what is found: entities or passages ------------------------------------------------------------------------------


def draw_choice(view: SearchView) -> None:
    """Whether entities are looked for, or passages."""
    address.hold(_RESULTS, view.results)
    st.segmented_control(
        "Find",
        [address.ENTITIES, address.PASSAGES],
        key=_RESULTS,
        required=True,
        format_func=str.capitalize,
        label_visibility="collapsed",
        on_change=_chosen,
    )


def _chosen() -> None:
    address.go_search(replace(address.search(), results=st.session_state[_RESULTS], hit=None))
    st.rerun()


# --- labels ----------------------------------------------------------------------------------------------------------


def draw_facets(facets: Sequence[Facet], view: SearchView) -> None:
    """The labels with their counts, as a filter; those that are asked for are always among them."""
    counts = {facet.label: facet for facet in facets}
    shown = list(dict.fromkeys((*view.labels, *(facet.label for facet in facets[:_PILLS]))))
    rest = [facet.label for facet in facets[_PILLS:] if facet.label not in shown]
    if len(shown) + len(rest) < 2 and not view.labels:
        return

    def caption(label: str) -> str:
        facet = counts.get(label)
        if facet is None:
            return label
        return f"{markup.plain(label, 40)} {wording.number(facet.count)}{'' if facet.exact else '+'}"

    address.hold(_FILTER, list(view.labels))
    st.pills(
        "Kinds",
        shown,
        selection_mode="multi",
        key=_FILTER,
        format_func=lambda label: markup.label(caption(label), 60),
        label_visibility="collapsed",
        on_change=_filtered,
    )
    if rest:
        with st.popover(wording.count(len(rest), "more kind"), type="tertiary", key="facets-more"):
            st.selectbox(
                "Kind",
                rest,
                index=None,
                format_func=caption,
                key=_MORE_LABELS,
                placeholder="Choose one",
                on_change=_filtered,
            )


def _filtered() -> None:
    """A callback: only the chosen labels."""
    chosen = list(st.session_state.get(_FILTER, ()))
    more = st.session_state.get(_MORE_LABELS)
    labels = tuple(dict.fromkeys((*chosen, *([more] if more else []))))
    address.go_search(replace(address.search(), labels=labels, hit=None))
    frame.redraw("hits", "evidence")


# --- hits ------------------------------------------------------------------------------------------------------------


def draw(result: EntityResult, view: SearchView, looks: Sequence[str]) -> None:
    """The hits, best first; a click on one shows its evidence, "Explore" walks from it. `looks`: all labels."""
    asked = words(view.text)
    for hit in result.hits:
        with st.container(key=f"hit-{hit.id}", border=True, gap=None):
            st.html(markup.join((_head(hit, asked, looks), _body(hit))))
            name = markup.label(hit.name, 80)
            st.button(f"Evidence for {name}", key=f"pick-{hit.id}", on_click=pick, args=(hit.id,))
            if hit.status is Status.SUPPORTED:
                st.page_link(
                    address.FILES[address.EXPLORE],
                    label="Explore",
                    icon=":material/hub:",
                    query_params=address.explore_params(ExploreView(hit.id, scope=view.scope)),
                )
    draw_more(len(result.hits), view)


def draw_more(count: int, view: SearchView) -> None:
    """A button for more hits where there may be some."""
    if count == view.limit < MAX_LIMIT:
        text = f"{_MORE} more"
        st.button(text, key="more-hits", icon=":material/expand_more:", type="tertiary", on_click=once(_more))


def selected(result: EntityResult, view: SearchView) -> EntityHit:
    """Of the hits, of which there is one at least, the one that was picked, else the first."""
    return next((hit for hit in result.hits if hit.id == view.hit), result.hits[0])


def mark_selected(hit_id: str) -> None:
    """Frames the selected hit; drawn with its evidence, so that a click need not send the hits again."""
    st.html(f"<style>.st-key-hit-{hit_id} {{ border-color: var(--at-accent); background: var(--at-chosen); }}</style>")


def _head(hit: EntityHit, asked: Sequence[Word], looks: Sequence[str]) -> markup.Html:
    colour = looks.index(hit.label) % 5 if hit.label in looks else 0
    unsupported = hit.status is Status.UNSUPPORTED
    badge = markup.tag("span", "unsupported", css="at-badge at-hollow") if unsupported else ""
    return markup.tag(
        "div",
        markup.tag("span", css=f"at-dot at-colour-{colour}{' at-empty' if unsupported else ''}"),
        markup.name(hit.name, name_spans(hit.name, asked)),
        markup.kind(hit.label),
        badge,
        css="at-hit",
    )


def _body(hit: EntityHit) -> markup.Html:
    counts = wording.unsupported(hit.status) or wording.counts(hit.counts)
    line = markup.tag("div", f"{wording.why(hit)} · {counts}", css="at-why")
    best = hit.passages[0] if hit.passages else None
    return markup.join((line, markup.excerpt(best.text, best.mentions) if best else ""))


def name_spans(name: str, asked: Sequence[Word]) -> list[Span]:
    """Where a name has the words of a query, a beginning counting for the last of them."""
    if not asked:
        return []
    spans: list[Span] = []
    last = asked[-1].text
    plain = {word.text for word in asked if not word.unspaced}
    for token in _TOKEN.finditer(name):
        folded = fold(token[0])
        if folded in plain:
            spans.append(token.span())
        elif folded.startswith(last):
            end = token.start() + len(last) if len(folded) == len(token[0]) else token.end()
            spans.append((token.start(), end))
    for word in asked:
        if word.unspaced and (start := name.find(word.text)) >= 0:
            spans.append((start, start + len(word.text)))
    return spans


def pick(hit_id: str) -> None:
    """A callback: only the evidence is drawn anew."""
    address.go_search(replace(address.search(), hit=hit_id))
    frame.redraw("evidence")


def _more() -> None:
    view = address.search()
    address.go_search(replace(view, limit=min(MAX_LIMIT, view.limit + _MORE)))
    frame.redraw("hits", "evidence")


# --- what was left out, and nothing found ----------------------------------------------------------------------------


def draw_remarks(result: EntityResult) -> None:
    """What cut the search, and that no name matches where only meaning found something."""
    say_count(len(result.hits))
    named = any("lexical" in hit.channels for hit in result.hits)
    if result.hits and result.query.mode is Mode.HYBRID and not named:
        say("No name matches. These are nearest in meaning.")
    for cut in result.cuts:
        if cut.bound == "candidate":
            kinds = ", ".join(markup.plain(label, 40) for label in cut.labels[:5])
            more = f" and {len(cut.labels) - 5} more" if len(cut.labels) > 5 else ""
            first = wording.number(cut.value)
            say(f"Cut by the candidate bound: only the first {first} names of {kinds}{more} were compared.")
        else:
            say(f"Cut by the semantic bound: only the {wording.number(cut.value)} nearest in meaning were read.")


def say_count(count: int) -> None:
    """Tells those who cannot see it that the list has changed."""
    st.html(markup.tag("p", f"{wording.count(count, 'hit')} shown", css="at-spoken", role="status"))


def draw_nothing(query: EntityQuery, *, meaning: bool, for_now: bool = False) -> None:
    """What was tried, a way to try more, and the nearest names; in a small voice while meaning is yet to be tried."""
    tried = {Mode.HYBRID: "names, aliases and meaning", Mode.LEXICAL: "names and aliases", Mode.SEMANTIC: "meaning"}
    what = "No name matches “" if for_now else "Nothing found for “"
    title = markup.tag("p", what, markup.name(query.text), "”.", css="at-quiet" if for_now else "at-nothing")
    within, current = cached.scope_size(query.scope)
    places = f"{wording.number(within)} of {wording.count(current, 'document')}"
    kinds = f", of the kinds {', '.join(query.labels)}" if query.labels else ""
    note = markup.tag("p", f"Tried {tried[query.mode]}{kinds}, in {places}.", css="at-quiet")
    st.html(markup.join((title, note)))
    with st.container(horizontal=True, gap="small"):
        if query.labels:
            st.button("All kinds", key="nothing-kinds", icon=":material/filter_alt_off:", on_click=_all_kinds)
        if query.scope != EVERYTHING:
            st.button("Everything in scope", key="nothing-scope", icon=":material/public:", on_click=everything)
    near = nearest(query, meaning=meaning)
    if near:
        st.html(markup.tag("p", "Nearest names", css="at-heading"))
        with st.container(horizontal=True, gap="xsmall", key="nearest"):
            for hit in near:
                name = markup.label(hit.name, 60)
                st.button(name, key=f"near-{hit.id}", on_click=ask, args=(hit.name,))


def nearest(query: EntityQuery, *, meaning: bool) -> tuple[EntityHit, ...]:
    """Entities to offer where nothing was found: nearest in meaning, else of which a name begins like the text."""
    wide = replace(query, labels=(), limit=_NEAREST, support_limit=0)
    if meaning and query.mode is Mode.LEXICAL:
        return cached.search(replace(wide, mode=Mode.SEMANTIC)).hits
    for text in _beginnings(query.text):
        found = cached.search(replace(wide, text=text, mode=Mode.LEXICAL)).hits
        if found:
            return found
    return ()


def _beginnings(text: str) -> Iterable[str]:
    """Shorter and shorter beginnings of the text's last word."""
    last = fold(text).split(" ")[-1][:20]
    for length in range(len(last) - 1, _SHORTEST - 1, -1):
        yield last[:length]


def ask(text: str) -> None:
    """A callback: searches for this text."""
    address.go_search(replace(address.search(), text=text, labels=(), hit=None, limit=SearchView().limit))
    st.rerun()


def _all_kinds() -> None:
    address.go_search(replace(address.search(), labels=()))
    frame.redraw("hits", "evidence")


def everything() -> None:
    """A callback: the same search with everything in scope."""
    address.set_scope(EVERYTHING)
    st.rerun()


def say(text: str) -> None:
    """A quiet remark."""
    st.html(markup.tag("p", text, css="at-quiet"))
