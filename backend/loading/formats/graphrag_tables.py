"""From the tables of Microsoft GraphRAG to what indexes have in common; every column under each of its names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from backend.communities.values import Finding
from backend.errors import Malformed
from backend.loading.formats.cells import Cells, text_of
from backend.loading.formats.graphrag_nodes import communities_of
from backend.loading.formats.index import (
    Claim,
    Document,
    Entity,
    Index,
    Metadata,
    Notes,
    Relation,
    Report,
    Unit,
    findings_of,
)
from backend.loading.formats.places import Place
from backend.loading.formats.tables import Table, read_table
from backend.loading.rows import (
    BadRow,
    ClaimRow,
    CommunityRow,
    DocumentRow,
    EntityRow,
    PassageRow,
    RelationRow,
    ReportRow,
    Row,
)
from backend.models import Json

Files = Mapping[str, Sequence[PurePosixPath]]

# From this share of rows on a column of counts is taken to be right, and what differs to have its reasons.
_TRUSTED = 0.95


def read_index(place: Place, files: Files) -> Index:
    """All tables; raises Malformed where entities or relationships cannot be read."""
    return _Reading(place, files).index()


class _Reading:
    def __init__(self, place: Place, files: Files) -> None:
        self._place = place
        self._files = files
        self._notes = Notes()

    def index(self) -> Index:
        entities, counted = self._entities()
        relations = self._relations()
        entities, relations = self._counted_anew(entities, counted, relations)
        communities = communities_of(
            self._table("communities", CommunityRow), self._table("nodes", CommunityRow), entities, self._notes
        )
        return Index(
            documents=list(self._each("documents", DocumentRow, _document)),
            units=list(self._each("text_units", PassageRow, _unit)),
            entities=entities,
            relations=relations,
            communities=communities,
            reports=list(self._each("community_reports", ReportRow, _report)),
            claims=list(self._each("covariates", ClaimRow, _claim)),
            notes=self._notes,
        )

    def _table(self, name: str, of: type[Row], *, is_needed: bool = False) -> Table | None:
        """The first file of a table that can be read; the others are noted."""
        problem: Malformed | None = None
        for file in self._files.get(name, ()):
            try:
                table = read_table(self._place, file, self._notes.issues(of))
            except Malformed as error:
                problem = error
                self._notes.issues(of).left_out("unreadable_table", file.name, None, error.message)
                continue
            self._notes.set_file(of, table.file)
            return table
        if is_needed and problem is not None:
            raise problem
        return None

    def _each(
        self, name: str, of: type[Row], read: Callable[[int, Cells, str, Notes], Any], *, is_needed: bool = False
    ) -> Iterator[Any]:
        """What `read` makes of each row that it does not refuse."""
        table = self._table(name, of, is_needed=is_needed)
        if table is None:
            return
        self._notes.read[of.kind] += table.length
        for number, row in table.rows:
            cells = Cells(row)
            try:
                made = read(number, cells, table.file, self._notes)
            except BadRow as bad:
                self._notes.issues(of).left_out(bad.kind, table.file, number, bad.detail)
                continue
            self._notes.unread(of, number, cells)
            yield made

    # --- entities and relations --------------------------------------------------------------------------------------

    def _entities(self) -> tuple[list[Entity], list[int]]:
        """The entities, and how often each of them was found."""
        found = list(self._each("entities", EntityRow, _entity, is_needed=True))
        return [entity for entity, _ in found], [frequency for _, frequency in found]

    def _relations(self) -> list[Relation]:
        return list(self._each("relationships", RelationRow, _relation, is_needed=True))

    def _counted_anew(
        self, entities: list[Entity], frequencies: list[int], relations: list[Relation]
    ) -> tuple[list[Entity], list[Relation]]:
        """Both with their counts, which are made where there are none or most are wrong."""
        neighbours: dict[str, set[str]] = defaultdict(set)
        for relation in relations:
            if relation.source != relation.target:
                neighbours[relation.source].add(relation.target)
                neighbours[relation.target].add(relation.source)
        degree = {name: len(others) for name, others in neighbours.items()}
        ends = [degree.get(relation.source, 0) + degree.get(relation.target, 0) for relation in relations]
        found = [degree.get(entity.title, 0) for entity in entities]
        of_entities = self._counts(EntityRow, [entity.metadata for entity in entities], "frequency", frequencies)
        of_entities = self._counts(EntityRow, of_entities, "degree", found)
        of_relations = self._counts(RelationRow, [one.metadata for one in relations], "combined_degree", ends)
        return (
            [replace(one, metadata=own) for one, own in zip(entities, of_entities, strict=True)],
            [replace(one, metadata=own) for one, own in zip(relations, of_relations, strict=True)],
        )

    def _counts(self, of: type[Row], rows: list[Metadata], column: str, counts: list[int]) -> list[Metadata]:
        wrong = sum(own.get(column) != count for own, count in zip(rows, counts, strict=True))
        if wrong <= (1 - _TRUSTED) * len(rows):
            return rows
        detail = f"`{column}` of {wrong} rows"
        self._notes.issues(of).repaired("counted_anew", self._notes.file(of), None, detail, count=wrong)
        return [own | {column: count} for own, count in zip(rows, counts, strict=True)]


def _missing(column: str) -> BadRow:
    return BadRow("missing_field", f"no `{column}`")


def _entity(row: int, cells: Cells, file: str, notes: Notes) -> tuple[Entity, int]:
    title = cells.text("title", "name")
    if title is None:
        raise _missing("title")
    units = cells.ids("text_unit_ids")
    own = (cells.text("id") or title, title, _short_id(cells), cells.text("type"), cells.text("description"))
    for column in ("frequency", "degree"):
        _keep_whole(cells, column)
    return Entity(row, *own, _once(units), cells.rest()), len(units)


def _relation(row: int, cells: Cells, file: str, notes: Notes) -> Relation:
    source, target = cells.text("source"), cells.text("target")
    if source is None or target is None:
        raise _missing("source" if source is None else "target")
    _keep_whole(cells, "combined_degree", "rank")
    own = (cells.text("id"), _short_id(cells), source, target, cells.text("description"), cells.number("weight"))
    return Relation(row, *own, _once(cells.ids("text_unit_ids")), cells.rest())


# --- documents and text units ----------------------------------------------------------------------------------------


def _document(row: int, cells: Cells, file: str, notes: Notes) -> Document:
    document_id, title, text = cells.text("id"), cells.text("title"), cells.text("text", "raw_content")
    if document_id is None and title is None and text is None:
        raise _missing("id")
    created = cells.text("creation_date")
    given = cells.json("raw_data", "metadata", "attributes")
    cells.drop("text_unit_ids")
    metadata = _source_row(given, text) | cells.rest() | _known("short_id", _short_id(cells))
    metadata.pop("human_readable_id", None)
    return Document(row, document_id, title, text, _iso(created), metadata)


def _source_row(given: Any, text: str | None) -> Metadata:
    """The row that the document was made from, without the text itself."""
    if not isinstance(given, dict):
        return {} if given in (None, "") else {"raw_data": given}
    return {str(key): value for key, value in given.items() if value not in (None, "", text)}


def _unit(row: int, cells: Cells, file: str, notes: Notes) -> Unit:
    unit_id, text = cells.text("id", "chunk_id"), cells.text("text", "chunk")
    if unit_id is None or text is None:
        raise _missing("id" if unit_id is None else "text")
    one = cells.text("document_id")
    documents = (one,) if one is not None else _once(cells.ids("document_ids"))
    entities = _once(cells.ids("entity_ids"))
    cells.drop("document_ids", "relationship_ids", "covariate_ids")
    metadata = _known("short_id", _short_id(cells)) | {"row": row - 1}
    return Unit(row, unit_id, text, documents, entities, metadata=cells.rest() | metadata)


def _iso(text: str | None) -> str | None:
    """The date as ISO 8601; as it is where it has another form than GraphRAG's."""
    try:
        return datetime.strptime(text or "", "%Y-%m-%d %H:%M:%S %z").isoformat()
    except ValueError:
        return text


