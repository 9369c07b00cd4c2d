"""Measuring a strategy on a bundle's questions: which of the passages that answer each are found, and how far up."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter

from backend.errors import Malformed, Unavailable
from backend.loading.bundle import question_rows
from backend.loading.plan import batched
from backend.models import Scope
from backend.questions import Question, Retrieval
from backend.stores.base import GraphView

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with the source ids of the passages that answer it; `type` is its kind in its set, if it says."""

    id: str
    text: str
    gold: tuple[str, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a strategy found for a question: source ids, best first, at most 20, and what that cost."""

    id: str
    ranked: tuple[str, ...]
    ms: float
    queries: int


@dataclass(frozen=True, slots=True)
class EvalRow:
    """A row of the table: shares in percent, over all questions or those of a type; times in milliseconds."""

    type: str
    questions: int
    recall: Mapping[str, float]  # by `R@k`
    all_in: Mapping[str, float]  # all that answer it among the first so many, by `all@k`, for the last of the cutoffs
    ms: float
    p95_ms: float
    queries: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Each question with what was found, and the table: all questions first, then by type."""

    dataset: str
    strategy: str
    questions: tuple[Measured, ...]
    table: tuple[EvalRow, ...]


def read_questions(path: Path, *, sample: int | None = None, seed: int = 0) -> list[EvalQuestion]:
    """The questions of a bundle in their order, or so many of them chosen by the seed.

    Raises Malformed for a bundle without questions, naming the line of one that cannot be read.
    """
    questions = [_question(line, fields) for line, fields in question_rows(path)]
    if sample is not None and sample < len(questions):
        chosen = sorted(random.Random(seed).sample(range(len(questions)), sample))
        questions = [questions[n] for n in chosen]
    return questions


def _question(line: int, fields: Mapping[str, object]) -> EvalQuestion:
    text, gold = fields.get("question"), fields.get("gold_passage_ids")
    if not isinstance(text, str) or not text.strip() or not isinstance(gold, list) or not gold:
        raise Malformed(f"Line {line} of the questions has no question or no gold_passage_ids.", hint="Mend that line.")
    return EvalQuestion(str(fields.get("id", line)), text, tuple(map(str, gold)), str(fields.get("type") or ""))


def scope_of(view: GraphView, dataset: str) -> Scope:
    """The scope of a dataset: the collections that its documents are in. Raises Unavailable for an unknown one."""
    ids = view.row_ids("document", dataset)
    if not ids:
        known = ", ".join(sorted(view.row_counts()))
        raise Unavailable(f"There is no dataset {dataset!r}.", hint=f"There is: {known or 'none yet'}.")
    collections = {row.collection for page in batched(ids, _PAGE) for row in view.version_rows(page)}
    return Scope(collections=tuple(sorted(collections)))


def measure(
    questions: Sequence[EvalQuestion],
    ask: Callable[[Question], Retrieval],
    reads: Callable[[], int],
    *,
    strategy: str,
    limit: int,
    scope: Scope,
) -> Iterator[Measured]:
    """What the strategy finds for each question, one after the other; `reads` counts the queries so far."""
    for one in questions:
        before, begin = reads(), perf_counter()
        found = ask(Question(one.text, strategy=strategy, limit=limit, scope=scope))
        yield Measured(one.id, found.ranked, round(1000 * (perf_counter() - begin), 3), reads() - before)


def table(
    questions: Sequence[EvalQuestion], measured: Sequence[Measured], cutoffs: Sequence[int]
) -> tuple[EvalRow, ...]:
    """All questions in the first row, then a row for each of their types, if there are several."""
    groups: dict[str, list[tuple[EvalQuestion, Measured]]] = defaultdict(list)
    for pair in zip(questions, measured, strict=True):
        groups["all"].append(pair)
        if pair[0].type:
            groups[pair[0].type].append(pair)
    types = sorted(groups.keys() - {"all"})
    return tuple(_row(name, groups[name], cutoffs) for name in ("all", *(types if len(types) > 1 else ())))


def _row(name: str, pairs: Sequence[tuple[EvalQuestion, Measured]], cutoffs: Sequence[int]) -> EvalRow:
    times, last = sorted(one.ms for _, one in pairs), max(cutoffs)
    return EvalRow(
        type=name,
        questions=len(pairs),
        recall={f"R@{k}": _percent(_recall(question.gold, one.ranked[:k]) for question, one in pairs) for k in cutoffs},
        all_in={
            f"all@{last}": _percent(float(set(question.gold) <= set(one.ranked[:last])) for question, one in pairs)
        },
        ms=round(fmean(times), 1),
        p95_ms=round(times[min(len(times) - 1, int(0.95 * len(times)))], 1),
        queries=round(fmean(one.queries for _, one in pairs), 1),
    )


def _recall(gold: Sequence[str], ranked: Sequence[str]) -> float:
    return len(set(gold) & set(ranked)) / len(set(gold))


def _percent(shares: Iterable[float]) -> float:
    return round(100 * fmean(shares), 1)
