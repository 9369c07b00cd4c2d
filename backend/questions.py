"""The values of questions and answers: what is asked, the evidence that is found, and the answer that rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from backend.models import EVERYTHING, Cut, Passage, Scope, Span

# --- what is asked ---------------------------------------------------------------------------------------------------

STRATEGIES = ("automatic", "passages", "traversal", "entities", "topics", "guided-walk", "communities")


# How many times over the bounds on candidates may be taken.
MAX_REACH = 8
# Source ids that are told of a ranking, whatever the limit.
MOST_RANKED = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and how evidence for it is to be found.

    `retrievers` (names, or NAME=WEIGHT) and `options` (KEY=VALUE) are for traversal-based search; `limit` is the number
    of passages that become evidence. `reach`, 1 to 8, is how many times over candidates are read before a bound cuts.
    """

    text: str
    strategy: str = "automatic"
    retrievers: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    limit: int = 8
    scope: Scope = EVERYTHING
    reach: int = 1


# --- what is found ---------------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """An entity by its id, with what a reader calls it."""

    id: str
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """The strategy that was asked for and the one that was used, and why that in words."""

    asked: str
    chosen: str
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of finding evidence: what it did in words, how many things it found, and how long it took."""

    name: str
    found: int
    ms: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The evidence for a question, best first; nothing of it was written by a model.

    `ranked` are the source ids of passages in the order of the strategy before any limit (at most 20), `entities` those
    that the evidence mentions, most often first. `results` are those of traversal-based search. `context` is shown to a
    model beside the evidence.
    """

    question: Question
    strategy: StrategyChoice
    evidence: tuple[EvidenceItem, ...]
    ranked: tuple[str, ...]
    entities: tuple[Named, ...]
    results: tuple[Mapping[str, Any], ...]
    context: tuple[str, ...]
    truncated_by: tuple[str, ...]
    cuts: tuple[Cut, ...]
    steps: tuple[Step, ...]
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A passage that may be cited as `n`, from 1; `sentences` are the places of those that support an answer.

    `why` says in words by which steps it was found.
    """

    n: int
    passage: Passage
    sentences: tuple[Span, ...]
    score: float
    why: tuple[str, ...]


class AnswerKind(StrEnum):
    """`extractive`: sentences quoted from the evidence; `model`: written by a language model; `none`: no answer."""

    EXTRACTIVE = "extractive"
    MODEL = "model"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence with the numbers of the evidence that it cites; `supported` when these state it, else `why` not."""

    text: str
    citations: tuple[int, ...]
    supported: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What did not fit in the prompt: `kind` is `evidence` or `context`, and `n` its number.

    `shortened` evidence was given with its supporting sentences alone.
    """

    kind: str
    n: int
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, of which every sentence says what it rests on; `model` is the name of the one that wrote it."""

    kind: AnswerKind
    model: str | None
    sentences: tuple[AnswerSentence, ...]
    note: str = ""  # what the reader must know of how it came about: a model that failed, what was not found
    left_out: tuple[LeftOut, ...] = ()
