"""What a scope means: kinds of values, operators, dates, and what cannot be read."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import Malformed
from backend.models import Condition, Scope
from backend.scope import OPERATORS, document_values, instant, iso, parse_condition, present, read_value, resolve
from tests.model import matches

# Values of every kind, also those at the border of two.
VALUES: list[Any] = [
    *(
        0,
        1,
        2,
        10,
        -1,
        2.5,
        1e3,
        "1",
        " 2 ",
        "10",
        "9",
        "1.50",
        "-0",
        "1e3",
        ".5",
        "5.",
        "+1",
        "1_000",
        "0x1",
        "inf",
        "nan",
    ),
    *("2021-06-01", "2021-06-01T12:00:00", "2021-06-01T12:00:00Z", "2021-06-01T23:59:59.999999+00:00"),
    *("2021-06-01T14:00:00+02:00", "2021-02-30", "20210601", "2021-06", "2021", "2021-6-1", "2020-01-01"),
    *("", " ", "a", "B", "b", "ä", "true", "null", True, False, None),
    *([], [1, "x", None], ["a", "b"], [["a"]], {"k": 1}, {"b": 2, "a": [1]}),
]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (3, "number"),
        (3.5, "number"),
        ("3", "number"),
        (" 3.50 ", "number"),
        ("1e3", "number"),
        ("-.5", "number"),
        (True, "text"),
        ("inf", "text"),
        ("nan", "text"),
        ("1e999", "text"),
        ("1,000", "text"),
        ("2021-06-01", "date"),
        ("2021-06-01T12:00:00Z", "date"),
        ("2021-06-01 12:00", "date"),
        ("2021-02-30", "text"),
        ("2021-06", "text"),
        ("20210601", "number"),
        ("", "text"),
        ({"a": 1}, "text"),
    ],
)
def test_value_is_a_number_else_a_date_else_text(raw: Any, kind: str) -> None:
    assert read_value(raw).kind == kind


def test_numbers_compare_as_numbers_however_they_are_written() -> None:
    assert read_value("2.50").number == read_value(2.5).number
    assert read_value(9).number < read_value("10").number  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2021-06-01", "2021-06-01T23:59:59.999999Z"),
        ("2021-06-01T14:00:00+02:00", "2021-06-01T12:00:00Z"),
        ("2021-06-01T12:00:00", "2021-06-01T12:00:00Z"),
        ("2021-06-01 12:00", "2021-06-01T12:00:00+00:00"),
        ("0001-01-01", "0001-01-01T23:59:59.999999Z"),
    ],
)
def test_date_is_its_last_instant_in_utc(text: str, same: str) -> None:
    assert instant(text) == instant(same)
    assert instant(text) is not None


@pytest.mark.parametrize(
    "text",
    ["", "today", "2021", "2021-06", "2021-13-01", "2021-02-30", "01.06.2021", "2021-06-01T25:00:00Z", "20210601"],
)
def test_what_is_no_iso_date_has_no_instant(text: str) -> None:
    assert instant(text) is None


@given(st.datetimes())
def test_instant_is_written_as_it_is_read(moment: Any) -> None:
    text = iso(instant(moment.isoformat()) or 0)
    assert text.endswith("Z")
    assert instant(text) == instant(moment.isoformat())


def test_point_in_time_is_the_end_of_today_where_none_is_given() -> None:
    assert resolve(Scope(), today=date(2024, 2, 29)).at == instant("2024-02-29T23:59:59.999999Z")
    assert present(today=date(2024, 2, 29)) == instant("2024-02-29T23:59:59.999999Z")
    assert resolve(Scope(as_of="2020-01-01"), today=date(2024, 2, 29)).at == instant("2020-01-01")


@pytest.mark.parametrize("as_of", ["yesterday", "2021-02-30", "2021", "12"])
def test_point_in_time_that_is_no_iso_date_is_malformed(as_of: str) -> None:
    with pytest.raises(Malformed, match=as_of):
        resolve(Scope(as_of=as_of))


@pytest.mark.parametrize("document_id", ["d1", "", "5B0A3C1E-9D54-5E0B-8F0E-0A77E57A77E5", "{x}"])
def test_document_id_that_is_no_canonical_uuid_is_malformed(document_id: str) -> None:
    with pytest.raises(Malformed):
        resolve(Scope(document_ids=(document_id,)))


@pytest.mark.parametrize(
    "condition",
    [
        Condition("year", "~", ("1",)),
        Condition("year", "", ("1",)),
        Condition("", "=", ("1",)),
        Condition("  ", "exists"),
        Condition("year", "=", ()),
        Condition("year", "in", ()),
    ],
)
def test_condition_without_key_operator_or_value_is_malformed(condition: Condition) -> None:
    with pytest.raises(Malformed):
        resolve(Scope(conditions=(condition,)))


@pytest.mark.parametrize("condition", [Condition("year", "=", ("1", "2")), Condition("year", "<", ("1", "2"))])
def test_only_in_has_several_values(condition: Condition) -> None:
    with pytest.raises(Malformed):
        resolve(Scope(conditions=(condition,)))


def test_order_of_names_does_not_make_another_scope() -> None:
    assert resolve(Scope(collections=("b", "a", "b"))) == resolve(Scope(collections=("a", "b")))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("year = 2021", Condition("year", "=", ("2021",))),
        ("year=2021", Condition("year", "=", ("2021",))),
        ("year != 2021", Condition("year", "!=", ("2021",))),
        ("year<=2021", Condition("year", "<=", ("2021",))),
        ("year >= 2021", Condition("year", ">=", ("2021",))),
        ("year < 2021", Condition("year", "<", ("2021",))),
        ("year > 2021", Condition("year", ">", ("2021",))),
        ("tag in red, green ,blue", Condition("tag", "in", ("red", "green", "blue"))),
        ("tag exists", Condition("tag", "exists")),
        ("title contains in port", Condition("title", "contains", ("in port",))),
        ("title = a = b", Condition("title", "=", ("a = b",))),
        ("title contains x >= y", Condition("title", "contains", ("x >= y",))),
        ("date of issue = 2021-06-01", Condition("date of issue", "=", ("2021-06-01",))),
        ("inland = yes", Condition("inland", "=", ("yes",))),
        ("题目 contains 北京", Condition("题目", "contains", ("北京",))),
        ("title = two\nlines", Condition("title", "=", ("two\nlines",))),
        ("title =", Condition("title", "=", ("",))),
    ],
)
def test_condition_is_read_as_key_operator_value(text: str, condition: Condition) -> None:
    assert parse_condition(text) == condition


@pytest.mark.parametrize("text", ["", "year", "= 2021", "year ~ 2021", "existsx", "tag within x"])
def test_what_is_no_condition_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        resolve(Scope(conditions=(parse_condition(text),)))


def test_fields_of_a_document_are_keys_like_any_metadata() -> None:
    values = document_values({"title": "A", "author": None, "collection": "c"}, {"year": 3})
    assert {(key, value.text) for key, value in values} == {("title", "A"), ("collection", "c"), ("year", "3")}


def test_null_is_the_same_as_absent() -> None:
    assert list(document_values({}, {"year": None, "tags": [None]})) == []


def test_list_gives_each_of_its_elements() -> None:
    assert [value.text for _, value in document_values({}, {"tags": ["a", 1, None, "a", ["x"]]})] == ["a", "1", '["x"]']


def test_nested_value_is_its_json_text() -> None:
    ((_, value),) = document_values({}, {"place": {"b": "ö", "a": [1]}})
    assert value.text == '{"a": [1], "b": "ö"}'


@pytest.mark.parametrize(
    ("value", "operator", "asked", "expected"),
    [
        (9, "<", ["10"], True),
        ("9", "<", ["10"], True),
        ("9x", "<", ["10x"], False),  # as text by code point
        ("Z", "<", ["a"], True),
        (2021, "!=", ["2021-06-01"], False),  # different kinds never match
        ("red", "!=", ["3"], False),
        ("2021-06-01", ">", ["2021-06-01T12:00:00Z"], True),
        ("2021-06-01", "=", ["2021-06-01T23:59:59.999999Z"], True),
        (["red", "green"], "=", ["green"], True),
        (["red", "green"], "!=", ["green"], True),  # by any element
        (["red", 3], ">", ["2"], True),
        ([], "exists", [], False),
        (None, "exists", [], False),
        (0, "exists", [], True),
        ("", "exists", [], True),
        (True, "=", ["true"], True),
        (True, "=", ["1"], False),
        (2021, "contains", ["02"], True),
        ("Ärger", "contains", ["är"], False),  # by code point
        ("red", "in", ["green", "red"], True),
        (2.0, "in", ["1", "2"], True),
    ],
)
def test_oracle_compares_as_the_design_says(value: Any, operator: str, asked: list[str], expected: bool) -> None:
    assert matches({"metadata": {"key": value}}, Condition("key", operator, tuple(asked))) == expected


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_of_the_kind_that_the_oracle_sees(value: Any) -> None:
    """Whatever the store does with them, both sides of a comparison must be read the same way as in the oracle."""
    held = [v for _, v in document_values({}, {"key": value})]
    for asked in (v for v in VALUES if isinstance(v, str)):
        read = read_value(asked)
        for operator in (o for o in OPERATORS if o not in ("in", "exists")):
            expected = matches({"metadata": {"key": value}}, Condition("key", operator, (asked,)))
            assert any(_compares(v, operator, read) for v in held) == expected, (operator, asked)


def _compares(value: Any, operator: str, asked: Any) -> bool:
    if operator == "contains":
        return asked.text in value.text
    if value.kind != asked.kind:
        return False
    left, right = (value.text, asked.text) if value.kind == "text" else (value.number, asked.number)
    return bool(eval(f"left {'==' if operator == '=' else operator} right", {"left": left, "right": right}))  # noqa: S307
