"""What one job writes: everything in one transaction, so that readers see all of it or nothing, however it ends."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from backend.identity import edge_id
from backend.models import Entity, LoadReport, VectorCollection
from backend.scope import document_values
from backend.stores.fulltext import name_text, names_of, whole_forms
from backend.stores.jobs import now, report_text
from backend.stores.rows import CurrentVersion, NewMention, NewPassage, NewRelation, NewVersion
from backend.stores.sqlite import derived
from backend.stores.sqlite.driver import Connection
from backend.stores.sqlite.entities import label_token, name_key
from backend.stores.sqlite.rows import ENTITY_COLUMNS, ENTITY_TABLES, as_json, result_entity
from backend.stores.sqlite.schema import FULL_TEXT
from backend.stores.validity import BEGINNING, ENDLESS
from backend.words import token_text


class SqliteWriter:
    """One open transaction; the tables of the temporary schema note what it touches."""

    def __init__(self, connection: Connection, job_id: str) -> None:
        self._connection = connection
        self._job_id = job_id
        self._now = int(datetime.now(UTC).timestamp() * 1_000_000)
        self._labels = self._names("label")
        self._types = self._names("relation_type")
        self._versions: dict[str, int] = {}
        derived.begin(connection)
        # Numbers of this job are higher than all before, which tells its own rows from those of earlier loads.
        self._first_mention = (connection.value("SELECT value FROM meta WHERE key = 'mentions'") or 0) + 1
        self._next_mention = self._first_mention
        self._rebuilt = self._make_names()

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
            row["source_id"]: CurrentVersion(row["uuid"], row["number"], row["content"], row["key"], bool(row["ended"]))
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

    def vector_texts(self, kind: str, *, missing_only: bool) -> Iterator[tuple[str, str, str]]:
        assert kind == "entity"
        where = "WHERE e.vectors IS NULL" if missing_only else ""
        rows = self._connection.read(
            f"""SELECT e.uuid, l.name AS label, e.name, e.description FROM entity e JOIN label l ON l.id = e.label
                {where} ORDER BY e.uuid"""
        )
        for row in rows:
            text = f"{row['name']}: {row['description']}" if row["description"] else row["name"]
            yield row["uuid"], row["label"], text

    # --- rows of a load ----------------------------------------------------------------------------------------------

    def put_entities(self, dataset: str, rows: Sequence[Entity], *, retired: Container[str] = ()) -> None:
        """Adds new entities and updates changed ones in place; a changed name or description loses its vector."""
        dataset_id = self._dataset(dataset)
        stored = self._stored_fields([row.id for row in rows])
        changed = [row for row in rows if stored.get(row.id) != (*_entity_fields(row), row.id in retired)]
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

    def put_passages(self, dataset: str, rows: Sequence[NewPassage]) -> None:
        self._connection.run_many(
            """INSERT INTO passage (uuid, version, source_id, position, "start", "end", heading, text, metadata, words)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uuid) DO NOTHING""",
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
                )
                for row in rows
            ],
        )

    def put_mentions(self, rows: Sequence[NewMention]) -> None:
        """Adds mentions; one that an earlier load has put into the same passage is not added again."""
        first = self._next_mention
        self._next_mention += len(rows)
        self._connection.run_many(
            """INSERT INTO mention (entity, passage, number, "start", "end", surface)
                SELECT e.id, p.id, :number, :start, :end, :surface FROM entity e, passage p
                WHERE e.uuid = :entity AND p.uuid = :passage AND NOT EXISTS (
                    SELECT 1 FROM mention m WHERE m.entity = e.id AND m.passage = p.id AND m.number < :first
                    AND m."start" IS :start AND m."end" IS :end AND m.surface IS :surface
                )""",
            [
                {
                    "number": first + n,
                    "start": row.start,
                    "end": row.end,
                    "surface": row.surface,
                    "entity": row.entity_id,
                    "passage": row.passage_id,
                    "first": self._first_mention,
                }
                for n, row in enumerate(rows)
            ],
        )
        derived.touch_versions_of_passages(self._connection, [row.passage_id for row in rows])

    def put_relations(self, dataset: str, rows: Sequence[NewRelation]) -> None:
        dataset_id = self._dataset(dataset)
        edges = [edge_id(row.source, row.type, row.target) for row in rows]
        support = [(row.id, edge_id(one.source, one.type, one.target), one) for row in rows for one in row.support]
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
            """INSERT INTO relation (uuid, dataset, source_id, edge, unstated, description, weight, metadata)
                VALUES (?, ?, ?, (SELECT id FROM edge WHERE uuid = ?), ?, ?, ?, ?)
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
                )
                for edge, row in zip(edges, rows, strict=True)
            ],
        )
        self._connection.run_many(
            """INSERT INTO support (edge, relation, passage, version, document)
                SELECT x.id, r.id, p.id, v.id, v.document FROM relation r, edge x, passage p
                JOIN version v ON v.id = p.version WHERE r.uuid = ? AND x.uuid = ? AND p.uuid = ?
                ON CONFLICT DO NOTHING""",
            [(relation, edge, passage_id) for relation, edge, one in support for passage_id in one.passage_ids],
        )
        derived.touch_edges(self._connection, [edge for _, edge, _ in support])

    # --- removing ----------------------------------------------------------------------------------------------------

    def retire(self, dataset: str, *, kept: Mapping[str, set[str]]) -> dict[str, int]:
        """Ends every document of the dataset that is not in `kept`, and removes what nothing holds any more."""
        return derived.retire(self._connection, self._dataset(dataset), kept, at=self._now)

    def remove(self, *, dataset: str | None = None, document_id: str | None = None) -> dict[str, int]:
        if dataset is not None:
            return derived.remove_dataset(self._connection, dataset)
        return derived.remove_document(self._connection, str(document_id))

    # --- vectors -----------------------------------------------------------------------------------------------------

    def place_vectors(self, collection: VectorCollection, ids: Sequence[str]) -> None:
        self._connection.run(
            """INSERT INTO vector_collection (name, kind, job, count, encoder) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET count = excluded.count""",
            (collection.name, collection.kind, collection.job_id, collection.count, collection.encoder),
        )
        self._connection.run_many(
            "UPDATE entity SET vectors = (SELECT id FROM vector_collection WHERE name = ?) WHERE uuid = ?",
            [(collection.name, entity_id) for entity_id in ids],
        )

    def placed_vectors(self, collection: str) -> list[tuple[str, str]]:
        """Id and label of everything whose vector is in a collection, in order of id."""
        rows = self._connection.read(
            """SELECT e.uuid, l.name FROM entity e JOIN label l ON l.id = e.label
                WHERE e.vectors = (SELECT id FROM vector_collection WHERE name = ?) ORDER BY e.uuid""",
            (collection,),
        )
        return [(row["uuid"], row["name"]) for row in rows]

    def forget_vectors(self, collection: str, ids: Sequence[str] | None = None) -> None:
        """Says that a collection, or the vectors of some ids in it, are not there any more."""
        narrowed = "" if ids is None else "AND uuid IN (SELECT value FROM json_each(:ids))"
        self._connection.run(
            f"""UPDATE entity SET vectors = NULL
                WHERE vectors = (SELECT id FROM vector_collection WHERE name = :name) {narrowed}""",
            {"name": collection, "ids": json.dumps(ids)},
        )

    # --- the end -----------------------------------------------------------------------------------------------------

    def commit(self, report: LoadReport | None) -> None:
        run = self._connection.run
        run("INSERT OR REPLACE INTO meta VALUES ('mentions', ?)", (self._next_mention,))
        derived.finish(self._connection)
        run("UPDATE meta SET value = value + 1 WHERE key = 'commits'")
        run(
            "INSERT INTO committed_job VALUES (?, ?, ?)",
            (
                self._job_id,
                now(),
                report_text(report),
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

    def _stored_fields(self, ids: Sequence[str]) -> dict[str, tuple[object, ...]]:
        rows = self._connection.read(
            """SELECT e.uuid, l.name AS label, e.name, e.aliases, e.description, e.metadata, e.retired FROM entity e
                JOIN label l ON l.id = e.label WHERE e.uuid IN (SELECT value FROM json_each(?))""",
            (json.dumps(ids),),
        )
        return {row["uuid"]: tuple(row)[1:] for row in rows}

    def rebuild_names(self) -> list[str]:
        return self._rebuilt

    def _make_names(self) -> list[str]:
        """Makes the full-text index anew where it is lost or another: every job writes into it."""
        if self._connection.value("SELECT sql FROM sqlite_master WHERE name = 'entity_words'") == FULL_TEXT:
            return []
        self._connection.run("DROP TABLE IF EXISTS entity_words")
        self._connection.run(FULL_TEXT)
        rows = self._connection.read(f"SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES}")
        for batch in _batched([result_entity(row) for row in rows], 2_000):
            self._index_names(batch, indexed=())
        return [f"{len(rows)} names put into the full-text index"]

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
                    declared_from, metadata, valid_from, valid_to)
                VALUES (?, (SELECT count(*) + 1 FROM version WHERE document = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                document,
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


def _batched(rows: Sequence[Entity], size: int) -> Iterator[Sequence[Entity]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _entity_fields(row: Entity) -> tuple[object, ...]:
    """The fields of an entity as they are stored."""
    return (row.label, row.name, as_json(row.aliases), row.description, as_json(row.metadata))
