"""Running a job: waiting for the lease, noting progress, and ending it in words whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from backend.errors import AttestError
from backend.models import Job, JobState, Progress
from backend.stores.base import JobBoard

_WAIT_SECONDS = 0.5
# Progress is written at most so often: each note is a small transaction.
_BEAT_SECONDS = 0.5

Listener = Callable[[Progress], None]


class Stopped(AttestError):
    """The job was asked to stop; what it wrote is gone."""


class Ticker:
    """Notes a job's progress for other processes and for a listener; raises Stopped when the job was asked to stop."""

    def __init__(self, board: JobBoard, job_id: str, listener: Listener | None) -> None:
        self._board = board
        self._job_id = job_id
        self._listener = listener or (lambda progress: None)
        self._last = 0.0
        self._phase = ""

    def __call__(self, phase: str, done: int = 0, total: int | None = None) -> None:
        progress = Progress(phase, done, total)
        self._listener(progress)
        now = monotonic()
        if phase == self._phase and now - self._last < _BEAT_SECONDS:
            return
        self._phase, self._last = phase, now
        if not self._board.beat(self._job_id, progress):
            raise Stopped(
                f"Job {self._job_id} was stopped.", hint="Nothing of it is visible; run it again to finish it."
            )


@contextmanager
def run_job(
    board: JobBoard, kind: str, dataset: str | None, listener: Listener | None = None
) -> Iterator[tuple[Job, Ticker]]:
    """A job that holds the lease; a block that ends without an error has committed."""
    job = board.open(kind, dataset)
    try:
        ticker = Ticker(board, job.id, listener)
        while (holder := board.acquire(job.id)) is not None:
            ticker(f"waiting for job {holder.id} ({holder.kind} {holder.dataset or ''}, process {holder.pid})")
            sleep(_WAIT_SECONDS)
        ticker("starting")
        yield job, ticker
    except (Stopped, KeyboardInterrupt):
        board.close(job.id, JobState.STOPPED)
        raise
    except BaseException as error:
        board.close(job.id, JobState.FAILED, error=str(error) or type(error).__name__)
        raise
    board.close(job.id, JobState.COMMITTED)
