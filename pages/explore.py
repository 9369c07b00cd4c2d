"""Explore: a bounded walk from an entity, as a graph or a table, with the evidence of whatever is selected."""

import streamlit as st

from backend.models import WalkResult
from components import address, bounds, cached, edge_table, errors, evidence, frame, history, markup
from components.address import ExploreView
from components.explore_bar import controls, name_line
from components.graph import Event, graph_view

frame.through_app()

_HEIGHT, _WAITING = "calc(100vh - 160px)", 480  # of the graph, and of what stands there until it is drawn

view = address.explore()
if not view.entity:
    st.html(markup.tag("p", "Nothing to explore yet.", css="at-nothing"))
    st.page_link(address.FILES[address.SEARCH], label="Find an entity first", icon=":material/search:")
    history.draw_recent()
    st.stop()


def clicked(event: Event) -> None:
    """Before the run that follows a click: only the evidence is drawn anew, unless the walk goes on from a node."""
    if event.kind == "expand" and event.id:
        evidence.walk_from(event.id)
    history.select(node=event.id if event.kind == "node" else None, edge=event.id if event.kind == "edge" else None)
    frame.redraw("evidence")


def picked(kind: str, row: str | None) -> None:
    history.select(node=row if kind == "node" else None, edge=row if kind == "edge" else None)
    frame.redraw("evidence")


@st.fragment(key="picture")
@errors.shown()
def draw_picture(walk: WalkResult, view: ExploreView) -> None:
    chosen = view.edge or view.node or walk.start.id
    if view.shown == address.TABLE:
        edge_table.draw(walk, chosen, picked)
        return
    with st.container(gap=None):
        place = st.empty()  # always there, so that the graph keeps its place in the page
        if "graph-memory" not in st.session_state:
            place.skeleton(_WAITING)  # the first graph of a session may have to wait for its libraries
        labels = cached.catalog().labels
        graph_view(walk, selected=chosen, key="graph", height=_HEIGHT, labels=labels, on_event=clicked)
        place.empty()


@st.fragment(key="evidence")
@errors.shown()
def draw_evidence(walk: WalkResult) -> None:
    shown, nodes = address.explore(), {node.id: node for node in walk.nodes}
    edge = next((edge for edge in walk.edges if edge.id == shown.edge), None)
    node = nodes.get(shown.node or walk.start.id)
    if edge is not None:
        evidence.draw_edge(edge, nodes, shown.scope)
    elif shown.edge or node is None:
        text = f"What this link selects is not among what is shown. {bounds.way_to_more(walk)}"
        st.html(markup.tag("p", text, css="at-note"))
    else:
        evidence.draw_node(node, shown.scope, start=node.id == walk.start.id)


history.visit(view)
bar = st.container(horizontal=True, vertical_alignment="center", gap="small", key="bar")
with bar:
    history.draw_buttons()
walk = cached.walk(view.query)
with bar:
    history.draw_trail(history.names(walk))
    controls(view)
left, right = st.columns([2, 1], gap="small")
with left, st.container(gap="xsmall"):
    name_line(walk)
    bounds.draw(walk, view)
    picture = st.container(gap=None)
with right, st.container(key="pane-explore", border=True, gap="small"):
    draw_evidence(walk)
with picture:
    draw_picture(walk, view)
