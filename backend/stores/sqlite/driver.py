"""Connections to SQLite: the only file that imports sqlite3, and where its errors become ours."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from backend.errors import AttestError, StoreUnreachable

Row = sqlite3.Row
Parameters = Mapping[str, Any] | Sequence[Any]

# Readers never wait in WAL mode; only a second writer does, and the lease keeps that to moments.
_BUSY_SECONDS = 30.0
# Readers that come and go may keep a log from being cut; the next writer's does it then.
_GIVE_UP_SECONDS = 2
_PRAGMAS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",
    "PRAGMA mmap_size = 1073741824",
    "PRAGMA foreign_keys = OFF",
    # The log of a large load keeps its size otherwise, as long as anybody has the store open.
    "PRAGMA journal_size_limit = 67108864",
)


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turns the driver's errors into StoreUnreachable, naming the file."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            message = f"The disk that holds the graph store {path} is full."
            hint = "Free some space and run the command again; what was stored before is as it was."
        else:
            message = f"The graph store {path} does not answer: {error}."
            hint = "Is the file readable, whole, and its disk not full? `attest status` shows where the store is."
        raise StoreUnreachable(message, hint=hint, path=str(path)) from error


class Connection:
    """One connection; counts the queries that `read` runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.reads = 0
        with sqlite_errors(path):
            self._raw = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._raw.row_factory = sqlite3.Row
            for pragma in _PRAGMAS:
                self._raw.execute(pragma)

    def read(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """All rows of one query."""
        self.reads += 1
        with sqlite_errors(self._path):
            return self._raw.execute(sql, parameters).fetchall()

    def stream(self, sql: str, parameters: Parameters = ()) -> Iterator[Row]:
        """The rows of one query as they come."""
        self.reads += 1
        with sqlite_errors(self._path):
            yield from self._raw.execute(sql, parameters)

    def peek(self, sql: str) -> Any:
        """The first column of the first row, as `value`, but not counted: it only begins a reading."""
        with sqlite_errors(self._path):
            row = self._raw.execute(sql).fetchone()
        return row[0] if row else None

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row; None where there is none."""
        rows = self.read(sql, parameters)
        return rows[0][0] if rows else None

    def run(self, sql: str, parameters: Parameters = ()) -> int:
        """Runs one statement; the number of rows it changed."""
        with sqlite_errors(self._path):
            return self._raw.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Runs one statement for each row."""
        with sqlite_errors(self._path):
            self._raw.executemany(sql, rows)

    def script(self, sql: str) -> None:
        """Runs several statements, after committing what is open."""
        with sqlite_errors(self._path):
            self._raw.executescript(sql)

    @contextmanager
    def transaction(self, mode: str = "IMMEDIATE") -> Iterator[None]:
        """Commits at the end, rolls back when the block raises."""
        self.run(f"BEGIN {mode}")
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.run("COMMIT")

    def rollback(self) -> None:
        with sqlite_errors(self._path):
            if self._raw.in_transaction:
                self._raw.execute("ROLLBACK")

    def commit(self) -> None:
        with sqlite_errors(self._path):
            self._raw.execute("COMMIT")

    def give_up(self) -> None:
        """Rolls back, and gives back what the log takes of a disk that may be full."""
        with suppress(StoreUnreachable):  # whoever gives up has a better reason to tell
            self.rollback()
            self.run(f"PRAGMA busy_timeout = {_GIVE_UP_SECONDS * 1_000}")
            self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._raw.close()


class Pool:
    """Connections for readers: each reading borrows one, so that any thread may read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _file(path)
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._returned_reads = 0
        self._closed = False

    @property
    def reads(self) -> int:
        """Queries of all readings that are finished."""
        return self._returned_reads

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection inside one read transaction: what commits meanwhile is not seen."""
        connection = self._borrow()
        before = connection.reads
        try:
            with connection.transaction("DEFERRED"):
                yield connection
        finally:
            with self._lock:
                self._returned_reads += connection.reads - before
                self._give_back(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def require_file(self) -> None:
        """Raises StoreUnreachable where the file is another than at first; what is open would go on with the old."""
        if _file(self._path) != self._file:
            raise StoreUnreachable(
                f"The graph store {self._path} was removed or replaced while it was open.",
                hint="Start Attest again to see what is there now.",
                path=str(self._path),
            )

    def _borrow(self) -> Connection:
        self.require_file()
        with self._lock:
            if self._closed:
                raise StoreUnreachable(f"The graph store {self._path} is closed.", hint="Open it again.")
            if self._idle:
                return self._idle.pop()
        return Connection(self._path)

    def _give_back(self, connection: Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)


def _file(path: Path) -> tuple[int, int] | None:
    """What tells a file from every other of its name."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def version() -> str:
    """Name and version of the database library."""
    return f"SQLite {sqlite3.sqlite_version}"


def require_full_text(path: Path) -> None:
    """Raises NotConfigured's sibling in words where this Python's SQLite lacks FTS5."""
    with sqlite_errors(path):
        options = {row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        raise AttestError("This Python's SQLite has no FTS5.", hint="Use a Python whose sqlite3 module has FTS5.")
