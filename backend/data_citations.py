"""What a report cites: `[Data: Entities (5, 7); Reports (2)]`, in its plain spelling."""

from __future__ import annotations

import re
from typing import NamedTuple

_BRACKETS = re.compile(r"\[Data:([^\]]*)\]")
_LIST = re.compile(r"(\w+) \(([^)]*)\)")
_KINDS = {
    "entities": "entity",
    "relationships": "relation",
    "claims": "claim",
    "reports": "community",
    "sources": "passage",
}


class DataCitation(NamedTuple):
    """A number that stands in a text from `start` to `end`, and the kind of thing that it is of."""

    kind: str
    number: str
    start: int
    end: int


def find(text: str) -> tuple[DataCitation, ...]:
    """What the text cites, in its order."""
    return tuple(
        DataCitation(_KINDS.get(one[1].lower(), one[1]), number[0], 0, 0)
        for brackets in _BRACKETS.finditer(text)
        for one in _LIST.finditer(brackets[1])
        for number in re.finditer(r"\w+", one[2])
    )
