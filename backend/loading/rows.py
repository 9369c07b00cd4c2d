"""The rows of a bundle: from the bytes of one line to a typed value, or to the reason why not.

In every field null is the same as absent, and so is blank text, also in a required field. Ids may be given as
whole numbers. Fields that a kind of row does not have are its metadata; an explicit `metadata` wins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import orjson

from backend import data_citations
from backend.communities.values import Finding
from backend.loading.issues import LeftOut, Repair
from backend.models import Json
from backend.scope import instant

Fields: TypeAlias = dict[str, Any]

MAX_NESTING = 100  # far below what any JSON writer or reader of Python gives up at
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1  # of the stores
_DEFAULT_LABEL = "Entity"
_REPLACEMENT = "\ufffd"
_NUL_ESCAPE = b"\\u0000"  # the parser takes it; the stores do not
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_JSON_NAMES: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number with a fraction or beyond 64 bits",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class BadRow(Exception):
    """Why a row is left out: the kind of issue, and what is wrong with this row."""

    def __init__(self, kind: LeftOut, detail: str) -> None:
        super().__init__(detail)
        self.kind: LeftOut = kind
        self.detail = detail


class Earlier:
    """What the rows so far have taken: their ids, and the places in each document.

    A row asks once all else in it is good, so that a bad row takes nothing from a good one.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._places: Counter[str] = Counter()

    def take(self, row_id: str) -> None:
        """Takes an id; raises BadRow where an earlier row has it."""
        if row_id in self._ids:
            raise BadRow("used_id", f"an earlier row has the id {_quoted(row_id)}")
        self._ids.add(row_id)

    def place(self, document_id: str) -> int:
        """The next place in a document, from 0."""
        self._places[document_id] += 1
        return self._places[document_id] - 1


# --- rows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A good row and the line that it stands on, from 1."""

    kind: ClassVar[str]
    line: int

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        """The row of these fields, which it uses up; raises BadRow."""
        raise NotImplementedError


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class DocumentRow(Row):
    """A version of a document; `valid_from` is an ISO date or instant, as it was written."""

    kind = "documents"
    id: str
    title: str | None
    collection: str | None
    valid_from: str | None
    url: str | None
    author: str | None
    date: str | None
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _id(fields, "id"),
            _optional_text(fields, "title"),
            _optional_text(fields, "collection"),
            _moment(fields, "valid_from"),
            _optional_text(fields, "url"),
            _optional_text(fields, "author"),
            _optional_text(fields, "date"),
            _metadata(fields),
        )
        earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class PassageRow(Row):
    """A passage; without a `position` of its own it has its place among the good rows of its document."""

    kind = "passages"
    id: str
    document_id: str
    text: str
    position: int
    start: int | None
    end: int | None
    heading: str | None
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row_id, document_id = _id(fields, "id"), _id(fields, "document_id")
        text, position = _text(fields, "text"), _whole(fields, "position")
        start, end = _whole(fields, "start"), _whole(fields, "end")
        heading, metadata = _optional_text(fields, "heading"), _metadata(fields)
        earlier.take(row_id)
        place = earlier.place(document_id)
        position = place if position is None else position
        return cls(line, row_id, document_id, text, position, start, end, heading, metadata)


@dataclass(frozen=True, slots=True)
class EntityRow(Row):
    """An entity; `label` is the field `type`."""

    kind = "entities"
    id: str
    name: str
    label: str
    aliases: tuple[str, ...]
    description: str | None
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _id(fields, "id"),
            _text(fields, "name"),
            _optional_text(fields, "type") or _DEFAULT_LABEL,
            _texts(fields, "aliases"),
            _optional_text(fields, "description"),
            _metadata(fields),
        )
        earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class MentionRow(Row):
    """A mention as it was given: its offsets may lie outside the text."""

    kind = "mentions"
    entity_id: str
    passage_id: str
    surface: str | None
    start: int | None
    end: int | None

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        return cls(
            line,
            _id(fields, "entity_id"),
            _id(fields, "passage_id"),
            _optional_text(fields, "surface"),
            _whole(fields, "start"),
            _whole(fields, "end"),
        )


@dataclass(frozen=True, slots=True)
class RelationRow(Row):
    """A relation; each of its passages is named once, in the order given."""

    kind = "relations"
    id: str | None
    source: str
    target: str
    type: str
    passage_ids: tuple[str, ...]
    description: str | None
    weight: float | None
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _optional_id(fields, "id"),
            _id(fields, "source"),
            _id(fields, "target"),
            _text(fields, "type"),
            _ids(fields, "passage_ids"),
            _optional_text(fields, "description"),
            _number(fields, "weight"),
            _metadata(fields),
        )
        if row.id is not None:
            earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class TopicRow(Row):
    """A theme within one document."""

    kind = "topics"
    id: str
    document_id: str
    title: str
    passage_ids: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line, _id(fields, "id"), _id(fields, "document_id"), _text(fields, "title"), _ids(fields, "passage_ids")
        )
        earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class StatementRow(Row):
    """A self-contained sentence in a topic; its offsets may lie outside the passage's text."""

    kind = "statements"
    id: str
    topic_id: str
    passage_id: str
    text: str
    details: str
    start: int | None
    end: int | None
    position: int

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row_id, topic_id, passage_id = _id(fields, "id"), _id(fields, "topic_id"), _id(fields, "passage_id")
        text, details = _text(fields, "text"), _optional_text(fields, "details") or ""
        start, end, position = _whole(fields, "start"), _whole(fields, "end"), _whole(fields, "position")
        earlier.take(row_id)
        place = earlier.place(passage_id)
        return cls(
            line, row_id, topic_id, passage_id, text, details, start, end, place if position is None else position
        )


