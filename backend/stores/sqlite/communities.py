"""Reading communities: which the scope sees, whether it sees them whole, and what is in them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import fsum

from backend.communities.values import Claim, CommunityHead, CommunityOrigin, Report, ReportOrigin
from backend.models import Status
from backend.scope import ResolvedScope, present
from backend.stores.base import EdgeRead
from backend.stores.communities import Member, Members, WeightedEdge
from backend.stores.reports import read_report
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.edges import ends_and_edges, stored_edges
from backend.stores.sqlite.rows import read_json
from backend.stores.sqlite.visibility import Visibility

_ASKED = "json_each(:ids) asked CROSS JOIN community c ON c.uuid = asked.value"
_IS_EMPTY = "NOT EXISTS (SELECT 1 FROM membership m WHERE m.community = c.id)"

# The first edges between two members of the community `c`, and one more: those of the few members of a small one are
# sorted, of a large one so many are inside that the order of all edges soon leads to enough of them.
_LARGE = 1_000
_INNER_OF_SMALL = """(SELECT json_group_array(id) FROM (
        SELECT e.id FROM membership m CROSS JOIN edge e ON e.source = m.entity
        CROSS JOIN membership o ON o.community = c.id AND o.entity = e.target
        WHERE m.community = c.id AND e.source <> e.target
        ORDER BY e.documents DESC, e.passages DESC, e.uuid LIMIT :limit + 1
    ))"""
_INNER_OF_LARGE = """(SELECT json_group_array(id) FROM (
        SELECT e.id FROM edge e INDEXED BY edge_order WHERE e.source <> e.target
        AND EXISTS (SELECT 1 FROM membership m WHERE m.community = c.id AND m.entity = e.source)
        AND EXISTS (SELECT 1 FROM membership m WHERE m.community = c.id AND m.entity = e.target)
        ORDER BY e.documents DESC, e.passages DESC, e.uuid LIMIT :limit + 1
    ))"""


class CommunityReads:
    """The reading primitives about communities."""

    connection: Connection
    settled: int

    def communities(
        self,
        ids: Sequence[str] | None,
        limit: int,
        scope: ResolvedScope,
        *,
        level: int | None = None,
        parent: str | None = None,
    ) -> list[CommunityHead]:
        visible = Visibility(scope, self.settled)
        tables = "community c" if ids is None else _ASKED
        tables += " WHERE (:level IS NULL OR c.level = :level) AND (:parent IS NULL OR c.parent = :parent)"
        rows = self.connection.read(
            f"""WITH seen AS (
                    SELECT c.* FROM {tables} AND {community_seen(visible)} ORDER BY c.level, c.uuid LIMIT :limit
                )
                SELECT c.*, {_size(visible)} AS size, {community_whole(visible)} AS is_whole,
                    d.name AS dataset_name, k.name AS collection FROM seen c
                JOIN dataset d ON d.id = c.dataset LEFT JOIN vector_collection k ON k.id = c.vectors
                ORDER BY c.level, c.uuid""",
            {**community_parameters(visible), "ids": json.dumps(ids), "limit": limit, "level": level, "parent": parent},
        )
        return [_head(row) for row in rows]

    def has_communities(self) -> bool:
        return bool(self.connection.value("SELECT EXISTS (SELECT 1 FROM community)"))

    def communities_of(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, tuple[str, ...]]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT e.uuid, (
                    SELECT json_group_array(uuid) FROM (
                        SELECT c.uuid FROM membership m JOIN community c ON c.id = m.community
                        WHERE m.entity = e.id ORDER BY c.uuid
                    )
                ) FROM json_each(:ids) asked CROSS JOIN entity e ON e.uuid = asked.value
                WHERE {visible.entity_known("e")}""",
            {**visible.parameters, "ids": json.dumps(entity_ids)},
        )
        return {entity: tuple(json.loads(communities)) for entity, communities in rows}

    def reports(self, ids: Sequence[str], scope: ResolvedScope) -> dict[str, Report]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT c.uuid, c.report FROM {_ASKED} WHERE c.report IS NOT NULL
                AND {community_seen(visible)} AND {community_whole(visible)}""",
            {**community_parameters(visible), "ids": json.dumps(ids)},
        )
        return {community: read_report(report) for community, report in rows}

    def members(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Members]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT c.uuid AS community, e.uuid, e.source_id, e.name, l.name AS label, e.description,
                    {visible.entity_supported("e")} AS supported, (
                        SELECT coalesce(sum(a.passages), 0) FROM appearance a CROSS JOIN version v ON v.id = a.version
                        WHERE a.entity = e.id AND {visible.current("v")}
                    ) AS passages
                FROM {_ASKED} CROSS JOIN entity e ON e.id IN (
                    SELECT n.id FROM membership m CROSS JOIN entity n ON n.id = m.entity
                    WHERE m.community = c.id AND {visible.entity_known("n")} ORDER BY n.uuid LIMIT :limit + 1
                ) JOIN label l ON l.id = e.label ORDER BY c.uuid, e.uuid""",
            {**visible.parameters, "ids": json.dumps(ids), "limit": limit},
        )
        found: dict[str, list[Member]] = defaultdict(list)
        for community, key, source_id, name, label, description, supported, passages in rows:
            status = Status.SUPPORTED if supported else Status.UNSUPPORTED
            found[community].append(Member(key, source_id, name, label, description, status, passages))
        return {community: Members(tuple(own[:limit]), len(own) > limit) for community, own in found.items()}

    def inside(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, EdgeRead]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH read_edges AS MATERIALIZED (
                    SELECT c.uuid AS community, CASE WHEN c.known > {_LARGE} THEN {_INNER_OF_LARGE}
                        ELSE {_INNER_OF_SMALL} END AS edges FROM {_ASKED} WHERE {_has_known_member(visible)}
                ), placed AS MATERIALIZED (
                    SELECT r.community, j.value AS edge, j.key AS place FROM read_edges r, json_each(r.edges) j
                ), wanted AS MATERIALIZED (
                    SELECT e.*, e.id AS edge FROM edge e WHERE e.id IN (SELECT edge FROM placed WHERE place < :limit)
                )
                {ends_and_edges(visible)}
                UNION ALL SELECT * FROM (
                    SELECT 'place', 0, 0, i.community, x.uuid, i.place, 0, 0, 0 FROM placed i
                    CROSS JOIN edge x ON x.id = i.edge ORDER BY i.community, i.place
                )""",
            {**visible.parameters, "ids": json.dumps(ids), "limit": limit},
        )
        kept = {edge.id: edge for edge in stored_edges(rows)}
        read: dict[str, list[str]] = defaultdict(list)
        for kind, _, _, community, edge, *_ in rows:
            if kind == "place":
                read[community].append(edge)
        return {
            community: EdgeRead(
                tuple(kept[edge] for edge in edges[:limit] if edge in kept), min(len(edges), limit), len(edges) > limit
            )
            for community, edges in read.items()
        }

    def central_passages(
        self, ids: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, tuple[tuple[str, int], ...]]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH counted AS (
                    SELECT c.uuid AS community, p.uuid AS passage, count(DISTINCT m.entity) AS members
                    FROM {_ASKED} CROSS JOIN membership b ON b.community = c.id
                    CROSS JOIN mention m ON m.entity = b.entity CROSS JOIN passage p ON p.id = m.passage
                    CROSS JOIN version v ON v.id = p.version WHERE {visible.current("v")} GROUP BY c.id, p.id
                ), placed AS (
                    SELECT *, row_number() OVER (PARTITION BY community ORDER BY members DESC, passage) AS place
                    FROM counted
                )
                SELECT community, passage, members FROM placed WHERE place <= :limit ORDER BY community, place""",
            {**visible.parameters, "ids": json.dumps(ids), "limit": limit},
        )
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for community, passage, members in rows:
            found[community].append((passage, members))
        return {community: tuple(own) for community, own in found.items()}

    def claims(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, tuple[Claim, ...]]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH seen AS (
                    SELECT c.uuid AS community, k.*, row_number() OVER (PARTITION BY c.id ORDER BY k.uuid) AS place
                    FROM {_ASKED} CROSS JOIN membership b ON b.community = c.id
                    CROSS JOIN claim k ON k.subject = b.entity
                    WHERE {claim_seen("k", visible)}
                )
                SELECT k.*, d.name AS dataset_name, s.uuid AS subject_id, s.name AS subject_name,
                    o.uuid AS object_id, o.name AS object_name, (
                        SELECT json_group_array(uuid) FROM (SELECT p.uuid {_claimed_in("k", visible)} ORDER BY p.uuid)
                    ) AS passages
                FROM seen k JOIN dataset d ON d.id = k.dataset JOIN entity s ON s.id = k.subject
                LEFT JOIN entity o ON o.id = k.object WHERE k.place <= :limit ORDER BY k.community, k.uuid""",
            {**visible.parameters, "ids": json.dumps(ids), "limit": limit},
        )
        found: dict[str, list[Claim]] = defaultdict(list)
        for row in rows:
            found[row["community"]].append(_claim(row))
        return {community: tuple(own) for community, own in found.items()}

    def edge_weights(self, edge_ids: Sequence[str], scope: ResolvedScope) -> dict[str, float]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT e.uuid, {_relations(visible)} AS relations, {_weights(visible)} AS weights
                FROM json_each(:ids) asked CROSS JOIN edge e ON e.uuid = asked.value WHERE relations > 0
                AND {visible.entity_known_by("e.source")} AND {visible.entity_known_by("e.target")}""",
            {**visible.parameters, "ids": json.dumps(edge_ids)},
        )
        return {edge: _summed(relations, weights) for edge, relations, weights in rows}

    def weighted_datasets(self) -> frozenset[str]:
        return frozenset(name for (name,) in self.connection.read("SELECT name FROM dataset WHERE weighted"))

    def weighted_edges(self, dataset: str, scope: ResolvedScope) -> Iterator[WeightedEdge]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.stream(
            f"""SELECT s.uuid, t.uuid, {_relations(visible)} AS relations, {_weights(visible)} AS weights
                FROM entity s CROSS JOIN edge e ON e.source = s.id CROSS JOIN entity t ON t.id = e.target
                WHERE s.dataset = (SELECT id FROM dataset WHERE name = :dataset) AND s.id <> t.id AND relations > 0
                AND {visible.entity_known("s")} AND {visible.entity_known("t")} ORDER BY s.uuid, t.uuid, e.uuid""",
            {**visible.parameters, "dataset": dataset},
        )
        return (
            WeightedEdge(source, target, relations, _summed(relations, weights))
            for source, target, relations, weights in rows
        )


