"""What one job writes: new rows at once, invisible until the commit knows them; changes to old ones all in the commit.

A server cannot hold a large load in one transaction. New rows are written in batches and carry the number of the commit
that will show them; what changes or removes rows that are seen already waits in memory for that commit, which is one
transaction. A job that does not get so far leaves nothing but rows that nobody sees, which the next writer sweeps away.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from backend.errors import StoreUnreachable
from backend.identity import edge_id
from backend.models import Entity, LoadReport, VectorCollection
from backend.scope import document_values
from backend.stores.fulltext import name_text, names_of, whole_forms
from backend.stores.jobs import now, report_text
from backend.stores.neo4j import committing, indexes, removing, statements
from backend.stores.neo4j.driver import Row, Server, Writing
from backend.stores.neo4j.rows import as_json
from backend.stores.neo4j.schema import MAX_TYPES, label_token, text_key, text_order, type_token
from backend.stores.neo4j.settling import settle
from backend.stores.neo4j.state import read_state, required
from backend.stores.neo4j.sweeping import sweep
from backend.stores.rows import CurrentVersion, NewMention, NewPassage, NewRelation, NewVersion, Support
from backend.stores.validity import BEGINNING, ENDLESS, validity
from backend.words import token_text

_PAGE = 5_000


@dataclass(slots=True)
class _Changes:
    """What the commit does to rows that are seen already."""

    documents: set[str] = field(default_factory=set)  # whose validity is to be computed
    entities: dict[str, Row] = field(default_factory=dict)  # new fields by id
    relations: dict[str, Row] = field(default_factory=dict)
    vectors: dict[str, str | None] = field(default_factory=dict)  # collection by entity id
    endings: dict[str, int] = field(default_factory=dict)  # time of retirement by document id
    retired_entities: list[str] = field(default_factory=list)
    retired_relations: list[str] = field(default_factory=list)
    collections: dict[str, VectorCollection] = field(default_factory=dict)
    removed_dataset: str | None = None
    removed_document: str | None = None


class Neo4jWriter:
    """The writer of one job; the rows of its own carry `since`, which is one more than the last commit."""

    def __init__(self, server: Server, job_id: str, *, commit: int) -> None:
        self._server = server
        self._job_id = job_id
        self._commit = commit
        self._since = commit + 1
        self._now = int(datetime.now(UTC).timestamp() * 1_000_000)
        self._changes = _Changes()
        self._datasets: set[str] = set()
        self._number = self._value(statements.LAST_NUMBER) or 0
        self._types: dict[str, str] = {row["name"]: row["token"] for row in self._read(statements.TYPES)}
        self._own_entities: set[str] = set()
        self.is_committed = False

    # --- what is committed -------------------------------------------------------------------------------------------

    def known(self, kind: str, ids: Sequence[str]) -> set[str]:
        return {row["id"] for row in self._read(statements.KNOWN[kind], ids=list(ids))}

    def current_versions(self, dataset: str) -> dict[str, CurrentVersion]:
        rows = self._read(statements.CURRENT_VERSIONS, dataset=dataset)
        return {
            row["source_id"]: CurrentVersion(row["id"], row["number"], row["content"], row["version"], row["ended"])
            for row in rows
        }

    def version_keys(self, document_ids: Sequence[str]) -> dict[str, set[str]]:
        keys: dict[str, set[str]] = defaultdict(set)
        for row in self._read(statements.VERSION_KEYS, ids=list(document_ids)):
            keys[row["id"]].add(row["key"])
        return keys

    def current_passages(self, dataset: str, source_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        keys = [text_key(dataset, source_id) for source_id in source_ids]
        rows = self._read(statements.CURRENT_PASSAGES, keys=keys)
        return {row["source_id"]: (row["id"], row["text"], row["document"]) for row in rows}

    def vector_texts(self, kind: str, *, missing_only: bool) -> Iterator[tuple[str, str, str]]:
        assert kind == "entity"
        after = ""
        while rows := self._read(statements.ENTITY_TEXTS, after=after, limit=_PAGE, since=self._since):
            for row in rows:
                fields = {**row, **self._changes.entities.get(row["id"], {})}
                has_vector = self._changes.vectors.get(row["id"], row["vectors"]) is not None
                if not (missing_only and has_vector):
                    text = f"{fields['name']}: {fields['description']}" if fields["description"] else fields["name"]
                    yield row["id"], fields["label"], text
            after = rows[-1]["id"]

    # --- rows of a load ----------------------------------------------------------------------------------------------

    def put_entities(self, dataset: str, rows: Sequence[Entity], *, retired: Container[str] = ()) -> None:
        """Adds new entities; changed ones wait for the commit, where a changed name or description loses its vector."""
        self._datasets.add(dataset)
        stored = {row["id"]: row for row in self._read(statements.STORED_ENTITIES, ids=[one.id for one in rows])}
        new = []
        for row in rows:
            fields = {**_entity_fields(row), "retired": row.id in retired}
            before = stored.get(row.id)
            if before is None:
                self._number += 1
                new.append({"token": label_token(row.label), "fields": {**fields, **self._new_entity(dataset, row)}})
            elif any(before[key] != value for key, value in fields.items() if key in before):
                self._changes.entities[row.id] = fields
                if any(before[key] != fields[key] for key in ("name", "label", "description")):
                    self._changes.vectors[row.id] = None
        self._own_entities.update(row.id for row in rows if row.id not in stored)
        self._write(statements.CREATE_ENTITIES, new)

    def put_versions(self, dataset: str, rows: Sequence[NewVersion]) -> None:
        self._datasets.add(dataset)
        for start in range(0, len(rows), _PAGE):
            batch = rows[start : start + _PAGE]
            last = self._read(statements.LAST_VERSIONS, ids=[row.document_id for row in batch])
            numbers = Counter({row["id"]: row["number"] for row in last})
            new = []
            for row in batch:
                numbers[row.document_id] += 1
                new.append(self._new_version(dataset, row, numbers[row.document_id]))
            self._write(statements.CREATE_VERSIONS, [{"fields": fields} for fields in new])
            self._changes.documents.update(row.document_id for row in batch)

    def put_passages(self, dataset: str, rows: Sequence[NewPassage]) -> None:
        written = self._write(statements.CREATE_PASSAGES, [_passage(dataset, row, self._since) for row in rows])
        self._changes.documents.update(row["document"] for row in written)

    def put_mentions(self, rows: Sequence[NewMention]) -> None:
        """Adds mentions; one that an earlier load has put into the same passage is not added again."""
        new = [
            {
                "entity": row.entity_id,
                "passage": row.passage_id,
                "missing": [row.start is None, row.end is None, row.surface is None],
                "fields": {"start": row.start, "end": row.end, "surface": row.surface, "since": self._since},
            }
            for row in rows
        ]
        written = self._write(statements.CREATE_MENTIONS, new)
        self._changes.documents.update(row["document"] for row in written)

    def put_relations(self, dataset: str, rows: Sequence[NewRelation]) -> None:
        self._datasets.add(dataset)
        edges = {row.id: edge_id(row.source, row.type, row.target) for row in rows}
        stated = [(row.id, edge_id(one.source, one.type, one.target), one) for row in rows for one in row.support]
        self._put_edges({edge: one for _, edge, one in stated})
        stored = {row["id"]: row for row in self._read(statements.STORED_RELATIONS, ids=list(edges))}
        new: list[Row] = []
        touched: set[str] = set()
        for row in rows:
            fields = _relation_fields(row, edges[row.id])
            before = stored.get(row.id)
            if before is None:
                new.append({"fields": {**fields, "id": row.id, "dataset": dataset, "since": self._since}})
            elif any(before[key] != value for key, value in fields.items()):
                self._changes.relations[row.id] = fields
                touched.update((before["edge"], fields["edge"]))
        self._write(statements.CREATE_RELATIONS, new)
        support = [
            {"relation": relation, "edge": edge, "passage": passage}
            for relation, edge, one in stated
            for passage in dict.fromkeys(one.passage_ids)
        ]
        touched.update(row["edge"] for row in support)
        self._write(statements.CREATE_SUPPORT, support)
        self._write(statements.TOUCH_EDGES, [{"id": edge} for edge in touched])

    def _put_edges(self, edges: Mapping[str, Support]) -> None:
        stored = {row["id"] for row in self._read(statements.STORED_EDGES, ids=list(edges))}
        self._write(
            statements.CREATE_EDGES,
            [
                {"source": row.source, "target": row.target, "token": self._type(row.type), "fields": _edge(edge, row)}
                for edge, row in edges.items()
                if edge not in stored
            ],
        )

    def _type(self, name: str) -> str:
        if name not in self._types:
            self._types[name] = type_token(name, is_early=len(self._types) < MAX_TYPES)
        return self._types[name]

    # --- removing ----------------------------------------------------------------------------------------------------

    def retire(self, dataset: str, *, kept: Mapping[str, set[str]]) -> dict[str, int]:
        """Ends, in the commit, every document of the dataset that is not in `kept`, with what nothing else holds."""
        absent = {
            kind: [row for row in self._read(statements.OF_DATASET[kind], dataset=dataset) if row["id"] not in ids]
            for kind, ids in kept.items()
        }
        ended = [row["id"] for row in absent["document"] if not row["ended"]]
        self._changes.endings.update((document, self._now) for document in ended)
        self._changes.documents.update(ended)
        self._changes.retired_entities = [row["id"] for row in absent["entity"]]
        self._changes.retired_relations = [row["id"] for row in absent["relation"]]
        unstated = sum(row["unstated"] for row in absent["relation"])
        return {"documents": len(ended), "entities": len(absent["entity"]), "relations": unstated}

    def remove(self, *, dataset: str | None = None, document_id: str | None = None) -> dict[str, int]:
        self._changes.removed_dataset, self._changes.removed_document = dataset, document_id
        with self._server.reading() as reading:
            if dataset is not None:
                return removing.counts_of_dataset(reading, dataset, self._commit)
            return removing.counts_of_document(reading, str(document_id), self._commit)

    # --- vectors -----------------------------------------------------------------------------------------------------

    def place_vectors(self, collection: VectorCollection, ids: Sequence[str]) -> None:
        self._changes.collections[collection.name] = collection
        own = [entity for entity in ids if entity in self._own_entities]
        for start in range(0, len(own), _PAGE):
            rows = [{"id": entity, "vectors": collection.name} for entity in own[start : start + _PAGE]]
            self._write(statements.SET_VECTORS, rows)
        self._changes.vectors.update((entity, collection.name) for entity in ids if entity not in self._own_entities)

    def placed_vectors(self, collection: str) -> list[tuple[str, str]]:
        """Id and label of everything whose vector is in a collection, in order of id."""
        rows = self._read(statements.PLACED_VECTORS, name=collection)
        return [
            (row["id"], self._changes.entities.get(row["id"], row)["label"])
            for row in rows
            if self._changes.vectors.get(row["id"], collection) == collection
        ]

    def forget_vectors(self, collection: str, ids: Sequence[str] | None = None) -> None:
        """Says that a collection, or the vectors of some ids in it, are not there any more."""
        placed = [entity for entity, _ in self.placed_vectors(collection)]
        lost = set(placed if ids is None else ids)
        self._changes.vectors.update((entity, None) for entity in placed if entity in lost)

    def rebuild_names(self) -> list[str]:
        return indexes.rebuild_names(self._server)

    def give_up(self) -> None:
        """Deletes what this job has written; a job that has taken its place does that, and writes by now itself."""
        state = read_state(self._server)
        if state["lease"] == self._job_id:
            # Not as it was at the beginning: a commit of which the answer was lost may have been one.
            sweep(self._server, state["commits"])
            self._server.write(lambda transaction: transaction.run(statements.END))

    # --- the end -----------------------------------------------------------------------------------------------------

    def commit(self, report: LoadReport | None) -> None:
        self.rebuild_names()  # a search after a commit never finds its index lost
        changes = self._changes
        touched = self._validity(changes)

        def flip(transaction: Writing) -> None:
            self._require_lease(transaction)
            committing.apply_validity(transaction, touched, changes.endings)
            committing.apply_entities(transaction, changes.entities, changes.vectors)
            committing.apply_relations(transaction, changes.relations)
            committing.apply_retirement(transaction, changes.retired_entities, changes.retired_relations)
            if changes.removed_dataset is not None:
                removing.remove_dataset(transaction, changes.removed_dataset)
            if changes.removed_document is not None:
                removing.remove_document(transaction, changes.removed_document)
            committing.apply_names(transaction, self._since, self._datasets, self._types, changes.collections)
            removed = [] if changes.removed_dataset is None else [changes.removed_dataset]
            ended = {"number": self._number, "at": now(), "report": report_text(report), "removed": removed}
            self._server.write(lambda before: before.run(statements.COMMIT_BEGINS))
            if not transaction.run(statements.COMMIT, {**ended, "commit": self._since, "job": self._job_id}):
                raise self._overtaken()

        try:
            self._server.write(flip)
            self.is_committed = True
        finally:
            with suppress(StoreUnreachable):  # readings end it themselves after a moment
                self._server.write(lambda transaction: transaction.run(statements.COMMIT_ENDS))
        settle(self._server)

    def _validity(self, changes: _Changes) -> list[Row]:
        """When each version of the touched documents is current from the commit on."""
        found = []
        documents = sorted(changes.documents)
        for start in range(0, len(documents), _PAGE):
            ids = documents[start : start + _PAGE]
            versions: dict[str, list[Row]] = defaultdict(list)
            for row in self._read(statements.VERSIONS, ids=ids, since=self._since):
                versions[row["id"]].append(row)
            for document, own in versions.items():
                endings = [(row["number"], row["ended"]) for row in own if row["ended"] is not None]
                if document in changes.endings:
                    endings.append((max(row["number"] for row in own), changes.endings[document]))
                times = validity([(row["begins"], row["number"], row["key"]) for row in own], endings)
                found += [{"key": key, "valid_from": begins, "valid_to": ends} for begins, ends, key in times]
        return found

    # --- parts -------------------------------------------------------------------------------------------------------

    def _read(self, statement: str, **parameters: Any) -> list[Row]:
        with self._server.reading() as reading:
            return reading.peek(statement, {"commit": self._commit, **parameters})

    def _value(self, statement: str, **parameters: Any) -> Any:
        rows = self._read(statement, **parameters)
        return next(iter(rows[0].values())) if rows else None

    def _write(self, statement: str, rows: Sequence[Row]) -> list[Row]:
        if not rows:
            return []
        parameters = {"rows": rows, "since": self._since, "commit": self._commit}

        def work(transaction: Writing) -> list[Row]:
            self._require_lease(transaction)
            return transaction.run(statement, parameters)

        return self._server.write(work)

    def _require_lease(self, transaction: Writing) -> None:
        """Raises StoreUnreachable where this job's rows would be taken for those of a later one."""
        if required(transaction.run(statements.STATE), self._server)["lease"] != self._job_id:
            raise self._overtaken()

    def _overtaken(self) -> StoreUnreachable:
        return StoreUnreachable(
            f"Job {self._job_id} was not heard of for so long that another has taken its place.",
            hint="Nothing of it is visible; run it again.",
            address=str(self._server.address),
        )

    def _new_entity(self, dataset: str, row: Entity) -> Row:
        return {
            "id": row.id,
            "source_id": row.source_id,
            "source_key": text_key(dataset, row.source_id),
            "dataset": dataset,
            "number": self._number,
            "known": False,
            "supported": False,
            "since": self._since,
        }

    def _new_version(self, dataset: str, row: NewVersion, number: int) -> Row:
        fields = {"collection": row.collection, "date": row.date, "author": row.author, "url": row.url}
        values = list(document_values({"title": row.title, **fields}, row.metadata))
        title = row.title or row.source_id
        return {
            **fields,
            "id": row.document_id,
            "key": row.version_key,
            "number": number,
            "dataset": dataset,
            "source_id": row.source_id,
            "source_key": text_key(dataset, row.source_id),
            "title": title,
            "title_order": text_order(title),
            "content": row.content,
            "declared_from": row.declared_from,
            "metadata": as_json(row.metadata),
            "begins": BEGINNING if row.valid_from is None else row.valid_from,
            "ended": row.ended,
            "valid_from": BEGINNING,
            "valid_to": ENDLESS,
            "value_keys": [key for key, _ in values],
            "value_kinds": [value.kind for _, value in values],
            "value_numbers": [_float(value.number) if value.kind == "number" else 0.0 for _, value in values],
            "value_instants": [value.number if value.kind == "date" else 0 for _, value in values],
            "value_texts": [value.text for _, value in values],
            "value_orders": [text_order(value.text) for _, value in values],
            "since": self._since,
        }


