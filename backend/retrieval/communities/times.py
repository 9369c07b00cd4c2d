"""The times that a question names, as spans of days: absolute ones alone, so that an answer is the same tomorrow.

First what names a time by itself (a date, month, quarter, year, decade, century), then the words around it that make a
range or leave an end open. A two-digit year, a season and a day without a year name none.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from backend.communities.values import TimeSpan
from backend.dates import ANY_MONTH, MONTHS, Date, dates_in, plain_digits
from backend.scope import instant, iso


class _Days(NamedTuple):
    first: date
    last: date


@dataclass(frozen=True, slots=True, order=True)
class _Time:
    """What names a time, and where; `readings` is empty for a day that there never was (30 February)."""

    start: int
    end: int
    readings: tuple[_Days, ...]


_YEAR = r"(?P<y>[12]\d{3})"
_ORDINALS = {name: n for n, name in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], start=1)}
_ORDINALS |= {name: n for n, name in enumerate(["seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"], start=7)}
_ORDINALS |= {
    f"{stem}teenth": n for n, stem in enumerate(["thir", "four", "fif", "six", "seven", "eigh", "nine"], start=13)
}
_ORDINALS |= {"twentieth": 20, "twenty-first": 21, "twenty first": 21}
_ORDINAL = rf"(?P<n>\d{{1,2}}(?=st|nd|rd|th)|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?:st|nd|rd|th)?"
# Nothing that a number goes on with; and before Christ there is no ISO date.
_BEFORE = r"(?<![\w.,'’$€£¥#/-])"
_AFTER = r"(?![\w°$€£¥]|[.,:/-]\d| ?%| ?B\.?C\.?E?\b)"
# A bare number may count anything. It is a year if it is near to ours, or has such a word before it.
_NEAR_YEARS = range(1500, 2100)
_SAYS_YEAR = re.compile(
    r"\b(?:in|of|by|from|to|and|since|before|after|until|till|through|during|between|around|circa|years?|early|late|mid)"
    r"[ -]$",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"\b(?:(?P<between>between)|(?P<since>since|starting (?:in|from))|(?P<after>after|later than)"
    r"|(?P<before>before|prior to|earlier than)|(?P<until>until|till|up to|by|no later than)|(?P<from>from))"
    r" (?:the )?(?:years? |end of )?$",
    re.IGNORECASE,
)
_TO = re.compile(r" (?:to|until|till|through) (?:the )?(?:years? )?| ?[–—-] ?", re.IGNORECASE)
_AND = re.compile(r" and (?:the )?(?:years? )?", re.IGNORECASE)
_ONWARDS = re.compile(r" (?:on|onwards?)\b", re.IGNORECASE)
_LONGEST_PREFIX = 32  # characters before a time that are read


def time_spans(text: str) -> tuple[TimeSpan, ...]:
    """The times in a text, in its order, each once; one that can be read in two ways gives both.

    An open end is 0001-01-01 or 9999-12-31. "After" and "before" leave out the time that they name, "since", "until"
    and "by" do not.
    """
    line = plain_digits(text)
    found: list[TimeSpan] = []
    times = [time for time in _times(line) if time.readings]
    joined = False
    for time, following in pairwise([*times, None]):
        if time is None or joined:  # the second end of a range
            joined = False
            continue
        before = _PREFIX.search(line, max(0, time.start - _LONGEST_PREFIX), time.start)
        joined = following is not None and _is_range(line[time.end : following.start], before)
        if joined and following is not None:
            start = before.start() if before and (before["between"] or before["from"]) else time.start
            found += _spans(line[start : following.end], _range(time.readings, following.readings))
        else:
            found += _alone(line, time, before)
    return tuple(dict.fromkeys(found))


def dated_within(dated: str | None, spans: Sequence[TimeSpan]) -> bool:
    """Whether what is dated so, as an ISO instant or as people write dates, lies wholly in one of the spans."""
    return any(
        span.start <= days.first.isoformat() and days.last.isoformat() <= span.end
        for days in (_dated(dated.strip()) if dated else ())
        for span in spans
    )


def _dated(text: str) -> tuple[_Days, ...]:
    at = instant(text)
    if at is not None:
        day = date.fromisoformat(iso(at)[:10])
        return (_Days(day, day),)
    line = plain_digits(text)
    return next((time.readings for time in _times(line) if (time.start, time.end) == (0, len(line))), ())


# --- words around a time ---------------------------------------------------------------------------------------------


def _is_range(gap: str, before: re.Match[str] | None) -> bool:
    if len(gap) > _LONGEST_PREFIX:
        return False
    return _TO.fullmatch(gap) is not None or bool(before and before["between"] and _AND.fullmatch(gap))


def _range(first: Sequence[_Days], last: Sequence[_Days]) -> Iterator[_Days]:
    """Both ends are read in the same way; one that can be read in one way only is so in both."""
    for n in range(max(len(first), len(last))):
        one, other = first[min(n, len(first) - 1)], last[min(n, len(last) - 1)]
        yield _Days(min(one.first, other.first), max(one.last, other.last))


def _alone(line: str, time: _Time, before: re.Match[str] | None) -> list[TimeSpan]:
    onwards = _ONWARDS.match(line, time.end)
    word = before.lastgroup if before else None
    if word == "from" and onwards:
        word = "since"
    if before is None or word in (None, "between", "from"):
        return _spans(line[time.start : time.end], time.readings)
    end = onwards.end() if onwards and word == "since" else time.end
    return _spans(line[before.start() : end], [opened for days in time.readings for opened in _opened(word, days)])


def _opened(word: str | None, days: _Days) -> Iterator[_Days]:
    """The time that begins or ends with this one; none where it would leave the calendar."""
    day = timedelta(days=1)
    if word == "since":
        yield _Days(days.first, date.max)
    elif word == "until":
        yield _Days(date.min, days.last)
    elif word == "after" and days.last < date.max:
        yield _Days(days.last + day, date.max)
    elif word == "before" and days.first > date.min:
        yield _Days(date.min, days.first - day)


def _spans(text: str, readings: Sequence[_Days] | Iterator[_Days]) -> list[TimeSpan]:
    return [TimeSpan(text, days.first.isoformat(), days.last.isoformat()) for days in readings]


# --- what names a time by itself -------------------------------------------------------------------------------------


def _times(line: str) -> list[_Time]:
    """In their order; of two that overlap, the one of the earlier kind."""
    taken = bytearray(len(line))
    found: list[_Time] = []
    for time in _all_times(line):
        if not any(taken[time.start : time.end]):
            taken[time.start : time.end] = b"\1" * (time.end - time.start)
            found.append(time)
    return sorted(found)


def _all_times(line: str) -> Iterator[_Time]:
    for pattern, read in _RANGES:
        yield from _matches(line, pattern, read)
    for start, end, dates in dates_in(line):
        yield _Time(start, end, tuple(days for one in dates if (days := _of_date(one)) is not None))
    for pattern, read in _PARTS:
        yield from _matches(line, pattern, read)
    for found in _BARE_YEAR.finditer(line):
        year = int(found["y"])
        if year in _NEAR_YEARS or _SAYS_YEAR.search(line, max(0, found.start() - _LONGEST_PREFIX), found.start()):
            yield _Time(*found.span(), (_years(year, year),))


def _matches(line: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], _Days | None]) -> Iterator[_Time]:
    for found in pattern.finditer(line):
        days = read(found)
        if days is not None:
            yield _Time(*found.span(), (days,))


def _of_date(read: Date) -> _Days | None:
    year, month, day = read
    if not year or month is None:
        return None
    if day is None:
        return _months(year, month, month)
    if day > monthrange(year, month)[1]:
        return None
    return _Days(date(year, month, day), date(year, month, day))


def _years(first: int, last: int) -> _Days:
    return _Days(date(first, 1, 1), date(last, 12, 31))


def _months(year: int, first: int, last: int) -> _Days:
    return _Days(date(year, first, 1), date(year, last, monthrange(year, last)[1]))


def _of_years(found: re.Match[str]) -> _Days | None:
    """1990-1995, 1990-95; the second must be later."""
    first, last = int(found["y"]), int(found["last"])
    last = last if last > 99 else first // 100 * 100 + last
    return _years(first, last) if first < last else None


def _of_months(found: re.Match[str]) -> _Days | None:
    first, last = MONTHS[found["m"].lower()], MONTHS[found["last"].lower()]
    return _months(int(found["y"]), first, last) if first < last else None


def _of_part(found: re.Match[str]) -> _Days:
    """A quarter or a half of a year."""
    size = 3 if found["kind"].lower().startswith("q") else 6
    n = _ORDINALS.get(found["n"].lower()) or int(found["n"])
    return _months(int(found["y"]), size * n - size + 1, size * n)


def _of_century(found: re.Match[str]) -> _Days | None:
    n = _ORDINALS.get(found["n"].lower()) or int(found["n"])
    return _years(100 * n - 99, 100 * n) if n else None


def _of_decade(found: re.Match[str]) -> _Days:
    """The 1800s are a century, as people say it; the 2000s are still a decade."""
    first = int(found["y"])
    return _years(first, first + (99 if first % 100 == 0 and first < 2000 else 9))


def _of_era(found: re.Match[str]) -> _Days | None:
    year = int(found["y"] or found["z"])
    return _years(year, year) if year else None


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(_BEFORE + text + _AFTER, re.IGNORECASE)


_N = r"(?P<n>[1-4]|first|second|third|fourth)"
_OF = r"(?: of)?(?: the)?(?: year)?[ /-]"
_RANGES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Days | None]], ...] = (
    # With a plain hyphen 2010-11 is a month, as ISO has it.
    (_pattern(rf"{_YEAR}(?: ?[–—/] ?|-(?!0\d(?!\d)|1[0-2](?!\d)))(?P<last>[12]\d{{3}}|\d\d)"), _of_years),
    (
        _pattern(
            rf"(?P<m>{ANY_MONTH})\.?(?: ?[–—/-] ?| (?:to|and|until|till|through) )(?P<last>{ANY_MONTH})\.?,? {_YEAR}"
        ),
        _of_months,
    ),
)
_PARTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Days | None]], ...] = (
    (_pattern(rf"(?P<kind>Q)(?P<n>[1-4]){_OF}{_YEAR}"), _of_part),
    (_pattern(rf"{_YEAR}[ /-]?(?P<kind>Q)(?P<n>[1-4])"), _of_part),
    (_pattern(rf"(?P<kind>H)(?P<n>[12]){_OF}{_YEAR}"), _of_part),
    (_pattern(rf"{_N}(?:st|nd|rd|th)? (?P<kind>quarter){_OF}{_YEAR}"), _of_part),
    (_pattern(rf"(?P<n>1|2|first|second)(?:st|nd)? (?P<kind>half){_OF}{_YEAR}"), _of_part),
    (_pattern(rf"{_ORDINAL}[ -]century"), _of_century),
    (_pattern(r"(?P<y>[12]\d\d0)['’]?s"), _of_decade),
    (_pattern(r"(?:(?:AD|CE) (?P<y>\d{1,4})|(?P<z>\d{1,4}) (?:AD|CE))"), _of_era),
)
_BARE_YEAR = _pattern(_YEAR)