# --- conditions ------------------------------------------------------------------------------------------------------


def community_seen(visible: Visibility) -> str:
    """Holds where the scope sees the community `c`."""
    return f"({_has_known_member(visible)} OR ({_IS_EMPTY} AND {community_whole(visible)}))"


def claim_seen(claim: str, visible: Visibility) -> str:
    """Holds where the scope sees a row of `claim`."""
    return f"""({visible.entity_known_by(f"{claim}.subject")}
        AND ({claim}.object IS NULL OR {visible.entity_known_by(f"{claim}.object")})
        AND ({claim}.unstated OR EXISTS (SELECT 1 {_claimed_in(claim, visible)})))"""


def _claimed_in(claim: str, visible: Visibility) -> str:
    return f"""FROM claim_passage q CROSS JOIN passage p ON p.id = q.passage
        CROSS JOIN version v ON v.id = p.version WHERE q.claim = {claim}.id AND {visible.current("v")}"""


def community_parameters(visible: Visibility) -> dict[str, object]:
    return {**visible.parameters, "present": present()}


def _size(visible: Visibility) -> str:
    """How many members of the community `c` are in scope."""
    if visible.is_stored:
        return "c.known"
    return f"""(SELECT count(*) FROM membership m CROSS JOIN entity e ON e.id = m.entity
        WHERE m.community = c.id AND {visible.entity_known("e")})"""


