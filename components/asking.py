"""The questions of this session, and their answers, each of which comes in a thread of its own."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field, replace

import streamlit as st

from backend.answers.answering import Moment, stopped
from backend.errors import AttestError, ModelFailed
from backend.questions import Answer, LeftOut, Question, Retrieval
from components import address, cached
from components.address import AskView

_ANSWERS, _ASKED = "answers", "asked"
_KEPT = 20  # answers and questions
_MOMENT = 1.0  # seconds within which a model that was told to stop has stopped


@dataclass(slots=True)
class _Progress:
    """What the thread has read of an answer, and what it is told."""

    moment: Moment | None = None
    error: AttestError | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


class Answering:
    """An answer that comes; its model is stopped when it is told to, or when nobody holds this any more."""

    def __init__(self, moments: Generator[Moment]) -> None:
        self._progress = _Progress()
        weakref.finalize(self, self._progress.stop.set)
        threading.Thread(target=_follow, args=(moments, self._progress), daemon=True).start()

    @property
    def ended(self) -> bool:
        return self._progress.ended.is_set()

    @property
    def moment(self) -> Moment | None:
        """How far it is; None while nothing is known of it yet."""
        return self._progress.moment

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What a full prompt has left out, as far as that is known."""
        moment = self._progress.moment
        return moment.answer.left_out if moment else ()

    def wait(self, seconds: float) -> None:
        """Until it has ended, but no longer than so."""
        self._progress.ended.wait(seconds)

    def stop(self) -> None:
        self._progress.stop.set()
        self.wait(_MOMENT)

    def result(self) -> Answer:
        """The answer, after it has ended; raises what kept it from coming."""
        if self._progress.error is not None:
            raise self._progress.error
        if self._progress.moment is None:
            raise ModelFailed("The answer broke off before it began.", hint="The server's log says why.")
        return stopped(self._progress.moment)


def _follow(moments: Generator[Moment], progress: _Progress) -> None:
    try:
        with closing(moments):
            for moment in moments:
                progress.moment = moment
                if progress.stop.is_set():
                    return
    except AttestError as error:
        progress.error = error
    finally:
        progress.ended.set()


def answering(found: Retrieval, version: str) -> Answering:
    """The answer from this evidence of this data version: the one that the session has, or one that begins now.

    One that is still coming gives way to it.
    """
    kept = _answers()
    key = (found.question, version)
    if key not in kept:
        ended = [(other, one) for other, one in kept.items() if one.ended]
        kept.clear()
        kept.update(ended[1 - _KEPT :])
        kept[key] = Answering(cached.answer(found))
    return kept[key]


def forget(question: Question) -> None:
    """A callback: the question is answered anew."""
    for key in [key for key in _answers() if key[0] == question]:
        del _answers()[key]


def remember(view: AskView) -> None:
    """Puts a question in front of those that were asked."""
    st.session_state[_ASKED] = (view, *(other for other in asked() if other != view))[:_KEPT]


def asked() -> tuple[AskView, ...]:
    """The questions of this session, last first."""
    kept: tuple[AskView, ...] = st.session_state.get(_ASKED, ())
    return kept


def ask(text: str) -> None:
    """A callback: asks this, by the strategy and in the scope of now."""
    view = address.ask()
    address.go_ask(replace(view, text=text, reach=1))


def _answers() -> dict[tuple[Question, str], Answering]:
    kept: dict[tuple[Question, str], Answering] = st.session_state.setdefault(_ANSWERS, {})
    return kept