def _float(number: float | int | None) -> float:
    return float(number or 0)


def _entity_fields(row: Entity) -> Row:
    """The fields of an entity that another load may change, with what is made of them for the index of names."""
    return {
        "label": row.label,
        "name": row.name,
        "aliases": list(row.aliases),
        "description": row.description,
        "metadata": as_json(row.metadata),
        "label_token": text_key(row.label),
        "names": name_text(row),
        "name_keys": " ".join(sorted({text_key(form) for name in names_of(row) for form in whole_forms(name)})),
    }


def _passage(dataset: str, row: NewPassage, since: int) -> Row:
    return {
        "version": row.version_key,
        "fields": {
            "id": row.id,
            "source_id": row.source_id,
            "source_key": text_key(dataset, row.source_id),
            "version": row.version_key,
            "position": row.position,
            "start": row.start,
            "end": row.end,
            "heading": row.heading,
            "text": row.text,
            "words": token_text(row.text),
            "metadata": as_json(row.metadata),
            "since": since,
        },
    }


def _relation_fields(row: NewRelation, edge: str) -> Row:
    return {
        "source_id": row.source_id,
        "edge": edge,
        "type": row.type,
        "unstated": row.unstated,
        "description": row.description,
        "weight": row.weight,
        "metadata": as_json(row.metadata),
    }


def _edge(edge: str, row: Support) -> Row:
    return {"id": edge, "source": row.source, "target": row.target, "type": row.type, "type_key": text_key(row.type)}
