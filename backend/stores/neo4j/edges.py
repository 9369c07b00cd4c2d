"""Reading edges: around some entities in the order of their stored support, and the passages that state them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.models import Counts, Evidence, Hidden, RelationType, Status
from backend.scope import ResolvedScope
from backend.stores.base import EdgeRead, End, HiddenEdges, StoredEdge
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.rows import READING_ORDER, passage_list, result_evidence
from backend.stores.neo4j.schema import (
    CHUNK,
    DOCUMENT,
    EDGE,
    ENTITY,
    FAR_END,
    HAS_PART,
    MENTIONED_IN,
    RELATION,
    SEEK_RELATION,
    in_order,
    text_key,
)
from backend.stores.neo4j.visibility import Reads, Visibility, written

_NO_PASSAGES = Counts()


class EdgeReads(Reads):
    """The reading primitives about edges."""

    def edges_around(
        self, entity_ids: Sequence[str], relation_types: Sequence[str], limit: int, scope: ResolvedScope
    ) -> EdgeRead:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id
                {near(relation_types)}
                WITH DISTINCT x, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT $limit + 1
                WITH collect(x) AS first
                WITH first[..$limit] AS wanted, size(first) AS read
                {ends_and_edges(visible)}
                RETURN read, ends, edges""",
            {**visible.parameters, **_asked(entity_ids, relation_types, limit)},
        )
        (row,) = rows
        return EdgeRead(tuple(stored_edges(row)), min(row["read"], limit), row["read"] > limit)

    def edge(self, edge_id: str, scope: ResolvedScope) -> StoredEdge | None:
        visible = self.visibility(scope)
        (row,) = self.reading.read(
            f"""OPTIONAL MATCH (x:{EDGE} {{id: $id}}) WHERE {written("x")}
                WITH collect(x) AS wanted {ends_and_edges(visible)} RETURN ends, edges""",
            {**visible.parameters, "id": edge_id},
        )
        return next(stored_edges(row), None)

    def edge_support(self, edge_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Evidence]:
        visible = self.visibility(scope)
        mentioned = f"(n:{ENTITY})-[m:{MENTIONED_IN}]->(p)"
        spans = f"[{mentioned} WHERE {written('m')} AND n.id IN [x.source, x.target] | [m.start, m.end]]"
        both = " AND ".join(
            f"EXISTS {{ MATCH {mentioned} WHERE {written('m')} AND n.id = x.{end} }}" for end in ("source", "target")
        )
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (x:{EDGE} {{id: id}})
                CALL (x) {{
                    {visible.support("x.id")}
                    WITH DISTINCT x, p, v
                    WITH x, p, v, CASE WHEN {both} THEN 0 ELSE 1 END AS one ORDER BY one, {READING_ORDER}
                    WITH x, collect([p, v]) AS pairs, count(DISTINCT v.id) AS documents
                    CALL (x, pairs) {{
                        UNWIND pairs[..$limit] AS pair WITH x, pair[0] AS p, pair[1] AS v
                        RETURN collect({passage_list("p", "v", spans)}) AS first
                    }}
                    RETURN first, size(pairs) AS passages, documents
                }}
                WITH id, first, passages, documents WHERE passages > 0
                RETURN id, first, passages, documents""",
            {**visible.parameters, "ids": list(dict.fromkeys(edge_ids)), "limit": limit},
        )
        return {row["id"]: result_evidence(row) for row in rows}

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
        visible = self.visibility(scope)
        rows = self.reading.read(
            _hidden_stored(relation_types) if visible.is_stored else _hidden(relation_types, visible),
            {
                **visible.parameters,
                **_asked(entity_ids, relation_types, limit),
                "shown": list(shown),
                "among": list(among),
            },
        )
        # An edge between two of `among` was counted at both of its ends.
        mutual = [edge for row in rows for edge in row["mutual"]]
        twice = len(mutual) - len(set(mutual))
        members = set(among)
        distinct = sum(row["hidden"] for row in rows if row["id"] in members) - twice
        return HiddenEdges({row["id"]: Hidden(row["hidden"], row["exact"]) for row in rows}, distinct)

    def relation_types(self, entity_id: str, limit: int, scope: ResolvedScope) -> tuple[RelationType, ...]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id
                MATCH (f:{ENTITY} {{id: id}}) WHERE {visible.entity_known("f")}
                CALL (id) {{
                    {near(())}
                    WITH x, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT $limit + 1
                    RETURN collect(x) AS first
                }}
                UNWIND first[..$limit] AS x
                WITH x, CASE WHEN x.source = id THEN x.target ELSE x.source END AS other, id, first
                WHERE {kept(visible)}
                RETURN x.type AS name, count(*) AS edges, size(first) <= $limit AS exact""",
            {**visible.parameters, **_asked([entity_id], (), limit)},
        )
        types = (RelationType(row["name"], row["edges"], row["exact"]) for row in rows)
        return tuple(sorted(types, key=lambda relation_type: (-relation_type.edges, relation_type.name)))

    def mentioning_both(self, first: str, second: str, limit: int, scope: ResolvedScope) -> Evidence:
        visible = self.visibility(scope)
        spans = f"[(n:{ENTITY})-[m:{MENTIONED_IN}]->(p) WHERE {written('m')} AND n.id IN $ids | [m.start, m.end]]"
        (row,) = self.reading.read(
            f"""OPTIONAL MATCH (:{ENTITY} {{id: $ids[0]}})-[m:{MENTIONED_IN}]->(p:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT})
                WHERE {written("m")} AND {written("p")} AND {visible.current("v")} AND EXISTS {{
                    MATCH (:{ENTITY} {{id: $ids[1]}})-[o:{MENTIONED_IN}]->(p) WHERE {written("o")}
                }}
                WITH DISTINCT p, v ORDER BY {READING_ORDER}
                WITH collect(CASE WHEN p IS NOT NULL THEN [p, v] END) AS pairs, count(DISTINCT v.id) AS documents
                CALL (pairs) {{
                    UNWIND pairs[..$limit] AS pair WITH pair[0] AS p, pair[1] AS v
                    RETURN collect({passage_list("p", "v", spans)}) AS first
                }}
                RETURN first, size(pairs) AS passages, documents""",
            {**visible.parameters, "ids": [first, second], "limit": limit},
        )
        return result_evidence(row)


