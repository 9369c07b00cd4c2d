"""Reading everything of a dataset as a writer takes it, whatever any scope hides."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backend.communities.values import CommunityOrigin
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
    read_statements,
    stored_relation,
)
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.rows import ENTITY_COLUMNS, ENTITY_TABLES, read_json, result_entity

_IDS = {
    "document": "SELECT uuid FROM document WHERE dataset = (SELECT id FROM dataset WHERE name = ?) ORDER BY id",
    "entity": "SELECT uuid FROM entity WHERE dataset = (SELECT id FROM dataset WHERE name = ?) ORDER BY id",
    "relation": "SELECT uuid FROM relation WHERE dataset = (SELECT id FROM dataset WHERE name = ?) ORDER BY id",
    "claim": "SELECT uuid FROM claim WHERE dataset = (SELECT id FROM dataset WHERE name = ?) ORDER BY id",
}
_KINDS = (
    *("documents", "versions", "passages", "mentions", "entities", "relations", "support"),
    *("topics", "complements", "communities", "claims"),
)
_OWN = "document d JOIN version v ON v.document = d.id WHERE d.dataset = s.id"
_COUNTS = f"""
SELECT s.name, (SELECT count(*) FROM document d WHERE d.dataset = s.id), (SELECT count(*) FROM {_OWN}),
    (SELECT total(v.passages) FROM {_OWN}), (SELECT total(v.mentions) FROM {_OWN}),
    (SELECT count(*) FROM entity e WHERE e.dataset = s.id), (SELECT count(*) FROM relation r WHERE r.dataset = s.id),
    (SELECT count(*) FROM relation r JOIN support u ON u.relation = r.id WHERE r.dataset = s.id),
    (SELECT count(*) FROM document d JOIN version v ON v.document = d.id JOIN topic t ON t.version = v.id
        WHERE d.dataset = s.id),
    (SELECT count(*) FROM complement k WHERE k.dataset = s.id),
    (SELECT count(*) FROM community c WHERE c.dataset = s.id), (SELECT count(*) FROM claim c WHERE c.dataset = s.id)
FROM dataset s ORDER BY s.name
"""
_ENTITIES = f"""
SELECT {ENTITY_COLUMNS}, e.retired, c.name AS vectors
FROM json_each(?) asked CROSS JOIN {ENTITY_TABLES} LEFT JOIN vector_collection c ON c.id = e.vectors
WHERE e.uuid = asked.value ORDER BY asked.key
"""
_VERSIONS = """
SELECT d.uuid, d.source_id, v.key, v.content, v.title, v.collection, v.date, v.author, v.url, v.declared_from,
    v.valid_from, v.metadata, (SELECT n.at FROM ending n WHERE n.document = d.id AND n.after = v.number) AS ended,
    EXISTS (SELECT 1 FROM version_value k WHERE k.version = v.id AND k.key = 'title') AS is_titled
FROM document d JOIN version v ON v.document = d.id
WHERE d.uuid IN (SELECT value FROM json_each(?)) ORDER BY d.id, v.number
"""
_PASSAGES_OF = """json_each(?) asked CROSS JOIN document d ON d.uuid = asked.value
JOIN version v ON v.document = d.id JOIN passage p ON p.version = v.id"""
_PASSAGES = f"""
SELECT p.uuid, p.source_id, v.key, p.position, p.text, p.heading, p."start", p."end", p.metadata, p.statements
FROM {_PASSAGES_OF} ORDER BY p.id
"""
_MENTIONS = f"""
SELECT e.uuid AS entity, p.uuid AS passage, m.surface, m."start", m."end", m.statements
FROM {_PASSAGES_OF} JOIN mention m ON m.passage = p.id JOIN entity e ON e.id = m.entity
ORDER BY m.number
"""
_TOPICS = """
SELECT t.uuid, t.source_id, v.key, t.title, t.derived, (
    SELECT json_group_array(p.uuid) FROM topic_passage tp JOIN passage p ON p.id = tp.passage WHERE tp.topic = t.id
) AS passages
FROM json_each(?) asked CROSS JOIN document d ON d.uuid = asked.value
JOIN version v ON v.document = d.id JOIN topic t ON t.version = v.id ORDER BY t.id
"""
_COMPLEMENTS = f"""
SELECT k.fact, e.uuid AS subject, k.predicate, k.text, p.uuid AS passage, k.statements
FROM {_PASSAGES_OF} JOIN complement k ON k.passage = p.id JOIN entity e ON e.id = k.entity ORDER BY k.fact, p.id
"""
_RELATIONS = """
SELECT r.uuid, r.source_id, r.is_fact, s.uuid AS source, t.uuid AS target, k.name AS type, r.unstated, r.description,
    r.weight, r.metadata, (SELECT json_group_array(json_array(fs.uuid, ft.uuid, fk.name, p.uuid, json(u.statements)))
        FROM support u JOIN passage p ON p.id = u.passage JOIN edge f ON f.id = u.edge
        JOIN entity fs ON fs.id = f.source JOIN entity ft ON ft.id = f.target JOIN relation_type fk ON fk.id = f.type
        WHERE u.relation = r.id) AS support
FROM relation r JOIN edge x ON x.id = r.edge JOIN relation_type k ON k.id = x.type
JOIN entity s ON s.id = x.source JOIN entity t ON t.id = x.target
WHERE r.uuid IN (SELECT value FROM json_each(?)) ORDER BY r.id
"""
_CLAIMS = """
SELECT c.uuid, c.source_id, s.uuid AS subject_id, o.uuid AS object_id, c.type, c.status, c.start_date, c.end_date,
    c.description, c.unstated, c.metadata, (
        SELECT json_group_array(uuid) FROM (
            SELECT p.uuid FROM claim_passage k JOIN passage p ON p.id = k.passage WHERE k.claim = c.id ORDER BY p.uuid
        )
    ) AS passages
