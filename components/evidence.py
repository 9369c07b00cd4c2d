"""The evidence pane: what is selected, as a title and in words, and the passages that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import streamlit as st

from backend.models import (
    EdgeKind,
    Entity,
    EntityHit,
    EntityView,
    Evidence,
    Scope,
    Status,
    WalkEdge,
    WalkNode,
)
from components import address, cached, history, markup, passages, wording
from components.address import CommunitiesView, ExploreView

_FIRST, _MORE = 3, 20  # passages at first, and with each "more"
_READ = _FIRST + _MORE  # passages read for a click, so that "more" answers at once and their years are known
_EVIDENCE, _BOTH, _ABOUT = "Evidence", "Both mention", "About"
_COMMUNITIES = 4  # links to the communities of an entity
_NO_SOURCE = "Not a direct source: these mention both, and none of them states the relation."


class End(Protocol):
    """What is told of an end of an edge."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...


def draw_hit(hit: EntityHit, scope: Scope) -> None:
    """The evidence of a hit of a search: its best passages first, as the hit has them."""
    entity = Entity(hit.id, hit.source_id, hit.dataset, hit.name, hit.label, hit.aliases, hit.description)

    def best_first(limit: int) -> Evidence:
        if hit.counts.passages <= len(hit.passages):
            return Evidence(hit.passages, hit.counts)
        known = {passage.id for passage in hit.passages}
        others = cached.entity_evidence(hit.id, scope, limit).passages
        ordered = (*hit.passages, *(passage for passage in others if passage.id not in known))
        return Evidence(ordered[:limit], hit.counts)

    _entity_title(entity, hit.status, best_first(_READ), scope)
    if _tab("hit", (_EVIDENCE, _ABOUT)) == _ABOUT:
        _about_entity(cached.entity(hit.id, scope))
    else:
        _entity_passages(hit.id, hit.status, best_first, scope)


def draw_node(node: WalkNode, scope: Scope, *, start: bool) -> None:
    """The evidence of an entity of a walk, and the step to a walk from there."""
    view: EntityView = cached.entity(node.id, scope)

    def find(limit: int) -> Evidence:
        return cached.entity_evidence(node.id, scope, limit)

    _entity_title(view, view.status, find(_READ), scope)
    with st.container(horizontal=True, gap="small", key="pane-controls"):
        tab = _tab("node", (_EVIDENCE, _ABOUT))
        if not start and view.status is Status.SUPPORTED:
            st.button(
                "Walk from here", key="walk-from-here", icon=":material/hub:", on_click=walk_from, args=(node.id,)
            )
    if tab == _ABOUT:
        _about_entity(view, hidden=node.hidden_relations.count)
        return
    _entity_passages(node.id, view.status, find, scope)


def draw_entity(entity_id: str, scope: Scope) -> None:
    """The evidence of an entity beside something else than a walk, and the step to Explore."""
    view: EntityView = cached.entity(entity_id, scope)

    def find(limit: int) -> Evidence:
        return cached.entity_evidence(entity_id, scope, limit)

    _entity_title(view, view.status, find(_READ), scope)
    with st.container(horizontal=True, gap="small", key="pane-controls"):
        tab = _tab("node", (_EVIDENCE, _ABOUT))
        if view.status is Status.SUPPORTED:
            st.page_link(
                address.FILES[address.EXPLORE],
                label="Explore",
                icon=":material/hub:",
                query_params=address.explore_params(ExploreView(entity_id, scope=scope)),
            )
    if tab == _ABOUT:
        _about_entity(view)
        return
    _entity_passages(entity_id, view.status, find, scope)


def draw_edge(edge: WalkEdge, ends: Mapping[str, End], scope: Scope, show: Callable[[str], None] | None = None) -> None:
    """The evidence of an edge; where no passage states it, that is said, and what mentions both ends is offered.

    `show` is the callback that shows an end; without it, it is selected in the walk.
    """
    source, target = ends[edge.source], ends[edge.target]

    def find(limit: int) -> Evidence:
        return cached.edge_evidence(edge.id, scope, limit)

    _edge_title(edge, source, target, find(_READ))
    tab = _tab("edge", (_EVIDENCE, _BOTH, _ABOUT))
    if tab == _ABOUT:
        _about_edge(edge, source, target, show or _show_node)
    elif tab == _BOTH:
        _both(edge, scope)
    elif edge.kind is EdgeKind.PATH:
        _say("No passage states this relation. It is in the graph as it was loaded.")
        _both(edge, scope)
    else:
        _listed(edge.id, find, scope)


def walk_from(entity_id: str) -> None:
    """A callback: the walk starts from this entity, with the same bounds and scope."""
    address.go_explore(replace(address.explore().unselected, entity=entity_id, types=()))
    st.rerun()


# --- titles ----------------------------------------------------------------------------------------------------------


def _entity_title(entity: Entity, status: Status, found: Evidence, scope: Scope) -> None:
    title = markup.tag("h2", markup.name(entity.name), " ", markup.kind(entity.label), css="at-title")
    if status is Status.UNSUPPORTED:
        line = _badge_line("unsupported", wording.unsupported(status), hollow=True)
    else:
        line = _badge_line("", _with_years(found))
    st.html(markup.join((title, line)))
    _communities(entity.id, scope)


