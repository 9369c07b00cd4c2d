"""What the indexes of other tools have in common, as it was read and before anything in it is resolved.

Ids are those of the index. `row` is the place of a thing in its file, from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.communities.values import Finding
from backend.loading.formats.cells import Cells, text_of
from backend.loading.issues import Issues
from backend.loading.rows import R, Row
from backend.models import Json

Metadata = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its whole text where the index has it."""

    row: int
    id: str | None
    title: str | None
    text: str | None = None
    date: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """A text unit; `order` is its place in its document where the index says so."""

    row: int
    id: str
    text: str
    document_ids: tuple[str, ...]
    entity_ids: tuple[str, ...] = ()
    order: int | None = None
    heading: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity; its title is what relations and claims name it by."""

    row: int
    id: str
    title: str
    short_id: str | None
    type: str | None
    description: str | None
    unit_ids: tuple[str, ...]
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two titles."""

    row: int
    id: str | None
    short_id: str | None
    source: str
    target: str
    description: str | None
    weight: float | None
    unit_ids: tuple[str, ...]
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Community:
    """A community by its number; the number of its parent is None for a root."""

    row: int
    number: int
    level: int
    parent: int | None
    title: str | None
    entity_ids: tuple[str, ...]
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """A report on the community of a number; that of what is in no community is -1."""

    row: int
    number: int
    level: int | None
    parent: int | None
    title: str | None
    summary: str | None
    findings: tuple[Finding, ...]
    rank: float | None
    text: str | None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about titles."""

    row: int
    id: str | None
    short_id: str | None
    subject: str
    object: str | None
    type: str | None
    status: str | None
    start_date: str | None
    end_date: str | None
    description: str
    unit_ids: tuple[str, ...]
    metadata: Metadata = field(default_factory=dict)


class Notes:
    """What reading and making the rows of each kind took: rows read, the file that they are in, and issues."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self._files: dict[str, str] = {}
        self._issues: dict[str, Issues] = {}

    def issues(self, of: type[Row]) -> Issues:
        """The issues of a kind."""
        return self._issues.setdefault(of.kind, Issues())

    def file(self, of: type[Row]) -> str:
        """The file of a kind as issues name it."""
        return self._files.get(of.kind, of.kind)

    def set_file(self, of: type[R], file: str) -> None:
        """Says which file has a kind; the first that is said is the one that issues name."""
        self._files.setdefault(of.kind, file)

    def unknown(self, of: type[Row], row: int, column: str, ids: Sequence[str]) -> None:
        """Notes the ids in a column of a row that lead to nothing, where there are any."""
        if ids:
            detail = f"`{column}`: {len(ids)} such as {ids[0]!r}"
            self.issues(of).repaired("unknown_ids", self.file(of), row, detail[:200])

    def unread(self, of: type[Row], row: int, cells: Cells) -> None:
        """Notes which cells of a row were mended, are not what they should be, or are lists without their middle."""
        for repair in cells.repairs:
            self.issues(of).repaired(repair, self.file(of), row)
        if cells.odd:
            self.issues(of).repaired("odd_cells", self.file(of), row, f"`{'`, `'.join(cells.odd)}`"[:200])
        if cells.abridged:
            self.issues(of).repaired("abridged_list", self.file(of), row, f"`{'`, `'.join(cells.abridged)}`"[:200])


@dataclass(frozen=True, slots=True)
class Index:
    """All of an index; without communities nothing in it is unclustered.

    `cites_short_ids` where its reports cite by short ids and community numbers; otherwise only by names.
    """

    documents: Sequence[Document]
    units: Sequence[Unit]
    entities: Sequence[Entity]
    relations: Sequence[Relation]
    communities: Sequence[Community] = ()
    reports: Sequence[Report] = ()
    claims: Sequence[Claim] = ()
    notes: Notes = field(default_factory=Notes)
    cites_short_ids: bool = True


def findings_of(value: Any) -> tuple[Finding, ...]:
    """The findings in a list, of which one that is a plain text is its explanation; none in anything else."""
    items = value if isinstance(value, list) else []
    return tuple(_finding(item) for item in items if isinstance(item, str | dict))


def _finding(item: str | Mapping[str, Any]) -> Finding:
    if isinstance(item, str):
        return Finding("", item)
    return Finding(text_of(item.get("summary")) or "", text_of(item.get("explanation")) or "")
