"""Reading the lexical graph: what stands in passages, where entities are mentioned, and what they are related to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from backend.models import Entity
from backend.scope import ResolvedScope
from backend.stores.fulltext import WORD_LIMIT, asked_words, begun
from backend.stores.lexical import (
    EDGE_PASSAGES,
    MAX_DEGREE,
    Content,
    Named,
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

    def entities(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Entity]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES}
                WHERE e.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.entity_known("e")}""",
            {**visible.parameters, "ids": json.dumps(entity_ids)},
        )
        return {row["uuid"]: result_entity(row) for row in rows}

    def named(self, names: Sequence[str], scope: ResolvedScope) -> list[Entity]:
        visible = Visibility(scope, self.settled)
        keys = {f"key_{n}": name_key(name) for n, name in enumerate(names)}
        rows = self.connection.read(
            f"""SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES} WHERE e.id IN (
                    SELECT k.entity FROM entity_key k WHERE k.key IN ({", ".join(f":{key}" for key in keys)})
                ) AND {visible.entity_known("e")} ORDER BY e.uuid""",
            {**visible.parameters, **keys},
        )
        return [result_entity(row) for row in rows]

    def begun(self, words: Sequence[Word], limit: int, scope: ResolvedScope) -> list[Entity]:
        visible = Visibility(scope, self.settled)
        asked = asked_words(words)
        matches = " UNION ALL ".join(
            f"""SELECT * FROM (SELECT rowid AS entity, {n} AS word FROM entity_words
                WHERE entity_words MATCH :word_{n} LIMIT :word_limit + 1)"""
            for n in range(len(asked))
        )
        if not asked:
            return []
        rows = self.connection.read(
            f"""WITH matched AS MATERIALIZED ({matches}),
                weighed AS (SELECT word, 1.0 / count(*) AS weight FROM matched GROUP BY word),
                proposed AS MATERIALIZED (
                    SELECT m.entity, sum(w.weight) AS weight FROM matched m JOIN weighed w ON w.word = m.word
                    GROUP BY m.entity
                )
                SELECT {ENTITY_COLUMNS} FROM proposed CROSS JOIN {ENTITY_TABLES}
                WHERE e.id = proposed.entity AND {visible.entity_known("e")}
                ORDER BY proposed.weight DESC, e.uuid LIMIT :limit""",
            {
                **visible.parameters,
                "limit": limit,
                "word_limit": WORD_LIMIT,
                **{f"word_{n}": f"names : {full_text_term(begun(word), is_last=True)}" for n, word in enumerate(asked)},
            },
        )
        return [result_entity(row) for row in rows]

    def occurrences(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Occurrences]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT e.uuid, (
                    SELECT json_group_array(json_array(uuid, json(statements))) FROM (
                        SELECT p.uuid, m.statements FROM mention m CROSS JOIN passage p ON p.id = m.passage
                        CROSS JOIN version v ON v.id = p.version WHERE m.entity = e.id AND {visible.current("v")}
                        AND few.few
                    )
                ) AS found, few.few FROM (
                    SELECT e.id, (SELECT count(*) FROM (
                        SELECT DISTINCT m.passage FROM mention m CROSS JOIN passage p ON p.id = m.passage
                        CROSS JOIN version v ON v.id = p.version WHERE m.entity = e.id AND {visible.current("v")}
                        LIMIT :limit + 1
                    )) <= :limit AS few
                    FROM entity e WHERE e.uuid IN (SELECT value FROM json_each(:ids))
                ) few CROSS JOIN entity e ON e.id = few.id""",
            {**visible.parameters, "ids": json.dumps(entity_ids), "limit": limit},
        )
        return {row["uuid"]: Occurrences(occurring(orjson.loads(row["found"])), not row["few"]) for row in rows}

    def neighbourhoods(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Neighbourhood]:
        visible = Visibility(scope, self.settled)
        edge = "" if visible.is_stored else "CROSS JOIN edge e ON e.id = near.edge"
        first = (
            f"SELECT entity, edge, other, type, kept FROM adjacency WHERE entity = {{}} ORDER BY {_STORED_ORDER} LIMIT"
        )
        degree = f"""(SELECT count(*) FROM ({first} {MAX_DEGREE}) near {edge} WHERE {visible.edge_kept("near")})"""
        rows = self.connection.read(
            f"""SELECT f.uuid, {degree.format("f.id")} AS degree,
                    (SELECT count(*) FROM ({first.format("f.id")} :limit + 1)) > :limit AS more, (
                        SELECT json_group_array(json_array(x.uuid, k.name, x.source = f.id, o.uuid, o.name, l.name,
                            {degree.format("o.id")}, (
                                SELECT json_group_array(uuid) FROM (
                                    SELECT DISTINCT p.uuid FROM support s CROSS JOIN version v ON v.id = s.version
                                    CROSS JOIN passage p ON p.id = s.passage
                                    WHERE s.edge = x.id AND {visible.current("v")} ORDER BY p.uuid LIMIT {EDGE_PASSAGES}
                                )
                            )))
                        FROM ({first.format("f.id")} :limit) near CROSS JOIN edge e ON e.id = near.edge
                        CROSS JOIN edge x ON x.id = near.edge JOIN relation_type k ON k.id = x.type
                        JOIN entity o ON o.id = near.other JOIN label l ON l.id = o.label
                        WHERE {visible.edge_kept("near")}
                    ) AS edges
                FROM entity f WHERE f.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.entity_known("f")}""",
            {**visible.parameters, "ids": json.dumps(entity_ids), "limit": limit},
        )
        return {
            row["uuid"]: Neighbourhood(_near(orjson.loads(row["edges"])), row["degree"], bool(row["more"]))
            for row in rows
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
    return tuple(
        NearEdge(edge, name, bool(outgoing), Named(other, other_name, label), degree, tuple(passages))
        for edge, name, outgoing, other, other_name, label, degree, passages in rows
    )
