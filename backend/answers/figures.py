"""Numbers and dates in a text, however they are written: is each of a sentence's in the passages that it cites?

`1,000`, `1.000`, `1 000`, `1000` and `1 thousand` are one number, and `5 %` has the number of `5 percent`. Where a
text can be read in two ways (`1.000`, `5/1/2024`), either will do. Whole years and days of a passage's dates are
numbers of it too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import TypeAlias

# Year, month and day; None for what a date does not say.
_Date: TypeAlias = tuple[int | None, int | None, int | None]

_MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9}
_MONTHS |= {"oct": 10, "nov": 11, "dec": 12, "january": 1, "february": 2, "march": 3, "april": 4, "june": 6, "july": 7}
_MONTHS |= {"august": 8, "september": 9, "october": 10, "november": 11, "december": 12}
_MONTH = rf"(?P<m>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
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
_SCALES = {"thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12}
# Digits behind a letter belong to a name (Q3, A320) and are compared with it.
_NUMBER = re.compile(
    r"(?<![a-z0-9])(?:\d{1,3}(?: \d{3})+(?![\w.,]*\d)|\d+(?:[.,'’]\d+)*)"
    rf"(?: ?(?P<scale>{'|'.join(_SCALES)})\b)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![a-z0-9])[a-z]+\d\w*", re.IGNORECASE)
_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8"}
_WORDS |= {"nine": "9", "ten": "10", "eleven": "11", "twelve": "12"}
_GROUPED = re.compile(r"\d{1,3}(?:(?P<sep>[.,'’ ])\d{3})(?:(?P=sep)\d{3})*")
_LONGEST = 30  # digits; a longer number is compared as it is written


def unstated(sentence: str, passages: str) -> list[str]:
    """The numbers and dates of a sentence that the passages do not have, as they stand in it, each once."""
    claim, told = _plain(sentence), _plain(passages).lower()
    known = [date for _, _, readings in _dates(told) for date in readings]
    missing = []
    for start, end, readings in _dates(claim):
        if claim[start:end].lower() not in told and not any(
            _says(date, reading) for date in known for reading in readings
        ):
            missing.append(claim[start:end])
    claim = _without_dates(claim)
    codes = {code[0] for code in _CODE.finditer(told)}
    missing += (code[0] for code in _CODE.finditer(claim) if code[0].lower() not in codes)
    numbers = {reading for number in _NUMBER.finditer(told) for reading in _readings(number)}
    numbers |= {digits for word, digits in _WORDS.items() if re.search(rf"\b{word}\b", told)}
    missing += (number[0] for number in _NUMBER.finditer(claim) if numbers.isdisjoint(_readings(number)))
    return list(dict.fromkeys(missing))


def is_figure(name: str) -> bool:
    """Whether a name is nothing but numbers and dates."""
    return not any(c.isalnum() for c in _NUMBER.sub("", _without_dates(_plain(name))))


def _without_dates(text: str) -> str:
    for start, end, _ in _dates(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _plain(text: str) -> str:
    """Compatibility forms folded, ASCII digits and single spaces; what is raised or lowered is no number."""
    if text.isascii():
        return " ".join(text.split())
    folded = "".join(c if _is_raised(c) else unicodedata.normalize("NFKC", c) for c in text)
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)
    return " ".join(digits.split())


def _is_raised(character: str) -> bool:
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>"))


def _dates(text: str) -> Iterator[tuple[int, int, list[_Date]]]:
    """Where the dates are and how each can be read; of two that overlap, the one of the earlier pattern."""
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for found in pattern.finditer(text):
            start, end = found.span()
            readings = _date_readings(found)
            if readings and all(end <= other or start >= until for other, until in taken):
                taken.append((start, end))
                yield start, end, readings


def _date_readings(found: re.Match[str]) -> list[_Date]:
    parts = found.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    month = _MONTHS.get(parts["m"].lower()) or int(parts["m"])
    day = int(parts["d"]) if parts.get("d") else None
    readings: list[_Date] = [(year, month, day)]
    if parts.get("sep") and found[0].endswith(parts["y"]) and day is not None:
        readings.append((year, day, month))
    return [
        reading
        for reading in readings
        if 1 <= (reading[1] or 0) <= 12 and (reading[2] is None or 1 <= reading[2] <= 31)
    ]


def _says(date: _Date, asked: _Date) -> bool:
    """Whether a date says all that the other one does."""
    return all(wanted is None or told == wanted for told, wanted in zip(date, asked, strict=True))


def _readings(number: re.Match[str]) -> set[str]:
    scale = number["scale"] or ""
    digits = number[0].removesuffix(scale).strip()
    if len(digits) > _LONGEST:
        return {digits}
    values = {Decimal(value) for value in _values(digits)}
    shifted = {value.scaleb(_SCALES[scale.lower()]) if scale else value for value in values}
    return {format(value.normalize(), "f") for value in shifted} or {digits}


def _values(digits: str) -> Iterator[str]:
    """The numbers that these digits with their separators can mean; none for 1.2.3."""
    if _GROUPED.fullmatch(digits):
        yield _digits(digits)
    whole, mark, rest = _at_last_separator(digits)
    if rest.isdecimal() and mark in ".," and (whole.isdecimal() or (_GROUPED.fullmatch(whole) and mark not in whole)):
        yield f"{_digits(whole)}.{rest}"
    if digits.isdecimal():
        yield digits


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdecimal())


def _at_last_separator(digits: str) -> tuple[str, str, str]:
    place = max(digits.rfind("."), digits.rfind(","))
    return (digits[:place], digits[place], digits[place + 1 :]) if place >= 0 else (digits, "-", "")
