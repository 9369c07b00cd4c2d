"""The rows of a bundle: what a good row may look like, and how a bad one is named."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from backend.loading.bundle import MAX_ROW_BYTES, open_bundle
from backend.loading.issues import Issues
from backend.loading.rows import (
    MAX_NESTING,
    DocumentRow,
    EntityRow,
    MentionRow,
    PassageRow,
    R,
    RelationRow,
    Row,
    span_within,
)

DOCUMENT: dict[str, Any] = {"id": "d"}
PASSAGE: dict[str, Any] = {"id": "p", "document_id": "d", "text": "Ada met Bob."}
ENTITY: dict[str, Any] = {"id": "e", "name": "Ada"}
MENTION: dict[str, Any] = {"entity_id": "e", "passage_id": "p"}
RELATION: dict[str, Any] = {"source": "e", "target": "f", "type": "met"}
MINIMAL: list[tuple[type[Row], dict[str, Any]]] = [
    (DocumentRow, DOCUMENT),
    (PassageRow, PASSAGE),
    (EntityRow, ENTITY),
    (MentionRow, MENTION),
    (RelationRow, RELATION),
]
REQUIRED = [(of, minimal, name) for of, minimal in MINIMAL for name in minimal]


def read(tmp_path: Path, of: type[R], *rows: object) -> tuple[list[R], dict[str, tuple[str, ...]]]:
    """The good rows, and the examples of each issue; a row is a value, or the bytes of its line."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    (tmp_path / f"{of.kind}.jsonl").write_bytes(b"\n".join(lines))
    issues = Issues()
    good = list(open_bundle(tmp_path).rows(of, issues))
    return good, {issue.kind: issue.examples for issue in issues.report()}


# --- good rows ---


def test_a_document_may_have_everything(tmp_path: Path) -> None:
    fields = {"title": "T", "collection": "C", "valid_from": "2024-01-31", "url": "u", "author": "A"}
    (row,), issues = read(tmp_path, DocumentRow, {**DOCUMENT, **fields, "date": "spring 1848", "split": "dev"})
    assert row == DocumentRow(1, "d", "T", "C", "2024-01-31", "u", "A", "spring 1848", {"split": "dev"})
    assert issues == {}


def test_a_passage_may_have_everything(tmp_path: Path) -> None:
    fields = {"position": 7, "start": 3, "end": 15, "heading": "H", "subset": [1]}
    (row,), issues = read(tmp_path, PassageRow, {**PASSAGE, **fields})
    assert row == PassageRow(1, "p", "d", "Ada met Bob.", 7, 3, 15, "H", {"subset": [1]})
    assert issues == {}


def test_an_entity_may_have_everything(tmp_path: Path) -> None:
    fields = {"type": "PER", "aliases": ["Lovelace", "A."], "description": "D", "metadata": {"born": 1815}}
    (row,), issues = read(tmp_path, EntityRow, {**ENTITY, **fields})
    assert row == EntityRow(1, "e", "Ada", "PER", ("Lovelace", "A."), "D", {"born": 1815})
    assert issues == {}


def test_a_mention_may_have_everything_and_drops_the_rest(tmp_path: Path) -> None:
    fields = {"surface": "Ada", "start": 0, "end": 3, "source": "title", "metadata": 1}
    (row,), issues = read(tmp_path, MentionRow, {**MENTION, **fields})
    assert row == MentionRow(1, "e", "p", "Ada", 0, 3)
    assert issues == {}


def test_a_relation_may_have_everything(tmp_path: Path) -> None:
    fields = {"id": "r", "passage_ids": ["p", "q"], "description": "D", "weight": 2, "property": "P1"}
    (row,), issues = read(tmp_path, RelationRow, {**RELATION, **fields})
    assert row == RelationRow(1, "r", "e", "f", "met", ("p", "q"), "D", 2.0, {"property": "P1"})
    assert issues == {}


def test_only_the_required_fields_are_needed(tmp_path: Path) -> None:
    for of, minimal in MINIMAL:
        rows, issues = read(tmp_path, of, minimal)
        assert (len(rows), issues) == (1, {})


OPTIONAL: dict[type[Row], tuple[str, ...]] = {
    DocumentRow: ("title", "collection", "valid_from", "url", "author", "date", "metadata"),
    PassageRow: ("position", "start", "end", "heading"),
    EntityRow: ("type", "aliases", "description", "metadata"),
    MentionRow: ("surface", "start", "end"),
    RelationRow: ("id", "passage_ids", "description", "weight", "metadata"),
}


