"""What a report cites: `[Data: Entities (5, 7); Reports (2, +more)]`, in every spelling that models were seen to use.

Nothing checks what a model writes there, so whatever can be told is read: a kind in the singular or in lower case,
commas between kinds and semicolons between numbers, ranges (`644 to 648`), words around a number (`record 1095`),
names (`Entities (SGS)`), kinds that nobody defined, and kinds with their numbers outside of any brackets. The time it
takes is linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_RANGE = 50

_BEGIN = re.compile(r"\[\^?\s*data\s*:", re.IGNORECASE)
_UNCLOSED = 2_000  # characters that a list without its closing bracket may have
_MAX_NAME = 200
_BEFORE_FIRST = 10  # characters within which a sign may stand before a first number
_MARKS = re.compile(r"[(),;]")
_SEPARATOR = re.compile(r"[,;]")
_PARENTHESIS = re.compile(r"[()]")
_LETTERS = re.compile(r"[^\W\d_]+")
_RANGE = re.compile(r"([0-9]+)(?:\s*(?:[-–—]|to\b|through\b)\s*([0-9]+))?")
_DIGIT = re.compile(r"[0-9]")
_MORE = re.compile(r"\.\.\.|…|\bmore\b|\betc\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"\b(Entit(?:y|ies)|Relation(?:ship)?s?|Claims?|Covariates?|Reports?|Sources?|Text Units?|Documents?)\s?"
    r"\(((?:[0-9\s,;.+…–—-]|more\b|to\b|and\b|records?\b|ids?\b)*+)\)"
)
_KINDS = {
    "entity": "entity",
    "entities": "entity",
    "relation": "relation",
    "relationship": "relation",
    "claim": "claim",
    "covariate": "claim",
    "report": "community",
    "community": "community",
    "communities": "community",
    "source": "passage",
    "passage": "passage",
    "chunk": "passage",
    "unit": "passage",
    "document": "document",
}
# Words that may stand beside a number without being a name.
_BESIDE = {"id", "ids", "record", "records", "no", "number", "numbers", "row", "rows", "and", "or", "to", "through"}
_BESIDE |= {"more", "etc"}


class DataCitation(NamedTuple):
    """What stands in a text from `start` to `end` (code points), and the kind of thing that it is the number of.

    A kind is `entity`, `relation`, `claim`, `community`, `passage` or `document`, or else the word as it was written. A
    number within a range is nowhere in the text: it starts and ends where the range's first number ends. `more` where
    its list says that there are others.
    """

    kind: str
    number: str
    start: int
    end: int
    more: bool = False


def find(text: str) -> tuple[DataCitation, ...]:
    """What the text cites, in its order; of a range at most the first MAX_RANGE numbers."""
    found: list[DataCitation] = []
    done = 0
    for start, end in _lists(text):
        found += _outside(text, done, start)
        found += _inside(text, start, end)
        done = end
    found += _outside(text, done, len(text))
    return tuple(found)


def _lists(text: str) -> Iterator[tuple[int, int]]:
    """Where the contents of `[Data: …]` begin and end."""
    begins = [(match.start(), match.end()) for match in _BEGIN.finditer(text)]
    for place, (_, start) in enumerate(begins):
        limit = begins[place + 1][0] if place + 1 < len(begins) else len(text)
        end = text.find("]", start, limit)
        if end < 0:
            limit = min(limit, start + _UNCLOSED)
            line = text.find("\n", start, limit)
            end = limit if line < 0 else line
        yield start, end


class _Group:
    """The numbers of one kind, until the next kind is named."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: list[tuple[str, int, int]] = []
        self._more = False

    def citations(self) -> Iterator[DataCitation]:
        return (DataCitation(self._kind, *number, self._more) for number in self._numbers)

    def read_item(self, text: str, start: int, end: int) -> None:
        """Takes in what stands between two separators of a list: numbers, a name, or that there are more."""
        item = text[start:end]
        if self._read_numbers(item, start):
            return
        name = item.strip()
        if 0 < len(name) <= _MAX_NAME:
            begin = start + item.index(name)
            self._numbers.append((name, begin, begin + len(name)))

    def read_bare(self, text: str, start: int, end: int) -> None:
        """The same where there are no parentheses, so that words are no names."""
        self._read_numbers(text[start:end], start)

    def _read_numbers(self, item: str, offset: int) -> bool:
        """False where there are words that make a name of it."""
        if any(word.lower() not in _BESIDE and not _known(word) for word in _LETTERS.findall(item)):
            return False
        self._more = self._more or _MORE.search(item) is not None
        for match in _RANGE.finditer(item):
            begin = match.start(1)
            # What is in no community has the number -1.
            if begin < _BEFORE_FIRST and item[:begin].strip() == "-":
                begin = item.index("-")
            self._numbers.append((item[begin : match.end(1)], offset + begin, offset + match.end(1)))
            if match[2] is not None:
                self._read_range(match, offset)
        return True

    def _read_range(self, match: re.Match[str], offset: int) -> None:
        """The numbers after the first one of a range."""
        between = range(int(match[1][-18:]) + 1, int(match[2][-18:]))
        if max(len(match[1]), len(match[2])) > 18:
            between = range(0)
        place = offset + match.end(1)
        self._numbers += [(str(number), place, place) for number in between[: MAX_RANGE - 1]]
        if len(between) <= MAX_RANGE - 2:
            self._numbers.append((match[2], offset + match.start(2), offset + match.end(2)))
        else:
            self._more = True


def _inside(text: str, start: int, end: int) -> Iterator[DataCitation]:
    """The citations between the brackets."""
    group, begin = _Group(""), start
    while begin < end:
        mark = _MARKS.search(text, begin, end)
        stop = mark.start() if mark else end
        opens = mark is not None and mark[0] == "("
        if kind := _kind(text[begin:stop], opens):
            yield from group.citations()
            group = _Group(kind)
        if opens:
            begin, stop = stop + 1, _closing(text, stop + 1, end)
            for separator in _SEPARATOR.finditer(text, begin, stop):
                group.read_item(text, begin, separator.start())
                begin = separator.end()
            group.read_item(text, begin, stop)
        else:
            group.read_bare(text, begin, stop)
        begin = stop + 1
    yield from group.citations()


def _closing(text: str, start: int, end: int) -> int:
    """Where the parenthesis closes that opened before `start`, or `end`."""
    depth = 1
    for mark in _PARENTHESIS.finditer(text, start, end):
        depth += 1 if mark[0] == "(" else -1
        if depth == 0:
            return mark.start()
    return end


def _kind(words: str, opens: bool) -> str:
    """The kind that the words name; empty where they name none. Only before a parenthesis it may be an unknown one."""
    digit = _DIGIT.search(words)
    before = words[: digit.start()] if digit else words
    named = [word for word in _LETTERS.findall(before) if word.lower() not in _BESIDE]
    if not named:
        return ""
    return _known(named[-1]) or (named[-1] if opens else "")


def _known(word: str) -> str:
    lower = word.lower()
    return _KINDS.get(lower) or _KINDS.get(lower.removesuffix("s"), "")


def _outside(text: str, start: int, end: int) -> Iterator[DataCitation]:
    """Kinds with numbers in parentheses, in the middle of the text."""
    for match in _OUTSIDE.finditer(text, start, end):
        if _DIGIT.search(match[2]):
            yield from _inside(text, match.start(), match.end())