def _asked(entity_ids: Sequence[str], relation_types: Sequence[str], limit: int) -> dict[str, object]:
    return {
        "ids": list(dict.fromkeys(entity_ids)),
        "types": [text_key(name) for name in dict.fromkeys(relation_types)],
        "limit": limit,
    }


# What `near` gives each edge its place by.
STORED_ORDER = "less_documents, less_passages, edge"


def near(relation_types: Sequence[str], columns: str = "x", limit: str = "$limit + 1") -> str:
    """Reads the first edges `x` in stored order, up to the limit, on either side of the entity `id` (and of each type).

    Each side is one range of an index that has the order, so that a hub costs no more than the limit. `columns` are
    returned with the order; they may name the `{end}` at which the entity is, and the `{far}` one.
    """
    each, typed, imported = ("UNWIND $types AS type", ("type_key",), "id, type") if relation_types else ("", (), "id")
    sides = [_side(end, far, typed, columns, limit) for end, far in FAR_END.items()]
    return f"{each} CALL ({imported}) {{ {' UNION ALL '.join(sides)} }}"


def _side(end: str, far: str, typed: Sequence[str], columns: str, limit: str) -> str:
    hint, present = in_order(end, *typed)
    of_type = "AND x.type_key = type" if typed else ""
    order = "".join(f"x.{column}, " for column in (end, *typed))
    return f"""MATCH (x:{EDGE}) {hint} WHERE x.{end} = id {of_type} AND {present} AND {written("x")}
        RETURN {columns.format(end=end, far=far)}, x.less_documents AS less_documents,
            x.less_passages AS less_passages, x.id AS edge
        ORDER BY {order}{STORED_ORDER} LIMIT {limit}"""


