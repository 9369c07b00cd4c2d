"""Reading the lexical graph: what stands in passages, where entities are mentioned, and what they are related to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.edges import STORED_ORDER, kept, near
from backend.stores.neo4j.entities import full_text_term
from backend.stores.neo4j.passages import seek_visible
from backend.stores.neo4j.rows import entity_list, passage_list, result_entity, result_passage, stored_statements
from backend.stores.neo4j.schema import (
    ABOUT,
    CHUNK,
    COMPLEMENT_IN,
    DOCUMENT,
    EDGE,
    ENTITY,
    FULL_TEXT,
    HAS_PART,
    HAS_TOPIC,
    MENTIONED_IN,
    STATED_IN,
    TOPIC,
    text_key,
)
from backend.stores.neo4j.visibility import Reads, Visibility, written
from backend.words import Word

# Names that one question to the full-text index has: Lucene takes 1,024 clauses.
_NAMES = 500


class LexicalReads(Reads):
    """The reading primitives of retrieval."""

    def contents(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Content]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{seek_visible(visible)}
                WITH p, v, [(n:{ENTITY})-[m:{MENTIONED_IN}]->(p) WHERE {written("m")}
                    | [n.id, n.name, n.label, m.statements, m.start, m.end]] AS mentions
                {_facts(visible)} {_complements(visible)}
                RETURN {passage_list("p", "v", "[m IN mentions | m[4..]]")} AS passage, p.statements AS statements,
                    [m IN mentions | m[..4]] AS mentions, facts, complements, p.vectors AS vectors,
                    p.statement_vectors AS statement_vectors,
                    [(p)-[a:{ABOUT}]->(t:{TOPIC}) WHERE {written("a")} AND {written("t")} | {_TOPIC}] AS topics""",
            _asked(visible, passage_ids),
        )
        found = map(_content, rows)
        return {content.passage.id: content for content in found}

    def named(
        self, names: Sequence[str], entity_ids: Sequence[str], begun: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> list[Entity]:
        visible = self.visibility(scope)
        keys = [text_key(name) for name in dict.fromkeys(names)]
        batches = [keys[start : start + _NAMES] for start in range(0, len(keys), _NAMES)]
        rows = self.reading.read(
            f"""CALL () {{
                    UNWIND $names AS query CALL db.index.fulltext.queryNodes($index, query) YIELD node AS n
                    WITH n WHERE {written("n")} RETURN n
                    UNION
                    UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")} RETURN n
                    UNION
                    UNWIND range(0, size($begun) - 1) AS word
                    CALL db.index.fulltext.queryNodes($index, $begun[word], {{limit: $word_limit + 1}}) YIELD node AS n
                    WITH word, n WHERE {written("n")}
                    WITH word, collect(n) AS nodes
                    UNWIND nodes AS n
                    WITH n, sum(1.0 / size(nodes)) AS weight
                    WHERE {visible.entity_known("n")}
                    WITH n, weight ORDER BY weight DESC, n.id LIMIT $limit
                    RETURN n
                }}
                WITH n WHERE {visible.entity_known("n")}
                RETURN {entity_list("n")} AS entity ORDER BY n.id""",
            {
                **_asked(visible, entity_ids),
                "index": FULL_TEXT,
                "names": [f"name_keys:({' OR '.join(batch)})" for batch in batches],
                "begun": [f"names:({full_text_term(beginning(word), is_last=True)})" for word in asked_words(begun)],
                "limit": limit,
                "word_limit": WORD_LIMIT,
            },
        )
        return [result_entity(row["entity"]) for row in rows]

    def occurrences(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Occurrences]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")}
                CALL (n) {{
                    MATCH (n)-[m:{MENTIONED_IN}]->(p:{CHUNK}) WHERE {written("m")} AND {written("p")}
                    MATCH (v:{DOCUMENT} {{key: p.version}}) WHERE {visible.current("v")}
                    WITH p, v, m LIMIT {MENTIONS_EACH} * ($limit + 1)
                    RETURN collect([p.id, v.title, m.statements]) AS found
                }}
                RETURN id, found""",
            {**_asked(visible, entity_ids), "limit": limit},
        )
        return {row["id"]: occurring(row["found"], limit) for row in rows}

    def neighbourhoods(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Neighbourhood]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{_seek_known("f", visible)}
                CALL (id) {{
                    {near(())} WITH x, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT $limit + 1
                    RETURN collect(x) AS first
                }}
                CALL (id, first) {{
                    UNWIND first[..$limit] AS x
                    WITH x, CASE WHEN x.source = id THEN x.target ELSE x.source END AS other, id
                    WHERE {kept(visible)}
                    MATCH (o:{ENTITY} {{id: other}})
                    CALL (x) {{
                        {visible.support("x.id")}
                        WITH DISTINCT p ORDER BY p.id LIMIT {EDGE_PASSAGES}
                        RETURN collect(p.id) AS passages
                    }}
                    RETURN collect([x.id, x.type, x.source = id, [other, o.name, o.label], passages]) AS edges
                }}
                RETURN id, edges, size(first) > $limit AS more""",
            {**_asked(visible, entity_ids), "limit": limit},
        )
        return {row["id"]: Neighbourhood(tuple(sorted(map(_near, row["edges"]))), row["more"]) for row in rows}

    def degrees(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, int]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"{_seek_known('f', visible)} {_degree(visible)} RETURN id, degree", _asked(visible, entity_ids)
        )
        return {row["id"]: row["degree"] for row in rows}

    def topics_near(
        self, topic_ids: Sequence[str], ways: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, dict[str, list[str]]]:
        visible = self.visibility(scope)
        union = " UNION ALL ".join(_topics_near(way, visible) for way in ways)
        rows = self.reading.read(union, _asked(visible, topic_ids)) if union else []
        found: dict[str, dict[str, list[tuple[int, str]]]] = {}
        for row in rows:
            found.setdefault(row["topic"], {}).setdefault(row["way"], []).append((-row["weight"], row["other"]))
        return {
            topic: {way: [other for _, other in sorted(own)[:limit]] for way, own in by_way.items()}
            for topic, by_way in found.items()
        }

    def topics(self, topic_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Topic]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (t:{TOPIC} {{id: id}})<-[:{HAS_TOPIC}]-(v:{DOCUMENT})
                WHERE {written("t")} AND {visible.current("v")}
                RETURN {_TOPIC} AS topic""",
            _asked(visible, topic_ids),
        )
        found = [_topic(row["topic"]) for row in rows]
        return {topic.id: topic for topic in found}


# A topic `t` as a list; its passages come with their positions, by which they are sorted.
_TOPIC = f"""[t.id, t.source_id, t.title, t.derived,
    [(q:{CHUNK})-[b:{ABOUT}]->(t) WHERE {written("q")} AND {written("b")} | [q.position, q.id]]]"""


def _asked(visible: Visibility, ids: Sequence[str]) -> dict[str, Any]:
    return {**visible.parameters, "ids": list(dict.fromkeys(ids))}


def _seek_known(entity: str, visible: Visibility) -> str:
    """Matches those of the entities that are asked for that are in scope."""
    return (
        f"UNWIND $ids AS id MATCH ({entity}:{ENTITY} {{id: id}}) "
        f"WHERE {written(entity)} AND {visible.entity_known(entity)}"
    )


def _facts(visible: Visibility) -> str:
    """The `facts` between entities in scope that the passage `p` states, one for each relation."""
    return f"""CALL (p) {{
            MATCH (p)<-[s:{STATED_IN}]-() WHERE {written("s")}
            MATCH (x:{EDGE} {{id: s.edge}})
            MATCH (a:{ENTITY} {{id: x.source}}) WHERE {visible.entity_known("a")}
            MATCH (b:{ENTITY} {{id: x.target}}) WHERE {visible.entity_known("b")}
            RETURN collect([x.id, a.id, a.name, a.label, x.type, b.id, b.name, b.label, s.statements]) AS facts
        }}"""


def _complements(visible: Visibility) -> str:
    """The `complements` of entities in scope that the passage `p` states."""
    return f"""CALL (p) {{
            MATCH (n:{ENTITY})-[k:{COMPLEMENT_IN}]->(p) WHERE {written("k")} AND {visible.entity_known("n")}
            RETURN collect([k.id, n.id, n.name, n.label, k.predicate, k.text, k.statements]) AS complements
        }}"""


# How a topic `t` leads to a passage `q` that is about others.
_TO_PASSAGES = {
    "passage": "WITH t, p AS q, v",
    "adjacent": f"""CALL (p, v) {{
            MATCH (v)-[:{HAS_PART}]->(q:{CHUNK}) WHERE {written("q")}
                AND (q.position > p.position OR q.position = p.position AND q.id > p.id)
            RETURN q ORDER BY q.position, q.id LIMIT 1
            UNION
            MATCH (v)-[:{HAS_PART}]->(q:{CHUNK}) WHERE {written("q")}
                AND (q.position < p.position OR q.position = p.position AND q.id < p.id)
            RETURN q ORDER BY q.position DESC, q.id DESC LIMIT 1
        }}""",
}


def _topics_near(way: str, visible: Visibility) -> str:
    """Rows of topic, way, other topic and the number of entities that they share."""
    begin = f"""UNWIND $ids AS id MATCH (t:{TOPIC} {{id: id}})<-[:{HAS_TOPIC}]-(v:{DOCUMENT})
        WHERE {written("t")} AND {visible.current("v")}
        MATCH (t)<-[a:{ABOUT}]-(p:{CHUNK}) WHERE {written("a")} AND {written("p")}"""
    to_topics = f"""MATCH (q)-[b:{ABOUT}]->(o:{TOPIC}) WHERE {written("b")} AND {written("o")} AND o.id <> t.id"""
    if way != "entity":
        return f"""{begin} {_TO_PASSAGES[way]} {to_topics}
            RETURN DISTINCT t.id AS topic, '{way}' AS way, o.id AS other, 0 AS weight"""
    return f"""{begin} MATCH (p)<-[m:{MENTIONED_IN}]-(n:{ENTITY})-[l:{MENTIONED_IN}]->(q:{CHUNK})
        WHERE {written("m")} AND {written("l")} AND {written("q")}
        MATCH (w:{DOCUMENT} {{key: q.version}}) WHERE {visible.current("w")}
        {to_topics} RETURN t.id AS topic, 'entity' AS way, o.id AS other, count(DISTINCT n) AS weight"""


def _degree(visible: Visibility) -> str:
    """How many of the first edges of the entity `id` the scope keeps; where that is stored, the indexes hold it."""
    if visible.is_stored:
        columns, judged = "x.kept_at_{end} AS is_kept", "is_kept"
        first = f"WITH is_kept, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT {MAX_DEGREE}"
    else:
        columns, judged = "x, x.{far} AS other", kept(visible)
        first = f"WITH x, other, {STORED_ORDER} ORDER BY {STORED_ORDER} LIMIT {MAX_DEGREE}"
    return f"""CALL (id) {{
            {near((), columns, str(MAX_DEGREE))} {first}
            RETURN count(CASE WHEN {judged} THEN 1 END) AS degree
        }}"""


def _content(row: Row) -> Content:
    return Content(
        passage=result_passage(row["passage"]),
        statements=stored_statements(row["statements"]),
        topics=tuple(sorted(map(_topic, row["topics"]), key=lambda topic: topic.id)),
        mentions=mentioned(row["mentions"]),
        facts=stated_facts(row["facts"]),
        complements=stated_complements(row["complements"]),
        vectors=row["vectors"],
        statement_vectors=row["statement_vectors"],
    )


def _topic(row: Sequence[Any]) -> Topic:
    topic_id, source_id, title, derived, passages = row
    return Topic(topic_id, source_id, title, derived, tuple(passage_id for _, passage_id in sorted(passages)))


def _near(edge: Sequence[Any]) -> NearEdge:
    edge_id, name, is_outgoing, other, passages = edge
    return NearEdge(edge_id, name, is_outgoing, Named(*other), tuple(passages))