def _communities(entity_id: str, scope: Scope) -> None:
    """One step to the communities of an entity, the narrowest first."""
    found = cached.communities_of(entity_id, scope)[::-1]
    if not found:
        return
    with st.container(horizontal=True, gap="xsmall", key="communities-of"):
        for head, title in found[:_COMMUNITIES]:
            st.page_link(
                address.FILES[address.COMMUNITIES],
                label=markup.label(title, 34),
                icon=":material/workspaces:",
                help=markup.label(
                    f"Its community on level {head.level}, {wording.count(head.size, 'member')}: {title}"
                ),
                query_params=address.communities_params(CommunitiesView(head.id, scope=scope)),
            )


def _edge_title(edge: WalkEdge, source: End, target: End, found: Evidence) -> None:
    title = markup.tag(
        "h2",
        markup.name(source.name),
        " ",
        markup.kind(edge.type),
        markup.tag("small", " → "),
        markup.name(target.name),
        css="at-title",
    )
    stated = edge.kind is EdgeKind.ASSERTION
    words = _with_years(found) if stated else ""
    st.html(markup.join((title, _badge_line(wording.stated(edge.kind), words, hollow=not stated))))


def _with_years(found: Evidence) -> str:
    """The counts, and the years of the passages where all of them were read."""
    years = wording.years(found.passages) if found.counts.passages <= len(found.passages) else ""
    return f"{wording.counts(found.counts)}, {years}" if years else wording.counts(found.counts)


def _badge_line(badge: str, words: str, *, hollow: bool = False) -> markup.Html:
    css = "at-badge at-hollow" if hollow else "at-badge"
    parts = [markup.tag("span", badge, css=css)] if badge else []
    return markup.tag("div", *parts, markup.tag("span", words), css="at-counts")


def _tab(subject: str, options: Sequence[str]) -> str:
    chosen: str | None = st.segmented_control(
        "What to show",
        options,
        default=options[0],
        required=True,
        key=f"pane-{subject}",
        label_visibility="collapsed",
    )
    return chosen or options[0]


# --- bodies ----------------------------------------------------------------------------------------------------------


def _entity_passages(entity_id: str, status: Status, find: Callable[[int], Evidence], scope: Scope) -> None:
    if status is Status.UNSUPPORTED:
        _say("The passages that mentioned it were superseded: the current versions of their documents do not.")
        return
    _listed(entity_id, find, scope)


def _both(edge: WalkEdge, scope: Scope) -> None:
    """Passages that mention both ends, which is not the same as stating the relation."""

    def find(limit: int) -> Evidence:
        return cached.mentioning_both(edge.source, edge.target, scope, limit)

    if find(_READ).counts.passages == 0:
        _say("No passage in scope mentions both.")
        return
    if edge.kind is EdgeKind.PATH:
        _say(_NO_SOURCE)
    else:
        _say("Passages that mention both. Not all of them state the relation.")
    _listed(f"both-{edge.id}", find, scope)


def _listed(place: str, find: Callable[[int], Evidence], scope: Scope) -> None:
    """The first passages, and a button for more of them."""
    key = f"limit-{place}"
    limit: int = st.session_state.get(key, _FIRST)
    found = find(max(limit, _READ))
    passages.draw(found.passages[:limit], place=place, scope=scope)
    rest = found.counts.passages - limit
    if rest > 0:
        of = f" of {wording.number(found.counts.passages)}" if rest > _MORE else ""
        count = f"Show {min(_MORE, rest)} more{of}"
        st.button(
            count,
            key=f"more-{place}",
            icon=":material/expand_more:",
            type="tertiary",
            on_click=_set,
            args=(key, limit + _MORE),
        )


def _set(key: str, value: int) -> None:
    st.session_state[key] = value


def _about_entity(entity: Entity, hidden: int = 0) -> None:
    fields = [
        ("Kind", entity.label),
        ("Description", entity.description or ""),
        ("Also called", " · ".join(entity.aliases)),
        ("Relations not shown here", wording.number(hidden) if hidden else ""),
        *((key, wording.value(value)) for key, value in entity.metadata.items()),
        ("Dataset", entity.dataset),
        ("Id in the dataset", entity.source_id),
        ("Id", entity.id),
    ]
    st.html(markup.facts(fields))


def _about_edge(edge: WalkEdge, source: End, target: End, show: Callable[[str], None]) -> None:
    stated = edge.kind is EdgeKind.ASSERTION
    fields = [
        ("From", f"{source.name} ({source.label})"),
        ("Relation", edge.type),
        ("To", f"{target.name} ({target.label})"),
        ("Stated", wording.counts(edge.counts) if stated else wording.UNSTATED),
        ("Relations in the graph", wording.number(edge.weight)),
        ("Id", edge.id),
    ]
    st.html(markup.facts(fields))
    with st.container(horizontal=True, gap="small"):
        for end in (source, target):
            text = f"Show {markup.label(end.name, 40)}"
            st.button(text, key=f"show-{end.id}", type="tertiary", on_click=show, args=(end.id,))


def _show_node(entity_id: str) -> None:
    history.select(node=entity_id)
    st.rerun()


def _say(text: str) -> None:
    st.html(markup.tag("p", text, css="at-note"))
