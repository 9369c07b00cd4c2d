"""What one job writes: new rows at once, invisible until the commit knows them; changes to old ones all in the commit.

A server cannot hold a large load in one transaction. New rows are written in batches and carry the number of the commit
that will show them; what changes or removes rows that are seen already waits in memory for that commit, which is one
transaction. A job that does not get so far leaves nothing but rows that nobody sees, which the next writer sweeps away.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from backend.errors import StoreUnreachable
from backend.identity import edge_id
from backend.models import Entity, LoadReport, VectorCollection
from backend.stores.encoded import VectorText
from backend.stores.jobs import now, report_text
from backend.stores.neo4j import committing, fields, indexes, removing, statements
from backend.stores.neo4j.driver import Row, Server, Writing
from backend.stores.neo4j.rows import as_json, stored_statements
from backend.stores.neo4j.schema import MAX_TYPES, label_token, text_key, type_token
from backend.stores.neo4j.session import PAGE, JobSession
from backend.stores.neo4j.settling import settle
from backend.stores.neo4j.state import read_state
from backend.stores.neo4j.sweeping import sweep
from backend.stores.neo4j.vectors import JobVectors
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
    Support,
)
from backend.stores.validity import validity

# Documents of which everything is counted in one reading.
_DOCUMENTS = 500
# Kinds of rows that end with the passages that state them, or at once where there is none.
_CLAIMING = ("relation", "claim")
# With their reports they are longer than other rows.
_COMMUNITIES = 500


@dataclass(slots=True)
class _Changes:
    """What the commit does to rows that are seen already."""

    documents: set[str] = field(default_factory=set)  # whose validity and counts are to be computed
    entities: dict[str, Row] = field(default_factory=dict)  # new fields by id
    relations: dict[str, Row] = field(default_factory=dict)
    claims: dict[str, Row] = field(default_factory=dict)
    endings: dict[str, int] = field(default_factory=dict)  # time of retirement by document id
    retired_entities: list[str] = field(default_factory=list)
    retired_relations: list[str] = field(default_factory=list)
    retired_claims: list[str] = field(default_factory=list)
    datasets: set[str] = field(default_factory=set)  # of which anything is new, other or gone
    hierarchies: set[str] = field(default_factory=set)  # datasets that have other communities from the commit on
    removed_dataset: str | None = None
    removed_document: str | None = None


class Neo4jWriter:
    """The writer of one job; the rows of its own carry `since`, which is one more than the last commit."""

    def __init__(self, server: Server, job_id: str, *, commit: int) -> None:
        self._session = JobSession(server, job_id, commit=commit)
        self._since = self._session.since
        self._now = int(datetime.now(UTC).timestamp() * 1_000_000)
        self._changes = _Changes()
        self._vectors = JobVectors(self._session, self._changes.entities, self._changes.hierarchies)
        self._datasets: set[str] = set()
        self._number = self._session.value(statements.LAST_NUMBER) or 0
        self._types: dict[str, str] = {row["name"]: row["token"] for row in self._session.read(statements.TYPES)}
        self.is_committed = False

    # --- what is committed -------------------------------------------------------------------------------------------

    def known(self, kind: str, ids: Sequence[str]) -> set[str]:
        return {row["id"] for row in self._session.read(statements.KNOWN[kind], ids=list(ids))}

    def current_versions(self, dataset: str) -> dict[str, CurrentVersion]:
        rows = self._session.read(statements.CURRENT_VERSIONS, dataset=dataset)
        return {
            row["source_id"]: CurrentVersion(
                row["id"], row["number"], row["content"], row["version"], row["title"], row["ended"]
            )
            for row in rows
        }

    def version_keys(self, document_ids: Sequence[str]) -> dict[str, set[str]]:
        keys: dict[str, set[str]] = defaultdict(set)
        for row in self._session.read(statements.VERSION_KEYS, ids=list(document_ids)):
            keys[row["id"]].add(row["key"])
        return keys

    def current_passages(self, dataset: str, source_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        keys = [text_key(dataset, source_id) for source_id in source_ids]
        rows = self._session.read(statements.CURRENT_PASSAGES, keys=keys)
        return {row["source_id"]: (row["id"], row["text"], row["document"]) for row in rows}

    def passage_texts(self, passage_ids: Sequence[str]) -> dict[str, tuple[str, tuple[NewStatement, ...]]]:
        rows = self._session.read(statements.PASSAGE_TEXTS, ids=list(passage_ids))
        return {row["id"]: (row["text"], stored_statements(row["statements"])) for row in rows}

    def entity_names(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Name and aliases of entities as the commit will leave them."""
        rows = self._session.read(statements.ENTITY_NAMES, ids=list(entity_ids))
        named = [{**row, **self._changes.entities.get(row["id"], {})} for row in rows]
        return {row["id"]: (row["name"], *row["aliases"]) for row in named}

    # --- rows of a load ----------------------------------------------------------------------------------------------

    def put_entities(self, dataset: str, rows: Sequence[Entity], *, retired: Container[str] = ()) -> None:
        """Adds new entities; changed ones wait for the commit, where a changed name or description loses its vector."""
        self._datasets.add(dataset)
        stored = {
            row["id"]: row for row in self._session.read(statements.STORED_ENTITIES, ids=[one.id for one in rows])
        }
        new = []
        for row in rows:
            own = {**fields.entity_fields(row), "retired": row.id in retired}
            before = stored.get(row.id)
            if before is None:
                self._number += 1
                own |= fields.new_entity_fields(dataset, row, self._number)
                new.append({"token": label_token(row.label), "fields": {**own, "since": self._since}})
            elif any(before[key] != value for key, value in own.items() if key in before):
                self._changes.entities[row.id] = own
                if any(before[key] != own[key] for key in ("name", "label", "description")):
                    self._vectors.lose_entity(row.id)
        self._session.write(statements.CREATE_ENTITIES, new)
        self._note(dataset, new or self._changes.entities.keys() & stored.keys())

    def put_versions(self, dataset: str, rows: Sequence[NewVersion]) -> None:
        self._datasets.add(dataset)
        for start in range(0, len(rows), PAGE):
            batch = rows[start : start + PAGE]
            last = self._session.read(statements.LAST_VERSIONS, ids=[row.document_id for row in batch])
            numbers = Counter({row["id"]: row["number"] for row in last})
            new = []
            for row in batch:
                numbers[row.document_id] += 1
                own = fields.version_fields(dataset, row, numbers[row.document_id])
                new.append({"fields": {**own, "since": self._since}})
            self._session.write(statements.CREATE_VERSIONS, new)
            self._changes.documents.update(row.document_id for row in batch)

    def put_passages(self, dataset: str, rows: Sequence[NewPassage]) -> None:
        new = [
            {"version": row.version_key, "fields": {**fields.passage_fields(dataset, row), "since": self._since}}
            for row in rows
        ]
        self._touch(self._session.write(statements.CREATE_PASSAGES, new))

    def put_statements(self, rows: Sequence[tuple[str, NewStatement]]) -> None:
        added: dict[str, list[str]] = defaultdict(list)
        for passage_id, statement in rows:
            added[passage_id].append(as_json(statement.row()))
        self._session.write(
            statements.ADD_STATEMENTS, [{"passage": passage, "statements": texts} for passage, texts in added.items()]
        )

    def put_topics(self, rows: Sequence[NewTopic]) -> None:
        new = {
            row.id: {"version": row.version_key, "fields": {**fields.topic_fields(row), "since": self._since}}
            for row in rows
        }
        self._touch(self._session.write(statements.CREATE_TOPICS, list(new.values())))
        links = dict.fromkeys((row.id, passage_id) for row in rows for passage_id in row.passage_ids)
        self._session.write(
            statements.ADD_TO_TOPICS, [{"topic": topic, "passage": passage} for topic, passage in links]
        )

    def put_mentions(self, rows: Sequence[NewMention]) -> None:
        """Adds mentions; as many as earlier loads have put into the same passage are not added again."""
        new: list[Row] = [
            {
                "entity": row.entity_id,
                "passage": row.passage_id,
                "missing": [row.start is None, row.end is None, row.surface is None],
                "alike": row.alike,
                "fields": {**fields.mention_fields(row), "since": self._since},
            }
            for row in rows
        ]
        self._touch(self._session.write(statements.CREATE_MENTIONS, new))

    def put_complements(self, dataset: str, rows: Sequence[NewComplement]) -> None:
        new = [
            {
                "entity": row.subject_id,
                "passage": row.passage_id,
                "fields": {**fields.complement_fields(dataset, row), "since": self._since},
            }
            for row in rows
        ]
        self._note(dataset, self._session.write(statements.CREATE_COMPLEMENTS, new))

    def put_relations(self, dataset: str, rows: Sequence[NewRelation]) -> None:
        self._datasets.add(dataset)
        edges = {row.id: edge_id(row.source, row.type, row.target) for row in rows}
        stated = [(row.id, edge_id(one.source, one.type, one.target), one) for row in rows for one in row.support]
        self._put_edges({edge: one for _, edge, one in stated})
        stored = {row["id"]: row for row in self._session.read(statements.STORED_RELATIONS, ids=list(edges))}
        new: list[Row] = []
        touched: set[str] = set()
        for row in rows:
            own = fields.relation_fields(row, edges[row.id])
            before = stored.get(row.id)
            if before is None:
                lasting: Row = {"id": row.id, "dataset": dataset, "is_fact": row.is_fact, "since": self._since}
                new.append({"fields": {**own, **lasting}})
            elif any(before[key] != value for key, value in own.items()):
                self._changes.relations[row.id] = own
                touched.update((before["edge"], own["edge"]))
        self._session.write(statements.CREATE_RELATIONS, new)
        support: list[Row] = [
            {"relation": relation, "edge": edge, "passage": passage, "statements": one.statements.get(passage)}
            for relation, edge, one in stated
            for passage in dict.fromkeys(one.passage_ids)
        ]
        touched.update(row["edge"] for row in support)
        added = self._session.write(statements.CREATE_SUPPORT, support)
        self._session.write(statements.TOUCH_EDGES, [{"id": edge} for edge in touched])
        self._note(dataset, new or added or self._changes.relations.keys() & stored.keys())

    def put_claims(self, dataset: str, rows: Sequence[NewClaim]) -> None:
        """Adds claims, or changes them in the commit; one that ever named a passage is not unstated any more."""
        self._datasets.add(dataset)
        stored = {row["id"]: row for row in self._session.read(statements.STORED_CLAIMS, ids=[one.id for one in rows])}
        new: list[Row] = []
        for row in rows:
            own = fields.claim_fields(row)
            before = stored.get(row.id)
            if before is None:
                new.append({"fields": {**own, "id": row.id, "dataset": dataset, "since": self._since}})
            else:
                own["unstated"] = row.unstated and before["unstated"]
                if any(before[key] != value for key, value in own.items()):
                    self._changes.claims[row.id] = own
        self._session.write(statements.CREATE_CLAIMS, new)
        claimed: list[Row] = [
            {"claim": row.id, "passage": passage} for row in rows for passage in dict.fromkeys(row.passage_ids)
        ]
        added = self._session.write(statements.CREATE_CLAIMED, claimed)
        self._note(dataset, new or added or self._changes.claims.keys() & stored.keys())

    def put_communities(self, dataset: str, rows: Sequence[NewCommunity]) -> None:
        """Writes the hierarchy, and the former one is gone with the commit."""
        self._datasets.add(dataset)
        self._changes.hierarchies.add(dataset)
        keys = {row.id: fields.community_key(row.id, self._since) for row in rows}
        self._write_pages(
            statements.CREATE_COMMUNITIES,
            [
                {"fields": {**fields.community_fields(dataset, row), "key": keys[row.id], "since": self._since}}
                for row in rows
            ],
            size=_COMMUNITIES,
        )
        self._write_pages(
            statements.JOIN_COMMUNITIES,
            [{"community": keys[row.id], "member": one} for row in rows for one in dict.fromkeys(row.member_ids)],
        )
        self._write_pages(
            statements.NEST_COMMUNITIES,
            [{"community": keys[row.id], "parent": keys[row.parent]} for row in rows if row.parent in keys],
        )

    def _write_pages(self, statement: str, rows: Sequence[Row], *, size: int = PAGE) -> None:
        for start in range(0, len(rows), size):
            self._session.write(statement, rows[start : start + size])

    def _put_edges(self, edges: Mapping[str, Support]) -> None:
        stored = {row["id"] for row in self._session.read(statements.STORED_EDGES, ids=list(edges))}
        new = [
            {"token": self._type(row.type), "fields": fields.edge_fields(edge, row)}
            for edge, row in edges.items()
            if edge not in stored
        ]
        self._session.write(statements.CREATE_EDGES, new)

    def _type(self, name: str) -> str:
        if name not in self._types:
            self._types[name] = type_token(name, is_early=len(self._types) < MAX_TYPES)
        return self._types[name]

    def _touch(self, written: Sequence[Row]) -> None:
        self._changes.documents.update(row["document"] for row in written)

    def _note(self, dataset: str, changed: Collection[object]) -> None:
        """The communities of a dataset are stale from the commit on where anything has changed."""
        if changed:
            self._changes.datasets.add(dataset)

    # --- removing ----------------------------------------------------------------------------------------------------

    def retire(self, dataset: str, *, kept: Mapping[str, set[str]]) -> dict[str, int]:
        """Ends, in the commit, what is not in `kept`, with what nothing else holds, and communities that were there."""
        absent = {
            kind: [
                row for row in self._session.read(statements.OF_DATASET[kind], dataset=dataset) if row["id"] not in ids
            ]
            for kind, ids in kept.items()
        }
        ended = [row["id"] for row in absent["document"] if not row["ended"]]
        self._changes.endings.update((document, self._now) for document in ended)
        self._changes.documents.update(ended)
        self._changes.retired_entities = [row["id"] for row in absent["entity"]]
        self._changes.retired_relations = [row["id"] for row in absent["relation"]]
        self._changes.retired_claims = [row["id"] for row in absent.get("claim", ())]
        self._changes.hierarchies.add(dataset)
        self._changes.datasets.add(dataset)
        unstated = {
            f"{kind}s": sum(row["unstated"] for row in rows) for kind, rows in absent.items() if kind in _CLAIMING
        }
        return {"documents": len(ended), "entities": len(absent["entity"]), **unstated}

    def remove(self, *, dataset: str | None = None, document_id: str | None = None) -> dict[str, int]:
        self._changes.removed_dataset, self._changes.removed_document = dataset, document_id
        with self._session.server.reading() as reading:
            if dataset is not None:
                return removing.counts_of_dataset(reading, dataset, self._session.commit)
            self._changes.datasets.add(removing.dataset_of_document(reading, str(document_id), self._session.commit))
            return removing.counts_of_document(reading, str(document_id))

    # --- vectors and indexes -----------------------------------------------------------------------------------------

    def vector_texts(self, kind: str, *, missing_only: bool) -> Iterator[VectorText]:
        return self._vectors.texts(kind, missing_only=missing_only)

    def place_vectors(self, collection: VectorCollection, owners: Collection[str]) -> None:
        self._vectors.place(collection, owners)

    def placed_vectors(self, collection: VectorCollection) -> Iterator[VectorText]:
        return self._vectors.placed(collection)

    def forget_vectors(self, collection: VectorCollection, owners: Collection[str] | None = None) -> None:
        self._vectors.forget(collection, owners)

    def rebuild_full_text(self) -> list[str]:
        return indexes.rebuild_full_text(self._session.server)

    # --- the end -----------------------------------------------------------------------------------------------------

    def commit(self, report: LoadReport | None) -> None:
        self.rebuild_full_text()  # a search after a commit never finds its indexes lost
        changes, session = self._changes, self._session
        versions = self._versions(changes)
        changed = changes.datasets | {row["dataset"] for row in versions}

        def flip(transaction: Writing) -> None:
            session.require_lease(transaction)
            committing.apply_versions(transaction, versions, changes.endings)
            committing.apply_entities(transaction, changes.entities)
            committing.apply_relations(transaction, changes.relations)
            committing.apply_claims(transaction, changes.claims)
            committing.apply_retirement(
                transaction, changes.retired_entities, changes.retired_relations, changes.retired_claims
            )
            committing.apply_hierarchies(transaction, self._since, changes.hierarchies, changed)
            if changes.removed_dataset is not None:
                removing.remove_dataset(transaction, changes.removed_dataset)
            if changes.removed_document is not None:
                removing.remove_document(transaction, changes.removed_document)
            committing.apply_names(transaction, self._since, self._datasets, self._types)
            committing.apply_weights(transaction, self._since, changed)
            counts = self._vectors.apply(transaction)
            removed = [] if changes.removed_dataset is None else [changes.removed_dataset]
            ended = {"number": self._number, "at": now(), "report": report_text(report), "removed": removed}
            ended |= {"commit": self._since, "job": session.job_id, "counts": counts}
            session.server.write(lambda before: before.run(statements.COMMIT_BEGINS))
            if not transaction.run(statements.COMMIT, ended):
                raise session.overtaken()

        try:
            session.server.write(flip)
            self.is_committed = True
        finally:
            with suppress(StoreUnreachable):  # readings end it themselves after a moment
                session.server.write(lambda transaction: transaction.run(statements.COMMIT_ENDS))
        settle(session.server)

    def give_up(self) -> None:
        """Deletes what this job has written; a job that has taken its place does that, and writes by now itself."""
        server = self._session.server
        state = read_state(server)
        if state["lease"] == self._session.job_id:
            # Not as it was at the beginning: a commit of which the answer was lost may have been one.
            sweep(server, state["commits"])
            server.write(lambda transaction: transaction.run(statements.END))

    def _versions(self, changes: _Changes) -> list[Row]:
        """Each version of the touched documents: when it is current from the commit on, and how much it has."""
        found = []
        documents = sorted(changes.documents)
        for start in range(0, len(documents), _DOCUMENTS):
            versions: dict[str, dict[str, Row]] = defaultdict(dict)
            for row in self._session.read(statements.VERSIONS, ids=documents[start : start + _DOCUMENTS]):
                versions[row["id"]][row["key"]] = row
            for document, own in versions.items():
                endings = [(row["number"], row["ended"]) for row in own.values() if row["ended"] is not None]
                if document in changes.endings:
                    endings.append((max(row["number"] for row in own.values()), changes.endings[document]))
                times = validity([(row["begins"], row["number"], key) for key, row in own.items()], endings)
                found += [{**own[key], "valid_from": begins, "valid_to": ends} for begins, ends, key in times]
        return found
