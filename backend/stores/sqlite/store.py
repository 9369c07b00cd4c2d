"""The embedded graph store: one SQLite file for the graph, one beside it for the jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from backend.errors import StoreUnreachable
from backend.models import Progress
from backend.stores.base import GraphView
from backend.stores.jobs import building
from backend.stores.sqlite import driver
from backend.stores.sqlite.communities import CommunityReads
from backend.stores.sqlite.dataset import DatasetReads
from backend.stores.sqlite.driver import Connection, Pool
from backend.stores.sqlite.edges import EdgeReads
from backend.stores.sqlite.entities import EntityReads
from backend.stores.sqlite.jobs import SqliteJobs
from backend.stores.sqlite.lexical import LexicalReads
from backend.stores.sqlite.library import LibraryReads
from backend.stores.sqlite.passages import PassageReads
from backend.stores.sqlite.schema import FULL_TEXT, SCHEMA_VERSION, TABLES
from backend.stores.sqlite.writer import SqliteWriter
from backend.stores.validity import BEGINNING

T = TypeVar("T")

# A load puts rows at random places of its indexes; pages that do not fit are written again and again. Only what is
# used is taken.
_WRITER_CACHE_KIB = 1_048_576


class SqliteView(EntityReads, PassageReads, LexicalReads, EdgeReads, CommunityReads, LibraryReads, DatasetReads):
    """A GraphView inside one read transaction."""

    def __init__(self, connection: Connection, building: Callable[[], Progress | None]) -> None:
        self.connection = connection
        # SQLite takes its snapshot at the first query of a transaction, which is this one.
        self.settled = connection.peek("SELECT value FROM meta WHERE key = 'settled'")
        self.building = building


class SqliteStore:
    """A GraphStore in a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "graph.sqlite"
        _make_folder(folder)
        driver.require_full_text(self._path)
        _prepare(self._path)
        self._pool = Pool(self._path)
        self.jobs = SqliteJobs(folder / "jobs.sqlite", self._pool)

    @property
    def reads(self) -> int:
        return self._pool.reads

    def read(self, action: Callable[[GraphView], T]) -> T:
        with self._pool.snapshot() as connection:
            return action(SqliteView(connection, self._building))

    @property
    def place(self) -> str:
        return str(self._path.parent)

    @property
    def identity(self) -> str:
        with self._pool.snapshot() as connection:
            return str(connection.peek("SELECT value FROM meta WHERE key = 'identity'"))

    @contextmanager
    def writer(self, job_id: str) -> Iterator[SqliteWriter]:
        self._pool.require_file()
        connection = Connection(self._path)
        try:
            connection.run(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
            connection.run("BEGIN IMMEDIATE")
            yield SqliteWriter(connection, job_id)
        except BaseException:
            connection.give_up()
            raise
        finally:
            connection.close()

    def _building(self) -> Progress | None:
        return building(self.jobs.jobs())

    def version(self) -> str:
        return driver.version()

    def close(self) -> None:
        self._pool.close()
        self.jobs.close_file()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnreachable(
            f"The folder {folder} cannot be made: {error.strerror}.", hint="ATTEST_HOME says where the stores are."
        ) from error


def _prepare(path: Path) -> None:
    connection = Connection(path)
    try:
        if connection.value("PRAGMA user_version") == 0:
            _create(connection)
        stored = connection.value("PRAGMA user_version")
        if stored != SCHEMA_VERSION:
            raise StoreUnreachable(
                f"The graph store {path} was made by another version of Attest "
                f"(its schema is {stored}, this one's {SCHEMA_VERSION}).",
                hint="Load the data into a new ATTEST_HOME.",
            )
    finally:
        connection.close()


def _create(connection: Connection) -> None:
    connection.run("PRAGMA page_size = 8192")
    connection.run("PRAGMA journal_mode = WAL")
    with connection.transaction():
        # Another process may have been first while this one waited.
        if connection.value("PRAGMA user_version") == 0:
            for statement in _statements():
                connection.run(statement)
            meta = {"commits": 0, "mentions": 0, "settled": BEGINNING, "identity": str(uuid4())}
            connection.run_many("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.run(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _statements() -> list[str]:
    uncommented = "\n".join(line.partition("--")[0] for line in TABLES.splitlines())
    return [statement for part in uncommented.split(";") if (statement := part.strip())] + [*FULL_TEXT.values()]
