"""Reading communities: what a report is made of in a scope, and a community with all that is in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend import statements
from backend.communities.extractive import (
    MOST_EDGES,
    CentralMember,
    InnerEdge,
    by_centrality,
    centrality,
    extractive_report,
    report_vector,
    support_order,
)
from backend.communities.values import Claim, CommunityHead, Report, ReportOrigin
from backend.errors import Unavailable
from backend.identity import statement_id
from backend.models import Passage, Status
from backend.scope import ResolvedScope
from backend.stores.base import EdgeRead, GraphView, StoredEdge, Supported
from backend.stores.communities import Member, Members
from backend.stores.lexical import Content
from backend.vectors.base import Index, Vector, read_vectors

# What is read of a community: edges between members in stored order, members, claims, and passages that mention most
# members; and the members that are read for the title of one without edges.
INSIDE, MEMBERS, CLAIMS, REPRESENTATIVE = 2_000, 500, 200, 5
# Edges from which it is told who is central and what is best supported: they come best supported first.
TELLING = 300
_NAMED = 10
_CENTRAL, _SHOWN_PASSAGES = 100, 20
_LEVELS = 64  # a hierarchy is never so deep; parents that lead in a circle end here

BY_WEIGHT = "An edge weighs the sum of the weights of its relations: every relation of the dataset has one."
BY_COUNT = "An edge weighs the number of its relations: not every relation of the dataset has a weight of its own."


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member with its weighted degree within the community."""

    member: Member
    centrality: float


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community as the scope sees it, whole: members most central first, relations best supported first.

    `report` is the stored one, or where the scope hides something that it may rest on, one made anew from what is
    visible; `covers_more` where a model wrote the stored one. `above` leads from the root down to its parent, `below`
    are its children. What has `more` was cut by a bound.
    """

    head: CommunityHead
    report: Report
    covers_more: bool
    above: tuple[CommunityHead, ...]
    below: tuple[CommunityHead, ...]
    titles: Mapping[str, str]  # of the communities above and below
    members: tuple[MemberView, ...]
    members_more: bool
    relations: tuple[StoredEdge, ...]
    relations_more: bool
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    weighting: str


def reports_of(view: GraphView, heads: Sequence[CommunityHead], scope: ResolvedScope) -> dict[str, Report]:
    """The report of each community: the stored one where the scope sees it whole, else one of what is visible."""
    stored = view.reports([head.id for head in heads if has_stored_report(head)], scope)
    return stored | made_of_visible(view, [head.id for head in heads if head.id not in stored], scope)


def has_stored_report(head: CommunityHead) -> bool:
    """Whether the scope may see what is written about the community."""
    return head.is_whole and head.report is not None


def covers_more(head: CommunityHead) -> bool:
    """Whether what a model wrote about the community is not shown, since the scope hides some of what it rests on."""
    return head.report in (ReportOrigin.IMPORTED, ReportOrigin.WRITTEN) and not head.is_whole


def made_of_visible(view: GraphView, ids: Sequence[str], scope: ResolvedScope) -> dict[str, Report]:
    """An extractive report of each community, made of what the scope sees of it; a handful of queries for all."""
    return {community: extractive_report(*one) for community, one in materials(view, ids, scope).items()}


class Material(NamedTuple):
    """What a report is made of: members that are at hand, the best supported edges, and representative passages."""

    members: tuple[CentralMember, ...]
    edges: tuple[InnerEdge, ...]
    representative: tuple[Content, ...]


def materials(view: GraphView, ids: Sequence[str], scope: ResolvedScope) -> dict[str, Material]:
    """What the scope sees of each community to make a report of."""
    if not ids:
        return {}
    inside = view.inside(ids, TELLING, scope)
    degrees = inner_degrees(view, inside, scope)
    best = {community: best_supported(read.edges) for community, read in inside.items()}
    support = view.edge_support([edge.id for own in best.values() for edge in own], 1, scope)
    first = {edge: evidence.passages[0].id for edge, evidence in support.items() if evidence.passages}
    central = view.central_passages(ids, REPRESENTATIVE, scope)
    wanted = [*first.values(), *(passage for own in central.values() for passage, _ in own)]
    contents = view.contents(list(dict.fromkeys(wanted)), scope)
    named = view.members(ids, _NAMED, scope)
    return {
        community: Material(
            central_members(named.get(community), inside.get(community), degrees.get(community, {})),
            tuple(InnerEdge(edge, contents.get(first.get(edge.id, ""))) for edge in best.get(community, ())),
            tuple(contents[passage] for passage, _ in central.get(community, ())),
        )
        for community in ids
    }


def best_supported(edges: Iterable[StoredEdge]) -> list[StoredEdge]:
    """The edges that most passages state, as many as give a sentence of a report."""
    return in_order([edge for edge in edges if edge.counts.passages])[:MOST_EDGES]


def in_order(edges: Iterable[StoredEdge]) -> list[StoredEdge]:
    """Edges, best supported first."""
    return sorted(edges, key=support_order)


def inner_degrees(view: GraphView, inside: Mapping[str, EdgeRead], scope: ResolvedScope) -> dict[str, dict[str, float]]:
    """Per community the weighted degree that each entity has by the edges that were read."""
    weights = edge_weights(view, (edge for read in inside.values() for edge in read.edges), scope)
    return {
        community: centrality((edge.source.id, edge.target.id, weights[edge.id]) for edge in read.edges)
        for community, read in inside.items()
    }


def central_members(
    members: Members | None, inside: EdgeRead | None, degrees: Mapping[str, float]
) -> tuple[CentralMember, ...]:
    """The members that are at hand: those that were read, and the ends of edges, which are the central ones."""
    read = [(one.id, one.name, one.label) for one in members.members] if members else []
    ends = (
        [(end.id, end.name, end.label) for edge in inside.edges for end in (edge.source, edge.target)] if inside else []
    )
    found = dict.fromkeys([*ends, *read])
    return tuple(by_centrality(CentralMember(*one, degrees.get(one[0], 0.0)) for one in found))


def edge_weights(view: GraphView, edges: Iterable[StoredEdge], scope: ResolvedScope) -> dict[str, float]:
    """What edges weigh: the relations that the scope keeps, or the sum of their weights where the dataset has these."""
    weights: dict[str, float] = {}
    by_dataset: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        weights[edge.id] = edge.stated + edge.unstated
        by_dataset[edge.source.dataset].append(edge.id)
    weighted = view.weighted_datasets() & by_dataset.keys() if by_dataset else frozenset()
    asked = [edge for dataset in sorted(weighted) for edge in by_dataset[dataset]]
    return weights | (view.edge_weights(asked, scope) if asked else {})


def report_vectors(
    view: GraphView, index: Index, reports: Mapping[str, Report], scope: ResolvedScope
) -> dict[str, Vector]:
    """The vector of each extractive report: the mean of the stored vectors of its sentences, of unit length.

    Where statements have no vectors, those of the passages stand in; a report without any has none.
    """
    passages = list(dict.fromkeys(passage for report in reports.values() for passage in report.cited))
    contents = view.contents(passages, scope) if passages else {}
    owners = {community: list(_vector_ids(report, contents)) for community, report in reports.items()}
    stored = read_vectors(index, (one for ids in owners.values() for one in ids))
    found: dict[str, Vector] = {}
    for community, ids in owners.items():
        mean = report_vector([stored[one] for _, one in ids if one in stored])
        if mean is not None:
            found[community] = mean
    return found


def _vector_ids(report: Report, contents: Mapping[str, Content]) -> Iterable[tuple[str, str]]:
    """Collection and id of the vector of each sentence."""
    for content, place in _statements_of(report, contents):
        passage_id = content.passage.id
        if content.statement_vectors is not None:
            yield content.statement_vectors, statement_id(passage_id, place)
        elif content.vectors is not None:
            yield content.vectors, passage_id


def _statements_of(report: Report, contents: Mapping[str, Content]) -> Iterator[tuple[Content, int]]:
    """The statement that each sentence of a report is, as far as the passages are at hand."""
    for source in (source for sentence in report.sentences for source in sentence.sources):
        content = contents.get(source.passage_id)
        spans = [] if content is None else [statements.span(content, n) for n in range(len(content.statements))]
        if content is not None and (source.start, source.end) in spans:
            yield content, spans.index((source.start, source.end))


def titles_of(view: GraphView, heads: Sequence[CommunityHead], scope: ResolvedScope) -> dict[str, str]:
    """What communities are called: by their report where the scope sees them whole, else by their central members."""
    made = made_of_visible(view, [head.id for head in heads if not head.is_whole], scope)
    return {head.id: head.title if head.is_whole else made[head.id].title for head in heads}


def read_community(view: GraphView, community_id: str, scope: ResolvedScope) -> CommunityView:
    """A community with all that is in it; raises Unavailable where the scope sees nothing of it."""
    heads = view.communities([community_id], 1, scope)
    if not heads:
        raise Unavailable(
            f"There is no community {community_id} in scope.",
            hint="It has no member there, or was replaced; the Communities page lists those that there are.",
        )
    (head,) = heads
    inside = view.inside([head.id], INSIDE, scope).get(head.id)
    degrees = inner_degrees(view, {head.id: inside}, scope)[head.id] if inside else {}
    members = view.members([head.id], MEMBERS, scope).get(head.id)
    above, below = _relatives(view, head, scope)
    passages = [passage for passage, _ in view.central_passages([head.id], _SHOWN_PASSAGES, scope).get(head.id, ())]
    found = view.passages(passages, scope)
    central = _central(view, members.members if members else (), degrees, scope)
    return CommunityView(
        head=head,
        report=reports_of(view, [head], scope)[head.id],
        covers_more=covers_more(head),
        above=above,
        below=below,
        titles=titles_of(view, [*above, *below], scope),
        members=central,
        members_more=bool(members and members.more),
        relations=tuple(in_order(inside.edges)) if inside else (),
        relations_more=bool(inside and inside.more),
        claims=view.claims([head.id], CLAIMS, scope).get(head.id, ()),
        passages=tuple(found[passage] for passage in passages if passage in found),
        weighting=weighting(view, [head.dataset]),
    )


def _central(
    view: GraphView, read: Sequence[Member], degrees: Mapping[str, float], scope: ResolvedScope
) -> tuple[MemberView, ...]:
    """The members that were read and the most central ones, these first."""
    there = {one.id for one in read}
    lacking = [one for one in sorted(degrees, key=lambda one: (-degrees[one], one)) if one not in there][:_CENTRAL]
    found = view.support(lacking, (), 0, scope) if lacking else {}
    members = [*read, *map(_member, found.values())]
    central = [MemberView(one, degrees.get(one.id, 0.0)) for one in members]
    return tuple(sorted(central, key=lambda one: (-one.centrality, one.member.name, one.member.id)))


def _member(found: Supported) -> Member:
    entity, passages = found.entity, found.evidence.counts.passages
    status = Status.SUPPORTED if passages else Status.UNSUPPORTED
    return Member(entity.id, entity.source_id, entity.name, entity.label, entity.description, status, passages)


def _relatives(
    view: GraphView, head: CommunityHead, scope: ResolvedScope
) -> tuple[tuple[CommunityHead, ...], tuple[CommunityHead, ...]]:
    """The communities above it, from the root on, and its children."""
    above: list[CommunityHead] = []
    parent = head.parent
    while parent is not None and len(above) < _LEVELS:
        found = view.communities([parent], 1, scope)
        above += found
        parent = found[0].parent if found else None
    return tuple(reversed(above)), tuple(view.communities(None, MOST_COMMUNITIES, scope, parent=head.id))


# Communities of which a page or a search by meaning reads the heads.
MOST_COMMUNITIES = 20_000


def weighting(view: GraphView, datasets: Iterable[str]) -> str:
    """What an edge weighs in these datasets, in words."""
    weighted = view.weighted_datasets()
    return BY_WEIGHT if all(dataset in weighted for dataset in datasets) else BY_COUNT