@dataclass(frozen=True, slots=True)
class FactRow(Row):
    """A reading of statements: its object is an entity, or else a text, the complement."""

    kind = "facts"
    id: str
    subject_id: str
    predicate: str
    object_id: str | None
    complement: str | None
    statement_ids: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _id(fields, "id"),
            _id(fields, "subject_id"),
            _text(fields, "predicate"),
            _optional_id(fields, "object_id"),
            _optional_text(fields, "complement"),
            _ids(fields, "statement_ids"),
        )
        if row.object_id is None and row.complement is None:
            raise BadRow("missing_field", "no `object_id` and no `complement`")
        earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class CommunityRow(Row):
    """A group of entities in a hierarchy, at a level from 0, the coarsest."""

    kind = "communities"
    id: str
    level: int
    parent: str | None
    title: str | None
    entity_ids: tuple[str, ...]
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row_id, level = _id(fields, "id"), _whole(fields, "level")
        if level is None:
            raise _missing("level", None)
        if level < 0:
            raise BadRow("wrong_type", "`level` is below 0")
        parent, title = _optional_id(fields, "parent"), _optional_text(fields, "title")
        row = cls(line, row_id, level, parent, title, _ids(fields, "entity_ids"), _metadata(fields))
        earlier.take(row.id)
        return row


@dataclass(frozen=True, slots=True)
class ReportRow(Row):
    """What is written about a community.

    `numbers` leads from what its text cites, by kind and number, to source ids; None where the numbers are such ids.
    """

    kind = "reports"
    community_id: str
    title: str
    summary: str | None
    findings: tuple[Finding, ...]
    rank: float | None
    text: str | None
    metadata: dict[str, Json]
    numbers: Mapping[tuple[str, str], str] | None = None

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _id(fields, "community_id"),
            _text(fields, "title"),
            _optional_text(fields, "summary"),
            tuple(_finding(item) for item in _list(fields, "findings")),
            _number(fields, "rank"),
            _optional_text(fields, "text"),
            _metadata(fields),
        )
        earlier.take(row.community_id)
        return row

    def cited(self) -> list[tuple[str, str, str | None]]:
        """Everything that its texts cite, in their order: kind, number, and source id where the number leads to one."""
        parts = [self.title, self.summary or "", self.text or "", *(part for one in self.findings for part in one)]
        found = [(one.kind, one.number) for part in parts for one in data_citations.find(part)]
        numbers = self.numbers
        return [(*one, one[1] if numbers is None else numbers.get(one)) for one in dict.fromkeys(found)]


@dataclass(frozen=True, slots=True)
class ClaimRow(Row):
    """A dated, qualified assertion about a subject; its dates are texts, as they were written."""

    kind = "claims"
    id: str
    subject_id: str
    object_id: str | None
    type: str | None
    status: str | None
    start_date: str | None
    end_date: str | None
    description: str
    passage_ids: tuple[str, ...]
    metadata: dict[str, Json]

    @classmethod
    def read(cls, fields: Fields, line: int, earlier: Earlier) -> Self:
        row = cls(
            line,
            _id(fields, "id"),
            _id(fields, "subject_id"),
            _optional_id(fields, "object_id"),
            _optional_text(fields, "type"),
            _optional_text(fields, "status"),
            _optional_text(fields, "start_date"),
            _optional_text(fields, "end_date"),
            _text(fields, "description"),
            _ids(fields, "passage_ids"),
            _metadata(fields),
        )
        earlier.take(row.id)
        return row


def span_within(start: int | None, end: int | None, length: int) -> tuple[int, int] | None:
    """The offsets when they are a place in a text of this length, else None."""
    if start is None or end is None or not 0 <= start < end <= length:
        return None
    return start, end


# --- from bytes to fields -----------------------------------------------------------------------------------


def decode(line: bytes) -> tuple[Fields, tuple[Repair, ...]]:
    """The object on a line and the repairs that it took to read it; raises BadRow."""
    if _NUL_ESCAPE not in line:
        try:
            return _object(orjson.loads(line), line), ()
        except orjson.JSONDecodeError:
            pass  # broken, or only in need of a repair
    mended, repairs = mend(line)
    try:
        return _object(orjson.loads(mended), mended), repairs
    except orjson.JSONDecodeError as error:
        raise BadRow("not_json", f"{error.msg} (column {error.colno})") from None


