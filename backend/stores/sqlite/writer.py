"""What one job writes: everything in one transaction, so that readers see all of it or nothing, however it ends."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from backend.identity import edge_id, statement_id
from backend.models import Entity, LoadReport, VectorCollection
from backend.scope import document_values
from backend.stores.encoded import (
    CHUNK,
    ENTITY,
    REPORT,
    STATEMENT,
    TOPIC,
    VectorText,
    entity_text,
    passage_text,
    report_text,
    topic_text,
)
from backend.stores.fulltext import name_text, names_of, whole_forms
from backend.stores.jobs import now
from backend.stores.jobs import report_text as load_report_text
from backend.stores.reports import read_report
from backend.stores.rows import (
    CurrentVersion,
    NewClaim,
    NewCommunity,
    NewComplement,
    NewMention,
    NewPassage,
    NewRelation,
    NewStatement,
    NewTopic,
    NewVersion,
    read_statements,
)
from backend.stores.sqlite import derived, hierarchy
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.entities import label_token, name_key
from backend.stores.sqlite.rows import ENTITY_COLUMNS, ENTITY_TABLES, as_json, result_entity
from backend.stores.sqlite.schema import FULL_TEXT
from backend.stores.validity import BEGINNING, ENDLESS
from backend.words import token_text

_PAGE = 2_000
# Where it is written in which collection the vectors of a kind are.
_PLACES = {
    ENTITY: ("entity", "vectors"),
    CHUNK: ("passage", "vectors"),
    TOPIC: ("topic", "vectors"),
    STATEMENT: ("passage", "statement_vectors"),
    REPORT: ("community", "vectors"),
}
# Of each kind: id, what the texts are made of, and the tables; `o` is the row that says where the vectors are. Of a
# sentence without a mention there is a vector too, since a later load may mention something there.
_TEXTS = {
    ENTITY: "o.uuid, l.name AS label, o.name, o.description FROM entity o JOIN label l ON l.id = o.label",
    CHUNK: """o.uuid, v.collection AS label, nullif(v.title, d.source_id) AS title, o.heading, o.text
        FROM passage o JOIN version v ON v.id = o.version JOIN document d ON d.id = v.document""",
    TOPIC: """o.uuid, v.collection AS label, o.title, (
            SELECT json_group_array(json_array(p.text, json(p.statements))) FROM (
                SELECT p.* FROM topic_passage tp JOIN passage p ON p.id = tp.passage WHERE tp.topic = o.id
                ORDER BY p.position, p.uuid LIMIT 8
            ) p
        ) AS passages FROM topic o JOIN version v ON v.id = o.version""",
    STATEMENT: "o.uuid, '' AS label, o.text, o.statements FROM passage o",
    REPORT: "o.uuid, o.level AS label, o.report FROM (SELECT * FROM community WHERE report IS NOT NULL) o",
}


class SqliteWriter:
    """One open transaction; the tables of the temporary schema note what it touches."""

    def __init__(self, connection: Connection, job_id: str) -> None:
        self._connection = connection
        self._job_id = job_id
        self._now = int(datetime.now(UTC).timestamp() * 1_000_000)
        self._labels = self._names("label")
        self._types = self._names("relation_type")
        self._versions: dict[str, int] = {}
        self._hierarchies: set[int] = set()  # datasets whose communities this job has put
        derived.begin(connection)
        # Numbers of this job are higher than all before, which tells its own rows from those of earlier loads.
        self._first_mention = (connection.value("SELECT value FROM meta WHERE key = 'mentions'") or 0) + 1
        self._next_mention = self._first_mention
        self._rebuilt = self._make_full_text()
        self._first_passage = (connection.value("SELECT max(id) FROM passage") or 0) + 1

    # --- what is committed -------------------------------------------------------------------------------------------

    def known(self, kind: str, ids: Sequence[str]) -> set[str]:
        table = {"entity": "entity", "relation": "relation"}[kind]
        rows = self._connection.read(
            f"SELECT uuid FROM {table} WHERE uuid IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
        )
        return {row["uuid"] for row in rows}

    def current_versions(self, dataset: str) -> dict[str, CurrentVersion]:
        rows = self._connection.read(
            """SELECT d.source_id, d.uuid, v.number, v.content, v.key, v.title,
                    EXISTS (SELECT 1 FROM ending n WHERE n.document = d.id AND n.after >= v.number) AS ended
                FROM document d JOIN version v ON v.document = d.id
                WHERE d.dataset = (SELECT id FROM dataset WHERE name = ?)
                ORDER BY v.number""",
            (dataset,),
        )
        return {
            row["source_id"]: CurrentVersion(
                row["uuid"], row["number"], row["content"], row["key"], row["title"], bool(row["ended"])
            )
            for row in rows
        }

    def version_keys(self, document_ids: Sequence[str]) -> dict[str, set[str]]:
        rows = self._connection.read(
            """SELECT d.uuid, v.key FROM document d JOIN version v ON v.document = d.id
                WHERE d.uuid IN (SELECT value FROM json_each(?))""",
            (json.dumps(document_ids),),
        )
        keys: dict[str, set[str]] = {}
        for row in rows:
            keys.setdefault(row["uuid"], set()).add(row["key"])
        return keys

    def current_passages(self, dataset: str, source_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        rows = self._connection.read(
            """SELECT p.source_id, p.uuid, p.text, d.source_id AS document FROM passage p
                JOIN version v ON v.id = p.version JOIN document d ON d.id = v.document
                WHERE p.source_id IN (SELECT value FROM json_each(?))
                AND d.dataset = (SELECT id FROM dataset WHERE name = ?)
                AND v.number = (SELECT max(number) FROM version l WHERE l.document = d.id)
                ORDER BY p.id""",
            (json.dumps(source_ids), dataset),
        )
        return {row["source_id"]: (row["uuid"], row["text"], row["document"]) for row in rows}

    def passage_texts(self, passage_ids: Sequence[str]) -> dict[str, tuple[str, tuple[NewStatement, ...]]]:
        rows = self._connection.read(
            "SELECT uuid, text, statements FROM passage WHERE uuid IN (SELECT value FROM json_each(?))",
            (json.dumps(passage_ids),),
        )
        return {row["uuid"]: (row["text"], read_statements(json.loads(row["statements"]))) for row in rows}

    def entity_names(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        rows = self._connection.read(
            "SELECT uuid, name, aliases FROM entity WHERE uuid IN (SELECT value FROM json_each(?))",
            (json.dumps(entity_ids),),
        )
        return {row["uuid"]: (row["name"], *json.loads(row["aliases"])) for row in rows}

    def vector_texts(self, kind: str, *, missing_only: bool) -> Iterator[VectorText]:
        column = _PLACES[kind][1]
        where = f"o.{column} IS NULL AND" if missing_only else ""
        after = ""
        while rows := self._connection.read(
            f"SELECT {_TEXTS[kind]} WHERE {where} o.uuid > ? ORDER BY o.uuid LIMIT {_PAGE}", (after,)
        ):
            for row in rows:
                yield from _vector_texts(kind, row)
            after = rows[-1]["uuid"]

    # --- rows of a load ----------------------------------------------------------------------------------------------

    def put_entities(self, dataset: str, rows: Sequence[Entity], *, retired: Container[str] = ()) -> None:
        """Adds new entities and updates changed ones in place; a changed name or description loses its vector."""
        dataset_id = self._dataset(dataset)
        stored = self._stored_fields([row.id for row in rows])
        changed = [row for row in rows if stored.get(row.id) != (*_entity_fields(row), row.id in retired)]
        if changed:
            derived.touch_dataset(self._connection, dataset_id)
        self._connection.run_many(
            """INSERT INTO entity (uuid, dataset, source_id, label, name, aliases, description, metadata, retired)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (uuid) DO UPDATE SET label = excluded.label, name = excluded.name,
                    aliases = excluded.aliases, description = excluded.description, metadata = excluded.metadata,
                    retired = excluded.retired, vectors = CASE WHEN name IS excluded.name AND label = excluded.label
                        AND description IS excluded.description THEN vectors END""",
            [
                (
                    row.id,
                    dataset_id,
                    row.source_id,
                    self._name_id("label", self._labels, row.label),
                    row.name,
                    as_json(row.aliases),
                    row.description,
                    as_json(row.metadata),
                    row.id in retired,
                )
                for row in changed
            ],
        )
        self._index_names(changed, indexed=stored.keys())

    def put_versions(self, dataset: str, rows: Sequence[NewVersion]) -> None:
        dataset_id = self._dataset(dataset)
        self._connection.run_many(
            "INSERT INTO document (uuid, dataset, source_id) VALUES (?, ?, ?) ON CONFLICT (uuid) DO NOTHING",
            [(row.document_id, dataset_id, row.source_id) for row in rows],
        )
        for row in rows:
            self._put_version(row)

    def put_claims(self, dataset: str, rows: Sequence[NewClaim]) -> None:
        dataset_id = self._dataset(dataset)
        loose = [row for row in rows if row.unstated]
        stored = hierarchy.unstated_claims(self._connection, [row.id for row in loose])
        if any(stored.get(row.id) != hierarchy.claim_fields(row) for row in loose):
            derived.touch_dataset(self._connection, dataset_id)
        hierarchy.put_claims(self._connection, dataset_id, rows)

    def put_communities(self, dataset: str, rows: Sequence[NewCommunity]) -> None:
        dataset_id = self._dataset(dataset)
        hierarchy.replace_communities(self._connection, dataset_id, rows)
        self._hierarchies.add(dataset_id)

    def put_passages(self, dataset: str, rows: Sequence[NewPassage]) -> None:
        self._connection.run_many(
            """INSERT INTO passage (uuid, version, source_id, position, "start", "end", heading, text, metadata, words,
                    heading_words, statements)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uuid) DO NOTHING""",
            [
                (
                    row.id,
                    self._version(row.version_key),
                    row.source_id,
                    row.position,
                    row.start,
                    row.end,
                    row.heading,
                    row.text,
                    as_json(row.metadata),
                    token_text(row.text),
                    token_text(row.heading or ""),
                    as_json([statement.row() for statement in row.statements]),
                )
                for row in rows
            ],
        )

    def put_statements(self, rows: Sequence[tuple[str, NewStatement]]) -> None:
        self._connection.run_many(
            "UPDATE passage SET statements = json_insert(statements, '$[#]', json(?)) WHERE uuid = ?",
            [(as_json(statement.row()), passage_id) for passage_id, statement in rows],
        )

    def put_topics(self, rows: Sequence[NewTopic]) -> None:
        self._connection.run_many(
            """INSERT INTO topic (uuid, version, source_id, title, derived) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (uuid) DO NOTHING""",
            [(row.id, self._version(row.version_key), row.source_id, row.title, row.derived) for row in rows],
        )
        self._connection.run_many(
            """INSERT OR IGNORE INTO topic_passage SELECT t.id, p.id FROM topic t, passage p
                WHERE t.uuid = ? AND p.uuid = ?""",
            [(row.id, passage_id) for row in rows for passage_id in row.passage_ids],
        )

    def put_mentions(self, rows: Sequence[NewMention]) -> None:
        """Adds mentions; as many as earlier loads have put into the same passage are not added again."""
        first = self._next_mention
        self._next_mention += len(rows)
        self._connection.run_many(
            """INSERT INTO mention (entity, passage, number, "start", "end", surface, statements)
                SELECT e.id, p.id, :number, :start, :end, :surface, :statements FROM entity e, passage p
                WHERE e.uuid = :entity AND p.uuid = :passage AND :alike >= (
                    SELECT count(*) FROM mention m WHERE m.entity = e.id AND m.passage = p.id AND m.number < :first
                    AND m."start" IS :start AND m."end" IS :end AND m.surface IS :surface
                )""",
            [
                {
                    "number": first + n,
                    "start": row.start,
                    "end": row.end,
                    "surface": row.surface,
                    "statements": as_json(row.statements),
                    "entity": row.entity_id,
                    "passage": row.passage_id,
                    "first": self._first_mention,
                    "alike": row.alike,
                }
                for n, row in enumerate(rows)
            ],
        )
        derived.touch_versions_of_passages(self._connection, [row.passage_id for row in rows])

    def put_complements(self, dataset: str, rows: Sequence[NewComplement]) -> None:
        self._connection.run_many(
            """INSERT OR IGNORE INTO complement (fact, dataset, entity, predicate, text, passage, statements)
                SELECT :fact, :dataset, e.id, :predicate, :text, p.id, :statements FROM entity e, passage p
                WHERE e.uuid = :entity AND p.uuid = :passage""",
            [
                {
                    "fact": row.id,
                    "dataset": self._dataset(dataset),
                    "predicate": row.predicate,
                    "text": row.complement,
                    "statements": as_json(row.statements),
                    "entity": row.subject_id,
                    "passage": row.passage_id,
                }
                for row in rows
            ],
        )

    def put_relations(self, dataset: str, rows: Sequence[NewRelation]) -> None:
        dataset_id = self._dataset(dataset)
        edges = [edge_id(row.source, row.type, row.target) for row in rows]
        support = [(row.id, edge_id(one.source, one.type, one.target), one) for row in rows for one in row.support]
        if self._has_other_unstated(rows):
            derived.touch_dataset(self._connection, dataset_id)
        derived.touch_edges_of_relations(self._connection, [row.id for row in rows])
        self._connection.run_many(
            """INSERT INTO edge (uuid, source, target, type) SELECT ?, s.id, t.id, ? FROM entity s, entity t
                WHERE s.uuid = ? AND t.uuid = ? ON CONFLICT (uuid) DO NOTHING""",
            [
                (edge, self._name_id("relation_type", self._types, one.type), one.source, one.target)
                for _, edge, one in support
            ],
        )
        self._connection.run_many(
            """INSERT INTO relation (uuid, dataset, source_id, edge, unstated, description, weight, metadata, is_fact)
                VALUES (?, ?, ?, (SELECT id FROM edge WHERE uuid = ?), ?, ?, ?, ?, ?)
                ON CONFLICT (uuid) DO UPDATE SET edge = excluded.edge, unstated = excluded.unstated,
                    description = excluded.description, weight = excluded.weight, metadata = excluded.metadata""",
            [
                (
                    row.id,
                    dataset_id,
                    row.source_id,
                    edge,
                    row.unstated,
                    row.description,
                    row.weight,
                    as_json(row.metadata),
                    row.is_fact,
                )
                for edge, row in zip(edges, rows, strict=True)
            ],
        )
        self._connection.run_many(
            """INSERT INTO support (edge, relation, passage, version, document, statements)
                SELECT x.id, r.id, p.id, v.id, v.document, ? FROM relation r, edge x, passage p
                JOIN version v ON v.id = p.version WHERE r.uuid = ? AND x.uuid = ? AND p.uuid = ?
                ON CONFLICT DO NOTHING""",
            [
                (
                    as_json(places) if (places := one.statements.get(passage_id)) is not None else None,
                    relation,
                    edge,
                    passage_id,
                )
                for relation, edge, one in support
                for passage_id in one.passage_ids
            ],
        )
        derived.touch_edges(self._connection, [edge for _, edge, _ in support])

    # --- removing ----------------------------------------------------------------------------------------------------

    def retire(self, dataset: str, *, kept: Mapping[str, set[str]]) -> dict[str, int]:
        """Ends every document of the dataset that is not in `kept`, and removes what nothing holds any more."""
        dataset_id = self._dataset(dataset)
        if dataset_id not in self._hierarchies:
            hierarchy.drop_communities(self._connection, dataset_id)
        counts = derived.retire(self._connection, dataset_id, kept, at=self._now)
        if any(counts.values()):
            derived.touch_dataset(self._connection, dataset_id)
        return counts

    def remove(self, *, dataset: str | None = None, document_id: str | None = None) -> dict[str, int]:
        if dataset is not None:
            return derived.remove_dataset(self._connection, dataset)
        return derived.remove_document(self._connection, str(document_id))

    # --- vectors -----------------------------------------------------------------------------------------------------

    def place_vectors(self, collection: VectorCollection, owners: Collection[str]) -> None:
        self._connection.run(
            """INSERT INTO vector_collection (name, kind, job, count, encoder) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET count = excluded.count""",
            (collection.name, collection.kind, collection.job_id, collection.count, collection.encoder),
        )
        table, column = _PLACES[collection.kind]
        self._connection.run_many(
            f"UPDATE {table} SET {column} = (SELECT id FROM vector_collection WHERE name = ?) WHERE uuid = ?",
            [(collection.name, owner) for owner in owners],
        )

    def placed_vectors(self, collection: VectorCollection) -> Iterator[VectorText]:
        column = _PLACES[collection.kind][1]
        rows = self._connection.read(
            f"""SELECT {_TEXTS[collection.kind]}
                WHERE o.{column} = (SELECT id FROM vector_collection WHERE name = ?) ORDER BY o.uuid""",
            (collection.name,),
        )
        return (text for row in rows for text in _vector_texts(collection.kind, row))

    def forget_vectors(self, collection: VectorCollection, owners: Collection[str] | None = None) -> None:
        table, column = _PLACES[collection.kind]
        narrowed = "" if owners is None else "AND uuid IN (SELECT value FROM json_each(:owners))"
        self._connection.run(
            f"""UPDATE {table} SET {column} = NULL
                WHERE {column} = (SELECT id FROM vector_collection WHERE name = :name) {narrowed}""",
            {"name": collection.name, "owners": json.dumps(None if owners is None else list(owners))},
        )

    # --- the end -----------------------------------------------------------------------------------------------------

    def commit(self, report: LoadReport | None) -> None:
        run = self._connection.run
        run("INSERT OR REPLACE INTO meta VALUES ('mentions', ?)", (self._next_mention,))
        derived.index_passages(self._connection, self._first_passage)
        derived.finish(self._connection, made=sorted(self._hierarchies))
        run("UPDATE meta SET value = value + 1 WHERE key = 'commits'")
        run(
            "INSERT INTO committed_job VALUES (?, ?, ?)",
            (
                self._job_id,
                now(),
                load_report_text(report),
            ),
        )
        self._connection.commit()

    # --- parts -------------------------------------------------------------------------------------------------------

    def _names(self, table: str) -> dict[str, int]:
        return {row["name"]: row["id"] for row in self._connection.read(f"SELECT name, id FROM {table}")}

    def _name_id(self, table: str, names: dict[str, int], name: str) -> int:
        if name not in names:
            self._connection.run(f"INSERT INTO {table} (name) VALUES (?)", (name,))
            names[name] = self._connection.value("SELECT last_insert_rowid()")
        return names[name]

    def _dataset(self, name: str) -> int:
        self._connection.run("INSERT INTO dataset (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
        found: int = self._connection.value("SELECT id FROM dataset WHERE name = ?", (name,))
        return found

    def _has_other_unstated(self, rows: Sequence[NewRelation]) -> bool:
        """Whether a relation that no passage states is new, or differs from what is stored of it.

        Of what passages state a difference is one of their document, which has a new version then.
        """
        loose = {row.id: row for row in rows if row.unstated}
        stored = self._connection.read(
            """SELECT r.uuid, e.uuid AS edge, r.description, r.weight, r.metadata FROM relation r
                JOIN edge e ON e.id = r.edge WHERE r.unstated AND r.uuid IN (SELECT value FROM json_each(?))""",
            (json.dumps(list(loose)),),
        )
        same = [one for one in stored if tuple(one)[1:] == _relation_fields(loose[one["uuid"]])]
        return len(same) < len(loose)

    def _stored_fields(self, ids: Sequence[str]) -> dict[str, tuple[object, ...]]:
        rows = self._connection.read(
            """SELECT e.uuid, l.name AS label, e.name, e.aliases, e.description, e.metadata, e.retired FROM entity e
                JOIN label l ON l.id = e.label WHERE e.uuid IN (SELECT value FROM json_each(?))""",
            (json.dumps(ids),),
        )
        return {row["uuid"]: tuple(row)[1:] for row in rows}

    def rebuild_full_text(self) -> list[str]:
        return self._rebuilt

    def _make_full_text(self) -> list[str]:
        """Makes the full-text indexes anew where they are lost or others: every job writes into them."""
        there = {row["name"]: row["sql"] for row in self._connection.read("SELECT name, sql FROM sqlite_master")}
        lost = [name for name, definition in FULL_TEXT.items() if there.get(name) != definition]
        for name in lost:
            self._connection.run(f"DROP TABLE IF EXISTS {name}")
            self._connection.run(FULL_TEXT[name])
        done = []
        if "entity_words" in lost:
            rows = self._connection.read(f"SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES}")
            for batch in _batched([result_entity(row) for row in rows], 2_000):
                self._index_names(batch, indexed=())
            done.append(f"{len(rows)} names put into the full-text index")
        if "passage_words" in lost:
            done.append(f"{derived.index_passages(self._connection, 0)} passages put into the full-text index")
        return done

    def _index_names(self, rows: Sequence[Entity], *, indexed: Container[str]) -> None:
        found = self._connection.read(
            "SELECT uuid, id FROM entity WHERE uuid IN (SELECT value FROM json_each(?))",
            (json.dumps([row.id for row in rows]),),
        )
        keys = {row["uuid"]: row["id"] for row in found}
        old = [(keys[row.id],) for row in rows if row.id in indexed]
        self._connection.run_many("DELETE FROM entity_key WHERE entity = ?", old)
        self._connection.run_many("DELETE FROM entity_words WHERE rowid = ?", old)
        self._connection.run_many(
            "INSERT OR IGNORE INTO entity_key VALUES (?, ?)",
            [(name_key(form), keys[row.id]) for row in rows for name in names_of(row) for form in whole_forms(name)],
        )
        self._connection.run_many(
            "INSERT INTO entity_words (rowid, label, names) VALUES (?, ?, ?)",
            [(keys[row.id], label_token(row.label), name_text(row)) for row in rows],
        )

    def _put_version(self, row: NewVersion) -> None:
        document = self._connection.value("SELECT id FROM document WHERE uuid = ?", (row.document_id,))
        begins = BEGINNING if row.valid_from is None else row.valid_from
        self._connection.run(
            """INSERT INTO version (document, number, key, content, title, collection, date, author, url,
                    declared_from, metadata, valid_from, valid_to, words)
                SELECT ?1, (SELECT count(*) + 1 FROM version WHERE document = ?1),
                    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13""",
            (
                document,
                row.version_key,
                row.content,
                row.title or row.source_id,
                row.collection,
                row.date,
                row.author,
                row.url,
                row.declared_from,
                as_json(row.metadata),
                begins,
                ENDLESS,
                token_text(row.title or ""),
            ),
        )
        version = self._connection.value("SELECT last_insert_rowid()")
        self._versions[row.version_key] = version
        if row.ended is not None:
            self._connection.run(
                "INSERT INTO ending (document, at, after) SELECT document, ?, number FROM version WHERE id = ?",
                (row.ended, version),
            )
        fields = {"collection": row.collection, "date": row.date, "author": row.author, "url": row.url}
        self._connection.run_many(
            "INSERT INTO version_value VALUES (?, ?, ?, ?, ?)",
            [
                (version, key, value.kind, value.number, value.text)
                for key, value in document_values({"title": row.title, **fields}, row.metadata)
            ],
        )
        derived.touch_version(self._connection, version)

    def _version(self, key: str) -> int:
        if key not in self._versions:
            self._versions[key] = self._connection.value("SELECT id FROM version WHERE key = ?", (key,))
            derived.touch_version(self._connection, self._versions[key])
        return self._versions[key]


def _vector_texts(kind: str, row: Row) -> Iterator[VectorText]:
    owner, label = row["uuid"], row["label"]
    if kind == ENTITY:
        yield VectorText(owner, owner, label, entity_text(row["name"], row["description"]))
    elif kind == CHUNK:
        yield VectorText(owner, owner, label, passage_text(row["title"], row["heading"], row["text"]))
    elif kind == REPORT:
        report = read_report(row["report"])
        yield VectorText(owner, owner, str(label), report_text(report.title, report.summary))
    elif kind == TOPIC:
        passages = [(text, read_statements(rows)) for text, rows in json.loads(row["passages"])]
        yield VectorText(owner, owner, label, topic_text(owner, row["title"], passages))
    else:
        for place, statement in enumerate(read_statements(json.loads(row["statements"]))):
            yield VectorText(owner, statement_id(owner, place), label, statement.of(row["text"]))


def _batched(rows: Sequence[Entity], size: int) -> Iterator[Sequence[Entity]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _relation_fields(row: NewRelation) -> tuple[object, ...]:
    """The fields of a relation as they are stored, with the edge that it is of."""
    return (edge_id(row.source, row.type, row.target), row.description, row.weight, as_json(row.metadata))


def _entity_fields(row: Entity) -> tuple[object, ...]:
    """The fields of an entity as they are stored."""
    return (row.label, row.name, as_json(row.aliases), row.description, as_json(row.metadata))