def _hidden_stored(relation_types: Sequence[str]) -> str:
    """What `hidden_edges` asks where it is stored which edges the scope keeps: the indexes hold all that is asked."""
    return f"""UNWIND $ids AS id
        CALL (id) {{
            {near(relation_types, "x.{far} AS other, x.kept_at_{end} AS is_kept")}
            WITH edge, other, is_kept, less_documents, less_passages ORDER BY {STORED_ORDER} LIMIT $limit + 1
            RETURN collect([edge, other, is_kept]) AS first
        }}
        WITH id, first, [one IN first[..$limit] WHERE one[2] AND NOT one[0] IN $shown] AS kept
        RETURN id, size(first) <= $limit AS exact, size(kept) AS hidden,
            CASE WHEN id IN $among THEN [one IN kept WHERE one[1] IN $among | one[0]] ELSE [] END AS mutual"""


def _hidden(relation_types: Sequence[str], visible: Visibility) -> str:
    """The same for any scope."""
    return f"""UNWIND $ids AS id
        CALL (id) {{
            {near(relation_types)}
            WITH x, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT $limit + 1
            RETURN collect(x) AS first
        }}
        CALL (id, first) {{
            UNWIND first[..$limit] AS x
            WITH x, CASE WHEN x.source = id THEN x.target ELSE x.source END AS other, id
            WHERE NOT x.id IN $shown AND {kept(visible)}
            RETURN count(*) AS hidden,
                collect(CASE WHEN id IN $among AND other IN $among THEN x.id END) AS mutual
        }}
        RETURN id, size(first) <= $limit AS exact, hidden, mutual"""


def kept(visible: Visibility) -> str:
    """Holds where the scope keeps the edge `x` that was read around `id`, whose far end is `other`."""
    if visible.is_stored:
        return "CASE WHEN x.source = id THEN x.kept_at_source ELSE x.kept_at_target END"
    return (
        f"({visible.edge_has_unstated('x')} OR {visible.edge_stated('x')}) AND "
        f"EXISTS {{ MATCH (n:{ENTITY} {{id: other}}) WHERE {visible.entity_known('n')} }}"
    )


def ends_and_edges(visible: Visibility) -> str:
    """The ends that are in scope of the edges in `wanted`, each once, and the edges with their support."""
    ends = f"""CALL (wanted) {{
            UNWIND wanted AS x UNWIND [x.source, x.target] AS end WITH DISTINCT end
            MATCH (n:{ENTITY} {{id: end}}) WHERE {visible.entity_known("n")}
            RETURN collect([n.id, n.source_id, n.dataset, n.name, n.label, {visible.entity_supported("n")}]) AS ends
        }}"""
    if visible.is_stored:
        return f"""{ends} WITH *, [x IN wanted WHERE x.stated + x.unstated > 0
            | [x.id, x.source, x.target, x.type, x.stated, x.unstated_now, x.passages, x.documents]] AS edges"""
    return f"""{ends} CALL (wanted) {{
            UNWIND wanted AS x
            CALL (x) {{
                OPTIONAL {visible.support("x.id")}
                RETURN count(DISTINCT r) AS stated, count(DISTINCT p) AS passages, count(DISTINCT v.id) AS documents
            }}
            CALL (x) {{
                OPTIONAL MATCH (r:{RELATION} {{edge: x.id}}) {SEEK_RELATION} WHERE {written("r")} AND r.unstated
                RETURN count(r) AS unstated,
                    count(CASE WHEN r IS NOT NULL AND NOT {visible.relation_stated("r")} THEN 1 END) AS unstated_now
            }}
            WITH x, stated, passages, documents, unstated, unstated_now WHERE stated + unstated > 0
            RETURN collect([x.id, x.source, x.target, x.type, stated, unstated_now, passages, documents]) AS edges
        }}"""


def stored_edges(row: Row) -> Iterator[StoredEdge]:
    """Edges with both ends in scope."""
    ends = {
        end_id: End(end_id, source_id, dataset, name, label, Status.SUPPORTED if supported else Status.UNSUPPORTED)
        for end_id, source_id, dataset, name, label, supported in row["ends"]
    }
    for edge_id, source, target, relation_type, stated, unstated, passages, documents in row["edges"]:
        if source in ends and target in ends:
            counts = Counts(passages, documents) if passages else _NO_PASSAGES
            yield StoredEdge(edge_id, ends[source], ends[target], relation_type, stated, unstated, counts)
