"""Reading everything of a dataset as a writer takes it, whatever any scope hides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.communities.values import CommunityOrigin
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.rows import entity_list, read_metadata, result_entity, stored_statements
from backend.stores.neo4j.schema import (
    ABOUT,
    CHUNK,
    CLAIM,
    CLAIMED_IN,
    COMMUNITY,
    COMPLEMENT_IN,
    DATASET,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    HAS_TOPIC,
    IN_COMMUNITY,
    MENTIONED_IN,
    RELATION,
    STATED_IN,
    TOPIC,
)
from backend.stores.neo4j.visibility import Reads, written
from backend.stores.reports import read_report
from backend.stores.rows import (
    NewClaim,
    NewCommunity,
    NewComplement,
    NewMention,
    NewPassage,
    NewRelation,
    NewTopic,
    NewVersion,
    StoredEntity,
    stored_relation,
)

_VERSIONS_OF = f"MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND v.dataset = dataset AND {written('v')}"
_ENTITIES_OF = f"MATCH (n:{ENTITY}) WHERE n.id IS NOT NULL AND n.dataset = dataset AND {written('n')}"
_RELATIONS_OF = f"MATCH (r:{RELATION}) WHERE r.id IS NOT NULL AND r.dataset = dataset AND {written('r')}"
_CLAIMS_OF = f"MATCH (k:{CLAIM}) WHERE k.id IS NOT NULL AND k.dataset = dataset AND {written('k')}"
_COMMUNITIES_OF = f"MATCH (g:{COMMUNITY}) WHERE g.id IS NOT NULL AND g.dataset = dataset AND {written('g')}"
_IDS = {
    "document": f"WITH $dataset AS dataset {_VERSIONS_OF} RETURN DISTINCT v.id AS id ORDER BY id",
    "entity": f"WITH $dataset AS dataset {_ENTITIES_OF} RETURN n.id AS id ORDER BY n.number",
    "relation": f"WITH $dataset AS dataset {_RELATIONS_OF} RETURN r.id AS id ORDER BY id",
    "claim": f"WITH $dataset AS dataset {_CLAIMS_OF} RETURN k.id AS id ORDER BY id",
}
_COUNTS = f"""
MATCH (d:{DATASET}) WITH d.name AS dataset
CALL (dataset) {{ {_VERSIONS_OF} RETURN count(DISTINCT v.id) AS documents, count(v) AS versions }}
CALL (dataset) {{
    {_VERSIONS_OF} MATCH (v)-[:{HAS_PART}]->(p:{CHUNK}) WHERE {written("p")}
    RETURN count(p) AS passages, sum(COUNT {{ MATCH (p)<-[m:{MENTIONED_IN}]-() WHERE {written("m")} }}) AS mentions
}}
CALL (dataset) {{ {_ENTITIES_OF} RETURN count(n) AS entities }}
CALL (dataset) {{
    {_RELATIONS_OF} RETURN count(r) AS relations,
        sum(COUNT {{ MATCH (r)-[s:{STATED_IN}]->() WHERE {written("s")} }}) AS support
}}
CALL (dataset) {{
    {_VERSIONS_OF} MATCH (v)-[:{HAS_TOPIC}]->(t:{TOPIC}) WHERE {written("t")} RETURN count(t) AS topics
}}
CALL (dataset) {{
    {_VERSIONS_OF} MATCH (v)-[:{HAS_PART}]->(p:{CHUNK})<-[k:{COMPLEMENT_IN}]-() WHERE {written("p")} AND {written("k")}
    RETURN count(k) AS complements
}}
CALL (dataset) {{ {_CLAIMS_OF} RETURN count(k) AS claims }}
CALL (dataset) {{ {_COMMUNITIES_OF} RETURN count(g) AS communities }}
RETURN dataset, documents, versions, passages, mentions, entities, relations, support, topics, complements, claims,
    communities"""
_ENTITIES = f"""
UNWIND range(0, size($ids) - 1) AS place WITH place, $ids[place] AS id
MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")}
RETURN {entity_list("n")} AS entity, n.retired AS retired, n.vectors AS vectors ORDER BY place"""
_VERSION = (
    *("id", "source_id", "key", "content", "title", "collection", "date", "author", "url", "declared_from"),
    *("begins", "metadata", "ended"),
)
_VERSIONS = f"""
UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}}) WHERE {written("v")}
RETURN [{", ".join(f"v.{field}" for field in _VERSION)}] AS version, 'title' IN v.value_keys AS is_titled
ORDER BY v.id, v.number"""
_PASSAGES_OF = f"""
UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}})-[:{HAS_PART}]->(p:{CHUNK}) WHERE {written("v")} AND {written("p")}"""
_PASSAGE = ("id", "source_id", "version", "position", "text", "heading", "start", "end", "metadata", "statements")
_PASSAGES = f"{_PASSAGES_OF} RETURN [{', '.join(f'p.{field}' for field in _PASSAGE)}] AS passage ORDER BY p.id"
_MENTIONS = f"""{_PASSAGES_OF}
MATCH (n:{ENTITY})-[m:{MENTIONED_IN}]->(p) WHERE {written("m")}
RETURN [n.id, p.id, m.surface, m.start, m.end] AS mention, m.statements AS statements ORDER BY p.id, m.start, n.id"""
_TOPICS = f"""
UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}})-[:{HAS_TOPIC}]->(t:{TOPIC}) WHERE {written("v")} AND {written("t")}
RETURN [t.id, t.source_id, v.key, t.title, t.derived] AS topic,
    [(p:{CHUNK})-[a:{ABOUT}]->(t) WHERE {written("p")} AND {written("a")} | p.id] AS passages ORDER BY t.id"""
_COMPLEMENTS = f"""{_PASSAGES_OF}
MATCH (n:{ENTITY})-[k:{COMPLEMENT_IN}]->(p) WHERE {written("k")}
RETURN [k.id, n.id, k.predicate, k.text, p.id] AS complement, k.statements AS statements ORDER BY k.id, p.id"""
_RELATION = ("id", "source_id", "unstated", "description", "weight", "is_fact")
_RELATIONS = f"""
UNWIND $ids AS id MATCH (r:{RELATION} {{id: id}}) WHERE {written("r")}
MATCH (x:{EDGE} {{id: r.edge}})
CALL (r) {{
    MATCH (r)-[s:{STATED_IN}]->(p:{CHUNK}) WHERE {written("s")} AND {written("p")} MATCH (f:{EDGE} {{id: s.edge}})
    RETURN collect([f.source, f.target, f.type, p.id, s.statements]) AS support
}}
RETURN r {{ {", ".join(f".{field}" for field in _RELATION)} }} AS fields, r.metadata AS metadata,
    [x.source, x.target, x.type] AS own, support ORDER BY r.id"""

_CLAIM = ("id", "source_id", "subject_id", "object_id", "type", "status", "start_date", "end_date", "description")
_CLAIMS = f"""
UNWIND $ids AS id MATCH (k:{CLAIM} {{id: id}}) WHERE {written("k")}
RETURN k {{ {", ".join(f".{field}" for field in (*_CLAIM, "unstated"))} }} AS fields, k.metadata AS metadata,
    [(k)-[b:{CLAIMED_IN}]->(p:{CHUNK}) WHERE {written("b")} AND {written("p")} | p.id] AS passages ORDER BY k.id"""
_COMMUNITY = ("id", "source_id", "level", "parent", "title", "stale")
_COMMUNITIES = f"""WITH $dataset AS dataset {_COMMUNITIES_OF}
RETURN g {{ {", ".join(f".{field}" for field in _COMMUNITY)} }} AS fields, g.origin AS origin, g.report AS report,
    g.metadata AS metadata, [(n:{ENTITY})-[:{IN_COMMUNITY}]->(g) | n.id] AS members ORDER BY g.level, g.id"""


class DatasetReads(Reads):
    """The reading primitives from which a dataset is copied."""

    def row_ids(self, kind: str, dataset: str) -> list[str]:
        return [row["id"] for row in self._asked(_IDS[kind], dataset=dataset)]

    def row_counts(self) -> dict[str, dict[str, int]]:
        counts = {row.pop("dataset"): row for row in self._asked(_COUNTS)}
        return {dataset: counts[dataset] for dataset in sorted(counts)}

    def entity_rows(self, ids: Sequence[str]) -> list[StoredEntity]:
        rows = self._asked(_ENTITIES, ids=list(ids))
        return [StoredEntity(result_entity(row["entity"]), row["retired"], row["vectors"]) for row in rows]

    def version_rows(self, document_ids: Sequence[str]) -> list[NewVersion]:
        return [_version(row) for row in self._asked(_VERSIONS, ids=list(document_ids))]

    def passage_rows(self, document_ids: Sequence[str]) -> list[NewPassage]:
        return [_passage(row) for row in self._asked(_PASSAGES, ids=list(document_ids))]

    def mention_rows(self, document_ids: Sequence[str]) -> list[NewMention]:
        rows = self._asked(_MENTIONS, ids=list(document_ids))
        return [NewMention(*[*row["mention"], tuple(row["statements"])]) for row in rows]

    def topic_rows(self, document_ids: Sequence[str]) -> list[NewTopic]:
        rows = self._asked(_TOPICS, ids=list(document_ids))
        return [NewTopic(*[*row["topic"], tuple(sorted(row["passages"]))]) for row in rows]

    def complement_rows(self, document_ids: Sequence[str]) -> list[NewComplement]:
        rows = self._asked(_COMPLEMENTS, ids=list(document_ids))
        return [NewComplement(*[*row["complement"], tuple(row["statements"])]) for row in rows]

    def relation_rows(self, ids: Sequence[str]) -> list[NewRelation]:
        return [
            stored_relation(
                {**row["fields"], "metadata": read_metadata(row["metadata"])}, tuple(row["own"]), row["support"]
            )
            for row in self._asked(_RELATIONS, ids=list(ids))
        ]

    def claim_rows(self, ids: Sequence[str]) -> list[NewClaim]:
        return [
            NewClaim(
                **row["fields"], metadata=read_metadata(row["metadata"]), passage_ids=tuple(sorted(row["passages"]))
            )
            for row in self._asked(_CLAIMS, ids=list(ids))
        ]

    def community_rows(self, dataset: str) -> list[NewCommunity]:
        return [
            NewCommunity(
                **row["fields"],
                origin=CommunityOrigin(row["origin"]),
                report=None if row["report"] is None else read_report(row["report"]),
                metadata=read_metadata(row["metadata"]),
                member_ids=tuple(sorted(row["members"])),
            )
            for row in self._asked(_COMMUNITIES, dataset=dataset)
        ]

    def _asked(self, statement: str, **parameters: Any) -> list[Row]:
        return self.reading.read(statement, {"commit": self.commit, **parameters})


def _version(row: Row) -> NewVersion:
    *fields, metadata, ended = row["version"]
    version = NewVersion(*[*fields, read_metadata(metadata), ended])
    return version.with_title(is_given=row["is_titled"])


def _passage(row: Row) -> NewPassage:
    *fields, metadata, statements = row["passage"]
    return NewPassage(*[*fields, read_metadata(metadata), stored_statements(statements)])
