"""Running a job: waiting for the lease, noting progress, and ending it in words whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Protocol

from backend.errors import AttestError
from backend.models import Job, JobState, Progress
from backend.stores.base import JobBoard
from backend.stores.jobs import HEARTBEAT_SECONDS

_WAIT_SECONDS = 0.5
# Progress is written at most so often: each note is a small transaction.
_NOTE_SECONDS = 0.5
# A fraction of the time after which a silent job of another machine is taken for dead.
_BEAT_SECONDS = HEARTBEAT_SECONDS / 4

Listener = Callable[[Progress], None]


class Stopped(AttestError):
    """The job was asked to stop; what it wrote is gone."""


class Notes(Protocol):
    """What a job needs of a JobBoard to say how it goes."""

    def beat(self, job_id: str, progress: Progress) -> bool: ...


class Ticker:
    """Notes a job's progress for other processes and for a listener; raises Stopped when the job was asked to stop.

    While a step takes long and nothing is heard of it, a thread says that the job is alive: on another machine it would
    be taken for dead.
    """

    def __init__(self, board: Notes, job_id: str, listener: Listener | None) -> None:
        self._board = board
        self._job_id = job_id
        self._listener = listener or (lambda progress: None)
        self._progress = Progress("starting")
        self._last = 0.0
        self._stop_asked = False
        self._noting = Lock()
        self._ended = Event()

    def __call__(self, phase: str, done: int = 0, total: int | None = None) -> None:
        progress = Progress(phase, done, total)
        self._listener(progress)
        with self._noting:
            is_new = phase != self._progress.phase
            self._progress = progress
            if is_new or monotonic() - self._last >= _NOTE_SECONDS:
                self._note()
        if self._stop_asked:
            raise Stopped(
                f"Job {self._job_id} was stopped.", hint="Nothing of it is visible; run it again to finish it."
            )

    def hear(self, progress: Progress) -> None:
        """Takes the progress of another job, of which this one consists, for its own."""
        self(progress.phase, progress.done, progress.total)

    @contextmanager
    def alive(self, *, every: float = _BEAT_SECONDS) -> Iterator[None]:
        """Says every few seconds that the job is alive, until the end of the block."""
        thread = Thread(target=self._beat, args=(every,), name="attest-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _beat(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            # The job itself meets what keeps a note from being written, and says so.
            with self._noting, suppress(AttestError):
                self._note()

    def _note(self) -> None:
        self._last = monotonic()
        self._stop_asked |= not self._board.beat(self._job_id, self._progress)


@contextmanager
def run_job(
    board: JobBoard, kind: str, dataset: str | None, listener: Listener | None = None
) -> Iterator[tuple[Job, Ticker]]:
    """A job that holds the lease; a block that ends without an error has committed."""
    job = board.open(kind, dataset)
    ticker = Ticker(board, job.id, listener)
    try:
        with ticker.alive():
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
