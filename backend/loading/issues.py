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
    "unreadable_table",
    "claim_debris",
    "empty_community",
    "unprocessed",
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
    "unknown_ids",
    "odd_cells",
    "abridged_list",
    "made_document",
    "made_title",
    "more_documents",
    "shared_unit",
    "prepended_metadata",
    "cut_characters",
    "not_located",
    "placeholder",
    "matched_name",
    "counted_anew",
    "absent_object",
    "made_community",
    "members_from_nodes",
    "children_rebuilt",
    "unclustered",
    "unread_findings",
    "unknown_citations",
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
    "unreadable_table": "files that cannot be read, and all that is in them",
    "claim_debris": "claims without a type, which are remains of an answer that could not be read",
    "empty_community": "communities with neither members nor a report",
    "unprocessed": "documents that the index has nothing of",
    "invalid_utf8": "rows with invalid UTF-8, which became U+FFFD",
    "nul": "rows with a NUL character, which became U+FFFD",
    "lone_surrogate": "rows with half of a surrogate pair, which became U+FFFD",
    "offsets_outside": "rows with offsets outside the text, which were dropped",
    "unknown_passages": "relations, claims or topics with unknown passage_ids, which were dropped",
    "unknown_statements": "facts with unknown statement_ids, which were dropped",
    "unknown_object": "claims with an unknown object_id, which was dropped",
    "unknown_members": "communities with unknown entity_ids, which were dropped",
    "unknown_parent": "communities with an unknown parent, or one that is not above them, which became roots",
    "unknown_ids": "rows with ids that lead to nothing, which were dropped",
    "odd_cells": "rows with a field of an unexpected type, which was dropped",
    "abridged_list": "rows with a list that was written with its middle left out",
    "made_document": "documents that only text units name, which were made",
    "made_title": "documents without a title, which are called by their first line",
    "more_documents": "text units of several documents, which belong to the first",
    "shared_unit": "text units that several documents have, each of which got its own passage",
    "prepended_metadata": "text units with lines before them that are not in their document, which are metadata now",
    "cut_characters": "text units with a character cut in two at their border, which was dropped",
    "not_located": "text units that are not found in their document, so that their place is unknown",
    "placeholder": "names in relations or claims that no entity has, for which one was made",
    "matched_name": "names in relations or claims that an entity has in another spelling",
    "counted_anew": "rows with a degree, frequency or size that was absent or wrong, which was counted anew",
    "absent_object": "claims whose object is no entity, which is only named now",
    "made_community": "communities that only a report tells of, which were made without members",
    "members_from_nodes": "communities whose members or parent were taken from the table of nodes",
    "children_rebuilt": "communities whose children were not those that name them as parent; the parents hold",
    "unclustered": "communities made of the entities that are in none",
    "unread_findings": "reports whose findings could not be read",
    "unknown_citations": "citations in reports that lead to nothing",
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

    def repaired(self, kind: Repair, file: str, line: int | None, detail: str = "", *, count: int = 1) -> None:
        """Notes a row that is loaded, but not as it was given, or `count` things in it."""
        self._note(kind, file, line, detail, count)

    def add(self, other: Issues) -> None:
        """Notes all that others have noted."""
        for kind, count in other._counts.items():
            self._counts[kind] = self._counts.get(kind, 0) + count
            examples = self._examples.setdefault(kind, [])
            examples += other._examples[kind][: EXAMPLES - len(examples)]

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
