"""Words for people: counts, ranks, dates, and the names of things that code calls otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date, datetime

from backend.models import (
    Condition,
    Counts,
    Cut,
    EdgeKind,
    EntityHit,
    JobState,
    Json,
    Mode,
    Passage,
    PassageHit,
    Status,
)

STATED, UNSTATED = "stated", "no passage states it"
MODES = {Mode.HYBRID: "Both", Mode.LEXICAL: "Names", Mode.SEMANTIC: "Meaning"}
PASSAGE_MODES = {**MODES, Mode.LEXICAL: "Words"}
OPERATORS = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "contains": "contains",
    "exists": "is present",
}
JOB_STATES = {
    JobState.WAITING: "waiting",
    JobState.RUNNING: "running",
    JobState.COMMITTED: "done",
    JobState.FAILED: "failed",
    JobState.STOPPED: "stopped",
    JobState.KILLED: "interrupted",
    JobState.UNDONE: "undone",
}
_SIGNS = {"!=": "≠", "<=": "≤", ">=": "≥"}
_PLURALS = {"community": "communities", "entity": "entities", "index": "indexes", "key": "keys"}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def number(value: int) -> str:
    """The number with its thousands apart."""
    return f"{value:,}"


def count(value: int, noun: str) -> str:
    """The number and the noun in the right form: "1 passage", "1,204 entities"."""
    return f"{number(value)} {noun if value == 1 else plural(noun)}"


def plural(noun: str) -> str:
    return _PLURALS.get(noun, noun + "s")


def counts(found: Counts) -> str:
    """How many passages in how many documents."""
    return f"{count(found.passages, 'passage')} in {count(found.documents, 'document')}"


def ordinal(rank: int) -> str:
    """1st, 2nd, 3rd, 4th, ..."""
    if rank % 100 in (11, 12, 13):
        return f"{number(rank)}th"
    return number(rank) + {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")


def day(text: str | None) -> str:
    """A date as "12 Mar 2021"; what is not an ISO date or instant is given as it is."""
    if not text:
        return ""
    try:
        moment = date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def moment(text: str | None) -> str:
    """An instant as "12 Mar 2021, 08:30", in UTC as it is stored."""
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return text or ""
    return f"{day(when.date().isoformat())}, {when:%H:%M}"


def years(passages: Iterable[Passage]) -> str:
    """The years of the passages' documents: "2021–2023", or nothing where none has a date."""
    found = sorted({year for passage in passages if (year := (passage.document.date or "")[:4]).isdigit()})
    return "" if not found else found[0] if len(found) == 1 else f"{found[0]}–{found[-1]}"


def stated(kind: EdgeKind) -> str:
    """What readers see in place of `assertion` and `path`."""
    return STATED if kind is EdgeKind.ASSERTION else UNSTATED


def steps(depth: int) -> str:
    return count(depth, "step")


def condition(asked: Condition) -> str:
    """A condition, short: "pages ≥ 3"."""
    values = ", ".join(asked.values)
    return f"{asked.key} {_SIGNS.get(asked.operator, asked.operator)} {values}".strip()


def why(hit: EntityHit) -> str:
    """Why a hit was found: by which name, how near in meaning, and its rank in each."""
    reasons = []
    lexical, semantic = hit.channels.get("lexical"), hit.channels.get("semantic")
    if lexical is not None:
        reasons.append(f"{_matched(hit)}, {ordinal(lexical.rank)}")
    if semantic is not None:
        reasons.append(f"meaning {semantic.score:.2f}, {ordinal(semantic.rank)}")
    return " · ".join(reasons)


def _matched(hit: EntityHit) -> str:
    if hit.matched is None:
        return "name"
    exact = "exact " if hit.matched.exact else ""
    return f"{exact}name" if hit.matched.kind == "name" else f"{exact}alias “{hit.matched.text}”"


def why_passage(hit: PassageHit) -> str:
    """Why a passage was found: by how many of the words, how near in meaning, and its rank in each."""
    reasons = []
    lexical, semantic = hit.channels.get("lexical"), hit.channels.get("semantic")
    if lexical is not None:
        reasons.append(f"{'all' if lexical.score >= 1 else 'some'} of the words, {ordinal(lexical.rank)}")
    if semantic is not None:
        reasons.append(f"meaning {semantic.score:.2f}, {ordinal(semantic.rank)}")
    return " · ".join(reasons)


def strategy(name: str) -> str:
    """The name of a strategy for finding evidence, as it is chosen: "Guided walk"."""
    return name.replace("-", " ").capitalize()


def passage_cut(cut: Cut) -> str:
    """What a bound kept from being compared where passages were looked for."""
    value = number(cut.value)
    if cut.bound == "candidate":
        return f"Cut by the candidate bound: only the first {value} passages with the words were compared."
    return f"Cut by the semantic bound: only the {value} nearest in meaning were read."


def cut(found: Cut) -> str:
    """What a bound of any kind left out, as far as that is known."""
    missing = f"{number(found.missing)} left out" if found.missing is not None else "more is stored"
    return f"Cut by the {found.bound} bound of {number(found.value)}: {missing}."


def no_meaning(what: str, *, coming: bool) -> str:
    """Why only `what` is searched: the encoder still loads, or could not be loaded."""
    if coming:
        return f"Meaning is still loading: for now {what} are searched."
    return f"Meaning cannot be searched, only {what}: the encoder did not load. The server's log says why."


def unsupported(status: Status) -> str:
    """What to say of an entity that no current passage mentions; nothing of any other."""
    return "no current passage mentions it" if status is Status.UNSUPPORTED else ""


def value(raw: Json) -> str:
    """A metadata value as text: a text as it is, a list of texts with commas, anything else as JSON."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        return ", ".join(str(item) for item in raw)
    return json.dumps(raw, ensure_ascii=False)
