"""Names as the picture shows them: one line, short, without the characters that would disturb its surroundings."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

SHORT, LONG = 28, 300
NAMELESS = "(no name)"

_JOINERS = "\u200c\u200d"  # format characters that Persian, Indic scripts and emoji cannot be written without
_MAX_MARKS = 3  # on one letter; more is no writing system but an attack on the lines above and below


def display(name: str, limit: int = SHORT) -> str:
    """The name on one line, cut to `limit` columns (a Chinese character takes two).

    Control characters and marks of direction are dropped: U+202E would turn what is drawn after the name, too.
    """
    shown: list[str] = []
    columns = 0
    for character in _printable(name):
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if columns > limit:
            while shown and columns > limit:  # room for the dots
                columns -= 2 if unicodedata.east_asian_width(shown.pop()) in "WF" else 1
            return "".join(shown).rstrip(_JOINERS + " ") + "…"
        shown.append(character)
    return "".join(shown).strip() or NAMELESS


def width(text: str) -> float:
    """About how wide a text is in the graph's font, in pixels; the browser measures exactly, the layout cannot."""
    return sum(12.5 if unicodedata.east_asian_width(character) in "WF" else 6.4 for character in text)


def _printable(name: str) -> Iterator[str]:
    """The characters worth drawing, with runs of white space as one space and stacks of marks cut down."""
    marks, space = 0, True
    for character in name:
        category = unicodedata.category(character)
        if character.isspace() or category in ("Zl", "Zp"):
            if not space:
                yield " "
            space = True
            continue
        if category[0] == "C" and character not in _JOINERS:
            continue
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= _MAX_MARKS:
            space = False
            yield character
