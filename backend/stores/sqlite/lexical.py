"""Reading the lexical graph: what stands in passages, where entities are mentioned, and what they are related to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from backend.models import Entity
from backend.questions import Named
from backend.scope import ResolvedScope
from backend.stores.fulltext import WORD_LIMIT, asked_words, beginning
from backend.stores.lexical import (
    EDGE_PASSAGES,
    MAX_DEGREE,
    MENTIONS_EACH,
    Content,
    NearEdge,
    Neighbourhood,
    Occurrences,
    Topic,
    mentioned,
    occurring,
    stated_complements,
    stated_facts,
)
from backend.stores.rows import read_statements
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.entities import full_text_term, name_key
from backend.stores.sqlite.rows import (
    ALL_SPANS,
    ENTITY_COLUMNS,
    ENTITY_TABLES,
    PASSAGE_COLUMNS,
    PASSAGE_TABLES,
    result_entity,
    result_passage,
)
from backend.stores.sqlite.visibility import Visibility
from backend.words import Word

_STORED_ORDER = "less_documents, less_passages, uuid"


class LexicalReads:
    """The reading primitives of retrieval."""

    connection: Connection
    settled: int

    def contents(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Content]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT {PASSAGE_COLUMNS}, {ALL_SPANS} AS spans, p.statements,
                (SELECT name FROM vector_collection WHERE id = p.vectors) AS vectors,
                (SELECT name FROM vector_collection WHERE id = p.statement_vectors) AS statement_vectors, (
                    SELECT json_group_array(json_array(e.uuid, e.name, l.name, json(m.statements))) FROM mention m
                    CROSS JOIN entity e ON e.id = m.entity JOIN label l ON l.id = e.label WHERE m.passage = p.id
                ) AS mentions, (
                    SELECT json_group_array({_TOPIC}) FROM topic_passage tp CROSS JOIN topic t ON t.id = tp.topic
                    WHERE tp.passage = p.id
                ) AS topics, (
                    SELECT json_group_array(json_array(x.uuid, s.uuid, s.name, sl.name, k.name, o.uuid, o.name, ol.name,
                        json(u.statements)))
                    FROM support u CROSS JOIN edge x ON x.id = u.edge JOIN relation_type k ON k.id = x.type
                    JOIN entity s ON s.id = x.source JOIN label sl ON sl.id = s.label
                    JOIN entity o ON o.id = x.target JOIN label ol ON ol.id = o.label
                    WHERE u.passage = p.id AND {visible.entity_known("s")} AND {visible.entity_known("o")}
                ) AS facts, (
                    SELECT json_group_array(json_array(k.fact, e.uuid, e.name, l.name, k.predicate, k.text,
                        json(k.statements)))
                    FROM complement k JOIN entity e ON e.id = k.entity JOIN label l ON l.id = e.label
                    WHERE k.passage = p.id AND {visible.entity_known("e")}
                ) AS complements
                FROM {PASSAGE_TABLES}
                WHERE p.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.current("v")}""",
            {**visible.parameters, "ids": json.dumps(passage_ids)},
        )
        return {row["passage_uuid"]: _content(row) for row in rows}

    def named(
        self, names: Sequence[str], entity_ids: Sequence[str], begun: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> list[Entity]:
        visible = Visibility(scope, self.settled)
        keys = {f"key_{n}": name_key(name) for n, name in enumerate(names)}
        asked = asked_words(begun)
        matches = "".join(
            f""" UNION ALL SELECT * FROM (SELECT rowid, {n} FROM entity_words
                WHERE entity_words MATCH :word_{n} LIMIT :word_limit + 1)"""
            for n in range(len(asked))
        )
        rows = self.connection.read(
            f"""WITH matched (entity, word) AS MATERIALIZED (SELECT NULL, NULL WHERE 0 {matches}),
                weighed AS (SELECT word, 1.0 / count(*) AS weight FROM matched GROUP BY word),
                proposed AS MATERIALIZED (
                    SELECT m.entity, sum(w.weight) AS weight FROM matched m JOIN weighed w ON w.word = m.word
                    GROUP BY m.entity
                ), begun AS (
                    SELECT e.id FROM proposed CROSS JOIN entity e ON e.id = proposed.entity
                    WHERE {visible.entity_known("e")} ORDER BY proposed.weight DESC, e.uuid LIMIT :limit
                )
                SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES} WHERE e.id IN (
                    SELECT k.entity FROM entity_key k WHERE k.key IN ({", ".join(f":{key}" for key in keys)})
                    UNION SELECT id FROM entity WHERE uuid IN (SELECT value FROM json_each(:ids))
                    UNION SELECT id FROM begun
                ) AND {visible.entity_known("e")} ORDER BY e.uuid""",
            {
                **visible.parameters,
                **keys,
                "ids": json.dumps(entity_ids),
                "limit": limit,
                "word_limit": WORD_LIMIT,
                **{
                    f"word_{n}": f"names : {full_text_term(beginning(word), is_last=True)}"
                    for n, word in enumerate(asked)
                },
            },
        )
        return [result_entity(row) for row in rows]

    def occurrences(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Occurrences]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT e.uuid, (
                    SELECT json_group_array(json_array(uuid, title, json(statements))) FROM (
                        SELECT p.uuid, v.title, m.statements
                        FROM mention m CROSS JOIN passage p ON p.id = m.passage
                        CROSS JOIN version v ON v.id = p.version WHERE m.entity = e.id AND {visible.current("v")}
                        LIMIT {MENTIONS_EACH} * (:limit + 1)
                    )
                ) AS found
                FROM entity e WHERE e.uuid IN (SELECT value FROM json_each(:ids))""",
            {**visible.parameters, "ids": json.dumps(entity_ids), "limit": limit},
        )
        return {row["uuid"]: occurring(orjson.loads(row["found"]), limit) for row in rows}

    def neighbourhoods(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Neighbourhood]:
        visible = Visibility(scope, self.settled)
        edge = "" if visible.is_stored else "CROSS JOIN edge e ON e.id = near.edge"
        first = f"SELECT entity, edge, other, type, kept FROM adjacency WHERE entity = f.id ORDER BY {_STORED_ORDER}"
        rows = self.connection.read(
            f"""SELECT f.uuid, (SELECT count(*) FROM ({first} LIMIT :limit + 1)) > :limit AS more, (
                    SELECT json_group_array(json_array(x.uuid, k.name, x.source = f.id, o.uuid, o.name, l.name, (
                        SELECT json_group_array(uuid) FROM (
                            SELECT DISTINCT p.uuid FROM support s CROSS JOIN version v ON v.id = s.version
                            CROSS JOIN passage p ON p.id = s.passage
                            WHERE s.edge = x.id AND {visible.current("v")} ORDER BY p.uuid LIMIT {EDGE_PASSAGES}
                        )
                    )))
                    FROM ({first} LIMIT :limit) near {edge}
                    CROSS JOIN edge x ON x.id = near.edge JOIN relation_type k ON k.id = x.type
                    JOIN entity o ON o.id = near.other JOIN label l ON l.id = o.label
                    WHERE {visible.edge_kept("near")}
                ) AS edges
                FROM entity f WHERE f.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.entity_known("f")}""",
            {**visible.parameters, "ids": json.dumps(entity_ids), "limit": limit},
        )
        return {row["uuid"]: Neighbourhood(_near(orjson.loads(row["edges"])), bool(row["more"])) for row in rows}

    def degrees(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, int]:
        visible = Visibility(scope, self.settled)
        edge = "" if visible.is_stored else "CROSS JOIN edge e ON e.id = near.edge"
        rows = self.connection.read(
            f"""SELECT f.uuid, (
                    SELECT count(*) FROM (
                        SELECT edge, other, kept FROM adjacency WHERE entity = f.id
                        ORDER BY {_STORED_ORDER} LIMIT {MAX_DEGREE}
                    ) near {edge} WHERE {visible.edge_kept("near")}
                ) AS degree FROM entity f
                WHERE f.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.entity_known("f")}""",
            {**visible.parameters, "ids": json.dumps(entity_ids)},
        )
        return {row["uuid"]: row["degree"] for row in rows}

    def topics_near(
        self, topic_ids: Sequence[str], ways: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, dict[str, list[str]]]:
        visible = Visibility(scope, self.settled)
        parameters = {**visible.parameters, "ids": json.dumps(topic_ids)}
        union = " UNION ALL ".join(
            _TOPICS_NEAR[way].format(visible=visible.current("v"), other=visible.current("w")) for way in ways
        )
        rows = self.connection.read(union, parameters) if union else []
        found: dict[str, dict[str, list[tuple[int, str]]]] = {}
        for topic, way, other, weight in rows:
            found.setdefault(topic, {}).setdefault(way, []).append((-weight, other))
        return {
            topic: {way: [other for _, other in sorted(own)[:limit]] for way, own in by_way.items()}
            for topic, by_way in found.items()
        }

    def topics(self, topic_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Topic]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT {_TOPIC} AS topic FROM topic t CROSS JOIN version v ON v.id = t.version
                WHERE t.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.current("v")}""",
            {**visible.parameters, "ids": json.dumps(topic_ids)},
        )
        found = [_topic(orjson.loads(row["topic"])) for row in rows]
        return {topic.id: topic for topic in found}


