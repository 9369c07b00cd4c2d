"""The jobs of an embedded store, in a file of their own: progress is noted while a job's transaction is open.

Whether a job has committed is not said here but in the graph's own file, by the commit itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from time import time
from typing import Any
from uuid import uuid4

from backend.models import Job, JobState, Progress
from backend.stores.jobs import Endings, Writer, find_job, is_alive, now, progress_text, require_open, result_job
from backend.stores.sqlite.driver import Connection, Pool, Row

_TABLES = """
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, kind TEXT NOT NULL, dataset TEXT, state TEXT NOT NULL,
    progress TEXT NOT NULL, started TEXT NOT NULL, finished TEXT, error TEXT, stop_asked INTEGER NOT NULL DEFAULT 0,
    pid INTEGER NOT NULL, process_started REAL NOT NULL, host TEXT NOT NULL, beat REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lease (one INTEGER PRIMARY KEY CHECK (one = 1), job TEXT NOT NULL);
"""


class SqliteJobs:
    """A JobBoard in a SQLite file."""

    def __init__(self, path: Path, graph: Pool) -> None:
        self._kept = Connection(path)
        self._lock = RLock()
        self._graph = graph
        self._endings = Endings(self._end)
        with self._connection() as connection:
            connection.script(f"PRAGMA journal_mode = WAL; {_TABLES}")

    def open(self, kind: str, dataset: str | None) -> Job:
        job_id, writer = str(uuid4()), Writer.here()
        with self._connection() as connection, connection.transaction():
            connection.run(
                """INSERT INTO job (id, number, kind, dataset, state, progress, started, pid, process_started, host,
                        beat)
                    VALUES (?, (SELECT count(*) + 1 FROM job), ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    job_id,
                    kind,
                    dataset,
                    JobState.WAITING,
                    progress_text(Progress("waiting")),
                    now(),
                    writer.pid,
                    writer.process_started,
                    writer.host,
                    time(),
                ),
            )
        return self.job(job_id)

    def acquire(self, job_id: str) -> Job | None:
        self._endings.say_what_waits()
        with self._connection() as connection, connection.transaction():
            holder = connection.value("SELECT job FROM lease")
            if holder is not None and holder != job_id and is_alive(_row(connection, holder)):
                return self.job(holder)
            connection.run("INSERT OR REPLACE INTO lease VALUES (1, ?)", (job_id,))
            connection.run("UPDATE job SET state = ?, beat = ? WHERE id = ?", (JobState.RUNNING, time(), job_id))
        return None

    def beat(self, job_id: str, progress: Progress) -> bool:
        with self._connection() as connection:
            connection.run(
                "UPDATE job SET progress = ?, beat = ? WHERE id = ?", (progress_text(progress), time(), job_id)
            )
            return not connection.value("SELECT stop_asked FROM job WHERE id = ?", (job_id,))

    def close(self, job_id: str, state: JobState, *, error: str | None = None) -> None:
        self._endings.say(job_id, state, error)

    def _end(self, ending: Mapping[str, Any]) -> None:
        with self._connection() as connection, connection.transaction():
            connection.run("UPDATE job SET state = :state, finished = :finished, error = :error WHERE id = :id", ending)
            connection.run("DELETE FROM lease WHERE job = :id", ending)

    def request_stop(self, job_id: str) -> Job:
        require_open(self.job(job_id))
        with self._connection() as connection:
            connection.run("UPDATE job SET stop_asked = 1 WHERE id = ?", (job_id,))
        return self.job(job_id)

    def job(self, job_id: str) -> Job:
        return find_job(self.jobs(), job_id)

    def jobs(self) -> tuple[Job, ...]:
        with self._connection() as connection:
            rows = connection.read("SELECT * FROM job ORDER BY number DESC")
        with self._graph.snapshot() as graph:
            committed = {row["id"]: row for row in graph.read("SELECT * FROM committed_job")}
        return tuple(_result_job(row, committed.get(row["id"])) for row in rows)

    def close_file(self) -> None:
        """Closes the connection; the board is of no more use."""
        self._kept.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        # One for all threads: opening a file and writing its log back at every note costs more than the note.
        with self._lock:
            yield self._kept


def _row(connection: Connection, job_id: str) -> Row:
    return connection.read("SELECT * FROM job WHERE id = ?", (job_id,))[0]


def _result_job(row: Row, committed: Row | None) -> Job:
    if committed is None:
        return result_job(row, committed_at=None, report=None)
    return result_job(row, committed_at=committed["at"], report=committed["report"])
