"""Search: find an entity by name, alias or meaning, or a passage; what is selected stands beside the hits."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from backend.errors import AttestError, IndexNotReady, StoreUnreachable
from backend.models import EntityResult, Mode, PassageResult
from components import address, cached, errors, evidence, frame, hits, markup, passage_hits, starts, wording
from components.address import SearchView

frame.through_app()

MODE = "search-mode"
# What is searched, beside meaning.
WORDS = {address.ENTITIES: "names and aliases", address.PASSAGES: "words"}


def asked() -> tuple[SearchView, bool]:
    """The view, with only names searched while the encoder still loads, and whether meaning can be searched."""
    view, ready = address.search(), cached.encoder_ready()
    return (view if ready else replace(view, mode=Mode.LEXICAL)), ready


def find(view: SearchView) -> EntityResult | PassageResult:
    return cached.passages(view.passage_query) if view.results == address.PASSAGES else cached.search(view.query)


def found(view: SearchView) -> tuple[SearchView, EntityResult | PassageResult, AttestError | None]:
    """What is found, with the view that found it: that of names alone where meaning cannot be asked, and why."""
    try:
        return view, find(view), None
    except (IndexNotReady, StoreUnreachable) as error:
        if view.mode is not Mode.HYBRID:
            raise
        names = replace(view, mode=Mode.LEXICAL)
        return names, find(names), error


def typed() -> None:
    frame.redraw("hits", "evidence")


def chosen() -> None:
    address.go_search(replace(address.search(), mode=st.session_state[MODE]))
    frame.redraw("hits", "evidence")


@st.fragment(key="hits")
@errors.shown()
def draw_hits() -> None:
    view, ready = asked()
    if not view.text.strip():
        starts.draw()
        return
    view, result, missing = found(view)
    with st.container(horizontal=True, gap="small", key="facets", vertical_alignment="center"):
        hits.draw_choice(view)
        if isinstance(result, EntityResult):
            everything = cached.search(replace(view.query, labels=())) if view.labels else result
            hits.draw_facets(everything.facets, view)
    with st.container(key="hits", gap="small"):
        if missing:
            errors.draw(missing, f"Only {WORDS[view.results]} are searched")
        coming = not ready and address.search().mode is not Mode.LEXICAL and cached.encoder_coming()
        if not ready and address.search().mode is not Mode.LEXICAL:
            hits.say(wording.no_meaning(WORDS[view.results], coming=coming))
        if isinstance(result, PassageResult):
            if not result.hits:
                passage_hits.draw_nothing(view.passage_query)
            passage_hits.draw(result, view)
            return
        if not result.hits:
            hits.draw_nothing(view.query, meaning=ready and not missing, for_now=coming)
        hits.draw_remarks(result)
        hits.draw(result, view, cached.catalog().labels)


@st.fragment(key="evidence")
@errors.shown()
def draw_evidence() -> None:
    view, _ = asked()
    result = None
    with suppress(AttestError):  # beside it stands why nothing can be searched
        result = found(view)[1] if view.text.strip() else None
    if result is None or not result.hits:
        st.html(markup.tag("p", "The passages that mention what you find are shown here.", css="at-quiet"))
    elif isinstance(result, PassageResult):
        passage = passage_hits.selected(result, view)
        hits.mark_selected(passage.passage.id)
        passage_hits.draw_pane(passage, result, view.scope)
    else:
        hit = hits.selected(result, view)
        hits.mark_selected(hit.id)
        evidence.draw_hit(hit, view.scope)


@st.fragment(run_every=1)
def wait_for_meaning() -> None:
    if not cached.encoder_coming():
        st.rerun()


left, right = st.columns([11, 9], gap="medium")
with left, st.container(key="search"):
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="search-bar"):
        view = address.search()
        st.text_input(
            "Search for an entity",
            key=address.TEXT,
            type="search",
            live=True,  # after a quarter of a second; for a text like "200ms" Streamlit imports pandas, which takes one
            bind="query-params",
            placeholder="A name, an alias, or what it is",
            icon=":material/search:",
            label_visibility="collapsed",
            on_change=typed,
        )
        address.hold(MODE, view.mode)
        st.segmented_control(
            "Search in",
            list(Mode),
            key=MODE,
            required=True,
            format_func=(wording.PASSAGE_MODES if view.results == address.PASSAGES else wording.MODES).__getitem__,
            label_visibility="collapsed",
            on_change=chosen,
        )
    draw_hits()
with right, st.container(key="pane-search", border=True, gap="small"):
    draw_evidence()
if cached.encoder_coming():
    wait_for_meaning()
