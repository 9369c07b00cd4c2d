"""Reading edges: around some entities in the order of their stored support, and the passages that state them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backend.models import Counts, Evidence, Hidden, RelationType, Status
from backend.scope import ResolvedScope
from backend.stores.base import EdgeRead, End, StoredEdge
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.rows import PASSAGE_COLUMNS, PASSAGE_JOINS, READING_ORDER, result_evidence
from backend.stores.sqlite.visibility import Visibility

_STORED_ORDER = "less_documents, less_passages, uuid"


class EdgeReads:
    """The reading primitives about edges."""

    connection: Connection
    settled: int

    def edges_around(
        self, entity_ids: Sequence[str], relation_types: Sequence[str], limit: int, scope: ResolvedScope
    ) -> EdgeRead:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH {_near(relation_types)},
                first_read AS MATERIALIZED (
                    SELECT edge FROM near GROUP BY edge ORDER BY {_STORED_ORDER} LIMIT :limit + 1
                ), {_seen_edges("first_read", visible)}
                SELECT seen.*, (SELECT count(*) FROM first_read) AS total FROM seen""",
            {
                **visible.parameters,
                "ids": json.dumps(entity_ids),
                "types": json.dumps(relation_types),
                "limit": limit,
            },
        )
        total = rows[0]["total"] if rows else 0
        # The row beyond the limit only tells that there is more.
        ordered = sorted(rows, key=lambda row: (row["less_documents"], row["less_passages"], row["uuid"]))
        edges = (_stored_edge(row) for row in ordered[:limit])
        return EdgeRead(tuple(edge for edge in edges if edge is not None), min(total, limit), total > limit)

    def edge(self, edge_id: str, scope: ResolvedScope) -> StoredEdge | None:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH wanted AS (SELECT id AS edge FROM edge WHERE uuid = :id), {_seen_edges("wanted", visible)}
                SELECT * FROM seen""",
            {**visible.parameters, "id": edge_id},
        )
        return _stored_edge(rows[0]) if rows else None

    def edge_support(self, edge_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Evidence]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH stating AS (
                    SELECT DISTINCT e.id AS edge, e.uuid, e.source, e.target, s.passage, s.document
                    FROM edge e CROSS JOIN support s ON s.edge = e.id CROSS JOIN version v ON v.id = s.version
                    WHERE e.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.current("v")}
                ), placed AS (
                    SELECT stating.*, row_number() OVER (PARTITION BY edge ORDER BY (
                        EXISTS (SELECT 1 FROM mention m WHERE m.entity = source AND m.passage = stating.passage)
                        AND EXISTS (SELECT 1 FROM mention m WHERE m.entity = target AND m.passage = stating.passage)
                    ) DESC, {READING_ORDER}) AS place, count(*) OVER (PARTITION BY edge) AS passages
                    FROM stating CROSS JOIN passage p ON p.id = stating.passage JOIN version v ON v.id = p.version
                ), documents AS (SELECT edge, count(DISTINCT document) AS documents FROM stating GROUP BY edge)
                SELECT placed.uuid AS edge, placed.passages, documents.documents, {PASSAGE_COLUMNS}, (
                    SELECT json_group_array(json_array(m."start", m."end")) FROM mention m
                    WHERE m.passage = placed.passage AND m.entity IN (placed.source, placed.target)
                ) AS spans
                FROM placed JOIN documents ON documents.edge = placed.edge
                JOIN passage p ON p.id = placed.passage {PASSAGE_JOINS}
                WHERE placed.place <= :limit ORDER BY placed.edge, placed.place""",
            {**visible.parameters, "ids": json.dumps(edge_ids), "limit": limit},
        )
        return result_evidence(rows, "edge")

    def hidden_edges(
        self,
        entity_ids: Sequence[str],
        relation_types: Sequence[str],
        shown: Sequence[str],
        limit: int,
        scope: ResolvedScope,
    ) -> dict[str, Hidden]:
        visible = Visibility(scope, self.settled)
        first = f"""SELECT * FROM adjacency b WHERE b.entity = f.id {_asked(relation_types)}
            ORDER BY {_STORED_ORDER} LIMIT :limit"""
        edge = "" if visible.is_stored else "JOIN edge e ON e.id = near.edge"
        rows = self.connection.read(
            f"""WITH shown AS MATERIALIZED (
                    SELECT id FROM edge WHERE uuid IN (SELECT value FROM json_each(:shown))
                )
                SELECT f.uuid, (
                    SELECT count(*) FROM ({first}) near {edge}
                    WHERE {visible.edge_kept("near")} AND near.edge NOT IN (SELECT id FROM shown)
                ) AS hidden, (SELECT count(*) FROM ({first} + 1)) <= :limit AS exact
                FROM entity f WHERE f.uuid IN (SELECT value FROM json_each(:ids))""",
            {
                **visible.parameters,
                "ids": json.dumps(entity_ids),
                "types": json.dumps(relation_types),
                "shown": json.dumps(shown),
                "limit": limit,
            },
        )
        return {row["uuid"]: Hidden(row["hidden"], bool(row["exact"])) for row in rows}

    def relation_types(self, entity_id: str, limit: int, scope: ResolvedScope) -> tuple[RelationType, ...]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH {_near(())}
                SELECT t.name, count(*) AS edges, (SELECT count(*) FROM near) <= :limit AS exact
                FROM (SELECT * FROM near ORDER BY {_STORED_ORDER} LIMIT :limit) near
                JOIN edge e ON e.id = near.edge JOIN relation_type t ON t.id = e.type
                WHERE {visible.edge_kept("near")} GROUP BY t.id""",
            {**visible.parameters, "ids": json.dumps([entity_id]), "limit": limit},
        )
        types = (RelationType(row["name"], row["edges"], bool(row["exact"])) for row in rows)
        return tuple(sorted(types, key=lambda relation_type: (-relation_type.edges, relation_type.name)))

    def mentioning_both(self, first: str, second: str, limit: int, scope: ResolvedScope) -> Evidence:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH ends AS (SELECT id FROM entity WHERE uuid IN (:first, :second)),
                both_mentioned AS (
                    SELECT DISTINCT m.passage, v.document FROM mention m
                    CROSS JOIN passage p ON p.id = m.passage CROSS JOIN version v ON v.id = p.version
                    WHERE m.entity = (SELECT id FROM entity WHERE uuid = :first) AND {visible.current("v")}
                    AND EXISTS (
                        SELECT 1 FROM mention o WHERE o.passage = m.passage
                        AND o.entity = (SELECT id FROM entity WHERE uuid = :second)
                    )
                )
                SELECT 'both' AS pair, (SELECT count(*) FROM both_mentioned) AS passages,
                    (SELECT count(DISTINCT document) FROM both_mentioned) AS documents, {PASSAGE_COLUMNS}, (
                    SELECT json_group_array(json_array(m."start", m."end")) FROM mention m
                    WHERE m.passage = p.id AND m.entity IN (SELECT id FROM ends)
                ) AS spans
                FROM both_mentioned b JOIN passage p ON p.id = b.passage {PASSAGE_JOINS}
                ORDER BY {READING_ORDER} LIMIT :limit""",
            {**visible.parameters, "first": first, "second": second, "limit": limit},
        )
        return result_evidence(rows, "pair").get("both", Evidence())


