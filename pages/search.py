"""Search: find an entity by name, alias or meaning; its evidence stands beside the hits."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from backend.errors import AttestError, IndexNotReady, StoreUnreachable
from backend.models import EntityResult, Mode
from components import address, cached, errors, evidence, frame, hits, markup, starts, wording
from components.address import SearchView

frame.through_app()

MODE = "search-mode"


def asked() -> tuple[SearchView, bool]:
    """The view, with only names searched while the encoder still loads, and whether meaning can be searched."""
    view, ready = address.search(), cached.encoder_ready()
    return (view if ready else replace(view, mode=Mode.LEXICAL)), ready


def found(view: SearchView) -> tuple[SearchView, EntityResult, AttestError | None]:
    """What is found, with the view that found it: that of names alone where meaning cannot be asked, and why."""
    try:
        return view, cached.search(view.query), None
    except (IndexNotReady, StoreUnreachable) as error:
        if view.mode is not Mode.HYBRID:
            raise
        names = replace(view, mode=Mode.LEXICAL)
        return names, cached.search(names.query), error


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
    everything = cached.search(replace(view.query, labels=())) if view.labels else result
    hits.draw_facets(everything.facets, view)
    with st.container(key="hits", gap="small"):
        if missing:
            errors.draw(missing, "Only names and aliases are searched")
        coming = not ready and address.search().mode is not Mode.LEXICAL and cached.encoder_coming()
        if not ready and address.search().mode is not Mode.LEXICAL:
            st.html(markup.tag("p", wording.no_meaning(coming=coming), css="at-quiet"))
        if not result.hits:
            hits.draw_nothing(view.query, meaning=ready and not missing, for_now=coming)
        hits.draw_remarks(result)
        hits.draw(result, view, cached.catalog().labels)


@st.fragment(key="evidence")
@errors.shown()
def draw_evidence() -> None:
    view, _ = asked()
    hit = None
    with suppress(AttestError):  # beside it stands why nothing can be searched
        hit = hits.selected(found(view)[1], view) if view.text.strip() else None
    if hit is None:
        st.html(markup.tag("p", "The passages that mention what you find are shown here.", css="at-quiet"))
        return
    hits.mark_selected(hit)
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
            format_func=wording.MODES.__getitem__,
            label_visibility="collapsed",
            on_change=chosen,
        )
    draw_hits()
with right, st.container(key="pane-search", border=True, gap="small"):
    draw_evidence()
if cached.encoder_coming():
    wait_for_meaning()