@pytest.mark.parametrize(("of", "minimal"), MINIMAL)
def test_null_is_absent(tmp_path: Path, of: type[R], minimal: dict[str, Any]) -> None:
    nulls = dict.fromkeys(OPTIONAL[of])
    assert read(tmp_path, of, {**minimal, **nulls}) == read(tmp_path, of, minimal)


def test_blank_optional_text_is_absent(tmp_path: Path) -> None:
    blank = {"title": "", "collection": " ", "valid_from": "", "url": "\n", "author": "", "date": "\t"}
    assert read(tmp_path, DocumentRow, {**DOCUMENT, **blank}) == read(tmp_path, DocumentRow, DOCUMENT)


@pytest.mark.parametrize("given", [{}, {"type": None}, {"type": ""}, {"type": "  "}])
def test_an_entity_without_a_type_is_an_entity(tmp_path: Path, given: dict[str, Any]) -> None:
    (row,), _ = read(tmp_path, EntityRow, {**ENTITY, **given})
    assert row.label == "Entity"


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    (row,), issues = read(
        tmp_path, RelationRow, {"id": -1, "source": 0, "target": 2**64 - 1, "type": "t", "passage_ids": [3]}
    )
    assert (row.id, row.source, row.target, row.passage_ids) == ("-1", "0", "18446744073709551615", ("3",))
    assert issues == {}


def test_text_is_kept_as_it_is(tmp_path: Path) -> None:
    (row,), _ = read(tmp_path, PassageRow, {**PASSAGE, "id": " p ", "text": "  e\u0301 \u2028\r\n "})
    assert (row.id, row.text) == (" p ", "  e\u0301 \u2028\r\n ")


def test_explicit_metadata_wins_over_unknown_fields(tmp_path: Path) -> None:
    (row,), _ = read(tmp_path, DocumentRow, {**DOCUMENT, "a": 1, "b": 1, "metadata": {"b": 2, "title": "x"}})
    assert (row.metadata, row.title) == ({"a": 1, "b": 2, "title": "x"}, None)


def test_nulls_blanks_and_repetitions_in_a_list_are_dropped(tmp_path: Path) -> None:
    (entity,), _ = read(tmp_path, EntityRow, {**ENTITY, "aliases": ["A", None, "", " ", "B", "A"]})
    (relation,), _ = read(tmp_path, RelationRow, {**RELATION, "passage_ids": ["2", None, 1, 2]})
    assert (entity.aliases, relation.passage_ids) == (("A", "B"), ("2", "1"))


def test_a_whole_number_may_be_written_with_a_fraction_of_zero(tmp_path: Path) -> None:
    (row,), _ = read(tmp_path, MentionRow, b'{"entity_id": 1, "passage_id": 2, "start": 12.0, "end": 1.5e1}')
    assert (row.start, row.end) == (12, 15)


@pytest.mark.parametrize("moment", ["2024-01-31", "2024-01-31T12:00:00Z", "2024-01-31 12:00:00+02:00"])
def test_valid_from_is_kept_as_it_is_written(tmp_path: Path, moment: str) -> None:
    (row,), _ = read(tmp_path, DocumentRow, {**DOCUMENT, "valid_from": moment})
    assert row.valid_from == moment


def test_of_a_repeated_key_the_last_counts(tmp_path: Path) -> None:
    (row,), _ = read(tmp_path, EntityRow, b'{"id": "a", "name": "Ada", "id": "b"}')
    assert row.id == "b"


def test_a_missing_position_is_the_place_among_the_good_rows_of_the_document(tmp_path: Path) -> None:
    rows = [
        {"id": "a0", "document_id": "a", "text": "t"},
        {"id": "b0", "document_id": "b", "text": "t"},
        {"id": "a-bad", "document_id": "a", "text": 1},
        {"id": "a0", "document_id": "a", "text": "again"},
        {"id": "a1", "document_id": "a", "text": "t", "position": 40},
        {"id": "a2", "document_id": "a", "text": "t"},
    ]
    good, _ = read(tmp_path, PassageRow, *rows)
    assert [(row.id, row.position) for row in good] == [("a0", 0), ("b0", 0), ("a1", 40), ("a2", 2)]


# --- bad rows ---


