"""Splitting texts into sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.sentences import sentence_spans


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Smith met J. R. R. Tolkien. He left.", ["Mr. Smith met J. R. R. Tolkien.", "He left."]),
        ("On Jan. 5, 1999.\n\nWho paid? $3.50!", ["On Jan. 5, 1999.", "Who paid?", "$3.50!"]),
        ("東京は日本の首都です。人口は多い。", ["東京は日本の首都です。", "人口は多い。"]),
        ("no end", ["no end"]),
        (" \n ", []),
        ("", []),
    ],
)
def test_a_full_stop_ends_a_sentence_only_where_a_reader_would_say_so(text: str, sentences: list[str]) -> None:
    assert pieces(text) == sentences


@given(st.text(max_size=300))
def test_sentences_hold_every_character_but_white_space_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(pieces(text)).split()) == "".join(text.split())
