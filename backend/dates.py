"""Dates in a text, however they are written; where one can be read in two ways (`5/1/2024`) it has both readings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

# Year, month and day; None for what a date does not say.
Date: TypeAlias = tuple[int | None, int | None, int | None]

MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9}
MONTHS |= {"oct": 10, "nov": 11, "dec": 12, "january": 1, "february": 2, "march": 3, "april": 4, "june": 6, "july": 7}
MONTHS |= {"august": 8, "september": 9, "october": 10, "november": 11, "december": 12}
ANY_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<m>{ANY_MONTH})\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\.?"
_YEAR = r"(?P<y>\d{4})"
_DATES = [
    re.compile(rf"(?<![\w.,/-]){pattern}(?![\w/-])", re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})",
        rf"{_YEAR}-(?P<m>0\d|1[0-2])",
        r"(?P<d>\d{1,2})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<y>\d{4})",
        rf"{_DAY} (?:of )?{_MONTH},?(?: {_YEAR})?",
        rf"{_MONTH} {_DAY},?(?: {_YEAR})?",
        rf"{_MONTH},? {_YEAR}",
    )
] + [re.compile(r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})日)?")]


class FoundDate(NamedTuple):
    """Where a date stands, and how it can be read: one way or two."""

    start: int
    end: int
    readings: list[Date]


def plain_digits(text: str) -> str:
    """Compatibility forms folded, ASCII digits and single spaces; what is raised or lowered is no number."""
    if text.isascii():
        return " ".join(text.split())
    folded = "".join(c if _is_raised(c) else unicodedata.normalize("NFKC", c) for c in text)
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)
    return " ".join(digits.split())


def dates_in(text: str) -> Iterator[FoundDate]:
    """The dates of a text with plain digits, in no order; of two that overlap, the one of the earlier pattern."""
    taken = bytearray(len(text))
    for pattern in _DATES:
        for found in pattern.finditer(text):
            start, end = found.span()
            readings = _readings(found)
            if readings and not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                yield FoundDate(start, end, readings)


def _is_raised(character: str) -> bool:
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>"))


def _readings(found: re.Match[str]) -> list[Date]:
    parts = found.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    month = MONTHS.get(parts["m"].lower()) or int(parts["m"])
    day = int(parts["d"]) if parts.get("d") else None
    readings: list[Date] = [(year, month, day)]
    if parts.get("sep") and found[0].endswith(parts["y"]) and day is not None and day != month:
        readings.append((year, day, month))
    return [
        reading
        for reading in readings
        if 1 <= (reading[1] or 0) <= 12 and (reading[2] is None or 1 <= reading[2] <= 31)
    ]
