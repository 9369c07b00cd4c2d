"""Documents and text units as rows: each unit becomes a passage in its document, at the place where it stands there.

The text of a document is not kept; it serves to find the places. Where a unit has more than its document, lines that
the indexer put before it or a character that it cut in two, the passage is what stands in the document.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from backend.loading.formats.index import Document, Index, Unit
from backend.loading.rows import DocumentRow, PassageRow

_PREPENDED = re.compile(r"[^\n:]{1,100}: [^\n]*\.\n")
_MAX_PREPENDED = 20  # lines
_MAX_MISSES = 500  # units of one document that are not in it, after which no further one is looked for
_CUT = "\ufffd"
_TITLE = 80  # characters


@dataclass(slots=True)
class Texts:
    """The rows, with the passages by text unit and by the row of the unit, and documents by their short ids."""

    documents: list[DocumentRow] = field(default_factory=list)
    passages: list[PassageRow] = field(default_factory=list)
    by_unit: dict[str, tuple[str, ...]] = field(default_factory=dict)
    by_row: dict[int, str] = field(default_factory=dict)
    by_short_id: dict[str, str] = field(default_factory=dict)

    def passages_of(self, unit_ids: Sequence[str]) -> tuple[str, ...]:
        """The passages of these text units, each once."""
        return tuple(dict.fromkeys(passage for unit in unit_ids for passage in self.by_unit.get(unit, ())))


class _Piece(NamedTuple):
    """A text unit in one document."""

    unit: Unit
    document: str
    passage: str


def make_texts(index: Index) -> Texts:
    """The rows of documents and passages."""
    return _Making(index).made()


class _Making:
    def __init__(self, index: Index) -> None:
        self._index = index
        self._texts = Texts()
        self._contents: dict[str, str | None] = {}  # of each document, by its source id
        self._sources: dict[str, list[str]] = {}  # by the id that the index has
        self._held: set[tuple[str, str]] = set()  # text units that a document has

    def made(self) -> Texts:
        units = defaultdict(list)
        for unit in self._index.units:
            units[unit.document_ids[0] if unit.document_ids else ""].append(unit)
        titles = Counter(document.title for document in self._index.documents)
        for document in self._index.documents:
            self._add(document, units[document.id or ""], is_shared=titles[document.title] > 1)
        pieces: dict[str, list[_Piece]] = defaultdict(list)
        for unit in self._with_documents():
            for piece in self._pieces(unit):
                pieces[piece.document].append(piece)
        rows = [row for document, own in pieces.items() for row in self._placed(own, self._contents[document])]
        self._texts.passages = sorted(rows, key=lambda row: row.line)
        return self._texts

    # --- documents ---------------------------------------------------------------------------------------------------

    def _add(self, document: Document, units: Sequence[Unit], *, is_shared: bool) -> None:
        """Takes a document in; its title tells it, with a digest of its content where others have it too."""
        notes = self._index.notes
        content = document.text or "\n".join(unit.text for unit in units) or document.id or ""
        digest = blake2b(content.encode("utf-8", "replace"), digest_size=16).hexdigest()
        title, source_id = document.title, document.title or f"content {digest}"
        if title is not None and is_shared:
            source_id = f"{title} ({digest[:12]})"
        file = notes.file(DocumentRow)
        own = self._sources.setdefault(document.id, []) if document.id is not None else []
        if source_id not in own:
            own.append(source_id)
        if source_id in self._contents:
            detail = f"an earlier row has the same title and content: {source_id!r}"
            notes.issues(DocumentRow).left_out("used_id", file, document.row, detail[:200])
            return
        if title is None:
            title = _first_line(content)
            notes.issues(DocumentRow).repaired("made_title", file, document.row, f"called {title!r}")
        self._contents[source_id] = document.text
        if isinstance(short_id := document.metadata.get("short_id"), str):
            self._texts.by_short_id.setdefault(short_id, source_id)
        metadata = document.metadata | ({"original_id": document.id} if document.id else {})
        row = DocumentRow(document.row, source_id, title, None, None, None, None, document.date, metadata)
        self._texts.documents.append(row)

    def _with_documents(self) -> Iterator[Unit]:
        """The units, with documents made for those that have none."""
        missing: dict[str, list[Unit]] = defaultdict(list)
        for unit in self._index.units:
            if not any(one in self._sources for one in unit.document_ids):
                missing[_document_of(unit)].append(unit)
        notes = self._index.notes
        for document_id, units in missing.items():
            row, file = units[0].row, notes.file(PassageRow)
            notes.read[DocumentRow.kind] += 1
            detail = f"document {document_id!r} of {len(units)} text units"
            notes.issues(DocumentRow).repaired("made_document", file, row, detail[:200])
            self._add(Document(row, document_id, None), units, is_shared=False)
        for unit in self._index.units:
            yield unit if unit.document_ids else replace(unit, document_ids=(_document_of(unit),))

    # --- passages ----------------------------------------------------------------------------------------------------

    def _pieces(self, unit: Unit) -> Iterator[_Piece]:
        """The unit in each document that has its id; of several documents that it names, the first is taken."""
        notes, texts = self._index.notes, self._texts
        named = [one for one in unit.document_ids if one in self._sources] or [_document_of(unit)]
        file = notes.file(PassageRow)
        if len(unit.document_ids) > 1:
            notes.issues(PassageRow).repaired("more_documents", file, unit.row, f"{len(unit.document_ids)} documents")
            unit = replace(unit, metadata=unit.metadata | {"document_ids": list(unit.document_ids)})
        taken = texts.by_unit.get(unit.id, ())
        made: list[_Piece] = []
        for document in self._sources[named[0]]:
            passage = f"{unit.id} ({document})" if taken or made else unit.id
            if (unit.id, document) not in self._held:
                made.append(_Piece(unit, document, passage))
                self._held.add((unit.id, document))
        if not made:
            detail = f"an earlier row has the id {unit.id!r} in the same document"
            notes.issues(PassageRow).left_out("used_id", file, unit.row, detail[:200])
        elif taken or len(made) > 1:
            notes.issues(PassageRow).repaired("shared_unit", file, unit.row, f"text unit {unit.id!r}"[:200])
            notes.read[PassageRow.kind] += len(made) - 1
        texts.by_unit[unit.id] = (*taken, *(piece.passage for piece in made))
        if texts.by_unit[unit.id]:
            texts.by_row[unit.row] = made[0].passage if made else taken[0]
        yield from made

    def _placed(self, pieces: Sequence[_Piece], content: str | None) -> Iterator[PassageRow]:
        """The passages of one document, numbered in its order."""
        finder = _Finder(content)
        found = [finder.find(piece.unit.text) for piece in pieces]
        for piece, one in zip(pieces, found, strict=True):
            self._note(piece.unit, one, content)
        orders = [piece.unit.order for piece in pieces]
        starts = [one.start for one in found]
        keys = orders if None not in orders else starts if None not in starts else [0] * len(pieces)
        ranked = sorted(range(len(pieces)), key=lambda place: (keys[place] or 0, pieces[place].unit.row))
        position = {place: rank for rank, place in enumerate(ranked)}
        for place, (piece, one) in enumerate(zip(pieces, found, strict=True)):
            unit = piece.unit
            metadata = unit.metadata | {"original_id": unit.id}
            if one.prepended:
                metadata["prepended"] = one.prepended
            end = None if one.start is None else one.start + len(one.text)
            own = (piece.passage, piece.document, one.text, position[place], one.start, end, unit.heading, metadata)
            yield PassageRow(unit.row, *own)

    def _note(self, unit: Unit, found: _Found, content: str | None) -> None:
        issues, file = self._index.notes.issues(PassageRow), self._index.notes.file(PassageRow)
        if found.prepended:
            issues.repaired("prepended_metadata", file, unit.row, repr(found.prepended[:100]))
        if found.is_cut:
            issues.repaired("cut_characters", file, unit.row)
        if content is not None and found.start is None:
            issues.repaired("not_located", file, unit.row)


def _document_of(unit: Unit) -> str:
    """The id of the document that a unit names first; one of its own where it names none."""
    return unit.document_ids[0] if unit.document_ids else f"of {unit.id}"


def _first_line(text: str) -> str:
    lines = (line.strip("#\ufeff ") for line in text[:10_000].splitlines())
    return next((line[:_TITLE] for line in lines if line and not line.isspace()), "Untitled")


# --- places ----------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What of a unit stands in the document and where, None where it does not; what was taken off it."""

    text: str
    start: int | None
    prepended: str = ""
    is_cut: bool = False


class _Finder:
    """Finds units in a document, each from where the one before began: neighbours overlap."""

    def __init__(self, content: str | None) -> None:
        self._content = content
        self._last = 0
        self._misses = 0

    def find(self, text: str) -> _Found:
        """The unit as it stands there, if it does."""
        if self._content is None or self._misses > _MAX_MISSES:
            return _Found(text, None)
        for prepended, rest in _without_prepended(text):
            for part in dict.fromkeys((rest, rest.strip(_CUT))):
                if not part or part.isspace():
                    continue
                start = self._content.find(part, self._last)
                start = self._content.find(part) if start < 0 else start
                if start >= 0:
                    self._last = start
                    return _Found(part, start, prepended, part != rest)
        self._misses += 1
        return _Found(text, None)


def _without_prepended(text: str) -> Iterator[tuple[str, str]]:
    """The text as it is, then without its first line of the form `key: value.`, its first two, and so on."""
    end = 0
    yield "", text
    for _ in range(_MAX_PREPENDED):
        match = _PREPENDED.match(text, end)
        if match is None:
            return
        end = match.end()
        yield text[:end], text[end:]