def _has_known_member(visible: Visibility) -> str:
    """Holds where a member of the community `c` is in scope."""
    if visible.is_stored:
        return "c.known > 0"
    return f"""EXISTS (SELECT 1 FROM membership m CROSS JOIN entity e ON e.id = m.entity
        WHERE m.community = c.id AND {visible.entity_known("e")})"""


def community_whole(visible: Visibility) -> str:
    """Holds where the scope hides nothing that the report of the community `c` may rest on."""
    cites = f"""NOT EXISTS (SELECT 1 FROM report_source r WHERE r.community = c.id AND NOT EXISTS (
            SELECT 1 FROM passage p CROSS JOIN version v ON v.id = p.version
            WHERE p.uuid = r.passage AND {visible.current("v")}))"""
    if visible.is_present:
        return f"({cites})"
    hidden = f"h.valid_from <= :present AND :present < h.valid_to AND NOT {visible.current('h')}"
    return f"""({cites} AND NOT EXISTS (
            SELECT 1 FROM membership m CROSS JOIN appearance a ON a.entity = m.entity
            CROSS JOIN version h ON h.id = a.version WHERE m.community = c.id AND {hidden}
        ) AND NOT EXISTS (
            SELECT 1 FROM membership m CROSS JOIN edge e ON e.source = m.entity
            CROSS JOIN membership o ON o.community = c.id AND o.entity = e.target
            CROSS JOIN support s ON s.edge = e.id CROSS JOIN version h ON h.id = s.version
            WHERE m.community = c.id AND e.source <> e.target AND {hidden}
        ) AND NOT ({_IS_EMPTY} AND EXISTS (
            SELECT 1 FROM document d CROSS JOIN version h ON h.document = d.id
            WHERE d.dataset = c.dataset AND {hidden}
        )))"""


