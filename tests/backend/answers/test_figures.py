"""Numbers and dates, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.answers.figures import is_figure, unstated


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("1,000 ships", "1000 ships"),
        ("1.000 ships", "1,000 ships"),
        ("10 000 km", "10,000 km"),
        ("1,234.5 tons", "1.234,5 Tonnen"),
        ("12.5 percent", "12,5 %"),
        ("5%", "five percent"),
        ("3 ships", "three ships"),
        ("5 million euros", "€5,000,000"),
        ("1.5 Million", "1.5 million"),
        ("٣ and ４ ships", "3 or 4"),
        ("07:30", "at 7:30"),
        ("5 January 2024", "on 2024-01-05"),
        ("Jan. 5th, 2024", "the 5th of January 2024"),
        ("January 2024", "2024-01-05"),
        ("in 2024", "2024-01-05"),
        ("March 3", "3 March 1999"),
        ("5 January 2024", "5/1/2024"),
        ("March 2019", "2019年3月5日"),
        ("the 1990s", "during the 1990s"),
        ("Q3, A320 and COVID-19", "q3 a320 covid-19"),
        ("2010-11", "the 2010-11 season"),
        ("1.2.3", "version 1.2.3"),
        ("40 km²", "40 square kilometres"),
        ("no number", ""),
    ],
)
def test_the_same_figure_is_found(sentence: str, passage: str) -> None:
    assert unstated(sentence, passage) == []


@pytest.mark.parametrize(
    ("sentence", "passage", "missing"),
    [
        ("It cost 42 euros", "in 1942", ["42"]),
        ("It cost 1,000 and 2,000", "1000", ["2,000"]),
        ("5 million", "5 ships", ["5 million"]),
        ("on 5 January 2024", "January 2024, 5 ships", ["5 January 2024"]),
        ("in January 2024", "in February 2024", ["January 2024"]),
        ("May 6", "May 5", ["May 6"]),
        ("Q4", "Q3", ["Q4"]),
        ("1.2.3", "1.2.4", ["1.2.3"]),
        ("7 and 7", "", ["7"]),
    ],
)
def test_an_invented_figure_is_shown_as_it_stands(sentence: str, passage: str, missing: list[str]) -> None:
    assert unstated(sentence, passage) == missing


@given(st.text(max_size=120), st.text(max_size=120))
def test_every_text_states_its_own_figures(text: str, more: str) -> None:
    assert unstated(text, text) == []
    assert unstated(text, f"{more}\n{text}\n{more}") == []


@given(st.text(alphabet="0123456789.,'/- abmayjunQ年月日%²", max_size=120))
def test_every_heap_of_digits_states_its_own_figures(text: str) -> None:
    assert unstated(text, text) == []


@given(st.integers(0, 10**12), st.text(alphabet="abc .", max_size=20))
def test_every_number_that_no_passage_has_is_found(number: int, text: str) -> None:
    assert unstated(f"It was {number:,} then", text) == [f"{number:,}"]
    assert unstated(f"It was {number:,} then", f"{text} {number} {text}") == []


def test_names_that_are_figures() -> None:
    assert is_figure("1990")
    assert is_figure("5 January 2024")
    assert not is_figure("Boeing 747")
