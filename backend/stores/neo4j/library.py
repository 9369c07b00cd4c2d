"""Reading what the store holds: names for requests, whole documents and passages, counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from backend.models import (
    Catalog,
    CollectionCounts,
    DatasetCounts,
    DocumentView,
    Passage,
    Progress,
    VectorCollection,
)
from backend.scope import ResolvedScope
from backend.stores.neo4j.communities import claim_seen, community_seen, community_whole, hiding
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.entities import unknown_names
from backend.stores.neo4j.indexes import full_texts
from backend.stores.neo4j.rows import ALL_SPANS, document_fields, document_list, passage_list, result_passage
from backend.stores.neo4j.schema import (
    CHUNK,
    CLAIM,
    COLLECTION,
    COMMUNITY,
    COMPLEMENT_IN,
    DATASET,
    DOCUMENT,
    ENTITY,
    HAS_PART,
    LABEL,
    METADATA_KEY,
    RELATION,
    STATED_IN,
    STORE,
    SUBJECT,
    TYPE,
    VECTORS,
    text_key,
)
from backend.stores.neo4j.visibility import Reads, written
from backend.stores.readiness import FullText, data_version, index_states


class LibraryReads(Reads):
    """The reading primitives about the store as a whole."""

    building: Callable[[], Progress | None]  # what a running `attest index` is doing

    @property
    def data_version(self) -> str:
        return data_version(self.commit)

    def catalog(self) -> Catalog:
        return self.opening({})[0]

    def opening(self, names: Mapping[str, Sequence[str]]) -> tuple[Catalog, tuple[tuple[str, str], ...]]:
        unknown, asked = unknown_names(names)
        (row,) = self.reading.read(f"{_CATALOG}, {unknown} AS unknown", {**asked, "commit": self.commit})
        catalog = self._catalog(row, *full_texts(self.reading))
        return catalog, tuple((kind, name) for kind, name in row["unknown"])

    def _catalog(self, row: Row, names: FullText, passages: FullText) -> Catalog:
        labels = {name: (entities, without) for name, entities, without in row["labels"]}
        return Catalog(
            data_version=self.data_version,
            labels=tuple(sorted(labels)),
            relation_types=tuple(sorted(row["relation_types"])),
            collections=tuple(sorted(row["collections"])),
            metadata_keys=tuple(sorted(row["metadata_keys"])),
            indexes=index_states(
                labels,
                names,
                passages=passages,
                kinds={kind: (size, without) for kind, size, without in row["kinds"]},
                building=self.building,
            ),
            vector_collections=tuple(VectorCollection(*fields[1:]) for fields in sorted(row["vector_collections"])),
        )

    def unknown_names(self, names: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        unknown, asked = unknown_names(names)
        (row,) = self.reading.read(f"RETURN {unknown} AS unknown", {**asked, "commit": self.commit})
        return tuple((kind, name) for kind, name in row["unknown"])

    def scope_size(self, scope: ResolvedScope) -> tuple[int, int]:
        visible = self.visibility(scope)
        (row,) = self.reading.read(
            f"""OPTIONAL MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND {visible.valid("v")}
                RETURN count(DISTINCT CASE WHEN {visible.current("v")} THEN v.id END) AS inside,
                    count(DISTINCT v.id) AS current""",
            visible.parameters,
        )
        return row["inside"], row["current"]

    def passage(self, passage_id: str) -> Passage | None:
        rows = self.reading.read(
            f"""MATCH (p:{CHUNK} {{id: $id}})<-[:{HAS_PART}]-(v:{DOCUMENT}) WHERE {written("p")} AND {written("v")}
                RETURN {passage_list("p", "v", ALL_SPANS)} AS passage""",
            {"id": passage_id, "commit": self.commit},
        )
        return result_passage(rows[0]["passage"]) if rows else None

    def document(self, document_id: str, version: int | None, scope: ResolvedScope) -> DocumentView | None:
        visible = self.visibility(scope)
        asked = visible.current("v") if version is None else f"{written('v')} AND v.number = $version"
        rows = self.reading.read(
            f"""MATCH (v:{DOCUMENT} {{id: $id}}) WHERE {asked}
                CALL (v) {{
                    MATCH (v)-[:{HAS_PART}]->(p:{CHUNK}) WHERE {written("p")}
                    WITH v, p ORDER BY p.position, p.id
                    RETURN collect({passage_list("p", "v", ALL_SPANS)}) AS passages
                }}
                RETURN {document_list("v")} AS document, passages""",
            {**visible.parameters, "id": document_id, "version": version},
        )
        if not rows:
            return None
        passages = tuple(map(result_passage, rows[0]["passages"]))
        return DocumentView(**document_fields(rows[0]["document"]), passages=passages)

    def find(self, dataset: str, source_id: str) -> dict[str, str]:
        rows = self.reading.read(
            f"""OPTIONAL MATCH (n:{ENTITY} {{source_key: $key}}) WHERE {written("n")}
                OPTIONAL MATCH (d:{DOCUMENT} {{source_key: $key}}) WHERE {written("d")}
                CALL () {{
                    MATCH (p:{CHUNK} {{source_key: $key}})<-[:{HAS_PART}]-(v:{DOCUMENT})
                    WHERE {written("p")} AND {written("v")}
                    RETURN p.id AS passage ORDER BY v.valid_to DESC, v.number DESC LIMIT 1
                    UNION ALL RETURN null AS passage
                }}
                RETURN n.id AS entity, passage, d.id AS document""",
            {"key": text_key(dataset, source_id), "commit": self.commit},
        )
        return {kind: found for row in reversed(rows) for kind, found in row.items() if found is not None}

    def dataset_counts(self, scope: ResolvedScope) -> tuple[DatasetCounts, ...]:
        visible = self.visibility(scope)
        shown = f"""EXISTS {{ MATCH (r)-[s:{STATED_IN}]->(p:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT})
            WHERE {written("s")} AND {written("p")} AND {visible.current("v")} }}"""
        rows = self.reading.read(
            f"""MATCH (d:{DATASET}) WITH d.name AS name
                CALL (name) {{
                    MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND v.dataset = name AND {visible.current("v")}
                    RETURN count(DISTINCT v.id) AS documents, sum(v.passages) AS passages,
                        sum(v.mentions) AS mentions, sum(v.statements) AS statements, sum(v.topics) AS topics
                }}
                CALL (name) {{
                    MATCH (n:{ENTITY}) WHERE n.id IS NOT NULL AND n.dataset = name AND {written("n")} AND NOT n.retired
                    RETURN count(n) AS entities
                }}
                CALL (name) {{
                    MATCH (r:{RELATION}) WHERE r.id IS NOT NULL AND r.dataset = name AND {written("r")}
                        AND (r.unstated OR {shown})
                    RETURN count(CASE WHEN NOT r.is_fact THEN 1 END) AS relations, count(DISTINCT r.edge) AS edges,
                        count(DISTINCT CASE WHEN r.is_fact THEN r.edge END) AS given
                }}
                CALL (name) {{
                    MATCH (:{ENTITY})-[k:{COMPLEMENT_IN}]->(p:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT})
                    WHERE k.dataset = name AND {written("k")} AND {written("p")} AND {visible.current("v")}
                    RETURN count(DISTINCT k.id) AS complements
                }}
                CALL (name) {{
                    {hiding(visible)} MATCH (g:{COMMUNITY})
                    WHERE g.id IS NOT NULL AND g.dataset = name AND {written("g")} AND {community_seen(visible, "g")}
                    WITH g, CASE WHEN {community_whole(visible, "g")} THEN g.report END AS report
                    RETURN count(g) AS communities, count(report) AS reports
                }}
                CALL (name) {{
                    MATCH (k:{CLAIM}) WHERE k.id IS NOT NULL AND k.dataset = name
                    MATCH (k)-[:{SUBJECT}]->(n:{ENTITY}) WHERE {claim_seen(visible, "k", "n")}
                    RETURN count(k) AS claims
                }}
                RETURN name, documents, passages, entities, mentions, relations, topics, statements, communities,
                    reports, claims,
                    complements + CASE WHEN given + complements > 0 THEN given ELSE edges END AS facts""",
            visible.parameters,
        )
        return tuple(sorted((DatasetCounts(**row) for row in rows), key=lambda counts: counts.name))

    def collection_counts(self, scope: ResolvedScope) -> tuple[CollectionCounts, ...]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND {visible.current("v")}
                RETURN v.collection AS name, count(DISTINCT v.id) AS documents, sum(v.passages) AS passages""",
            visible.parameters,
        )
        return tuple(sorted((CollectionCounts(**row) for row in rows), key=lambda counts: counts.name))


# Labels, and the other kinds of vectors, come with the number of their rows, and of those without a vector; one
# statement reads all names.
_CATALOG = f"""
CALL () {{ MATCH (k:{LABEL}) RETURN collect([k.name, k.entities, k.without_vector]) AS labels }}
CALL () {{ MATCH (k:{TYPE}) RETURN collect(k.name) AS relation_types }}
CALL () {{ MATCH (k:{COLLECTION}) RETURN collect(k.name) AS collections }}
CALL () {{ MATCH (k:{METADATA_KEY}) RETURN collect(k.name) AS metadata_keys }}
CALL () {{
    MATCH (k:{VECTORS}) RETURN collect([k.number, k.name, k.kind, k.job, k.count, k.encoder]) AS vector_collections
}}
MATCH (s:{STORE} {{id: 'store'}})
RETURN labels, relation_types, collections, metadata_keys, vector_collections, [
    ['chunk', s.passages, s.without_chunk], ['topic', s.topics, s.without_topic],
    ['statement', s.passages, s.without_statement], ['report', s.reports, s.without_report]
] AS kinds"""