def _near(relation_types: Sequence[str]) -> str:
    """Common table expressions `frontier` and `near`: of each entity the first edges, one more than the limit.

    The inner SELECT is run per entity (and type) and ends at its limit inside an index that has the stored order.
    """
    if not relation_types:
        return f"""frontier AS MATERIALIZED (
                SELECT id AS entity, uuid FROM entity WHERE uuid IN (SELECT value FROM json_each(:ids))
            ), near AS MATERIALIZED (
                SELECT a.entity, a.edge, a.less_documents, a.less_passages, a.uuid, a.kept
                FROM frontier f CROSS JOIN adjacency a ON a.id IN (
                    SELECT b.id FROM adjacency b WHERE b.entity = f.entity ORDER BY {_STORED_ORDER} LIMIT :limit + 1
                )
            )"""
    return f"""frontier AS MATERIALIZED (
            SELECT id AS entity, uuid FROM entity WHERE uuid IN (SELECT value FROM json_each(:ids))
        ), asked AS MATERIALIZED (
            SELECT id AS type FROM relation_type WHERE name IN (SELECT value FROM json_each(:types))
        ), near AS MATERIALIZED (
            SELECT a.entity, a.edge, a.less_documents, a.less_passages, a.uuid, a.kept
            FROM frontier f CROSS JOIN asked t CROSS JOIN adjacency a ON a.id IN (
                SELECT b.id FROM adjacency b WHERE b.entity = f.entity AND b.type = t.type
                ORDER BY {_STORED_ORDER} LIMIT :limit + 1
            )
        )"""