_TOPIC = """json_array(t.uuid, t.source_id, t.title, t.derived, (
    SELECT json_group_array(uuid) FROM (
        SELECT q.uuid FROM topic_passage tq CROSS JOIN passage q ON q.id = tq.passage WHERE tq.topic = t.id
        ORDER BY q.position, q.uuid
    )
))"""


_FROM_TOPICS = (
    """FROM topic t CROSS JOIN version v ON v.id = t.version CROSS JOIN topic_passage tp ON tp.topic = t.id"""
)
_TO_TOPICS = "CROSS JOIN topic o ON o.id = tq.topic AND o.id <> t.id"
_ASKED_TOPICS = "WHERE t.uuid IN (SELECT value FROM json_each(:ids)) AND {visible}"
# Topic, way, other topic, and the number of entities that they share.
_TOPICS_NEAR = {
    "passage": f"""SELECT DISTINCT t.uuid, 'passage', o.uuid, 0 {_FROM_TOPICS}
        CROSS JOIN topic_passage tq ON tq.passage = tp.passage {_TO_TOPICS} {_ASKED_TOPICS}""",
    "adjacent": f"""SELECT DISTINCT t.uuid, 'adjacent', o.uuid, 0 {_FROM_TOPICS}
        CROSS JOIN passage p ON p.id = tp.passage CROSS JOIN passage q ON q.id IN (
            (SELECT id FROM passage b WHERE b.version = p.version AND (b.position, b.uuid) > (p.position, p.uuid)
                ORDER BY b.position, b.uuid LIMIT 1),
            (SELECT id FROM passage b WHERE b.version = p.version AND (b.position, b.uuid) < (p.position, p.uuid)
                ORDER BY b.position DESC, b.uuid DESC LIMIT 1)
        ) CROSS JOIN topic_passage tq ON tq.passage = q.id {_TO_TOPICS} {_ASKED_TOPICS}""",
    "entity": f"""SELECT t.uuid, 'entity', o.uuid, count(DISTINCT m.entity) {_FROM_TOPICS}
        CROSS JOIN mention m ON m.passage = tp.passage CROSS JOIN mention n ON n.entity = m.entity
        CROSS JOIN topic_passage tq ON tq.passage = n.passage {_TO_TOPICS}
        CROSS JOIN version w ON w.id = o.version {_ASKED_TOPICS} AND {{other}} GROUP BY t.id, o.id""",
}


def _content(row: Row) -> Content:
    return Content(
        passage=result_passage(row, row["spans"]),
        statements=read_statements(orjson.loads(row["statements"])),
        topics=tuple(sorted(map(_topic, orjson.loads(row["topics"])), key=lambda topic: topic.id)),
        mentions=mentioned(orjson.loads(row["mentions"])),
        facts=stated_facts(orjson.loads(row["facts"])),
        complements=stated_complements(orjson.loads(row["complements"])),
        vectors=row["vectors"],
        statement_vectors=row["statement_vectors"],
    )


def _topic(row: Sequence[Any]) -> Topic:
    topic_id, source_id, title, derived, passages = row
    return Topic(topic_id, source_id, title, bool(derived), tuple(passages))


def _near(rows: Iterable[Sequence[Any]]) -> tuple[NearEdge, ...]:
    edges = (
        NearEdge(edge, name, bool(outgoing), Named(other, other_name, label), tuple(passages))
        for edge, name, outgoing, other, other_name, label, passages in rows
    )
    return tuple(sorted(edges))