# --- reports and claims ----------------------------------------------------------------------------------------------


def _report(row: int, cells: Cells, file: str, notes: Notes) -> Report:
    number = cells.whole("community")
    if number is None:
        raise _missing("community")
    written = cells.object("full_content_json")
    findings = _findings(cells.json("findings"), written, file, row, notes)
    metadata = _known("original_id", cells.text("id")) | _known("short_id", _short_id(cells))
    metadata |= _known("rating_explanation", cells.text("rating_explanation", "rank_explanation"))
    cells.drop("children", "size")
    return Report(
        row,
        number,
        _level(cells),
        cells.whole("parent"),
        cells.text("title") or text_of(written.get("title")),
        cells.text("summary") or text_of(written.get("summary")),
        findings,
        cells.number("rank"),
        cells.text("full_content"),
        cells.rest() | metadata,
    )


def _level(cells: Cells) -> int | None:
    level = cells.whole("level")
    return None if level is None or level < 0 else level


def _findings(value: Any, written: Mapping[str, Any], file: str, row: int, notes: Notes) -> tuple[Finding, ...]:
    """The findings of their column, or where that has no list those of the whole report as JSON."""
    if not isinstance(value, list) and "findings" in written:
        value = written["findings"]
    if value is not None and not isinstance(value, list):
        notes.issues(ReportRow).repaired("unread_findings", file, row)
    return findings_of(value)


def _claim(row: int, cells: Cells, file: str, notes: Notes) -> Claim:
    kind, subject = cells.text("type"), cells.text("subject_id")
    if kind is None:
        raise BadRow("claim_debris", repr((subject or "")[:100]))
    description = cells.text("description")
    if description is None:
        description = text_of(cells.raw("source_text"))
    if subject is None or _said(subject) is None or description is None:
        raise _missing("description" if description is None else "subject_id")
    unit = cells.text("text_unit_id")
    claim_id, short_id, other = cells.text("id"), _short_id(cells), _said(cells.text("object_id"))
    dates = (_said(cells.text("start_date")), _said(cells.text("end_date")))
    cells.drop("document_ids", "n_tokens")
    own = (claim_id, short_id, subject, other, kind, cells.text("status"), *dates, description)
    return Claim(row, *own, (unit,) if unit is not None else (), cells.rest())


def _said(text: str | None) -> str | None:
    """None for the word NONE, which the extractor writes for what it does not know."""
    return None if text is None or text.strip(" *").upper() == "NONE" else text


# --- cells -----------------------------------------------------------------------------------------------------------


def _short_id(cells: Cells) -> str | None:
    if not cells.has("human_readable_id"):
        return None
    text = cells.text("human_readable_id")
    try:
        return str(int(float(text))) if text is not None and len(text) < 16 else text
    except (ValueError, OverflowError):
        return text


def _keep_whole(cells: Cells, *names: str) -> None:
    """Keeps a count as the whole number that it is, under the first of its names."""
    value = cells.whole(*names)
    if value is not None:
        cells.put(names[0], value)


def _known(name: str, value: Json) -> Metadata:
    return {} if value is None else {name: value}


def _once(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