def _asked(relation_types: Sequence[str]) -> str:
    if not relation_types:
        return ""
    return """AND b.type IN (
        SELECT id FROM relation_type WHERE name IN (SELECT value FROM json_each(:types))
    )"""


def _seen_edges(wanted: str, visible: Visibility) -> str:
    """Common table expression `seen`: the edges of `wanted` with ends and visible support, dropped ones included."""
    return f"""backed AS MATERIALIZED (
            {visible.edge_support(wanted)}
        ), ends AS MATERIALIZED (
            SELECT n.id, n.uuid, n.source_id, ds.name AS dataset, n.name, l.name AS label,
                {visible.entity_known("n.id")} AS known, {visible.entity_supported("n.id")} AS supported
            FROM (
                SELECT e.source AS id FROM {wanted} w JOIN edge e ON e.id = w.edge
                UNION SELECT e.target FROM {wanted} w JOIN edge e ON e.id = w.edge
            ) x JOIN entity n ON n.id = x.id JOIN label l ON l.id = n.label JOIN dataset ds ON ds.id = n.dataset
        ), seen AS (
            SELECT e.uuid, t.name AS type, e.unstated, -e.documents AS less_documents, -e.passages AS less_passages,
                coalesce(backed.stated, 0) AS stated, coalesce(backed.passages, 0) AS passages,
                coalesce(backed.documents, 0) AS documents,
                {_end_columns("source")}, {_end_columns("target")}
            FROM {wanted} w CROSS JOIN edge e ON e.id = w.edge JOIN relation_type t ON t.id = e.type
            JOIN ends source ON source.id = e.source JOIN ends target ON target.id = e.target
            LEFT JOIN backed ON backed.edge = e.id
        )"""


_END_FIELDS = ("uuid", "source_id", "dataset", "name", "label", "known", "supported")


def _end_columns(end: str) -> str:
    return ", ".join(f"{end}.{name} AS {end}_{name}" for name in _END_FIELDS)


def _stored_edge(row: Row) -> StoredEdge | None:
    if not (row["source_known"] and row["target_known"] and row["stated"] + row["unstated"]):
        return None
    return StoredEdge(
        id=row["uuid"],
        source=_end(row, "source"),
        target=_end(row, "target"),
        type=row["type"],
        stated=row["stated"],
        unstated=row["unstated"],
        counts=Counts(row["passages"], row["documents"]),
    )


def _end(row: Row, end: str) -> End:
    return End(
        id=row[f"{end}_uuid"],
        source_id=row[f"{end}_source_id"],
        dataset=row[f"{end}_dataset"],
        name=row[f"{end}_name"],
        label=row[f"{end}_label"],
        status=Status.SUPPORTED if row[f"{end}_supported"] else Status.UNSUPPORTED,
    )
