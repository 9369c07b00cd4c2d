"""Reading edges: around some entities in the order of their stored support, and the passages that state them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from backend.models import Counts, Evidence, Hidden, RelationType, Status
from backend.scope import ResolvedScope
from backend.stores.base import EdgeRead, End, HiddenEdges, StoredEdge
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.rows import PASSAGE_COLUMNS, PASSAGE_JOINS, READING_ORDER, result_evidence
from backend.stores.sqlite.visibility import Visibility

_NO_PASSAGES = Counts()
_STORED_ORDER = "less_documents, less_passages, uuid"
# Of the two rows of an edge between entities that are both looked around one is left out, not grouped away, which would
# sort all rows. The other is among them, or so many edges come before it that this one cannot be among the first.
_ONCE = "NOT (other < entity AND other IN (SELECT id FROM last))"


class EdgeReads:
    """The reading primitives about edges."""

    connection: Connection
    settled: int

    def edges_around(
        self, entity_ids: Sequence[str], relation_types: Sequence[str], limit: int, scope: ResolvedScope
    ) -> EdgeRead:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH {_near(relation_types, kept=False)},
                wanted AS MATERIALIZED (
                    SELECT e.*, e.id AS edge
                    FROM (SELECT edge FROM near WHERE {_ONCE} ORDER BY {_STORED_ORDER} LIMIT :limit) r
                    CROSS JOIN edge e ON e.id = r.edge
                )
                {ends_and_edges(visible)}
                UNION ALL SELECT 'read', count(*), 0, 0, 0, 0, 0, 0, 0
                FROM (SELECT 1 FROM near WHERE {_ONCE} LIMIT :limit + 1)""",
            {
                **visible.parameters,
                "ids": json.dumps(entity_ids),
                "types": json.dumps(relation_types),
                "limit": limit,
            },
        )
        read = rows[-1][1]
        return EdgeRead(tuple(stored_edges(rows)), min(read, limit), read > limit)

    def edge(self, edge_id: str, scope: ResolvedScope) -> StoredEdge | None:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"WITH wanted AS (SELECT *, id AS edge FROM edge WHERE uuid = :id) {ends_and_edges(visible)}",
            {**visible.parameters, "id": edge_id},
        )
        return next(stored_edges(rows), None)

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
        *,
        among: Sequence[str],
    ) -> HiddenEdges:
        visible = Visibility(scope, self.settled)
        # With types the first edges of each are read beforehand; without, they stand in the index as they are wanted.
        read, source = (f"{_near(relation_types)},", "near") if relation_types else ("", "adjacency")
        first = f"""SELECT entity, edge, other, kept FROM {source} b WHERE b.entity = f.id
            ORDER BY {_STORED_ORDER} LIMIT :limit"""
        edge = "" if visible.is_stored else "JOIN edge e ON e.id = near.edge"
        kept = visible.edge_kept("near")
        hidden = f"FROM ({first}) near {edge} WHERE {kept} AND near.edge NOT IN (SELECT id FROM shown)"
        rows = self.connection.read(
            f"""WITH {read} shown AS MATERIALIZED (
                    SELECT id FROM edge WHERE uuid IN (SELECT value FROM json_each(:shown))
                ), among AS MATERIALIZED (
                    SELECT id FROM entity WHERE uuid IN (SELECT value FROM json_each(:among))
                )
                SELECT f.uuid, f.id IN (SELECT id FROM among) AS is_among, (SELECT count(*) {hidden}) AS hidden,
                    (SELECT count(*) FROM ({first} + 1)) <= :limit AS exact,
                    CASE WHEN f.id IN (SELECT id FROM among) THEN (
                        SELECT json_group_array(near.edge) {hidden} AND near.other IN (SELECT id FROM among)
                    ) ELSE '[]' END AS mutual
                FROM entity f WHERE f.uuid IN (SELECT value FROM json_each(:ids))""",
            {
                **visible.parameters,
                "ids": json.dumps(entity_ids),
                "types": json.dumps(relation_types),
                "shown": json.dumps(shown),
                "among": json.dumps(among),
                "limit": limit,
            },
        )
        # An edge between two of `among` was counted at both of its ends.
        mutual = [edge for row in rows for edge in json.loads(row["mutual"])]
        twice = len(mutual) - len(set(mutual))
        distinct = sum(row["hidden"] for row in rows if row["is_among"]) - twice
        return HiddenEdges({row["uuid"]: Hidden(row["hidden"], bool(row["exact"])) for row in rows}, distinct)

    def relation_types(self, entity_id: str, limit: int, scope: ResolvedScope) -> tuple[RelationType, ...]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH {_near(())}
                SELECT t.name, count(*) AS edges, (SELECT count(*) FROM near) <= :limit AS exact
                FROM (SELECT * FROM near ORDER BY {_STORED_ORDER} LIMIT :limit) near
                JOIN edge e ON e.id = near.edge JOIN relation_type t ON t.id = e.type
                WHERE {visible.edge_kept("near")} AND {visible.entity_known_by("near.entity")} GROUP BY t.id""",
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


def _near(relation_types: Sequence[str], *, kept: bool = True) -> str:
    """Common table expression `near`: the first edges in stored order, and one more, of each entity (and type).

    Only these are read, as one range of an index that has the order. Where there are more, `last` is its last row.
    They are kept where they are looked up one by one, and read anew where they are read in one go.
    """
    asked = column = of_type = with_type = ""
    if relation_types:
        asked = """CROSS JOIN (
                SELECT id AS type FROM relation_type WHERE name IN (SELECT value FROM json_each(:types))
            ) t """
        column, of_type, with_type = "t.type,", "AND b.type = t.type", "AND a.type = l.type"
    return f"""last AS MATERIALIZED (
            SELECT f.id, {column} coalesce(-e.documents, 1) AS less_documents,
                coalesce(-e.passages, 1) AS less_passages, coalesce(e.uuid, '') AS uuid
            FROM entity f {asked}LEFT JOIN edge e ON e.id = (
                SELECT b.edge FROM adjacency b WHERE b.entity = f.id {of_type}
                ORDER BY {_STORED_ORDER} LIMIT 1 OFFSET :limit
            ) WHERE f.uuid IN (SELECT value FROM json_each(:ids))
        ), near AS {"" if kept else "NOT "}MATERIALIZED (
            SELECT a.entity, a.edge, a.less_documents, a.less_passages, a.uuid, a.other, a.kept
            FROM last l CROSS JOIN adjacency a ON a.entity = l.id {with_type}
                AND (a.less_documents, a.less_passages, a.uuid) <= (l.less_documents, l.less_passages, l.uuid)
        )"""


def ends_and_edges(visible: Visibility) -> str:
    """The ends of the edges in `wanted`, rows of `edge`, that are in scope, then the edges with their support."""
    ends = f"""SELECT 'end', n.id, n.uuid, n.source_id, ds.name, n.name, l.name, {visible.entity_supported("n")}, 0
        FROM (
            SELECT source AS id FROM wanted UNION SELECT target FROM wanted
        ) x CROSS JOIN entity n ON n.id = x.id JOIN label l ON l.id = n.label JOIN dataset ds ON ds.id = n.dataset
        WHERE {visible.entity_known("n")}"""
    if visible.is_stored:
        return f"""{ends} UNION ALL
            SELECT 'edge', e.source, e.target, e.uuid, t.name, e.stated, {visible.edge_unstated("e")},
                e.current_passages, e.current_documents
            FROM wanted e CROSS JOIN relation_type t ON t.id = e.type
            WHERE e.stated + e.unstated > 0"""
    return f"""{ends} UNION ALL
        SELECT 'edge', e.source, e.target, e.uuid, t.name, coalesce(backed.stated, 0),
            {visible.edge_unstated("e")}, coalesce(backed.passages, 0), coalesce(backed.documents, 0)
        FROM wanted e CROSS JOIN relation_type t ON t.id = e.type
        LEFT JOIN ({visible.edge_support("wanted")}) backed ON backed.edge = e.id
        WHERE coalesce(backed.stated, 0) + e.unstated > 0"""


def stored_edges(rows: Sequence[Row]) -> Iterator[StoredEdge]:
    """Edges with both ends in scope, from rows in which the ends come first."""
    ends: dict[int, End] = {}
    for kind, first, second, uuid, *rest in rows:
        if kind == "end":
            dataset, name, label, supported, _ = rest
            status = Status.SUPPORTED if supported else Status.UNSUPPORTED
            ends[first] = End(second, uuid, dataset, name, label, status)
        elif kind == "edge" and first in ends and second in ends:
            relation_type, stated, unstated, passages, documents = rest
            counts = Counts(passages, documents) if passages else _NO_PASSAGES
            yield StoredEdge(uuid, ends[first], ends[second], relation_type, stated, unstated, counts)
