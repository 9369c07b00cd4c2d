"""From a model's text to sentences with citations, and to plain text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.answers.citations import Written, written_sentences
from backend.answers.plain import plain

PARTS = st.sampled_from(
    [
        "It left",
        "Meridian",
        "船が出た",
        " ",
        ". ",
        "。",
        "\n",
        "[1]",
        " [2, 3]",
        "【4】",
        "[1-3]",
        "[99]",
        "(5)",
        "[x]",
        "1998",
    ]
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It left [1]. It sank. [2]", [("It left.", 1), ("It sank.", 2)]),
        ("It left.[1]She stayed.[2]", [("It left.", 1), ("She stayed.", 2)]),
        ("It left [1, 3]. It sank [2][4].", [("It left.", 1, 3), ("It sank.", 2, 4)]),
        ("It left [1-3]. It sank [3–1].", [("It left.", 1, 2, 3), ("It sank.", 1, 2, 3)]),
        ("It left [1; 2 and 5].", [("It left.", 1, 2, 5)]),
        ("It left【1】. It sank【2†source】.", [("It left.", 1), ("It sank.", 2)]),
        ("東京は首都です。[1]人口は多い[2]。", [("東京は首都です。", 1), ("人口は多い。", 2)]),
        ("It left [1] and sank [2].", [("It left and sank.", 1, 2)]),
        ("It left [1], [1] [1].", [("It left,.", 1)]),
        ("[1] It left. [2] It sank.", [("It left.", 1, 2), ("It sank.",)]),
        ("It left.\n[2] It sank.", [("It left.",), ("It sank.", 2)]),
        ("It left.\n\n[2]", [("It left.", 2)]),
        ("[1]", []),
        ("It left (1) in [sic] 1998.", [("It left (1) in [sic] 1998.",)]),
        ("It left [1-9999].", [("It left.", 1, 9999)]),
        ("Mr. Smith left [1]. ---\n***", [("Mr. Smith left.", 1)]),
        ("", []),
    ],
)
def test_markers_belong_to_their_sentence(text: str, sentences: list[tuple[str | int, ...]]) -> None:
    found = [(each.text, *each.citations) for each in written_sentences(text)]
    assert found == sentences


@given(st.lists(PARTS, max_size=30).map("".join) | st.text(max_size=200))
def test_no_word_is_lost_whatever_comes(text: str) -> None:
    sentences = written_sentences(text)
    assert all(each.text == each.text.strip() and any(c.isalnum() for c in each.text) for each in sentences)
    if not re.search(r"[\[\]【】*_`~#>•+()-]|\d", text):
        assert _letters("".join(each.text for each in sentences)) == _letters(plain(text))


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=4), min_size=1, max_size=6))
def test_every_number_of_a_marker_is_read(groups: list[list[int]]) -> None:
    text = " ".join(
        f"Sentence {chr(65 + at)} says so [{', '.join(map(str, group))}]." for at, group in enumerate(groups)
    )
    assert [each.citations for each in written_sentences(text)] == [tuple(dict.fromkeys(group)) for group in groups]


@given(st.text(alphabet="[](){}!<>*_`#1,- \nab:/", max_size=200))
def test_no_link_or_image_is_left(text: str) -> None:
    assert not re.search(r"\[[^\[\]\n]+\]\([^\s()<>]+\)", plain(text))


def test_marks_are_gone_and_nothing_is_hidden() -> None:
    text = (
        "## Result\n1. **Meridian** left [1].\n2. See ![x](http://e.example/p.png) and [here](https://e.example/?q=1)."
    )
    assert written_sentences(text) == [
        Written("Result"),
        Written("Meridian left.", (1,)),
        Written("See x (http://e.example/p.png) and here (https://e.example/?q=1)."),
    ]
    assert plain("<img src=x onerror=alert(1)> **bold**") == "<img src=x onerror=alert(1)> bold"
    assert plain("5. May was cold.\n1. One\n2. Two\n12. Twelve") == "5. May was cold.\nOne\nTwo\n12. Twelve"
    assert plain("a\u202eb\u200bc\x00d\ud800") == "abcd"


def test_a_hostile_text_takes_no_time() -> None:
    for text in (
        "[" * 12_000,
        "![](" * 3_000,
        "[1" * 6_000,
        "**a" * 4_000,
        "[1, " * 3_000,
        "((" * 6_000,
        "1. " * 4_000,
    ):
        written_sentences(text)


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