def mend(line: bytes) -> tuple[bytes, tuple[Repair, ...]]:
    """JSON with U+FFFD for what no store takes as text, and what was replaced; what is not JSON stays so."""
    text = line.decode("utf-8", "replace")
    repairs: dict[Repair, None] = {}
    if text.encode() != line:
        repairs["invalid_utf8"] = None
    if "\0" in text:
        repairs["nul"] = None
        text = text.replace("\0", _REPLACEMENT)

    # Every escape is matched, so that the second backslash of `\\u0000` begins none.
    def mend_escape(match: re.Match[str]) -> str:
        escape = match[0]
        if escape == "\\u0000":
            repairs["nul"] = None
        elif len(escape) == 6 and "d800" <= escape[2:].lower() <= "dfff":
            repairs["lone_surrogate"] = None
        else:
            return escape
        return _REPLACEMENT

    return _ESCAPE.sub(mend_escape, text).encode(), tuple(repairs)


def _object(value: Any, line: bytes) -> Fields:
    if type(value) is not dict:
        raise BadRow("not_an_object", f"{_JSON_NAMES[type(value)]}, not an object")
    # Counting is quick and nearly always enough.
    if line.count(b"{") + line.count(b"[") > MAX_NESTING and _is_deeper(value, MAX_NESTING):
        raise BadRow("not_json", f"nested more than {MAX_NESTING} deep")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in inner)


# --- fields -------------------------------------------------------------------------------------------------


def _wrong_type(name: str, value: Any, wanted: str, verb: str = "is") -> BadRow:
    return BadRow("wrong_type", f"`{name}` {verb} {_JSON_NAMES[type(value)]}, not {wanted}")


def _missing(name: str, value: Any) -> BadRow:
    return BadRow("missing_field", f"no `{name}`" if value is None else f"`{name}` is blank")


def _id(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if type(value) is int:
        del fields[name]
        return str(value)
    return _text(fields, name)


def _optional_id(fields: Fields, name: str) -> str | None:
    return _id(fields, name) if type(fields.get(name)) is int else _optional_text(fields, name)


def _text(fields: Fields, name: str) -> str:
    value = fields.pop(name, None)
    if type(value) is str:
        if value and not value.isspace():
            return value
    elif value is not None:
        raise _wrong_type(name, value, "text")
    raise _missing(name, value)


def _optional_text(fields: Fields, name: str) -> str | None:
    value = fields.pop(name, None)
    if type(value) is str:
        return value if value and not value.isspace() else None
    if value is not None:
        raise _wrong_type(name, value, "text")
    return None


def _moment(fields: Fields, name: str) -> str | None:
    value = _optional_text(fields, name)
    if value is not None and instant(value) is None:
        raise BadRow("wrong_type", f"`{name}` is {_quoted(value)}, not an ISO date or instant")
    return value


def _whole(fields: Fields, name: str) -> int | None:
    value = fields.pop(name, None)
    if value is None:
        return None
    # Tables with gaps are often written with 12.0 for 12. Beyond 2**53 the last digits would be lost.
    if type(value) is float and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    if type(value) is not int:
        raise _wrong_type(name, value, "a whole number")
    if not _MIN_INTEGER <= value <= _MAX_INTEGER:
        raise BadRow("wrong_type", f"`{name}` is beyond the whole numbers of 64 bits")
    return value


def _number(fields: Fields, name: str) -> float | None:
    value = fields.pop(name, None)
    if value is None:
        return None
    if type(value) is not int and type(value) is not float:
        raise _wrong_type(name, value, "a number")
    return float(value)


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    texts: dict[str, None] = {}
    for item in _list(fields, name):
        if type(item) is not str:
            raise _wrong_type(name, item, "only text", "holds")
        if item and not item.isspace():
            texts[item] = None
    return tuple(texts)


def _ids(fields: Fields, name: str) -> tuple[str, ...]:
    ids: dict[str, None] = {}
    for item in _list(fields, name):
        if type(item) is not str and type(item) is not int:
            raise _wrong_type(name, item, "only ids", "holds")
        ids[str(item)] = None
    return tuple(ids)


def _list(fields: Fields, name: str) -> list[Any]:
    value = fields.pop(name, None)
    if value is None:
        return []
    if type(value) is not list:
        raise _wrong_type(name, value, "a list")
    return [item for item in value if item is not None]


def _finding(item: Any) -> Finding:
    """A finding; one that is a plain text is its explanation."""
    if type(item) is str:
        return Finding("", item)
    if type(item) is not dict:
        raise _wrong_type("findings", item, "only objects", "holds")
    return Finding(_optional_text(item, "summary") or "", _optional_text(item, "explanation") or "")


def _metadata(fields: Fields) -> dict[str, Json]:
    explicit = fields.pop("metadata", None)
    if explicit is None:
        return fields
    if type(explicit) is not dict:
        raise _wrong_type("metadata", explicit, "an object")
    return fields | explicit


def _quoted(text: str) -> str:
    # The text is a stranger's and ends in a terminal: short, and nothing that a terminal obeys.
    return repr(text if len(text) <= 60 else text[:59] + "…")
