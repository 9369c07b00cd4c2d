"""The bounded walk: from one entity along its relations, each edge sorted by whether a visible passage states it.

A walk costs four queries of the graph store for one step and five for two: its start, the edges of each step, what is
hidden, and the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.errors import Malformed, Unavailable
from backend.identity import is_canonical
from backend.models import (
    EVERYTHING,
    MAX_CANDIDATES,
    MAX_EDGES,
    MAX_NODES,
    Cut,
    EdgeKind,
    EntityView,
    Evidence,
    Hidden,
    Scope,
    Status,
    WalkEdge,
    WalkNode,
    WalkQuery,
    WalkResult,
)
from backend.names import asked_names, check_within, refuse_unknown
from backend.scope import ResolvedScope, resolve
from backend.stopwatch import Stopwatch
from backend.stores.base import EdgeRead, End, GraphView, StoredEdge

# The order in which a result names its bounds.
BOUNDS = ("node", "edge", "depth", "candidate")
_MAX_DEPTH = 2
_NAME = 200  # code points of a name in a sentence


@dataclass(slots=True)
class _Walk:
    """What a walk has reached so far."""

    query: WalkQuery
    nodes: dict[str, tuple[End, int]] = field(default_factory=dict)
    edges: dict[str, StoredEdge] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)
    steps: int = 0
    ended: bool = False

    def take_step(self, read: EdgeRead, step: int) -> None:
        """Takes the edges that were read, strongest first, as far as the bounds allow."""
        over_nodes = over_edges = 0
        for edge in sorted(read.edges, key=_strength):
            if edge.id in self.edges:
                continue
            new = [end for end in (edge.source, edge.target) if end.id not in self.nodes]
            if len(self.edges) == self.query.max_edges:
                over_edges += 1
            elif len(self.nodes) + len(new) > self.query.max_nodes:
                over_nodes += 1
            else:
                self.edges[edge.id] = edge
                self.nodes.update({end.id: (end, step) for end in new})
        self.steps = step
        self.ended = len(self.edges) == self.query.max_edges
        self._note(over_nodes, over_edges, read, step)

    def reached_in(self, step: int) -> list[str]:
        return [entity_id for entity_id, (_, reached) in self.nodes.items() if reached == step]

    def _note(self, over_nodes: int, over_edges: int, read: EdgeRead, step: int) -> None:
        if over_nodes:
            self.cuts.append(Cut("node", self.query.max_nodes, step, missing=over_nodes))
        if over_edges:
            self.cuts.append(Cut("edge", self.query.max_edges, step, missing=over_edges))
        if read.more:
            self.cuts.append(Cut("candidate", self.query.max_candidates, step, read=read.read))


def walk(view: GraphView, query: WalkQuery) -> WalkResult:
    """What one or two steps along the relations reach, with every bound that cut it.

    Raises Malformed, and Unavailable when no visible passage mentions the entity.
    """
    watch = Stopwatch()
    check(query)
    with watch.step("scope"):
        scope = resolve(query.scope)
        start = _start(view, query, scope)
    reached = _Walk(query)
    reached.nodes[query.entity_id] = (_as_end(start), 0)
    with watch.step("edges"):
        _follow(view, reached, scope)
    with watch.step("hidden"):
        hidden = view.hidden_edges(
            list(reached.nodes),
            query.relation_types,
            list(reached.edges),
            query.max_candidates,
            scope,
            among=reached.reached_in(reached.steps),
        )
    with watch.step("evidence"):
        stated = [edge.id for edge in reached.edges.values() if edge.stated]
        support = view.edge_support(stated, query.support_limit, scope) if stated else {}
    nodes = tuple(
        _node(end, step, hidden.around.get(entity_id, Hidden(0, True)))
        for entity_id, (end, step) in reached.nodes.items()
    )
    _note_unfollowed(reached, hidden.distinct)
    cuts = tuple(sorted(reached.cuts, key=lambda cut: (BOUNDS.index(cut.bound), cut.step or 0)))
    return WalkResult(
        query=query,
        start=start,
        nodes=nodes,
        edges=tuple(_edge(edge, support) for edge in reached.edges.values()),
        truncated_by=tuple(bound for bound in BOUNDS if any(cut.bound == bound for cut in cuts)),
        cuts=cuts,
        timings_ms=watch.timings_ms,
    )


def check(query: WalkQuery) -> None:
    """Raises Malformed for an id, a depth or a bound that a walk cannot have."""
    if not is_canonical(query.entity_id):
        raise Malformed(
            f"{query.entity_id[:100]!r} is not an entity id.",
            hint="Ids are canonical lowercase UUIDs; `attest search` gives them.",
        )
    check_within("depth", query.depth, _MAX_DEPTH)
    check_within("max_nodes", query.max_nodes, MAX_NODES)
    check_within("max_edges", query.max_edges, MAX_EDGES)
    check_within("max_candidates", query.max_candidates, MAX_CANDIDATES)
    if query.support_limit < 0:
        raise Malformed(f"support limit {query.support_limit} is below 0.", hint="Choose 0 or more.")


def _start(view: GraphView, query: WalkQuery, scope: ResolvedScope) -> EntityView:
    found, unknown = view.start(query.entity_id, asked_names(query.scope, relation_types=query.relation_types), scope)
    refuse_unknown(view, unknown)
    if found is None:
        raise absent(query.entity_id, query.scope)
    if found.status is Status.UNSUPPORTED:
        raise Unavailable(
            f"No current passage mentions {found.name[:_NAME]}: those that did were superseded.",
            hint="Look at an earlier date with --as-of.",
            entity_id=query.entity_id,
            status=str(found.status),
        )
    return found


def absent(entity_id: str, scope: Scope) -> Unavailable:
    """The error for an entity that no passage in scope mentions, in any version."""
    if scope == EVERYTHING:
        message, hint = "No passage mentions", "`attest search` finds entities by name."
    else:
        message, hint = "No passage in scope mentions", "Widen the scope, or look it up with `attest search`."
    return Unavailable(f"{message} an entity with the id {entity_id}.", hint=hint, entity_id=entity_id)


def _follow(view: GraphView, reached: _Walk, scope: ResolvedScope) -> None:
    query = reached.query
    for step in range(1, query.depth + 1):
        frontier = reached.reached_in(step - 1)
        if reached.ended or not frontier:
            break
        reached.take_step(view.edges_around(frontier, query.relation_types, query.max_candidates, scope), step)


def _note_unfollowed(reached: _Walk, beyond: int) -> None:
    """Names the bound that kept the walk from the edges beyond its last step: the depth, or the edges that ended it."""
    query = reached.query
    if beyond and reached.steps == query.depth:
        reached.cuts.append(Cut("depth", query.depth, query.depth, missing=beyond))
    elif beyond and reached.ended and not any(cut.bound == "edge" for cut in reached.cuts):
        reached.cuts.append(Cut("edge", query.max_edges, reached.steps + 1, missing=beyond))


def _strength(edge: StoredEdge) -> tuple[bool, int, int, str, str, str, str]:
    """Strongest first: assertions, documents, passages, then names by code point."""
    return (
        not edge.stated,
        -edge.counts.documents,
        -edge.counts.passages,
        edge.source.name,
        edge.type,
        edge.target.name,
        edge.id,
    )


def _as_end(view: EntityView) -> End:
    return End(view.id, view.source_id, view.dataset, view.name, view.label, view.status)


def _node(end: End, step: int, hidden: Hidden) -> WalkNode:
    return WalkNode(end.id, end.source_id, end.dataset, end.name, end.label, step, end.status, hidden)


def _edge(edge: StoredEdge, support: dict[str, Evidence]) -> WalkEdge:
    evidence = support.get(edge.id, Evidence())
    return WalkEdge(
        id=edge.id,
        source=edge.source.id,
        target=edge.target.id,
        type=edge.type,
        kind=EdgeKind.ASSERTION if edge.stated else EdgeKind.PATH,
        weight=edge.stated + edge.unstated,
        counts=edge.counts,
        passages=evidence.passages,
    )