FROM claim c JOIN entity s ON s.id = c.subject LEFT JOIN entity o ON o.id = c.object
WHERE c.uuid IN (SELECT value FROM json_each(?)) ORDER BY c.id
"""
_COMMUNITIES = """
SELECT c.uuid, c.source_id, c.level, c.parent, c.title, c.origin, c.report, c.stale, c.metadata, (
        SELECT json_group_array(uuid) FROM (
            SELECT e.uuid FROM membership m JOIN entity e ON e.id = m.entity WHERE m.community = c.id ORDER BY e.uuid
        )
    ) AS members
FROM community c WHERE c.dataset = (SELECT id FROM dataset WHERE name = ?) ORDER BY c.level, c.uuid
"""


class DatasetReads:
    """The reading primitives from which a dataset is copied."""

    connection: Connection

    def row_ids(self, kind: str, dataset: str) -> list[str]:
        return [row["uuid"] for row in self.connection.read(_IDS[kind], (dataset,))]

    def row_counts(self) -> dict[str, dict[str, int]]:
        return {
            name: dict(zip(_KINDS, map(int, counts), strict=True)) for name, *counts in self.connection.read(_COUNTS)
        }

    def entity_rows(self, ids: Sequence[str]) -> list[StoredEntity]:
        rows = self.connection.read(_ENTITIES, (json.dumps(ids),))
        return [StoredEntity(result_entity(row), bool(row["retired"]), row["vectors"]) for row in rows]

    def version_rows(self, document_ids: Sequence[str]) -> list[NewVersion]:
        return [_version(row) for row in self.connection.read(_VERSIONS, (json.dumps(document_ids),))]

    def passage_rows(self, document_ids: Sequence[str]) -> list[NewPassage]:
        return [_passage(row) for row in self.connection.read(_PASSAGES, (json.dumps(document_ids),))]

    def mention_rows(self, document_ids: Sequence[str]) -> list[NewMention]:
        return [
            NewMention(entity, passage, surface, start, end, tuple(json.loads(statements)))
            for entity, passage, surface, start, end, statements in self.connection.read(
                _MENTIONS, (json.dumps(document_ids),)
            )
        ]

    def topic_rows(self, document_ids: Sequence[str]) -> list[NewTopic]:
        return [
            NewTopic(topic, source_id, key, title, bool(derived), tuple(json.loads(passages)))
            for topic, source_id, key, title, derived, passages in self.connection.read(
                _TOPICS, (json.dumps(document_ids),)
            )
        ]

    def complement_rows(self, document_ids: Sequence[str]) -> list[NewComplement]:
        return [
            NewComplement(fact, subject, predicate, text, passage, tuple(json.loads(statements)))
            for fact, subject, predicate, text, passage, statements in self.connection.read(
                _COMPLEMENTS, (json.dumps(document_ids),)
            )
        ]

    def relation_rows(self, ids: Sequence[str]) -> list[NewRelation]:
        return [_relation(row) for row in self.connection.read(_RELATIONS, (json.dumps(ids),))]

    def claim_rows(self, ids: Sequence[str]) -> list[NewClaim]:
        return [_claim(row) for row in self.connection.read(_CLAIMS, (json.dumps(ids),))]

    def community_rows(self, dataset: str) -> list[NewCommunity]:
        return [_community(row) for row in self.connection.read(_COMMUNITIES, (dataset,))]


def _version(row: Row) -> NewVersion:
    version = NewVersion(
        document_id=row["uuid"],
        source_id=row["source_id"],
        version_key=row["key"],
        content=row["content"],
        title=row["title"],
        collection=row["collection"],
        date=row["date"],
        author=row["author"],
        url=row["url"],
        declared_from=row["declared_from"],
        valid_from=row["valid_from"],
        metadata=read_json(row["metadata"]),
        ended=row["ended"],
    )
    return version.with_title(is_given=row["is_titled"])


def _passage(row: Row) -> NewPassage:
    return NewPassage(
        id=row["uuid"],
        source_id=row["source_id"],
        version_key=row["key"],
        position=row["position"],
        text=row["text"],
        heading=row["heading"],
        start=row["start"],
        end=row["end"],
        metadata=read_json(row["metadata"]),
        statements=read_statements(json.loads(row["statements"])),
    )


def _relation(row: Row) -> NewRelation:
    fields = {
        "id": row["uuid"],
        "source_id": row["source_id"],
        "unstated": bool(row["unstated"]),
        "description": row["description"],
        "weight": row["weight"],
        "metadata": read_json(row["metadata"]),
        "is_fact": bool(row["is_fact"]),
    }
    return stored_relation(fields, (row["source"], row["target"], row["type"]), json.loads(row["support"]))


def _claim(row: Row) -> NewClaim:
    return NewClaim(
        id=row["uuid"],
        source_id=row["source_id"],
        subject_id=row["subject_id"],
        object_id=row["object_id"],
        type=row["type"],
        status=row["status"],
        start_date=row["start_date"],
        end_date=row["end_date"],
        description=row["description"],
        unstated=bool(row["unstated"]),
        passage_ids=tuple(json.loads(row["passages"])),
        metadata=read_json(row["metadata"]),
    )


def _community(row: Row) -> NewCommunity:
    return NewCommunity(
        id=row["uuid"],
        source_id=row["source_id"],
        level=row["level"],
        parent=row["parent"],
        title=row["title"],
        origin=CommunityOrigin(row["origin"]),
        member_ids=tuple(json.loads(row["members"])),
        report=None if row["report"] is None else read_report(row["report"]),
        stale=bool(row["stale"]),
        metadata=read_json(row["metadata"]),
    )
