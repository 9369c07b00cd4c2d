"""The jobs of an embedded store, in a file of their own: progress is noted while a job's transaction is open.

Whether a job has committed is not said here but in the graph's own file, by the commit itself.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from time import time
from typing import Any
from uuid import uuid4

import psutil

from backend.errors import Malformed, Unavailable
from backend.models import Issue, Job, JobState, LoadReport, Progress
from backend.stores.sqlite.driver import Connection, Pool, Row

# A writer that has not been heard of for so long is taken for dead; one on this machine is dead once its process is.
HEARTBEAT_SECONDS = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, kind TEXT NOT NULL, dataset TEXT, state TEXT NOT NULL,
    progress TEXT NOT NULL, started TEXT NOT NULL, finished TEXT, error TEXT, stop_asked INTEGER NOT NULL DEFAULT 0,
    pid INTEGER NOT NULL, process_started REAL NOT NULL, host TEXT NOT NULL, beat REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lease (one INTEGER PRIMARY KEY CHECK (one = 1), job TEXT NOT NULL);
"""
_OPEN = (JobState.WAITING, JobState.RUNNING)


class SqliteJobs:
    """A JobBoard in a SQLite file."""

    def __init__(self, path: Path, graph: Pool) -> None:
        self._kept = Connection(path)
        self._lock = RLock()
        self._graph = graph
        with self._connection() as connection:
            connection.script(f"PRAGMA journal_mode = WAL; {_TABLES}")

    def open(self, kind: str, dataset: str | None) -> Job:
        job_id = str(uuid4())
        process = psutil.Process()
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
                    _as_text(Progress("waiting")),
                    _now(),
                    os.getpid(),
                    process.create_time(),
                    socket.gethostname(),
                    time(),
                ),
            )
        return self.job(job_id)

    def acquire(self, job_id: str) -> Job | None:
        with self._connection() as connection, connection.transaction():
            holder = connection.value("SELECT job FROM lease")
            if holder is not None and holder != job_id and _is_alive(_row(connection, holder)):
                return self.job(holder)
            connection.run("INSERT OR REPLACE INTO lease VALUES (1, ?)", (job_id,))
            connection.run("UPDATE job SET state = ?, beat = ? WHERE id = ?", (JobState.RUNNING, time(), job_id))
        return None

    def beat(self, job_id: str, progress: Progress) -> bool:
        with self._connection() as connection:
            connection.run("UPDATE job SET progress = ?, beat = ? WHERE id = ?", (_as_text(progress), time(), job_id))
            return not connection.value("SELECT stop_asked FROM job WHERE id = ?", (job_id,))

    def close(self, job_id: str, state: JobState, *, error: str | None = None) -> None:
        with self._connection() as connection, connection.transaction():
            connection.run(
                "UPDATE job SET state = ?, finished = ?, error = ? WHERE id = ?", (state, _now(), error, job_id)
            )
            connection.run("DELETE FROM lease WHERE job = ?", (job_id,))

    def request_stop(self, job_id: str) -> Job:
        job = self.job(job_id)
        if job.state not in _OPEN:
            raise Malformed(f"Job {job_id} is {job.state}, not running.", hint="`attest jobs` lists the jobs.")
        with self._connection() as connection:
            connection.run("UPDATE job SET stop_asked = 1 WHERE id = ?", (job_id,))
        return self.job(job_id)

    def job(self, job_id: str) -> Job:
        """The job with this id; raises Unavailable when there is none."""
        for job in self.jobs():
            if job.id == job_id:
                return job
        raise Unavailable(f"There is no job {job_id!r}.", hint="`attest jobs` lists the jobs.")

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


def _is_alive(row: Row) -> bool:
    if row["state"] not in _OPEN:
        return False
    if row["host"] != socket.gethostname():
        return bool(time() - row["beat"] < HEARTBEAT_SECONDS)
    try:
        # A process id is used again; the time at which its process began tells one from another.
        process = psutil.Process(row["pid"])
        same = abs(process.create_time() - float(row["process_started"])) < 1
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _result_job(row: Row, committed: Row | None) -> Job:
    state = JobState(row["state"])
    if committed is not None:
        state = JobState.COMMITTED
    elif state in _OPEN and not _is_alive(row):
        state = JobState.KILLED
    return Job(
        id=row["id"],
        kind=row["kind"],
        dataset=row["dataset"],
        state=state,
        progress=Progress(**json.loads(row["progress"])),
        started=row["started"],
        finished=committed["at"] if committed else row["finished"],
        pid=row["pid"],
        host=row["host"],
        error=row["error"],
        report=_result_report(json.loads(committed["report"])) if committed and committed["report"] else None,
    )


def _result_report(stored: Mapping[str, Any]) -> LoadReport:
    issues = tuple(Issue(**{**issue, "examples": tuple(issue["examples"])}) for issue in stored["issues"])
    return LoadReport(**{**stored, "issues": issues, "mended": tuple(stored["mended"])})


def _as_text(progress: Progress) -> str:
    return json.dumps({"phase": progress.phase, "done": progress.done, "total": progress.total})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
