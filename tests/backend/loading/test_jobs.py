"""A job says that it is alive, also while one step of it takes long."""

from __future__ import annotations

from threading import Event

import pytest

from backend.errors import StoreUnreachable
from backend.loading.jobs import Stopped, Ticker
from backend.models import Progress


class Notes:
    """A JobBoard's place for notes: hears them, and answers as it is told."""

    def __init__(self, *, goes_on: bool = True, error: Exception | None = None) -> None:
        self.goes_on = goes_on
        self.error = error
        self.heard: list[Progress] = []
        self.thrice = Event()

    def beat(self, job_id: str, progress: Progress) -> bool:
        self.heard.append(progress)
        if len(self.heard) >= 3:
            self.thrice.set()
        if self.error:
            raise self.error
        return self.goes_on


def test_progress_is_noted_again_and_again_while_nothing_is_heard() -> None:
    notes = Notes()
    ticker = Ticker(notes, "job", None)
    with ticker.alive(every=0.01):
        ticker("committing", 1, 2)
        assert notes.thrice.wait(30)
    assert set(notes.heard) <= {Progress("starting"), Progress("committing", 1, 2)}
    noted = len(notes.heard)
    assert not Event().wait(0.05)
    assert len(notes.heard) == noted


def test_a_stop_that_was_heard_meanwhile_ends_the_next_step() -> None:
    notes = Notes(goes_on=False)
    ticker = Ticker(notes, "job", None)
    with ticker.alive(every=0.01):
        assert notes.thrice.wait(30)
    notes.goes_on = True
    with pytest.raises(Stopped):
        ticker("committing")


def test_a_store_that_does_not_answer_for_a_while_ends_no_job() -> None:
    notes = Notes(error=StoreUnreachable("Gone."))
    ticker = Ticker(notes, "job", None)
    with ticker.alive(every=0.01):
        assert notes.thrice.wait(30)
    notes.error = None
    ticker("committing")
