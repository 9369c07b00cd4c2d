"""The graph of a community: its most central members and the relations between them, drawn like a walk."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from backend.communities.reading import CommunityView
from backend.models import EdgeKind, EntityView, Hidden, WalkEdge, WalkNode, WalkQuery, WalkResult
from backend.stores.base import StoredEdge
from components import wording

_MEMBERS, _RELATIONS = 100, 300
_UNREACHED = 1  # the step of a member that no relation joins to the most central one


def edge_of(edge: StoredEdge) -> WalkEdge:
    """A stored edge as the graph and the evidence pane have it."""
    kind = EdgeKind.ASSERTION if edge.stated else EdgeKind.PATH
    weight = edge.stated + edge.unstated
    return WalkEdge(edge.id, edge.source.id, edge.target.id, edge.type, kind, weight, edge.counts, ())


def as_walk(found: CommunityView) -> WalkResult | None:
    """The community as a walk from its most central member; None where it has no members."""
    members = [one.member for one in found.members[:_MEMBERS]]
    if not members:
        return None
    shown = {member.id for member in members}
    drawn = [edge for edge in found.relations if {edge.source.id, edge.target.id} <= shown][:_RELATIONS]
    kept = {edge.id for edge in drawn}
    hidden: dict[str, int] = defaultdict(int)
    for edge in found.relations:
        for end in {edge.source.id, edge.target.id} if edge.id not in kept else ():
            hidden[end] += 1
    steps = _steps(members[0].id, drawn)
    dataset, first = found.head.dataset, members[0]
    nodes = tuple(
        WalkNode(
            one.id,
            one.source_id,
            dataset,
            one.name,
            one.label,
            steps.get(one.id, _UNREACHED),
            one.status,
            Hidden(hidden[one.id], not found.relations_more),
        )
        for one in members
    )
    start = EntityView(first.id, first.source_id, dataset, first.name, first.label, status=first.status)
    edges = tuple(edge_of(edge) for edge in drawn)
    return WalkResult(WalkQuery(first.id), start, nodes, edges, (), (), {})


def bound(found: CommunityView, walk: WalkResult) -> str:
    """What the graph shows of the community, in words."""
    nodes, edges = len(walk.nodes), len(walk.edges)
    members = _of(nodes, found.head.size, "member", at_least=False)
    relations = _of(edges, len(found.relations), "relation", at_least=found.relations_more)
    left_out = nodes < found.head.size or edges < len(found.relations) or found.relations_more
    return f"{members}, {relations}. {'The least central are left out.' if left_out else 'Nothing is left out.'}"


def _of(shown: int, every: int, noun: str, *, at_least: bool) -> str:
    if shown >= every and not at_least:
        return wording.count(shown, noun)
    return f"{wording.number(shown)} of {'at least ' if at_least else ''}{wording.count(every, noun)}"


def _steps(start: str, edges: Iterable[StoredEdge]) -> Mapping[str, int]:
    """How many steps each member is from the start."""
    near: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        near[edge.source.id].append(edge.target.id)
        near[edge.target.id].append(edge.source.id)
    steps = {start: 0}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for other in near[here]:
            if other not in steps:
                steps[other] = steps[here] + 1
                waiting.append(other)
    return steps
