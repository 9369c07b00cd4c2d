"""What a commit computes from the rows that its job wrote, and what removing takes with it.

The temporary tables `touched_…` name what a job has changed; `finish` brings the derived tables into line with it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from backend.errors import Unavailable
from backend.stores.sqlite import hierarchy
from backend.stores.sqlite.driver import Connection
from backend.stores.sqlite.schema import PASSAGE_WORDS
from backend.stores.sqlite.visibility import Visibility
from backend.stores.validity import BEGINNING, FOREVER, validity

_TOUCHED = ("dataset", "document", "version", "entity", "edge")


def begin(connection: Connection) -> None:
    """Empties the notes of what is touched."""
    for kind in _TOUCHED:
        connection.run(f"CREATE TEMP TABLE IF NOT EXISTS touched_{kind} (id INTEGER PRIMARY KEY)")
        connection.run(f"DELETE FROM touched_{kind}")


def touch_dataset(connection: Connection, dataset: int) -> None:
    connection.run("INSERT OR IGNORE INTO touched_dataset VALUES (?)", (dataset,))


def touch_version(connection: Connection, version: int) -> None:
    connection.run("INSERT OR IGNORE INTO touched_version VALUES (?)", (version,))


def touch_versions_of_passages(connection: Connection, passage_ids: Sequence[str]) -> None:
    connection.run(
        """INSERT OR IGNORE INTO touched_version SELECT version FROM passage
            WHERE uuid IN (SELECT value FROM json_each(?))""",
        (json.dumps(passage_ids),),
    )


def touch_edges_of_relations(connection: Connection, relation_ids: Sequence[str]) -> None:
    connection.run(
        """INSERT OR IGNORE INTO touched_edge SELECT edge FROM relation
            WHERE uuid IN (SELECT value FROM json_each(?))""",
        (json.dumps(relation_ids),),
    )


def touch_edges(connection: Connection, edge_ids: Sequence[str]) -> None:
    connection.run(
        "INSERT OR IGNORE INTO touched_edge SELECT id FROM edge WHERE uuid IN (SELECT value FROM json_each(?))",
        (json.dumps(edge_ids),),
    )


def index_passages(connection: Connection, first: int) -> int:
    """Puts the passages from the key `first` on into the full-text index; how many these are."""
    return connection.run(
        f"""INSERT INTO passage_words (rowid, words) SELECT p.id, {PASSAGE_WORDS} FROM passage p
            CROSS JOIN version v ON v.id = p.version WHERE p.id >= ?""",
        (first,),
    )


def finish(connection: Connection, *, made: Sequence[int]) -> None:
    """Brings every derived table into line with what was touched; `made` are datasets with communities of this job."""
    connection.run(
        """INSERT OR IGNORE INTO touched_document SELECT document FROM version
            WHERE id IN (SELECT id FROM touched_version)"""
    )
    _set_validity(connection)
    visible = Visibility(FOREVER, None)
    for statement in (
        *_COUNT_VERSIONS,
        *_know_entities(visible),
        *_fold_edges(visible),
        *hierarchy.finish(made),
        *_NAMES,
    ):
        connection.run(statement, visible.parameters if ":at" in statement else ())
    connection.run("INSERT OR REPLACE INTO meta VALUES ('settled', ?)", (_settled(connection),))


# --- validity --------------------------------------------------------------------------------------------------------


def _set_validity(connection: Connection) -> None:
    """Writes from when to when each version of the touched documents is current."""
    touched = "WHERE document IN (SELECT id FROM touched_document)"
    versions = connection.read(f"SELECT document, number, valid_from, id FROM version {touched}")
    endings: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in connection.read(f"SELECT document, after, at FROM ending {touched}"):
        endings[row["document"]].append((row["after"], row["at"]))
    members: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for row in versions:
        members[row["document"]].append((row["valid_from"], row["number"], row["id"]))
    connection.run_many(
        "UPDATE version SET valid_from = ?, valid_to = ? WHERE id = ?",
        [times for document, own in members.items() for times in validity(own, endings[document])],
    )


def _settled(connection: Connection) -> int:
    """The last time at which any validity begins or ends."""
    last: int | None = connection.value(
        """SELECT max(at) FROM (
            SELECT max(valid_from) AS at FROM version
            UNION ALL SELECT max(valid_to) FROM version WHERE valid_to < 9223372036854775807)"""
    )
    return BEGINNING if last is None else last


# --- what follows from the rows --------------------------------------------------------------------------------------

_COUNT_VERSIONS = (
    "DELETE FROM appearance WHERE version IN (SELECT id FROM touched_version)",
    """INSERT INTO appearance (entity, document, version, passages)
        SELECT m.entity, v.document, v.id, count(DISTINCT m.passage)
        FROM touched_version t CROSS JOIN version v ON v.id = t.id CROSS JOIN passage p ON p.version = v.id
        CROSS JOIN mention m ON m.passage = p.id GROUP BY m.entity, v.id""",
    """UPDATE version SET passages = (SELECT count(*) FROM passage p WHERE p.version = version.id),
            mentions = (SELECT count(*) FROM passage p CROSS JOIN mention m ON m.passage = p.id
                WHERE p.version = version.id),
            statements = (SELECT coalesce(sum(CASE WHEN json_extract(p.statements, '$[0][2]') IS NOT NULL
                    THEN json_array_length(p.statements) ELSE (
                        SELECT count(DISTINCT j.value) FROM mention m CROSS JOIN json_each(m.statements) j
                        WHERE m.passage = p.id
                    ) END), 0) FROM passage p WHERE p.version = version.id)
        WHERE id IN (SELECT id FROM touched_version)""",
)

_VERSIONS_OF_TOUCHED = "SELECT id FROM version WHERE document IN (SELECT id FROM touched_document)"


def _know_entities(visible: Visibility) -> tuple[str, ...]:
    """Which entities are known and supported; those that become known or unknown touch all of their edges."""
    return (
        f"""INSERT OR IGNORE INTO touched_entity
            SELECT entity FROM appearance WHERE version IN ({_VERSIONS_OF_TOUCHED})""",
        f"""INSERT OR IGNORE INTO touched_edge SELECT a.edge FROM entity e CROSS JOIN adjacency a ON a.entity = e.id
            WHERE e.id IN (SELECT id FROM touched_entity) AND e.known <> {visible.entity_known("e")}""",
        f"""UPDATE entity SET known = {visible.entity_known("entity")},
                supported = {visible.entity_supported("entity")}
            WHERE id IN (SELECT id FROM touched_entity)""",
    )


def _fold_edges(visible: Visibility) -> tuple[str, ...]:
    """What the touched edges have, stored and current, and where they stand around their ends."""
    return (
        f"INSERT OR IGNORE INTO touched_edge SELECT edge FROM support WHERE version IN ({_VERSIONS_OF_TOUCHED})",
        f"""UPDATE edge SET
                unstated = (SELECT count(*) FROM relation r WHERE r.edge = edge.id AND r.unstated),
                current_unstated = {visible.edge_unstated("edge")},
                documents = (SELECT count(DISTINCT document) FROM support s WHERE s.edge = edge.id),
                passages = (SELECT count(DISTINCT passage) FROM support s WHERE s.edge = edge.id),
                stated = 0, current_passages = 0, current_documents = 0
            WHERE id IN (SELECT id FROM touched_edge)""",
        f"""UPDATE edge SET (stated, current_passages, current_documents) = (
                SELECT stated, passages, documents FROM ({visible.edge_support("(SELECT edge.id AS edge)")})
            ) WHERE id IN (SELECT id FROM touched_edge)
            AND EXISTS (SELECT 1 FROM support s JOIN version v ON v.id = s.version
                WHERE s.edge = edge.id AND {visible.current("v")})""",
        "DELETE FROM adjacency WHERE edge IN (SELECT id FROM touched_edge)",
        """DELETE FROM edge WHERE id IN (SELECT id FROM touched_edge)
            AND NOT EXISTS (SELECT 1 FROM relation r WHERE r.edge = edge.id)
            AND NOT EXISTS (SELECT 1 FROM support s WHERE s.edge = edge.id)""",
        *(
            f"""INSERT INTO adjacency (entity, other, type, edge, less_documents, less_passages, uuid, kept)
                SELECT e.{end}, e.{other}, e.type, e.id, -e.documents, -e.passages, e.uuid,
                    (e.unstated > 0 OR e.stated > 0) AND (SELECT known FROM entity WHERE id = e.{other})
                FROM edge e WHERE e.id IN (SELECT id FROM touched_edge) AND e.source <> e.target ORDER BY e.{end}"""
            for end, other in (("source", "target"), ("target", "source"))
        ),
    )


_NAMES = (
    """UPDATE label SET
            entities = (SELECT count(*) FROM entity e WHERE e.label = label.id),
            without_vector = (SELECT count(*) FROM entity e WHERE e.label = label.id AND e.vectors IS NULL)""",
    "DELETE FROM label WHERE entities = 0",
    "DELETE FROM relation_type WHERE id NOT IN (SELECT type FROM edge)",
    "DELETE FROM collection",
    "INSERT INTO collection SELECT DISTINCT collection FROM version",
    "DELETE FROM metadata_key",
    "INSERT INTO metadata_key SELECT DISTINCT key FROM version_value",
    """DELETE FROM vector_collection WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.vectors = vector_collection.id)
        AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.vectors = vector_collection.id)
        AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.statement_vectors = vector_collection.id)
        AND NOT EXISTS (SELECT 1 FROM topic t WHERE t.vectors = vector_collection.id)
        AND NOT EXISTS (SELECT 1 FROM community c WHERE c.vectors = vector_collection.id)""",
    """INSERT OR REPLACE INTO meta SELECT 'without_chunk', count(*) FROM passage WHERE vectors IS NULL
        UNION ALL SELECT 'without_statement', count(*) FROM passage WHERE statement_vectors IS NULL
        UNION ALL SELECT 'without_topic', count(*) FROM topic WHERE vectors IS NULL
        UNION ALL SELECT 'passages', count(*) FROM passage UNION ALL SELECT 'topics', count(*) FROM topic
        UNION ALL SELECT 'reports', count(*) FROM community WHERE report IS NOT NULL
        UNION ALL SELECT 'without_report', count(*) FROM community WHERE report IS NOT NULL AND vectors IS NULL""",
    """UPDATE dataset SET weighted = EXISTS (
            SELECT 1 FROM relation r WHERE r.dataset = dataset.id AND NOT r.is_fact
        ) AND NOT EXISTS (SELECT 1 FROM relation r WHERE r.dataset = dataset.id AND r.weight IS NULL)""",
)


# --- removing --------------------------------------------------------------------------------------------------------


def remove_dataset(connection: Connection, dataset: str) -> dict[str, int]:
    """Removes everything of a dataset; counts by kind. Raises Unavailable for an unknown one."""
    key = connection.value("SELECT id FROM dataset WHERE name = ?", (dataset,))
    if key is None:
        known = [row["name"] for row in connection.read("SELECT name FROM dataset ORDER BY name")]
        raise Unavailable(
            f"There is no dataset {dataset!r}.", hint=f"There is: {', '.join(known) or 'none yet'}.", known=known
        )
    counts = {
        "documents": connection.value("SELECT count(*) FROM document WHERE dataset = ?", (key,)),
        "entities": connection.value("SELECT count(*) FROM entity WHERE dataset = ?", (key,)),
        "relations": connection.value("SELECT count(*) FROM relation WHERE dataset = ?", (key,)),
    }
    hierarchy.drop_communities(connection, key)
    hierarchy.remove_claims(connection, f"SELECT id FROM claim WHERE dataset = {int(key)}")
    documents = connection.read("SELECT id FROM document WHERE dataset = ?", (key,))
    _remove_documents(connection, [row["id"] for row in documents])
    _remove_relations(connection, f"SELECT id FROM relation WHERE dataset = {int(key)}")
    _remove_entities(connection, f"SELECT id FROM entity WHERE dataset = {int(key)}")
    connection.run("DELETE FROM dataset WHERE id = ?", (key,))
    return counts


def remove_document(connection: Connection, document_id: str) -> dict[str, int]:
    """Removes every version of a document, and the relations and entities that nothing else holds."""
    key = connection.value("SELECT id FROM document WHERE uuid = ?", (document_id,))
    if key is None:
        raise Unavailable(f"There is no document {document_id!r}.", hint="`attest show` looks ids up.")
    return {"documents": 1, **_drop_orphans(connection, [key])}


def retire(connection: Connection, dataset: int, kept: Mapping[str, set[str]], *, at: int) -> dict[str, int]:
    """Ends the documents and removes the unstated relations and the entities that `kept` (ids by kind) lacks."""
    kinds = ("document", "entity", "relation", "claim")
    absent = {kind: _absent(connection, kind, dataset, kept[kind]) for kind in kinds}
    ended = [key for key in absent["document"] if not _has_ended(connection, key)]
    connection.run_many(
        "INSERT INTO ending (document, at, after) SELECT ?, ?, max(number) FROM version WHERE document = ?",
        [(key, at, key) for key in ended],
    )
    connection.run_many("INSERT OR IGNORE INTO touched_document VALUES (?)", [(key,) for key in ended])
    relations = _retire_relations(connection, absent["relation"])
    claims = hierarchy.retire_claims(connection, absent["claim"])
    connection.run_many("UPDATE entity SET retired = 1 WHERE id = ?", [(key,) for key in absent["entity"]])
    _remove_entities(
        connection,
        f"""SELECT e.id FROM entity e WHERE e.dataset = {int(dataset)} AND e.retired = 1
            AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.entity = e.id)
            AND NOT EXISTS (SELECT 1 FROM edge x WHERE x.source = e.id OR x.target = e.id)""",
    )
    return {"documents": len(ended), "entities": len(absent["entity"]), "relations": relations, "claims": claims}


def _retire_relations(connection: Connection, keys: Sequence[int]) -> int:
    """A relation that passages state ends with them; one without passages has no time and goes now."""
    listed = json.dumps(keys)
    connection.run(
        "INSERT OR IGNORE INTO touched_edge SELECT edge FROM relation WHERE id IN (SELECT value FROM json_each(?))",
        (listed,),
    )
    ended = connection.run(
        "UPDATE relation SET unstated = 0 WHERE unstated AND id IN (SELECT value FROM json_each(?))", (listed,)
    )
    connection.run(
        """DELETE FROM relation WHERE id IN (SELECT value FROM json_each(?))
            AND NOT EXISTS (SELECT 1 FROM support s WHERE s.relation = relation.id)""",
        (listed,),
    )
    return ended


def _absent(connection: Connection, kind: str, dataset: int, kept: set[str]) -> list[int]:
    rows = connection.read(f"SELECT id, uuid FROM {kind} WHERE dataset = ?", (dataset,))
    return [row["id"] for row in rows if row["uuid"] not in kept]


def _has_ended(connection: Connection, document: int) -> bool:
    ended = connection.value(
        "SELECT 1 FROM ending WHERE document = ? AND after = (SELECT max(number) FROM version WHERE document = ?)",
        (document, document),
    )
    return ended is not None


def _drop_orphans(connection: Connection, documents: Sequence[int]) -> dict[str, int]:
    """Removes documents with the relations and entities that only they held; counts of these."""
    listed = json.dumps(documents)
    versions = "SELECT id FROM version WHERE document IN (SELECT value FROM json_each(?))"
    connection.run("CREATE TEMP TABLE IF NOT EXISTS orphan (kind TEXT, id INTEGER)")
    connection.run("DELETE FROM orphan")
    connection.run(
        f"INSERT INTO orphan SELECT DISTINCT 'relation', relation FROM support WHERE version IN ({versions})", (listed,)
    )
    connection.run(
        f"INSERT INTO orphan SELECT DISTINCT 'entity', entity FROM appearance WHERE version IN ({versions})", (listed,)
    )
    connection.run(
        f"""INSERT INTO orphan SELECT DISTINCT 'claim', k.claim FROM passage p JOIN claim_passage k ON k.passage = p.id
            WHERE p.version IN ({versions})""",
        (listed,),
    )
    connection.run(
        """INSERT OR IGNORE INTO touched_dataset SELECT dataset FROM document
            WHERE id IN (SELECT value FROM json_each(?))""",
        (listed,),
    )
    _remove_documents(connection, documents)
    connection.run(
        """DELETE FROM orphan WHERE kind = 'claim' AND (
            EXISTS (SELECT 1 FROM claim_passage k WHERE k.claim = orphan.id)
            OR EXISTS (SELECT 1 FROM claim c WHERE c.id = orphan.id AND c.unstated))"""
    )
    connection.run(
        """DELETE FROM orphan WHERE kind = 'relation' AND (
            EXISTS (SELECT 1 FROM support s WHERE s.relation = orphan.id)
            OR EXISTS (SELECT 1 FROM relation r WHERE r.id = orphan.id AND r.unstated))"""
    )
    connection.run(
        """DELETE FROM orphan WHERE kind = 'entity'
            AND EXISTS (SELECT 1 FROM mention m WHERE m.entity = orphan.id)"""
    )
    connection.run(
        """INSERT INTO orphan SELECT 'relation', r.id FROM orphan o
            JOIN edge e ON o.id IN (e.source, e.target) JOIN relation r ON r.edge = e.id WHERE o.kind = 'entity'"""
    )
    relations = connection.value("SELECT count(DISTINCT id) FROM orphan WHERE kind = 'relation'")
    entities = connection.value("SELECT count(*) FROM orphan WHERE kind = 'entity'")
    hierarchy.remove_claims(connection, "SELECT id FROM orphan WHERE kind = 'claim'")
    _remove_relations(connection, "SELECT id FROM orphan WHERE kind = 'relation'")
    _remove_entities(connection, "SELECT id FROM orphan WHERE kind = 'entity'")
    return {"entities": entities, "relations": relations}


def _remove_documents(connection: Connection, documents: Sequence[int]) -> None:
    listed = (json.dumps(documents),)
    chosen = "IN (SELECT value FROM json_each(?))"
    versions = f"IN (SELECT id FROM version WHERE document {chosen})"
    passages = f"IN (SELECT p.id FROM passage p WHERE p.version {versions})"
    connection.run(f"INSERT OR IGNORE INTO touched_edge SELECT edge FROM support WHERE version {versions}", listed)
    connection.run(
        f"INSERT OR IGNORE INTO touched_entity SELECT entity FROM appearance WHERE version {versions}", listed
    )
    for statement in (
        f"""INSERT INTO passage_words (passage_words, rowid, words) SELECT 'delete', p.id, {PASSAGE_WORDS}
            FROM passage p JOIN version v ON v.id = p.version WHERE p.version {versions}""",
        f"DELETE FROM topic_passage WHERE passage {passages}",
        f"DELETE FROM topic WHERE version {versions}",
        f"DELETE FROM complement WHERE passage {passages}",
        f"DELETE FROM claim_passage WHERE passage {passages}",
        f"DELETE FROM support WHERE version {versions}",
        f"DELETE FROM appearance WHERE version {versions}",
        f"DELETE FROM mention WHERE passage {passages}",
        f"DELETE FROM passage WHERE version {versions}",
        f"DELETE FROM version_value WHERE version {versions}",
        f"DELETE FROM version WHERE document {chosen}",
        f"DELETE FROM ending WHERE document {chosen}",
        f"DELETE FROM document WHERE id {chosen}",
    ):
        connection.run(statement, listed)


def _remove_relations(connection: Connection, chosen: str) -> None:
    connection.run(f"INSERT OR IGNORE INTO touched_edge SELECT edge FROM relation WHERE id IN ({chosen})")
    connection.run(f"INSERT OR IGNORE INTO touched_edge SELECT edge FROM support WHERE relation IN ({chosen})")
    connection.run(f"DELETE FROM support WHERE relation IN ({chosen})")
    connection.run(f"DELETE FROM relation WHERE id IN ({chosen})")


def _remove_entities(connection: Connection, chosen: str) -> None:
    hierarchy.remove_claims(connection, f"SELECT id FROM claim WHERE subject IN ({chosen}) OR object IN ({chosen})")
    for statement in (
        f"DELETE FROM entity_words WHERE rowid IN ({chosen})",
        f"DELETE FROM entity_key WHERE entity IN ({chosen})",
        f"DELETE FROM mention WHERE entity IN ({chosen})",
        f"DELETE FROM complement WHERE entity IN ({chosen})",
        f"DELETE FROM appearance WHERE entity IN ({chosen})",
        f"DELETE FROM membership WHERE entity IN ({chosen})",
        f"DELETE FROM entity WHERE id IN ({chosen})",
    ):
        connection.run(statement)
