"""What was wrong with the rows of a load: counted by kind, with the places of the first of them."""

from __future__ import annotations

from typing import Literal, get_args

from backend.models import Issue

LeftOut = Literal[
    "not_json",
    "not_an_object",
    "missing_field",
    "wrong_type",
    "too_long",
    "used_id",
    "unknown_document",
    "mention_of_nothing",
    "missing_end",
    "topic_of_nothing",
    "statement_of_nothing",
    "fact_of_nothing",
    "claim_of_nothing",
    "report_of_nothing",
]
Repair = Literal[
    "invalid_utf8",
    "nul",
    "lone_surrogate",
    "offsets_outside",
    "unknown_passages",
    "unknown_statements",
    "unknown_object",
    "unknown_members",
    "unknown_parent",
]

SENTENCES: dict[LeftOut | Repair, str] = {
    "not_json": "rows that are not JSON",
    "not_an_object": "rows that are JSON but not an object",
    "missing_field": "rows without a required field",
    "wrong_type": "rows with a field of a wrong type",
    "too_long": "rows over 16 MiB",
    "used_id": "rows with an id that an earlier row has",
    "unknown_document": "passages of an unknown document",
    "mention_of_nothing": "mentions of an unknown entity, or in an unknown passage",
    "missing_end": "relations or facts with an unknown end",
    "topic_of_nothing": "topics of a document that is not in the bundle",
    "statement_of_nothing": "statements of a topic or in a passage that is not in the bundle",
    "fact_of_nothing": "facts without an object that no statement states",
    "claim_of_nothing": "claims about an unknown entity",
    "report_of_nothing": "reports on a community that is not in the bundle",
    "invalid_utf8": "rows with invalid UTF-8, which became U+FFFD",
    "nul": "rows with a NUL character, which became U+FFFD",
    "lone_surrogate": "rows with half of a surrogate pair, which became U+FFFD",
    "offsets_outside": "rows with offsets outside the text, which were dropped",
    "unknown_passages": "relations, claims or topics with unknown passage_ids, which were dropped",
    "unknown_statements": "facts with unknown statement_ids, which were dropped",
    "unknown_object": "claims with an unknown object_id, which was dropped",
    "unknown_members": "communities with unknown entity_ids, which were dropped",
    "unknown_parent": "communities with an unknown parent, or one that is not above them, which became roots",
}
EXAMPLES = 5


class Issues:
    """Collects what a load leaves out and repairs; it holds a count and a few examples of each kind."""

    def __init__(self) -> None:
        self._counts: dict[LeftOut | Repair, int] = {}
        self._examples: dict[LeftOut | Repair, list[str]] = {}

    def left_out(self, kind: LeftOut, file: str, line: int | None, detail: str = "", *, count: int = 1) -> None:
        """Notes a row that is not loaded, or `count` of them; without a line they are the file as a whole."""
        self._note(kind, file, line, detail, count)

    def repaired(self, kind: Repair, file: str, line: int, detail: str = "") -> None:
        """Notes a row that is loaded, but not as it was given."""
        self._note(kind, file, line, detail, 1)

    def report(self) -> tuple[Issue, ...]:
        """Every kind that occurred, in the order of SENTENCES; its examples as they were read."""
        repairs = get_args(Repair)
        return tuple(
            Issue(kind, kind in repairs, self._counts[kind], tuple(self._examples[kind]))
            for kind in SENTENCES
            if kind in self._counts
        )

    def _note(self, kind: LeftOut | Repair, file: str, line: int | None, detail: str, count: int) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._examples.setdefault(kind, [])
        if len(examples) < EXAMPLES:
            place = file if line is None else f"{file}:{line}"
            examples.append(f"{place}: {detail or SENTENCES[kind]}")
