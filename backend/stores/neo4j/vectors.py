"""Where vectors are, as one job changes it: of its own rows at once, of rows that are seen already in the commit.

What an entity's vector is made of may change with the job, so that texts are those of the commit to come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from backend.identity import statement_id
from backend.models import VectorCollection
from backend.stores import encoded
from backend.stores.encoded import VectorText
from backend.stores.neo4j.driver import Row, Writing
from backend.stores.neo4j.rows import stored_statements
from backend.stores.neo4j.schema import ABOUT, CHUNK, COMMUNITY, DOCUMENT, ENTITY, HAS_PART, HAS_TOPIC, TOPIC, VECTORS
from backend.stores.neo4j.session import PAGE, JobSession

_TEXT_PAGE = 2_000  # texts are longer than other rows

# On which nodes, and in which property, it is written in which collection the vectors of a kind are.
_PLACES = {
    encoded.ENTITY: (ENTITY, "vectors"),
    encoded.CHUNK: (CHUNK, "vectors"),
    encoded.TOPIC: (TOPIC, "vectors"),
    encoded.STATEMENT: (CHUNK, "statement_vectors"),
    encoded.REPORT: (COMMUNITY, "vectors"),
}
# Which of these nodes `o` the commit will show; one that it replaces may have the same id as the one that does.
_LASTING = {
    encoded.REPORT: "o.report IS NOT NULL AND (o.since = $since OR NOT o.dataset IN $replaced)",
}
# What the texts of each kind are made of; `o` is the node that says where the vectors are. Of a sentence without a
# mention there is a vector too, since a later load may mention something there.
_TEXTS = {
    encoded.ENTITY: "RETURN o.id AS id, o.label AS label, o.name AS name, o.description AS description",
    encoded.CHUNK: f"""MATCH (o)<-[:{HAS_PART}]-(v:{DOCUMENT})
        RETURN o.id AS id, v.collection AS label, CASE WHEN v.title <> v.source_id THEN v.title END AS title,
            o.heading AS heading, o.text AS text""",
    encoded.TOPIC: f"""MATCH (o)<-[:{HAS_TOPIC}]-(v:{DOCUMENT})
        CALL (o) {{
            MATCH (p:{CHUNK})-[:{ABOUT}]->(o) WHERE p.since <= $since
            WITH p ORDER BY p.position, p.id LIMIT 8 RETURN collect([p.text, p.statements]) AS passages
        }}
        RETURN o.id AS id, v.collection AS label, o.title AS title, passages""",
    encoded.STATEMENT: "RETURN o.id AS id, '' AS label, o.text AS text, o.statements AS statements",
    encoded.REPORT: "RETURN o.id AS id, toString(o.level) AS label, o.report_title AS title, o.summary AS summary",
}
_NAME = f"""OPTIONAL MATCH (o:{VECTORS}) WITH coalesce(max(o.number), 0) + 1 AS number
MERGE (k:{VECTORS} {{name: $name}}) ON CREATE SET k.number = number
SET k.kind = $kind, k.job = $job, k.count = $count, k.encoder = $encoder"""
# Passages and topics of what is removed have no mark of their own, but their documents have.
_DROP_UNUSED = f"""MATCH (k:{VECTORS}) WHERE NOT EXISTS {{ MATCH (n:{ENTITY} {{vectors: k.name}}) }}
AND NOT EXISTS {{ MATCH (p:{CHUNK} {{vectors: k.name}})<-[:{HAS_PART}]-(v:{DOCUMENT}) WHERE v.since <= $since }}
AND NOT EXISTS {{
    MATCH (p:{CHUNK} {{statement_vectors: k.name}})<-[:{HAS_PART}]-(v:{DOCUMENT}) WHERE v.since <= $since
}}
AND NOT EXISTS {{ MATCH (t:{TOPIC} {{vectors: k.name}})<-[:{HAS_TOPIC}]-(v:{DOCUMENT}) WHERE v.since <= $since }}
AND NOT EXISTS {{ MATCH (g:{COMMUNITY} {{vectors: k.name}}) }}
DELETE k"""
_COUNT = f"""
CALL () {{
    MATCH (v:{DOCUMENT})-[:{HAS_PART}]->(p:{CHUNK}) WHERE v.key IS NOT NULL AND v.since <= $since AND p.since <= $since
    RETURN count(p) AS passages, count(CASE WHEN p.vectors IS NULL THEN 1 END) AS without_chunk,
        count(CASE WHEN p.statement_vectors IS NULL THEN 1 END) AS without_statement
}}
CALL () {{
    MATCH (v:{DOCUMENT})-[:{HAS_TOPIC}]->(t:{TOPIC}) WHERE v.key IS NOT NULL AND v.since <= $since AND t.since <= $since
    RETURN count(t) AS topics, count(CASE WHEN t.vectors IS NULL THEN 1 END) AS without_topic
}}
CALL () {{
    MATCH (g:{COMMUNITY}) WHERE g.id IS NOT NULL AND g.since <= $since AND g.report IS NOT NULL
    RETURN count(g) AS reports, count(CASE WHEN g.vectors IS NULL THEN 1 END) AS without_report
}}
RETURN passages, topics, reports, without_chunk, without_statement, without_topic, without_report"""


class JobVectors:
    """What one job says of vectors, with what waits for its commit.

    `entities` are new fields of committed ones by id, `replaced` the datasets whose committed communities are no more.
    """

    def __init__(self, session: JobSession, entities: Mapping[str, Row], replaced: Collection[str]) -> None:
        self._session = session
        self._entities = entities
        self._replaced = replaced
        self._collections: dict[str, VectorCollection] = {}
        self._changed: dict[str, dict[str, str | None]] = defaultdict(dict)  # collection by owner, per kind

    def texts(self, kind: str, *, missing_only: bool) -> Iterator[VectorText]:
        """The texts of everything of a kind, or only of what has no vector, in order of the owner's id."""
        label, column = _PLACES[kind]
        changed = self._changed[kind]
        lost = [owner for owner, name in changed.items() if name is None]
        # Not an OR, of which the planner would make two searches, and of these a sort.
        missing = f"AND CASE WHEN o.{column} IS NULL THEN true ELSE o.id IN $lost END" if missing_only else ""
        scan = f"MATCH (o:{label}) WHERE o.id > $after AND o.since <= $since AND {_lasting(kind)} {missing}"
        after = ""
        while rows := self._read(
            f"{scan} WITH o ORDER BY o.id LIMIT $limit {_TEXTS[kind]} ORDER BY id",
            after=after,
            lost=lost,
            limit=_TEXT_PAGE,
        ):
            for row in rows:
                if not (missing_only and changed.get(row["id"]) is not None):
                    yield from self._texts_of(kind, row)
            after = rows[-1]["id"]

    def placed(self, collection: VectorCollection) -> Iterator[VectorText]:
        """Everything whose vector is in a collection, in order of the owner's id."""
        label, _ = _PLACES[collection.kind]
        for ids in _pages(self._owners(collection), _TEXT_PAGE):
            for row in self._read(
                f"""UNWIND $ids AS id MATCH (o:{label} {{id: id}}) WHERE {_lasting(collection.kind)}
                    WITH o {_TEXTS[collection.kind]} ORDER BY id""",
                ids=ids,
            ):
                yield from self._texts_of(collection.kind, row)

    def place(self, collection: VectorCollection, owners: Collection[str]) -> None:
        """Says that the vectors of these rows are in the collection from the commit on."""
        self._collections[collection.name] = collection
        for ids in _pages(list(owners)):
            rows = [{"id": owner, "vectors": collection.name} for owner in ids]
            written = self._session.write(_set(collection.kind, "WHERE o.since = $since"), rows)
            done = {row["id"] for row in written}
            changed = self._changed[collection.kind]
            for owner in ids:
                if owner not in done:
                    changed[owner] = collection.name
                else:  # what was said of a community of the same id, which this one replaces
                    changed.pop(owner, None)

    def forget(self, collection: VectorCollection, owners: Collection[str] | None = None) -> None:
        """Says that a collection, or the vectors of some rows in it, are not there any more."""
        placed = self._owners(collection)
        lost = placed if owners is None else [owner for owner in placed if owner in owners]
        self._changed[collection.kind].update(dict.fromkeys(lost, None))

    def lose_entity(self, entity_id: str) -> None:
        """Says that the vector of a committed entity is of what it is no longer."""
        self._changed[encoded.ENTITY][entity_id] = None

    def apply(self, transaction: Writing) -> dict[str, int]:
        """What the commit does: the places of committed rows, the collections in use; the counts that a catalog has."""
        since = {"since": self._session.since}
        for kind, places in self._changed.items():
            for ids in _pages(list(places)):
                transaction.run(_set(kind), {"rows": [{"id": owner, "vectors": places[owner]} for owner in ids]})
        for one in self._collections.values():
            named = {"name": one.name, "kind": one.kind, "job": one.job_id, "count": one.count, "encoder": one.encoder}
            transaction.run(_NAME, named)
        transaction.run(_DROP_UNUSED, since)
        (counts,) = transaction.run(_COUNT, since)
        return counts

    def _owners(self, collection: VectorCollection) -> list[str]:
        """The rows whose vectors are in a collection, in order of their ids."""
        label, column = _PLACES[collection.kind]
        stored = self._read(
            f"""MATCH (o:{label} {{{column}: $name}}) WHERE o.since <= $since AND {_lasting(collection.kind)}
                RETURN o.id AS id""",
            name=collection.name,
        )
        places = {row["id"]: collection.name for row in stored} | self._changed[collection.kind]
        return sorted(owner for owner, name in places.items() if name == collection.name)

    def _read(self, statement: str, **parameters: Any) -> list[Row]:
        return self._session.read(statement, replaced=list(self._replaced), **parameters)

    def _texts_of(self, kind: str, row: Row) -> Iterator[VectorText]:
        owner = row["id"]
        if kind == encoded.ENTITY:
            entity = {**row, **self._entities.get(owner, {})}
            text = encoded.entity_text(entity["name"], entity["description"])
            yield VectorText(owner, owner, entity["label"], text)
        elif kind == encoded.CHUNK:
            text = encoded.passage_text(row["title"], row["heading"], row["text"])
            yield VectorText(owner, owner, row["label"], text)
        elif kind == encoded.TOPIC:
            passages = [(text, stored_statements(statements)) for text, statements in row["passages"]]
            yield VectorText(owner, owner, row["label"], encoded.topic_text(owner, row["title"], passages))
        elif kind == encoded.REPORT:
            yield VectorText(owner, owner, row["label"], encoded.report_text(row["title"], row["summary"]))
        else:
            for place, statement in enumerate(stored_statements(row["statements"])):
                yield VectorText(owner, statement_id(owner, place), row["label"], statement.of(row["text"]))


def _lasting(kind: str) -> str:
    return _LASTING.get(kind, "true")


def _set(kind: str, which: str = "") -> str:
    label, column = _PLACES[kind]
    return f"""UNWIND $rows AS row MATCH (o:{label} {{id: row.id}}) {which}
        SET o.{column} = row.vectors RETURN o.id AS id"""


def _pages(ids: Sequence[str], size: int = PAGE) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
