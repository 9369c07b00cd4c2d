"""The evidence beside a community: the passages of whatever is selected, else those that mention most members."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.communities.reading import CommunityView
from backend.communities.values import Claim
from backend.errors import Malformed
from backend.models import Scope, Span, Status
from components import address, cached, evidence, frame, markup, passages, wording
from components.address import CommunitiesView, ExploreView
from components.communities import graph, opened
from components.communities.opened import claim_day, claim_sentence

_FIRST = 5  # passages of a community, or of a document
_CENTRAL = 6  # links to members


def draw(found: CommunityView, view: CommunitiesView) -> None:
    """Draws the evidence of `view.thing`."""
    if view.thing is None:
        _draw_representative(found, view.scope)
        return
    kind, _, target = view.thing.partition(":")
    if kind == "entity":
        evidence.draw_entity(target, view.scope)
    elif kind == "relation":
        _draw_relation(target, view.scope)
    elif kind == "claim":
        _draw_claim(next((one for one in found.claims if one.id == target), None), view.scope)
    elif kind == "passage":
        _draw_passage(found, target, view.scope)
    elif kind == "document":
        passages.draw_document(cached.document(target, view.scope), view.scope, shown=_FIRST)
    else:
        raise Malformed(f"thing={view.thing[:60]} in the address is not known.", hint="Use the link as it was given.")
    st.button("Close", key="close-thing", icon=":material/close:", type="tertiary", on_click=_let_go)


def _let_go() -> None:
    """A callback: nothing is selected, in the report or table either."""
    address.go_communities(replace(address.communities(), thing=None))
    frame.redraw("part", "evidence")


def _draw_representative(found: CommunityView, scope: Scope) -> None:
    if not found.passages:
        _note("No passage in scope mentions its members.")
        return
    st.html(markup.tag("h2", "Passages that mention most members", css="at-title"))
    key = f"passages-of-{found.head.id}"
    shown = len(found.passages) if st.session_state.get(key) else _FIRST
    passages.draw(found.passages[:shown], place="community", scope=scope)
    if len(found.passages) > shown:
        text = f"Show {wording.number(len(found.passages) - shown)} more"
        icon = ":material/expand_more:"
        st.button(text, key="more-representative", icon=icon, type="tertiary", on_click=_show_more, args=(key,))
    elif len(found.passages) > _FIRST:
        _note("Others mention fewer members; each member has its own.")


def _show_more(key: str) -> None:
    st.session_state[key] = True


def _draw_relation(edge_id: str, scope: Scope) -> None:
    edge = cached.edge(edge_id, scope)
    ends = {edge.source.id: edge.source, edge.target.id: edge.target}
    evidence.draw_edge(graph.edge_of(edge), ends, scope, _show_entity)


def _show_entity(entity_id: str) -> None:
    address.go_communities(replace(address.communities(), thing=f"entity:{entity_id}"))
    st.rerun()


def _draw_claim(claim: Claim | None, scope: Scope) -> None:
    if claim is None:
        _note("This claim is not among those that are listed here.")
        return
    st.html(markup.tag("h2", markup.name(claim_sentence(claim)), " ", markup.kind("claim"), css="at-title"))
    fields = [
        ("Claim", claim.description),
        ("Status", claim.status or ""),
        ("From", claim_day(claim.start_date)),
        ("To", claim_day(claim.end_date)),
        ("Object", claim.object or ""),
        *((key, wording.value(value)) for key, value in claim.metadata.items()),
        ("Id in the dataset", claim.source_id),
    ]
    st.html(markup.facts(fields))
    with st.container(horizontal=True, gap="small"):
        for entity_id, name in ((claim.subject_id, claim.subject), (claim.object_id, claim.object)):
            if entity_id is not None and name is not None:
                text = f"Show {markup.label(name, 40)}"
                st.button(text, key=f"show-{entity_id}", type="tertiary", on_click=_show_entity, args=(entity_id,))
    found = cached.visible_passages(claim.passage_ids, scope)
    if not found:
        _note("No passage in scope is named for this claim.")
    passages.draw(found, place="claim", scope=scope)


def _draw_passage(found: CommunityView, passage_id: str, scope: Scope) -> None:
    read = cached.visible_passages((passage_id,), scope)
    if not read:
        _note("This passage is not in scope.")
        return
    (passage,) = read
    title = markup.name(passage.document.title), " ", markup.tag("small", passage.heading or _place(passage.position))
    st.html(markup.tag("h2", *title, css="at-title"))
    passages.draw_sentences(passage, _quoted(found, passage_id), place="cited", scope=scope)


def _place(position: int) -> str:
    return f"passage {wording.number(position + 1)}"


def _quoted(found: CommunityView, passage_id: str) -> list[Span]:
    """The sentences that the report quotes from a passage."""
    sources = (source for sentence in found.report.sentences for source in sentence.sources)
    return [(source.start, source.end) for source in sources if source.passage_id == passage_id]


def draw_preview(found: CommunityView, view: CommunitiesView) -> None:
    """A community that is selected in the hierarchy: what it is about, and the way into it."""
    st.html(
        markup.join(
            (
                markup.tag("h2", markup.name(found.report.title or "Without a title", limit=240), css="at-title"),
                opened.badges(found.head, found.report.rank, found.report.origin),
            )
        )
    )
    with st.container(key="open-community"):
        st.page_link(
            address.FILES[address.COMMUNITIES],
            label="Open this community",
            icon=":material/open_in_full:",
            query_params=address.communities_params(view.opened(found.head.id)),
        )
    _note(opened.remark(found))
    opened.draw_blocks(found, view, key="preview-text", whole=False)
    st.html(markup.tag("h2", "Most central", css="at-heading"))
    with st.container(horizontal=True, gap="xsmall", key="mentioned"):
        for one in [one for one in found.members if one.member.status is Status.SUPPORTED][:_CENTRAL]:
            st.page_link(
                address.FILES[address.EXPLORE],
                label=markup.label(one.member.name, 34),
                icon=":material/hub:",
                query_params=address.explore_params(ExploreView(one.member.id, scope=view.scope)),
            )


def _note(text: str) -> None:
    st.html(markup.tag("p", text, css="at-quiet"))
