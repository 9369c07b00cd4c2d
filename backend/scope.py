"""What a scope means: its point in time, its conditions, and how two metadata values compare.

This is the one definition of the values; each store turns a `ResolvedScope` into its own query language.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from backend.errors import Malformed
from backend.identity import is_canonical
from backend.models import Condition, Json, Scope

OPERATORS = ("=", "!=", "<=", ">=", "<", ">", "in", "contains", "exists")
_CONDITION = re.compile(
    r"\s*(?P<key>.+?)\s*(?P<operator>!=|<=|>=|=|<|>|\s(?:in|contains|exists)(?=\s|$))\s*(?P<value>.*)", re.S
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Value:
    """A metadata value as it compares: its kind, its number (microseconds since 1970 for a date) and its text."""

    kind: str  # "number", "date" or "text"
    number: float | int | None
    text: str


@dataclass(frozen=True, slots=True)
class ResolvedCondition:
    """A condition with its values read; different kinds never match."""

    key: str
    operator: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ResolvedScope:
    """A scope at one point in time, in microseconds since 1970 UTC; the same value goes into every query."""

    at: int
    collections: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    conditions: tuple[ResolvedCondition, ...] = ()


def resolve(scope: Scope, *, today: date | None = None) -> ResolvedScope:
    """The scope at its point in time, which is the end of today (UTC) where none is given.

    Raises Malformed for a date, a document id or a condition that cannot be read.
    """
    at = present(today=today) if not scope.as_of else instant(scope.as_of)
    if at is None:
        raise Malformed(
            f"as-of {scope.as_of!r} is not an ISO date.", hint="Write it like 2024-03-31 or 2024-03-31T12:00:00Z."
        )
    for document_id in scope.document_ids:
        if not is_canonical(document_id):
            raise Malformed(f"{document_id!r} is not a document id.", hint="Ids are canonical lowercase UUIDs.")
    return ResolvedScope(
        at=at,
        collections=tuple(sorted(set(scope.collections))),
        document_ids=tuple(sorted(set(scope.document_ids))),
        conditions=tuple(_resolve_condition(condition) for condition in scope.conditions),
    )


def present(*, today: date | None = None) -> int:
    """The time of an empty scope: the end of today, UTC."""
    return _microseconds(datetime.combine(today or datetime.now(UTC).date(), time.max, UTC))


def parse_condition(text: str) -> Condition:
    """Reads `KEY OP VALUE`; the values of `in` are separated by commas, and `exists` has none."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise Malformed(
            f"{text!r} is not a condition.", hint=f"Write KEY OP VALUE, where OP is one of {' '.join(OPERATORS)}."
        )
    operator, value = match["operator"].strip(), match["value"].strip()
    if operator == "in":
        return Condition(match["key"], operator, tuple(part.strip() for part in value.split(",")))
    return Condition(match["key"], operator, () if operator == "exists" else (value,))


def instant(text: str) -> int | None:
    """Microseconds since 1970 UTC of an ISO date (its last instant) or date and time; None for anything else."""
    try:
        if len(text) == 10:
            moment = datetime.combine(date.fromisoformat(text), time.max, UTC)
        elif len(text) > 10 and text[4] == "-" and text[10] in "T ":
            moment = datetime.fromisoformat(text)
        else:
            return None
        return _microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def iso(microseconds: int) -> str:
    """The instant as ISO 8601 text in UTC."""
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat().replace("+00:00", "Z")


def read_value(raw: Json) -> Value:
    """A single metadata value as it compares; what is neither number nor date is text."""
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, sort_keys=True)
    stripped = text.strip()
    if not isinstance(raw, bool) and _NUMBER.fullmatch(stripped) and math.isfinite(number := float(stripped)):
        return Value("number", number, text)
    moment = instant(stripped)
    return Value("text", None, text) if moment is None else Value("date", moment, text)


def document_values(fields: Mapping[str, Json], metadata: Mapping[str, Json]) -> Iterator[tuple[str, Value]]:
    """Every key and value of a document that conditions can ask for; a list gives each of its elements once."""
    present = {key: value for key, value in {**metadata, **_without_none(fields)}.items() if value is not None}
    for key, raw in present.items():
        elements: Iterable[Json] = raw if isinstance(raw, list) else (raw,)
        for value in dict.fromkeys(read_value(element) for element in elements if element is not None):
            yield key, value


def _without_none(fields: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}


def _resolve_condition(condition: Condition) -> ResolvedCondition:
    if condition.operator not in OPERATORS:
        raise Malformed(f"{condition.operator!r} is not an operator.", hint=f"Use one of {' '.join(OPERATORS)}.")
    if not condition.key.strip():
        raise Malformed("A condition has no key.", hint="Write KEY OP VALUE.")
    if not condition.values and condition.operator != "exists":
        raise Malformed(f"The condition on {condition.key!r} has no value.", hint="Write KEY OP VALUE.")
    if len(condition.values) > 1 and condition.operator != "in":
        raise Malformed(f"The condition on {condition.key!r} has several values.", hint="Only `in` takes several.")
    return ResolvedCondition(
        condition.key.strip(), condition.operator, tuple(read_value(value) for value in condition.values)
    )
