"""One community: where it stands, its report, members, relations, claims and graph, each a step from its evidence."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.communities.reading import CommunityView, covers_more
from backend.communities.values import Claim, CommunityHead, ReportOrigin
from components import address, cached, frame, markup, tables, wording
from components.address import CLAIMS, GRAPH, MEMBERS, RELATIONS, REPORT, CommunitiesView
from components.communities import drawing, graph, report, words
from components.communities.drawing import Event
from components.communities.tree import title_of
from components.graph import Event as GraphEvent
from components.graph import graph_view
from components.tables import LONGEST, Rows

_PART = "community-part"
_HEIGHT = "calc(100vh - 240px)"  # of the graph, below way, title, marks and parts
_WITHIN = 12  # links to what is within


def draw_way(found: CommunityView, view: CommunitiesView) -> None:
    """From the whole to this community, each step a link; first what was asked, where a question led here."""
    with st.container(horizontal=True, gap="xxsmall", key="way", vertical_alignment="center"):
        back = view.closed
        _link("Communities", replace(back, text=""))
        if view.text.strip():
            _link(f"“{markup.plain(view.text, 30)}”", back)
        for head in found.above:
            _link(title_of(found.titles[head.id], 30), view.opened(head.id))
        st.html(markup.tag("span", title_of(found.report.title, 40), css="at-here"))


def _link(text: str, target: CommunitiesView) -> None:
    params = address.communities_params(target)
    st.page_link(address.FILES[address.COMMUNITIES], label=markup.label(text, 44), query_params=params)


def draw_title(found: CommunityView) -> None:
    """Title, size, level and rank, and where the report comes from."""
    head = found.head
    title = markup.tag("h1", markup.name(found.report.title or "Without a title", limit=240), css="at-community")
    st.html(markup.join((title, badges(head, found.report.rank, ReportOrigin(found.report.origin)))))


def badges(head: CommunityHead, rank: float | None, origin: ReportOrigin) -> markup.Html:
    """In one line: origin, marks, size and level."""
    marks = [markup.tag("span", mark, css="at-badge at-hollow") for mark in words.marks(head)]
    rated = f" · rated {rank:g} by its writer" if rank is not None else ""
    said = f"level {head.level} · {wording.count(head.size, 'member')}{rated}"
    return markup.tag(
        "div", markup.tag("span", words.ORIGINS[origin], css="at-badge"), *marks, markup.tag("span", said),
        " · ", markup.name(head.dataset, limit=40), css="at-counts",
    )  # fmt: skip


def draw_parts(found: CommunityView, view: CommunitiesView) -> None:
    """The choice between report, members, relations, claims and graph."""
    counts = {MEMBERS: _count(len(found.members), more=found.members_more, of=found.head.size)}
    counts[RELATIONS] = _count(len(found.relations), more=found.relations_more)
    counts[CLAIMS] = wording.number(len(found.claims))
    options = [REPORT, MEMBERS, RELATIONS, *([CLAIMS] if found.claims or view.part == CLAIMS else []), GRAPH]
    address.hold(_PART, view.part)
    st.segmented_control(
        "Part",
        options,
        key=_PART,
        required=True,
        format_func=lambda part: f"{part.capitalize()} {counts.get(part, '')}".strip(),
        label_visibility="collapsed",
        on_change=_chosen,
    )


def _count(shown: int, *, more: bool, of: int | None = None) -> str:
    if more and of is not None:
        return wording.number(of)
    return f"{wording.number(shown)}{'+' if more else ''}"


def _chosen() -> None:
    address.go_communities(replace(address.communities(), part=st.session_state[_PART]))


def draw_part(found: CommunityView, view: CommunitiesView) -> None:
    """What was chosen of it."""
    if view.part == GRAPH:
        _draw_graph(found, view)
        return
    draw = {MEMBERS: _draw_members, RELATIONS: _draw_relations, CLAIMS: _draw_claims}.get(view.part, _draw_report)
    draw(found, view)


# --- the report ------------------------------------------------------------------------------------------------------


def _draw_report(found: CommunityView, view: CommunitiesView) -> None:
    with st.container(key="community-report", gap="small"):
        st.html(markup.tag("p", remark(found), css="at-quiet"))
        draw_blocks(found, view, key="community-text")
        _draw_within(found, view)


def remark(found: CommunityView) -> str:
    """How the report is to be read."""
    told = words.QUOTED if found.report.origin is ReportOrigin.EXTRACTIVE else words.NOT_EVIDENCE
    told = f"{words.WHY_COVERS_MORE} {told}" if covers_more(found.head) else told
    return f"{words.WHY_STALE} {told}" if found.head.stale else told


def draw_blocks(found: CommunityView, view: CommunitiesView, *, key: str, whole: bool = True) -> None:
    """The report, or its summary, with citations that work."""
    drawn = report.blocks(found, view, whole=whole)
    if not drawn:
        st.html(markup.tag("p", "No passage in scope states a relation of it.", css="at-note"))
        return

    def cited(event: Event) -> None:
        kind, _, target = event.id.partition(":")
        here = address.communities()
        if kind == "community":
            address.go_communities(here.opened(target))
        elif here.community == found.head.id:
            address.go_communities(replace(here, thing=event.id))
            frame.redraw("part", "evidence")
        else:
            address.go_communities(here.opened(found.head.id, event.id))
        st.rerun()

    drawing.draw(drawing.REPORT, {"blocks": drawn}, key=key, known=report.things(drawn), on_event=cited)


def _draw_within(found: CommunityView, view: CommunitiesView) -> None:
    if not found.below:
        return
    largest = sorted(found.below, key=lambda head: (-head.size, head.id))
    st.html(markup.tag("h2", f"Within it: {wording.count(len(largest), 'community')}", css="at-heading"))
    with st.container(gap="xxsmall", key="within"):
        for head in largest[:_WITHIN]:
            label = f"{title_of(found.titles[head.id], 80)} · {wording.count(head.size, 'member')}"
            _within_link(label, view.opened(head.id))
        if len(largest) > _WITHIN:
            rest = wording.count(len(largest) - _WITHIN, "smaller one")
            st.html(markup.tag("p", f"And {rest}: the tree has them.", css="at-quiet"))


def _within_link(label: str, target: CommunitiesView) -> None:
    st.page_link(
        address.FILES[address.COMMUNITIES],
        label=markup.label(label, 120),
        icon=":material/workspaces:",
        query_params=address.communities_params(target),
    )


# --- tables ----------------------------------------------------------------------------------------------------------


def _draw_members(found: CommunityView, view: CommunitiesView) -> None:
    told = "Most central first: centrality is the sum of the weights of a member's relations within the community."
    cut = f" Only {wording.number(len(found.members))} of {wording.number(found.head.size)} are listed."
    _note(f"{told} {found.weighting}{cut if found.members_more else ''}")
    members = [one.member for one in found.members]
    rows: Rows = {
        "Member": [markup.plain(one.name, LONGEST) for one in members],
        "Kind": [markup.plain(one.label, LONGEST) for one in members],
        "Centrality": [f"{one.centrality:g}" for one in found.members],
        "Passages": [one.passages for one in members],
        "Mentioned": [wording.unsupported(one.status) or "yes" for one in members],
    }
    _draw_table(rows, [f"entity:{one.id}" for one in members], view, "Members")


def _draw_relations(found: CommunityView, view: CommunitiesView) -> None:
    cut = " Only the best supported are listed: more are stored." if found.relations_more else ""
    _note(f"Between its members, best supported first. {found.weighting}{cut}")
    edges = [graph.edge_of(edge) for edge in found.relations]
    rows: Rows = {
        "Source": [markup.plain(one.source.name, LONGEST) for one in found.relations],
        "Relation": [markup.plain(one.type, LONGEST) for one in found.relations],
        "Target": [markup.plain(one.target.name, LONGEST) for one in found.relations],
        "Stated": [wording.stated(edge.kind) for edge in edges],
        "Passages": [edge.counts.passages for edge in edges],
        "Documents": [edge.counts.documents for edge in edges],
    }
    _draw_table(rows, [f"relation:{edge.id}" for edge in edges], view, "Relations")


def _draw_claims(found: CommunityView, view: CommunitiesView) -> None:
    _note("What the index claims about its members. A model wrote these: the passages beside them are the evidence.")
    claims = found.claims
    rows: Rows = {
        "Subject": [markup.plain(one.subject, LONGEST) for one in claims],
        "Status": [markup.plain(one.status or "", LONGEST) for one in claims],
        "From": [claim_day(one.start_date) for one in claims],
        "To": [claim_day(one.end_date) for one in claims],
        "Type": [markup.plain(one.type or "", LONGEST) for one in claims],
        "Claim": [markup.plain(one.description, LONGEST) for one in claims],
        "Passages": [len(one.passage_ids) for one in claims],
    }
    _draw_table(rows, [f"claim:{one.id}" for one in claims], view, "Claims")


def claim_day(moment: str | None) -> str:
    """A date of a claim, which may be any text; what indexes write where there is none is left out."""
    if moment is None or moment.strip().upper() == "NONE":
        return ""
    return markup.plain(wording.day(moment[:10] if moment[10:11] == "T" else moment), 40)


def claim_sentence(claim: Claim) -> str:
    return f"{claim.subject}: {claim.type}" if claim.type else claim.subject


def _draw_table(rows: Rows, ids: list[str], view: CommunitiesView, what: str) -> None:
    def picked(row: str | None) -> None:
        address.go_communities(replace(address.communities(), thing=row))
        frame.redraw("part", "evidence")

    with st.container(key="table", gap="xsmall"):
        if not ids:
            _note("There are none.")
            return
        alt = f"{what} of the community; select a row for its evidence"
        tables.draw(rows, ids, f"community-{what.lower()}", view.thing, picked, alt)


# --- the graph -------------------------------------------------------------------------------------------------------


def _draw_graph(found: CommunityView, view: CommunitiesView) -> None:
    walk = graph.as_walk(found)
    if walk is None:
        _note("No member of it is in scope.")
        return
    _note(graph.bound(found, walk))
    names = {node.id: f"entity:{node.id}" for node in walk.nodes} | {
        edge.id: f"relation:{edge.id}" for edge in walk.edges
    }

    def clicked(event: GraphEvent) -> None:
        if event.kind == "expand" and event.id:
            st.session_state["walk-on"] = event.id
            return
        thing = names.get(event.id or "") if event.kind != "none" else None
        address.go_communities(replace(address.communities(), thing=thing))
        frame.redraw("evidence")

    _, _, selected = (view.thing or "").partition(":")
    labels = cached.catalog().labels
    graph_view(walk, selected=selected or None, key="community-graph", height=_HEIGHT, labels=labels, on_event=clicked)


def _note(text: str) -> None:
    st.html(markup.tag("p", text, css="at-quiet"))
