"""Numbers and dates in a text, however they are written: is each of a sentence's in the passages that it cites?

`1,000`, `1.000`, `1 000`, `1000` and `1 thousand` are one number, and `5 %` has the number of `5 percent`. Where a
text can be read in two ways (`1.000`, `5/1/2024`), either will do. Whole years and days of a passage's dates are
numbers of it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from backend.dates import Date, dates_in, plain_digits

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
    claim, told = plain_digits(sentence), plain_digits(passages).lower()
    known = [date for _, _, readings in dates_in(told) for date in readings]
    missing = []
    for start, end, readings in dates_in(claim):
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
    return not any(c.isalnum() for c in _NUMBER.sub("", _without_dates(plain_digits(name))))


def _without_dates(text: str) -> str:
    for start, end, _ in dates_in(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _says(date: Date, asked: Date) -> bool:
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
