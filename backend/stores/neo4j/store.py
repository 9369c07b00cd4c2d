"""The graph store on a Neo4j server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TypeVar
from uuid import uuid4

from backend.errors import StoreUnreachable
from backend.stores.base import GraphView
from backend.stores.jobs import building
from backend.stores.neo4j import indexes, statements
from backend.stores.neo4j.communities import CommunityReads
from backend.stores.neo4j.dataset import DatasetReads
from backend.stores.neo4j.driver import Address, Reading, Row, Server
from backend.stores.neo4j.edges import EdgeReads
from backend.stores.neo4j.entities import EntityReads
from backend.stores.neo4j.jobs import Neo4jJobs, read_jobs
from backend.stores.neo4j.lexical import LexicalReads
from backend.stores.neo4j.library import LibraryReads
from backend.stores.neo4j.passages import PassageReads
from backend.stores.neo4j.schema import SCHEMA_VERSION
from backend.stores.neo4j.settling import settle
from backend.stores.neo4j.state import read_state, require_same, required
from backend.stores.neo4j.sweeping import sweep
from backend.stores.neo4j.writer import Neo4jWriter
from backend.stores.validity import BEGINNING

T = TypeVar("T")
# A reading that a commit ran into is run again; a store whose commits follow one another faster is not served well.
_ATTEMPTS = 5
# A commit is put in place in a moment, however much it took to prepare.
_COMMIT_SECONDS, _PAUSE = 2.0, 0.02


class Neo4jView(EntityReads, PassageReads, LexicalReads, EdgeReads, CommunityReads, LibraryReads, DatasetReads):
    """A GraphView of what one commit shows."""

    def __init__(self, reading: Reading, state: Row) -> None:
        is_settled = state["settled"] == state["commits"]
        super().__init__(reading, state["commits"], state["settled_at"] if is_settled else None)
        # Within the same reading: visitors that each hold a connection and wait for a second would wait for each other.
        self.building = lambda: building(read_jobs(reading))


class Neo4jStore:
    """A GraphStore in a database of a server."""

    def __init__(self, address: Address) -> None:
        self._server = Server(address)
        self._place = str(address)
        self._jobs = Neo4jJobs(self._server)
        self._identity: str | None = None

    @property
    def jobs(self) -> Neo4jJobs:
        self._state()
        return self._jobs

    @property
    def reads(self) -> int:
        return self._server.reads

    @property
    def place(self) -> str:
        return self._place

    @property
    def identity(self) -> str:
        """What tells this store from every other, for as long as it exists."""
        self._prepare()
        return str(self._identity)

    def read(self, action: Callable[[GraphView], T]) -> T:
        self._prepare()
        for _ in range(_ATTEMPTS):
            before = None
            try:
                with self._server.reading() as reading:
                    before = self._state_in(reading)
                    result = action(Neo4jView(reading, before))
                    after = self._state_in(reading)
            except Exception:
                # What a commit runs into may fail in any way: a row may have lost half of its fields.
                if before is None or _is_whole(before, self._state()):
                    raise
            else:
                if _is_whole(before, after):
                    return result
            self._await_commit()
        raise StoreUnreachable(
            f"The graph at {self._place} changes faster than it can be read.", hint="Try again in a moment."
        )

    @contextmanager
    def writer(self, job_id: str) -> Iterator[Neo4jWriter]:
        state = self._state()
        indexes.make_indexes(self._server)
        if state["writing"] is not None:
            sweep(self._server, state["commits"])
        settle(self._server)
        self._server.write(lambda transaction: transaction.run(statements.BEGIN))
        writer = Neo4jWriter(self._server, job_id, commit=state["commits"])
        try:
            yield writer
        finally:
            if not writer.is_committed:
                # Where the server is gone, the next writer does it.
                with suppress(StoreUnreachable):
                    writer.give_up()

    def version(self) -> str:
        return self._server.version()

    def close(self) -> None:
        self._server.close()

    def _await_commit(self) -> None:
        """Waits for a commit that is being put in place; one whose writer is gone is ended after a moment."""
        end = monotonic() + _COMMIT_SECONDS
        while self._state()["committing"]:
            if monotonic() > end:
                self._server.write(lambda transaction: transaction.run(statements.COMMIT_ENDS))
            sleep(_PAUSE)

    def _state(self) -> Row:
        self._prepare()
        with self._server.reading() as reading:
            return self._state_in(reading)

    def _state_in(self, reading: Reading) -> Row:
        return require_same(required(reading.peek(statements.STATE), self._server), self._identity, self._server)

    def _prepare(self) -> None:
        """Makes sure, once, that the database is one of this product's, and of this version."""
        if self._identity is not None:
            return
        with self._server.reading() as reading:
            rows = reading.peek(statements.STATE)
        if not rows:
            indexes.make_indexes(self._server)
            indexes.rebuild_full_text(self._server)
            fields = {"schema": SCHEMA_VERSION, "identity": str(uuid4()), "beginning": BEGINNING}
            self._server.write(lambda transaction: transaction.run(statements.CREATE_STATE, fields))
            rows = [read_state(self._server)]
        if rows[0]["schema"] != SCHEMA_VERSION:
            raise StoreUnreachable(
                f"The graph store {self._place} was made by another version of Attest "
                f"(its schema is {rows[0]['schema']}, this one's {SCHEMA_VERSION}).",
                hint="Load the data into a new database.",
            )
        self._identity = rows[0]["identity"]


def _is_whole(before: Row, after: Row) -> bool:
    """Whether nothing that readings see can have changed between two looks at the state."""
    if before["committing"] or after["committing"]:
        return False
    return bool((before["commits"], before["settled"]) == (after["commits"], after["settled"]))