@pytest.mark.parametrize(("of", "minimal", "name"), REQUIRED)
@pytest.mark.parametrize("how", ["absent", "null", "empty", "blank"])
def test_a_row_without_a_required_field_is_left_out(
    tmp_path: Path, of: type[R], minimal: dict[str, Any], name: str, how: str
) -> None:
    row = {**minimal, name: {"null": None, "empty": "", "blank": " \u00a0\n"}.get(how)}
    if how == "absent":
        del row[name]
    good, issues = read(tmp_path, of, row, minimal)
    what = f"no `{name}`" if how in ("absent", "null") else f"`{name}` is blank"
    assert [row.line for row in good] == [2]
    assert issues == {"missing_field": (f"{of.kind}.jsonl:1: {what}",)}


WRONG: dict[type[Row], dict[str, list[Any]]] = {
    DocumentRow: {"id": [1.5, True, {}], "title": [1984, ["T"]], "date": [2024], "metadata": [[], "x"]},
    PassageRow: {"text": [1, ["t"]], "position": ["0", 1.5, True, [0]], "start": ["0"], "heading": [1]},
    EntityRow: {"name": [1963], "type": [1, ["A"]], "aliases": ["A", {}, ["A", 1]], "description": [0]},
    MentionRow: {"surface": [3], "start": ["3", False], "end": [2**63, -(2**63) - 1, 1e300]},
    RelationRow: {"type": [7], "passage_ids": ["p", {"p": 1}, [1.5], [True]], "weight": ["1.5", True, []]},
}
WRONG_ROWS = [
    (of, {**dict(MINIMAL)[of], name: value}, name)
    for of, fields in WRONG.items()
    for name, values in fields.items()
    for value in values
]


@pytest.mark.parametrize(("of", "row", "name"), WRONG_ROWS)
def test_a_row_with_a_wrong_type_is_left_out(tmp_path: Path, of: type[R], row: dict[str, Any], name: str) -> None:
    minimal = dict(MINIMAL)[of]
    good, issues = read(tmp_path, of, row, minimal)
    assert [row.line for row in good] == [2]
    assert list(issues) == ["wrong_type"]
    assert issues["wrong_type"][0].startswith(f"{of.kind}.jsonl:1: `{name}` ")


@pytest.mark.parametrize("moment", ["last week", "2024", "2024-02-30", "31.01.2024", "20240131", "x" * 500, "\x1b[2J"])
def test_a_valid_from_that_is_no_date_leaves_the_row_out(tmp_path: Path, moment: str) -> None:
    _, issues = read(tmp_path, DocumentRow, {**DOCUMENT, "valid_from": moment})
    (example,) = issues["wrong_type"]
    assert "not an ISO date or instant" in example
    assert len(example) < 150
    assert example.isprintable()


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"id": "e", "name": "Ada"',
        b'{"id": "e", "name": "Ada"} {}',
        b"{'id': 'e', 'name': 'Ada'}",
        b'{"id": "e", "name": "Ada", "x": NaN}',
        b'{"id": "e", "name": "Ada", "x": -Infinity}',
        b'{"id": "e", "name": "Ada", "x": 1e999}',
        b'{"id": "e", "name": "Ada", "x": ' + b"9" * 5_000 + b"}",
        b'{"id": "e", "name": "Ada", "x": 01}',
        b'{"id": "e", "name": "A\tb"}',
        b'{"id": "e", "name": "A\\x"}',
        b'\0{"id": "e", "name": "Ada"}',
        b'{"id": "e", "name": "Ada", "x": ' + b"[" * 100 + b"]" * 100 + b"}",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b"\x1f\x8b\x08",
        b"\xff\xfe{",
    ],
)
def test_a_line_that_is_not_json_is_left_out(tmp_path: Path, line: bytes) -> None:
    good, issues = read(tmp_path, EntityRow, {"id": "a", "name": "A"}, line, ENTITY)
    assert [row.line for row in good] == [1, 3]
    assert list(issues) == ["not_json"]
    assert issues["not_json"][0].startswith("entities.jsonl:2: ")


def test_nesting_up_to_the_limit_is_kept(tmp_path: Path) -> None:
    inner = MAX_NESTING - 1  # the row itself is a level
    line = b'{"id": "e", "name": "Ada", "x": ' + b"[" * inner + b"]" * inner + b"}"
    good, issues = read(tmp_path, EntityRow, line)
    assert (len(good), issues) == (1, {})


def test_many_brackets_are_no_nesting(tmp_path: Path) -> None:
    good, issues = read(tmp_path, EntityRow, {**ENTITY, "description": "[{" * 500, "x": [[]] * 500})
    assert (len(good), issues) == (1, {})


