"""Communities: what belongs together, from the whole down to a group of entities with its report and its passages."""

from dataclasses import replace

import streamlit as st

from backend.communities.reading import CommunityView
from backend.models import EVERYTHING
from components import address, cached, errors, frame, markup
from components.address import PICTURE, TREE, CommunitiesView, ExploreView
from components.communities import building, opened, pane, picture, question, tree
from components.communities.drawing import Event
from components.communities.forest import DATASET, grown

frame.through_app()

FIND, SHOWN, WALK_ON = "communities-find", "communities-shown", "walk-on"
TREE_HEIGHT, PICTURE_HEIGHT = "calc(100vh - 130px)", "calc(100vh - 168px)"

view = address.communities()
heads = cached.hierarchy(view.scope)
forest = grown(heads)


def did(event: Event) -> None:
    """Before the run that follows a click in the hierarchy."""
    here = address.communities()
    if event.kind == "open":
        address.go_communities(here.opened(event.id))
        st.rerun()
    address.go_communities(here.selecting(event.id))
    frame.redraw("hierarchy", "evidence")


def chosen() -> None:
    address.go_communities(replace(address.communities(), shown=st.session_state[SHOWN]))


@st.fragment(key="hierarchy")
@errors.shown()
def draw_hierarchy() -> None:
    here = address.communities()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="hierarchy-bar"):
        address.hold(SHOWN, here.shown)
        st.segmented_control(
            "Shown as",
            (TREE, PICTURE),
            key=SHOWN,
            required=True,
            format_func=str.capitalize,
            label_visibility="collapsed",
            on_change=chosen,
        )
        if here.shown == TREE:
            st.text_input(
                "Find by title",
                key=FIND,
                type="search",
                live=True,
                placeholder="Words of a title",
                icon=":material/search:",
                label_visibility="collapsed",
            )
    if here.shown == PICTURE:
        picture.draw(forest, here, PICTURE_HEIGHT, did)
    else:
        tree.draw(forest, here, st.session_state.get(FIND, ""), TREE_HEIGHT, did)


@st.fragment(key="evidence")
@errors.shown()
def draw_preview() -> None:
    here = address.communities()
    if here.at is None or here.at.startswith(DATASET):
        building.draw_welcome([head for head in heads if here.at in (None, DATASET + head.dataset)])
    else:
        pane.draw_preview(cached.community(here.at, here.scope), here)


def draw_found(shown: CommunitiesView) -> None:
    """What a question finds; its passages stand in the pane."""
    found = cached.communities(shown.query)
    question.draw_intent(found, shown)
    question.draw_hits(found, shown)
    question.draw_explained(found)
    with right:
        question.draw_evidence(found, shown)


@st.fragment(key="part")
@errors.shown()
def draw_part(found: CommunityView) -> None:
    opened.draw_part(found, address.communities())
    if walk_on := st.session_state.pop(WALK_ON, None):
        params = address.explore_params(ExploreView(walk_on, scope=view.scope))
        st.switch_page(address.FILES[address.EXPLORE], query_params=params)


@st.fragment(key="evidence")
@errors.shown()
def draw_evidence(found: CommunityView) -> None:
    pane.draw(found, address.communities())


def draw_community(found: CommunityView) -> None:
    with left:
        opened.draw_way(found, view)
        opened.draw_title(found)
        opened.draw_parts(found, view)
        with st.container(key="answer", gap="small"):
            draw_part(found)
    with right:
        draw_evidence(found)


if not heads and view.scope == EVERYTHING:
    building.draw_missing()
    st.stop()
community = cached.community(view.community, view.scope) if view.community else None
main, side = st.columns([11, 9] if community is None else [3, 2], gap="medium")
left = main.container(key="ask" if view.community or view.text.strip() else "hierarchy", gap="small")
right = side.container(key="pane-communities", border=True, gap="small")
if community is not None:
    draw_community(community)
else:
    with left:
        question.draw_box(view)
        if not heads:
            st.html(markup.tag("p", "No community is in scope.", css="at-nothing"))
        elif not view.text.strip():
            draw_hierarchy()
        elif cached.encoder_coming():
            st.html(markup.tag("p", "Meaning is still loading: what is found comes in a moment.", css="at-quiet"))
            question.wait_for_meaning()
        else:
            question.draw_choices(view, forest)
            with st.container(key="answer", gap="small"), errors.shown():
                draw_found(view)
    if heads and not view.text.strip():
        with right:
            draw_preview()