def _relations(visible: Visibility) -> str:
    """How many relations the scope keeps of the edge `e`."""
    if visible.is_stored:
        return "(e.stated + e.current_unstated)"
    return f"""((SELECT count(DISTINCT s.relation) FROM support s CROSS JOIN version v ON v.id = s.version
        WHERE s.edge = e.id AND {visible.current("v")}) + {visible.edge_unstated("e")})"""


def _weights(visible: Visibility) -> str:
    """The weights of the relations that the scope keeps of the edge `e`, where one of them has a weight of its own."""
    return f"""(SELECT CASE WHEN count(weight) > 0 THEN json_group_array(coalesce(weight, 1)) END FROM (
            SELECT r.weight FROM relation r WHERE r.id IN (
                SELECT s.relation FROM support s CROSS JOIN version v ON v.id = s.version
                WHERE s.edge = e.id AND {visible.current("v")}
            ) UNION ALL SELECT r.weight FROM relation r WHERE r.edge = e.id AND r.unstated AND NOT EXISTS (
                SELECT 1 FROM support s CROSS JOIN version v ON v.id = s.version
                WHERE s.relation = r.id AND {visible.current("v")}
            )
        ))"""


def _summed(relations: int, weights: str | None) -> float:
    # The sum of floats depends on their order, unless it is exact; another store has them in another.
    return float(relations) if weights is None else fsum(json.loads(weights))


# --- values ----------------------------------------------------------------------------------------------------------


def _head(row: Row) -> CommunityHead:
    is_whole = bool(row["is_whole"])
    return CommunityHead(
        id=row["uuid"],
        source_id=row["source_id"],
        dataset=row["dataset_name"],
        level=row["level"],
        parent=row["parent"],
        title=row["title"] if is_whole else "",
        origin=CommunityOrigin(row["origin"]),
        report=ReportOrigin(row["report_origin"]) if row["report_origin"] else None,
        is_whole=is_whole,
        stale=bool(row["stale"]),
        size=row["size"],
        vectors=row["collection"],
        metadata=read_json(row["metadata"]) if is_whole else {},
    )


def _claim(row: Row) -> Claim:
    return Claim(
        id=row["uuid"],
        source_id=row["source_id"],
        dataset=row["dataset_name"],
        subject_id=row["subject_id"],
        subject=row["subject_name"],
        object_id=row["object_id"],
        object=row["object_name"],
        type=row["type"],
        status=row["status"],
        start_date=row["start_date"],
        end_date=row["end_date"],
        description=row["description"],
        passage_ids=tuple(json.loads(row["passages"])),
        metadata=read_json(row["metadata"]),
    )
