"""Times that a question names, as spans of days."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.communities.values import TimeSpan
from backend.retrieval.communities.times import dated_within, time_spans

FIRST, LAST = "0001-01-01", "9999-12-31"
DAYS = st.dates(date(1500, 1, 1), date(2099, 12, 31))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2021-03-05", "2021-03-05", "2021-03-05"),
        ("5 March 2021", "2021-03-05", "2021-03-05"),
        ("the 5th of March, 2021", "2021-03-05", "2021-03-05"),
        ("25/12/2021", "2021-12-25", "2021-12-25"),
        ("2021年3月5日", "2021-03-05", "2021-03-05"),
        ("March 2021", "2021-03-01", "2021-03-31"),
        ("Feb. 2024", "2024-02-01", "2024-02-29"),
        ("2010-11", "2010-11-01", "2010-11-30"),
        ("March to May 2021", "2021-03-01", "2021-05-31"),
        ("the 2021 report", "2021-01-01", "2021-12-31"),
        ("(1984)'s", "1984-01-01", "1984-12-31"),
        ("in 1066.", "1066-01-01", "1066-12-31"),
        ("476 AD", "0476-01-01", "0476-12-31"),
        ("Q3 2021", "2021-07-01", "2021-09-30"),
        ("2021 Q1", "2021-01-01", "2021-03-31"),
        ("the second quarter of 2021", "2021-04-01", "2021-06-30"),
        ("H2 2021", "2021-07-01", "2021-12-31"),
        ("the first half of 2021", "2021-01-01", "2021-06-30"),
        ("the 1980s", "1980-01-01", "1989-12-31"),
        ("the 2000's", "2000-01-01", "2009-12-31"),
        ("the 1800s", "1800-01-01", "1899-12-31"),
        ("the 19th century", "1801-01-01", "1900-12-31"),
        ("the twenty-first century", "2001-01-01", "2100-12-31"),
        ("between 1990 and 2000", "1990-01-01", "2000-12-31"),
        ("between the years 2000 and 1990", "1990-01-01", "2000-12-31"),
        ("from 5 March 2020 until April 2021", "2020-03-05", "2021-04-30"),
        ("1990 to 1995", "1990-01-01", "1995-12-31"),
        ("1990–1995", "1990-01-01", "1995-12-31"),
        ("1990-95", "1990-01-01", "1995-12-31"),
        ("since 2015", "2015-01-01", LAST),
        ("from 2015 onwards", "2015-01-01", LAST),
        ("after March 2015", "2015-04-01", LAST),
        ("before 1990", FIRST, "1989-12-31"),
        ("until the end of 1990", FIRST, "1990-12-31"),
        ("by 1990", FIRST, "1990-12-31"),
        ("since the 19th century", "1801-01-01", LAST),
        ("２０２１", "2021-01-01", "2021-12-31"),
    ],
)
def test_a_time_is_its_first_and_last_day(text: str, start: str, end: str) -> None:
    (span,) = time_spans(f"What happened {text} there?")
    assert (span.start, span.end) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        *("30 February 2021", "2021-13-45", "$1999", "1,984 ships", "1200 ships", "1984.5", "300 BC", "in 1500 BCE"),
        *("today", "last year", "in May", "the '80s", "version 2.2021", "model A1990", "0000-01-01", "1990 %"),
        "after 9999-12-31",
    ],
)
def test_what_is_no_absolute_time_names_none(text: str) -> None:
    assert time_spans(text) == ()


def test_what_can_be_read_in_two_ways_gives_both() -> None:
    assert time_spans("on 5/1/2024") == (
        TimeSpan("5/1/2024", "2024-01-05", "2024-01-05"),
        TimeSpan("5/1/2024", "2024-05-01", "2024-05-01"),
    )
    assert [(span.start, span.end) for span in time_spans("from 5/1/2024 to 7/1/2024")] == [
        ("2024-01-05", "2024-01-07"),
        ("2024-05-01", "2024-07-01"),
    ]


def test_several_times_come_in_the_words_and_the_order_of_the_text() -> None:
    text = "Was 1990 better than 1985, after 2000 and  before March 2005, or in 1990?"
    assert [span.text for span in time_spans(text)] == ["1990", "1985", "after 2000", "before March 2005"]


@given(DAYS, DAYS)
def test_days_are_read_as_they_are_written(one: date, other: date) -> None:
    first, last = sorted([one, other])
    ranged = TimeSpan(f"between {one} and {other}", first.isoformat(), last.isoformat())
    assert time_spans(f"between {one} and {other}") == (ranged,)
    written = f"{one:%B} {one.day}, {one.year}"
    assert time_spans(written) == (TimeSpan(written, one.isoformat(), one.isoformat()),)


@given(
    st.lists(st.sampled_from(["2021", " ", "-", "March", "and", "between", "5", "/", "to", "19th century", "1990s"]))
)
def test_every_span_is_in_order_and_in_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    for span in time_spans(text):
        assert date.fromisoformat(span.start) <= date.fromisoformat(span.end)
        assert span.text in " ".join(text.split())


@pytest.mark.parametrize(
    ("dated", "is_within"),
    [
        ("2021-03-05", True),
        ("2021-03-05T10:00:00Z", True),
        ("2021-04-01T01:00:00+05:00", True),
        ("March 2021", True),
        (" 2021-03 ", True),
        ("2021", False),
        ("2021-04-01", False),
        ("2020-12-31T23:00:00-03:00", False),
        ("seen in March 2021", False),
        ("", False),
        (None, False),
    ],
)
def test_a_date_is_within_a_span_when_all_of_it_is(dated: str | None, is_within: bool) -> None:
    assert dated_within(dated, time_spans("March 2021")) is is_within
    assert dated_within(dated, ()) is False
