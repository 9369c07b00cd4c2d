"""Repairs of characters: what is no text becomes U+FFFD, is counted, and costs no row."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.loading.bundle import open_bundle
from backend.loading.issues import Issues
from backend.loading.rows import BadRow, EntityRow, decode
from backend.models import Issue

PER_TEST = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = st.lists(st.binary(max_size=60).map(lambda data: data.translate(None, b"\n\xef")), max_size=6)
BEFORE = b'{"id": "before", "name": "A"}'
AFTER = b'{"id": "after", "name": "B"}'


def read(tmp_path: Path, *lines: bytes) -> tuple[list[EntityRow], tuple[Issue, ...]]:
    (tmp_path / "entities.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    issues = Issues()
    return list(open_bundle(tmp_path).rows(EntityRow, issues)), issues.report()


@pytest.mark.parametrize(
    ("name", "read_as", "kinds"),
    [
        (b"A\xffb", "A\ufffdb", ["invalid_utf8"]),
        (b"caf\xe9", "caf\ufffd", ["invalid_utf8"]),
        (b"\xe2\x82", "\ufffd", ["invalid_utf8"]),
        (b"\xed\xa0\x80", "\ufffd" * 3, ["invalid_utf8"]),
        (b"A\0b", "A\ufffdb", ["nul"]),
        (b"A\\u0000b", "A\ufffdb", ["nul"]),
        (b"\\ud800", "\ufffd", ["lone_surrogate"]),
        (b"\\uDFFFx", "\ufffdx", ["lone_surrogate"]),
        (b"\\ude00\\ud83d", "\ufffd\ufffd", ["lone_surrogate"]),
        (b"\\ud83d\\ud83d\\ude00", "\ufffd😀", ["lone_surrogate"]),
        (b"\\ud83d\\u0041", "\ufffdA", ["lone_surrogate"]),
        (b"\xff\0\\ud800\\u0000", "\ufffd" * 4, ["invalid_utf8", "nul", "lone_surrogate"]),
        (b"\\\\\\u0000", "\\\ufffd", ["nul"]),
    ],
)
def test_what_is_no_text_becomes_a_replacement(tmp_path: Path, name: bytes, read_as: str, kinds: list[str]) -> None:
    rows, issues = read(tmp_path, BEFORE, b'{"id": "e", "name": "' + name + b'"}', AFTER)
    assert [row.name for row in rows] == ["A", read_as, "B"]
    assert [(issue.kind, issue.repaired, issue.count) for issue in issues] == [(kind, True, 1) for kind in kinds]
    assert all(issue.examples[0].startswith("entities.jsonl:2: ") for issue in issues)


@pytest.mark.parametrize(
    "name",
    [b"\\ud83d\\ude00", b"\\uD83D\\uDE00", b"\\\\u0000", b"\\\\ud800", b"\\uffff", "é😀\ufffd".encode()],
)
def test_what_is_text_is_left_alone(tmp_path: Path, name: bytes) -> None:
    line = b'{"id": "e", "name": "' + name + b'"}'
    (row,), issues = read(tmp_path, line)
    assert (row.name, issues) == (json.loads(line)["name"], ())


@pytest.mark.parametrize("key", [b"a\xffb", b"a\0b", b"a\\u0000b", b"a\\ud800b"])
def test_keys_are_repaired_too(tmp_path: Path, key: bytes) -> None:
    (row,), issues = read(tmp_path, b'{"id": "e", "name": "A", "x": [{"' + key + b'": 1}]}')
    assert (row.metadata, len(issues)) == ({"x": [{"a\ufffdb": 1}]}, 1)


def test_ids_that_a_repair_makes_equal_are_used_once(tmp_path: Path) -> None:
    rows, issues = read(tmp_path, b'{"id": "\xfe", "name": "A"}', b'{"id": "\xff", "name": "B"}')
    assert [row.name for row in rows] == ["A"]
    assert [(issue.kind, issue.count) for issue in issues] == [("used_id", 1), ("invalid_utf8", 1)]


def test_a_row_that_is_left_out_counts_as_no_repair(tmp_path: Path) -> None:
    _, issues = read(tmp_path, b'{"id": "e\xff", "name": 1}', b'{"id": "e\xff"')
    assert [issue.kind for issue in issues] == ["not_json", "wrong_type"]


@PER_TEST
@given(line=st.binary(max_size=200))
def test_no_bytes_crash_the_decoder(line: bytes) -> None:
    with contextlib.suppress(BadRow):
        fields, _ = decode(line)
        json.dumps(fields, ensure_ascii=False).encode()


@PER_TEST
@given(noise=st.lists(LINES, min_size=3, max_size=3))
def test_noise_costs_no_good_row_and_no_line_number(tmp_path: Path, noise: list[list[bytes]]) -> None:
    first, middle, last = noise
    rows, issues = read(tmp_path, *first, BEFORE, *middle, AFTER, *last)
    lines = {row.id: row.line for row in rows}
    assert lines["before"] == len(first) + 1
    assert lines["after"] == len(first) + len(middle) + 2
    noisy = [line for line in [*first, *middle, *last] if line and not line.isspace()]
    assert sum(issue.count for issue in issues if not issue.repaired) + len(rows) - 2 == len(noisy)


TEXTS = st.text(st.characters(codec=None))  # with surrogates and NUL, as Python's own JSON writer lets them pass


@PER_TEST
@given(name=TEXTS, key=TEXTS)
def test_any_text_of_python_is_read_as_what_can_be_stored(tmp_path: Path, name: str, key: str) -> None:
    line = json.dumps({"id": "e", "name": f"x{name}", "extra": {key: name}}).encode()
    (row,), issues = read(tmp_path, line)
    assert row.name == f"x{stored(name)}"
    assert row.metadata["extra"] == {stored(key): stored(name)}
    assert bool(issues) == (stored(name) != name or stored(key) != key)


def stored(text: str) -> str:
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\0", "\ufffd")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


@PER_TEST
@given(value=JSON)
def test_clean_json_is_read_as_it_is(value: object) -> None:
    fields = {"value": value}
    for ascii_only in (True, False):
        assert decode(json.dumps(fields, ensure_ascii=ascii_only).encode()) == (fields, ())