@pytest.mark.parametrize("line", [b"[]", b'["id"]', b'"id"', b"1", b"1.5", b"true", b"null"])
def test_json_that_is_no_object_is_left_out(tmp_path: Path, line: bytes) -> None:
    good, issues = read(tmp_path, EntityRow, line, ENTITY)
    assert ([row.line for row in good], list(issues)) == ([2], ["not_an_object"])


@pytest.mark.parametrize("of", [DocumentRow, PassageRow, EntityRow, RelationRow])
def test_a_later_row_with_a_used_id_is_left_out(tmp_path: Path, of: type[R]) -> None:
    minimal = {**dict(MINIMAL)[of], "id": "7"}
    good, issues = read(tmp_path, of, minimal, {**minimal, "id": 7}, {**minimal, "id": "8"})
    assert [row.line for row in good] == [1, 3]
    assert issues == {"used_id": (f"{of.kind}.jsonl:2: an earlier row has the id '7'",)}


def test_a_row_that_is_left_out_uses_no_id(tmp_path: Path) -> None:
    good, _ = read(tmp_path, EntityRow, {**ENTITY, "metadata": 1}, ENTITY)
    assert [row.line for row in good] == [2]


def test_relations_without_an_id_may_be_identical(tmp_path: Path) -> None:
    good, issues = read(tmp_path, RelationRow, RELATION, RELATION, {**RELATION, "id": ""})
    assert (len(good), issues) == (3, {})


# --- lines ---


def test_a_row_may_have_16_mib_and_not_a_byte_more(tmp_path: Path) -> None:
    frame = b'{"id": "%s", "name": ""}'

    def row(row_id: bytes, size: int) -> bytes:
        return frame.replace(b"%s", row_id).replace(b'""', b'"' + b"x" * (size - len(frame) + 1) + b'"')

    lines = [
        row(b"a", MAX_ROW_BYTES),
        row(b"b", MAX_ROW_BYTES + 1),
        row(b"c", 3 * MAX_ROW_BYTES),
        row(b"d", 50),
    ]
    assert [len(line) - MAX_ROW_BYTES for line in lines[:2]] == [0, 1]
    good, issues = read(tmp_path, EntityRow, *lines, row(b"e", MAX_ROW_BYTES))
    assert [(row.id, row.line) for row in good] == [("a", 1), ("d", 4), ("e", 5)]
    assert issues == {"too_long": tuple(f"entities.jsonl:{line}: over 16 MiB" for line in (2, 3))}


def test_of_a_line_that_is_too_long_nothing_is_kept(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "entities.jsonl.gz", "wb", compresslevel=1) as file:
        for _ in range(8):
            file.write(b" " * MAX_ROW_BYTES)
    issues = Issues()
    tracemalloc.start()
    try:
        assert list(open_bundle(tmp_path).rows(EntityRow, issues)) == []
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_ROW_BYTES
    finally:
        tracemalloc.stop()
    assert [issue.kind for issue in issues.report()] == ["too_long"]


def test_blank_lines_are_no_rows_but_count_as_lines(tmp_path: Path) -> None:
    (tmp_path / "entities.jsonl").write_bytes(b'\n \t\r\n{"id": 1, "name": "A"}\r\n\n{}\n\n')
    issues = Issues()
    rows = open_bundle(tmp_path).rows(EntityRow, issues)
    assert [row.line for row in rows] == [3]
    assert rows.read == 2
    assert issues.report()[0].examples == ("entities.jsonl:5: no `id`",)


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_byte_order_mark_at_the_start_is_no_part_of_the_row(tmp_path: Path, start: bytes) -> None:
    good, issues = read(tmp_path, EntityRow, start + json.dumps(ENTITY).encode())
    assert (len(good), issues) == (1, {})


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    good, issues = read(tmp_path, EntityRow, '{"id": "e",\r"name": "a\u2028b\u0085c"}'.encode(), ENTITY | {"id": 2})
    assert [(row.line, row.name) for row in good] == [(1, "a\u2028b\u0085c"), (2, "Ada")]
    assert issues == {}


# --- offsets ---


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (0, 5, (0, 5)),
        (4, 5, (4, 5)),
        (0, 6, None),
        (-1, 3, None),
        (3, 3, None),
        (4, 3, None),
        (None, 3, None),
        (0, None, None),
    ],
)
def test_a_span_is_a_place_in_the_text(start: int | None, end: int | None, span: tuple[int, int] | None) -> None:
    assert span_within(start, end, 5) == span
