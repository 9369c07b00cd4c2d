"""What every board of jobs has to decide: whether a writer is alive, and what is told of its job."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import time
from typing import Any, Protocol

import orjson
import psutil

from backend.errors import Malformed, StoreUnreachable, Unavailable
from backend.models import Issue, Job, JobState, LoadReport, Progress

# A writer that has not been heard of for so long is taken for dead; one on this machine is dead once its process is.
HEARTBEAT_SECONDS = 60.0
OPEN_STATES = (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Writer:
    """The process of a job: a process id is used again, the time at which its process began tells one from another."""

    pid: int
    process_started: float
    host: str

    @classmethod
    def here(cls) -> Writer:
        """This process."""
        return cls(os.getpid(), psutil.Process().create_time(), socket.gethostname())


class JobRow(Protocol):
    """A row of a job, by column."""

    def __getitem__(self, column: str, /) -> Any: ...


class Endings:
    """Notes how jobs of this process ended, later where the store cannot be written to when they do.

    The process lives on, so that nobody takes such a job for dead: it would hold the lease for good.
    """

    def __init__(self, note: Callable[[Mapping[str, Any]], None]) -> None:
        self._note = note
        self._unsaid: dict[str, Mapping[str, Any]] = {}

    def say(self, job_id: str, state: JobState, error: str | None) -> None:
        """Notes one, by `id`, `state`, `finished` and `error`; raises StoreUnreachable where that has to wait."""
        ending = {"id": job_id, "state": str(state), "finished": now(), "error": error}
        try:
            self._note(ending)
        except StoreUnreachable:
            self._unsaid[job_id] = ending
            raise

    def say_what_waits(self) -> None:
        for job_id in list(self._unsaid):
            self._note(self._unsaid[job_id])
            del self._unsaid[job_id]


def is_alive(row: JobRow) -> bool:
    """Whether the writer of a job still works; its row has `state`, `host`, `pid`, `process_started` and `beat`."""
    if row["state"] not in OPEN_STATES:
        return False
    if row["host"] != socket.gethostname():
        return bool(time() - row["beat"] < HEARTBEAT_SECONDS)
    try:
        process = psutil.Process(row["pid"])
        same = abs(process.create_time() - float(row["process_started"])) < 1
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def result_job(row: JobRow, *, committed_at: str | None, report: str | None) -> Job:
    """The job of a row; one that the graph says has committed has, whatever its row says."""
    state = JobState(row["state"])
    if committed_at is not None:
        state = JobState.COMMITTED
    elif state in OPEN_STATES and not is_alive(row):
        state = JobState.KILLED
    return Job(
        id=row["id"],
        kind=row["kind"],
        dataset=row["dataset"],
        state=state,
        progress=Progress(**orjson.loads(row["progress"])),
        started=row["started"],
        finished=committed_at or row["finished"],
        pid=row["pid"],
        host=row["host"],
        error=row["error"],
        report=_result_report(orjson.loads(report)) if report else None,
    )


def find_job(jobs: Iterable[Job], job_id: str) -> Job:
    """The job with this id; raises Unavailable when there is none."""
    for job in jobs:
        if job.id == job_id:
            return job
    raise Unavailable(f"There is no job {job_id!r}.", hint="`attest jobs` lists the jobs.")


def building(jobs: Iterable[Job]) -> Progress | None:
    """What a running `attest index` is doing."""
    return next((job.progress for job in jobs if job.kind == "index" and job.state is JobState.RUNNING), None)


def require_open(job: Job) -> None:
    """Raises Malformed for a job that has ended."""
    if job.state not in OPEN_STATES:
        raise Malformed(f"Job {job.id} is {job.state}, not running.", hint="`attest jobs` lists the jobs.")


def progress_text(progress: Progress) -> str:
    """How progress is stored."""
    return orjson.dumps({"phase": progress.phase, "done": progress.done, "total": progress.total}).decode()


def report_text(report: LoadReport | None) -> str | None:
    """How the report of a load is stored."""
    return orjson.dumps(asdict(report)).decode() if report else None


def now() -> str:
    """This moment as ISO 8601 text in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _result_report(stored: Mapping[str, Any]) -> LoadReport:
    issues = tuple(Issue(**{**issue, "examples": tuple(issue["examples"])}) for issue in stored["issues"])
    return LoadReport(**{**stored, "issues": issues, "mended": tuple(stored["mended"])})
