"""Reading what the store holds: names for requests, whole documents and passages, counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from backend.models import (
    Catalog,
    CollectionCounts,
    DatasetCounts,
    DocumentView,
    IndexState,
    Passage,
    Progress,
    VectorCollection,
)
from backend.scope import ResolvedScope
from backend.stores.readiness import FullText, data_version, index_states
from backend.stores.sqlite.communities import claim_seen, community_parameters, community_seen, community_whole
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.entities import unknown_names_query
from backend.stores.sqlite.rows import (
    ALL_SPANS,
    DOCUMENT_COLUMNS,
    PASSAGE_COLUMNS,
    PASSAGE_TABLES,
    READING_ORDER,
    document_fields,
    result_passage,
)
from backend.stores.sqlite.schema import FULL_TEXT
from backend.stores.sqlite.visibility import Visibility


class LibraryReads:
    """The reading primitives about the store as a whole."""

    connection: Connection
    settled: int
    building: Callable[[], Progress | None]  # what a running `attest index` is doing

    @property
    def data_version(self) -> str:
        return data_version(self.connection.peek("SELECT value FROM meta WHERE key = 'commits'"))

    def catalog(self) -> Catalog:
        return self.opening({})[0]

    def opening(self, names: Mapping[str, Sequence[str]]) -> tuple[Catalog, tuple[tuple[str, str], ...]]:
        unknown, asked = unknown_names_query(names)
        (row,) = self.connection.read(
            f"{_CATALOG}, (SELECT json_group_array(json_array(kind, value)) FROM ({unknown})) AS unknown", asked
        )
        return self._catalog(row), tuple((kind, name) for kind, name in json.loads(row["unknown"]))

    def _catalog(self, row: Row) -> Catalog:
        collections = tuple(VectorCollection(*fields) for fields in json.loads(row["vector_collections"] or "[]"))
        labels = {name: (entities, without) for name, entities, without in json.loads(row["labels"])}
        definitions = dict(json.loads(row["full_text"]))
        return Catalog(
            data_version=data_version(row["commits"]),
            labels=tuple(sorted(labels)),
            relation_types=tuple(sorted(json.loads(row["relation_types"]))),
            collections=tuple(sorted(json.loads(row["collections"]))),
            metadata_keys=tuple(sorted(json.loads(row["metadata_keys"]))),
            indexes=index_states(
                labels,
                _full_text("entity_words", definitions),
                passages=_full_text("passage_words", definitions),
                kinds={kind: tuple(sizes) for kind, *sizes in json.loads(row["kinds"])},
                building=self.building,
            ),
            vector_collections=collections,
        )

    def unknown_names(self, names: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        query, asked = unknown_names_query(names)
        return tuple((row["kind"], row["value"]) for row in self.connection.read(query, asked))

    def scope_size(self, scope: ResolvedScope) -> tuple[int, int]:
        visible = Visibility(scope, self.settled)
        row = self.connection.read(
            f"""SELECT (SELECT count(DISTINCT v.document) FROM version v WHERE {visible.current("v")}) AS inside,
                (SELECT count(DISTINCT v.document) FROM version v WHERE {visible.valid("v")}) AS current""",
            visible.parameters,
        )[0]
        return row["inside"], row["current"]

    def passage(self, passage_id: str) -> Passage | None:
        rows = self.connection.read(
            f"SELECT {PASSAGE_COLUMNS}, {ALL_SPANS} AS spans FROM {PASSAGE_TABLES} WHERE p.uuid = ?", (passage_id,)
        )
        return result_passage(rows[0], rows[0]["spans"]) if rows else None

    def document(self, document_id: str, version: int | None, scope: ResolvedScope) -> DocumentView | None:
        visible = Visibility(scope, self.settled)
        asked = visible.current("v") if version is None else "v.number = :version"
        rows = self.connection.read(
            f"""SELECT {DOCUMENT_COLUMNS}, p.uuid AS passage_uuid, p.source_id AS passage_source, p.text, p.position,
                    p.heading, p."start" AS passage_start, p."end" AS passage_end, {ALL_SPANS} AS spans
                FROM document d JOIN dataset ds ON ds.id = d.dataset JOIN version v ON v.document = d.id
                LEFT JOIN passage p ON p.version = v.id
                WHERE d.uuid = :id AND {asked} ORDER BY {READING_ORDER}""",
            {**visible.parameters, "id": document_id, "version": version},
        )
        if not rows:
            return None
        passages = (result_passage(row, row["spans"]) for row in rows if row["passage_uuid"] is not None)
        return DocumentView(**document_fields(rows[0]), passages=tuple(passages))

    def find(self, dataset: str, source_id: str) -> dict[str, str]:
        rows = self.connection.read(
            """SELECT 'entity' AS kind, e.uuid FROM entity e JOIN dataset ds ON ds.id = e.dataset
                WHERE ds.name = :dataset AND e.source_id = :id
                UNION ALL SELECT * FROM (
                    SELECT 'passage', p.uuid FROM passage p JOIN version v ON v.id = p.version
                    JOIN document d ON d.id = v.document JOIN dataset ds ON ds.id = d.dataset
                    WHERE ds.name = :dataset AND p.source_id = :id ORDER BY v.valid_to DESC, v.number DESC LIMIT 1
                )
                UNION ALL SELECT 'document', d.uuid FROM document d JOIN dataset ds ON ds.id = d.dataset
                WHERE ds.name = :dataset AND d.source_id = :id""",
            {"dataset": dataset, "id": source_id},
        )
        return {row["kind"]: row["uuid"] for row in rows}

    def dataset_counts(self, scope: ResolvedScope) -> tuple[DatasetCounts, ...]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""WITH versions AS (
                    SELECT d.dataset, count(DISTINCT v.document) AS documents, sum(v.passages) AS passages,
                        sum(v.mentions) AS mentions, sum(v.statements) AS statements,
                        sum((SELECT count(*) FROM topic t WHERE t.version = v.id)) AS topics
                    FROM version v JOIN document d ON d.id = v.document WHERE {visible.current("v")} GROUP BY d.dataset
                ), entities AS (SELECT dataset, count(*) AS entities FROM entity WHERE retired = 0 GROUP BY dataset),
                relations AS (
                    SELECT r.dataset, sum(NOT r.is_fact) AS relations, count(DISTINCT r.edge) AS edges,
                        count(DISTINCT CASE WHEN r.is_fact THEN r.edge END) AS given
                    FROM relation r WHERE r.unstated OR EXISTS (
                        SELECT 1 FROM support s CROSS JOIN version v ON v.id = s.version
                        WHERE s.relation = r.id AND {visible.current("v")}
                    ) GROUP BY r.dataset
                ), complements AS (
                    SELECT k.dataset, count(DISTINCT k.fact) AS complements FROM complement k
                    CROSS JOIN passage p ON p.id = k.passage CROSS JOIN version v ON v.id = p.version
                    WHERE {visible.current("v")} GROUP BY k.dataset
                ), seen AS (
                    SELECT dataset, count(*) AS communities,
                        count(CASE WHEN {community_whole(visible)} THEN report END) AS reports
                    FROM community c WHERE {community_seen(visible)} GROUP BY dataset
                ), claims AS (
                    SELECT dataset, count(*) AS claims FROM claim k WHERE {claim_seen("k", visible)} GROUP BY dataset
                )
                SELECT ds.name, coalesce(documents, 0) AS documents, coalesce(passages, 0) AS passages,
                    coalesce(entities, 0) AS entities, coalesce(mentions, 0) AS mentions,
                    coalesce(relations, 0) AS relations, coalesce(topics, 0) AS topics,
                    coalesce(statements, 0) AS statements, coalesce(complements, 0) + coalesce(CASE
                        WHEN coalesce(given, 0) + coalesce(complements, 0) > 0 THEN given ELSE edges END, 0) AS facts,
                    coalesce(communities, 0) AS communities, coalesce(reports, 0) AS reports,
                    coalesce(claims, 0) AS claims
                FROM dataset ds LEFT JOIN versions ON versions.dataset = ds.id
                LEFT JOIN complements ON complements.dataset = ds.id
                LEFT JOIN seen ON seen.dataset = ds.id LEFT JOIN claims ON claims.dataset = ds.id
                LEFT JOIN entities ON entities.dataset = ds.id LEFT JOIN relations ON relations.dataset = ds.id
                ORDER BY ds.name""",
            community_parameters(visible),
        )
        return tuple(DatasetCounts(**dict(row)) for row in rows)

    def collection_counts(self, scope: ResolvedScope) -> tuple[CollectionCounts, ...]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT v.collection AS name, count(DISTINCT v.document) AS documents, sum(v.passages) AS passages
                FROM version v WHERE {visible.current("v")} GROUP BY v.collection ORDER BY v.collection""",
            visible.parameters,
        )
        return tuple(CollectionCounts(**dict(row)) for row in rows)


def _full_text(name: str, definitions: Mapping[str, str]) -> FullText:
    if name not in definitions:
        return FullText(IndexState.MISSING)
    if definitions[name] != FULL_TEXT[name]:
        return FullText(IndexState.OTHER_DEFINITION, detail=f"it is {definitions[name]}")
    return FullText(IndexState.ONLINE)


# Labels come with the number of their entities, and of those without a vector; one statement reads all names.
_CATALOG = """
SELECT (SELECT value FROM meta WHERE key = 'commits') AS commits,
    (SELECT json_group_array(json_array(name, entities, without_vector)) FROM label) AS labels,
    (SELECT json_group_array(name) FROM relation_type) AS relation_types,
    (SELECT json_group_array(name) FROM collection) AS collections,
    (SELECT json_group_array(name) FROM metadata_key) AS metadata_keys,
    (SELECT json_group_array(json_array(name, sql)) FROM sqlite_master
        WHERE name IN ('entity_words', 'passage_words')) AS full_text,
    (SELECT json_group_array(json_array(kind, size, without)) FROM (
        SELECT t.kind, (SELECT value FROM meta WHERE key = t.of) AS size,
            (SELECT value FROM meta WHERE key = 'without_' || t.kind) AS without
        FROM (SELECT 'chunk' AS kind, 'passages' AS of UNION ALL SELECT 'topic', 'topics'
            UNION ALL SELECT 'statement', 'passages' UNION ALL SELECT 'report', 'reports') t
    )) AS kinds,
    (SELECT json_group_array(json_array(name, kind, job, count, encoder)) FROM (
        SELECT * FROM vector_collection ORDER BY id
    )) AS vector_collections"""
