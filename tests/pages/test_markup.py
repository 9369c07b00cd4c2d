"""Text from documents is data: it is escaped in one place, whatever it holds."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import markup
from tests.pages.conftest import HOSTILE


@given(st.text())
def test_passage_keeps_every_character_and_makes_no_element(text: str) -> None:
    made = markup.passage_text(text, [(0, len(text))])
    inside = made.removeprefix('<p class="at-text"><bdi>').removesuffix("</bdi></p>")
    assert re.findall(r"<[^>]*>", inside) == (["<mark>", "</mark>"] if text else [])
    assert html.unescape(re.sub(r"</?mark>", "", inside)) == markup.visible(text)


@given(st.text(alphabet="ab<&>\"'"), st.lists(st.tuples(st.integers(-2, 9), st.integers(-2, 9))))
def test_marks_cover_what_the_spans_cover(text: str, spans: list[tuple[int, int]]) -> None:
    made = markup.marked(text, spans)
    covered = {place for start, end in spans for place in range(max(0, start), min(end, len(text)))}
    pieces = re.split(r"</?mark>", made)  # outside and inside in turn
    marked = [number % 2 == 1 for number, piece in enumerate(pieces) for _ in html.unescape(piece)]
    assert marked == [place in covered for place in range(len(text))]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a[U+0000]b"),
        ("a\u202eb\u202c", "a[U+202E]b[U+202C]"),
        ("a\u2066b", "a[U+2066]b"),
        ("a\x1b[31mb", "a[U+001B][31mb"),
        ("a\x85b\u2028c", "a\nb\nc"),
        ("a\ud800b", "a\ufffdb"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_characters_that_act_are_shown_and_do_nothing(text: str, shown: str) -> None:
    assert markup.visible(text) == shown


def test_html_is_not_escaped_twice_and_text_always() -> None:
    assert markup.tag("p", markup.tag("b", "<x>"), "<y>") == "<p><b>&lt;x&gt;</b>&lt;y&gt;</p>"
    assert markup.join(("<x>", markup.Html("<hr>"))) == "&lt;x&gt;<hr>"
    assert markup.table(("<h>",), [("<c>",)]).count("&lt;") == 2
    assert markup.facts([("<k>", "<v>"), ("empty", "")]).count("&lt;") == 2


@given(st.text())
def test_label_escapes_all_markdown(text: str) -> None:
    made = markup.label(text)
    assert re.sub(r"\\[!-/:-@\[-`{-~]", "", made) == re.sub(r"[!-/:-@\[-`{-~]", "", made.replace("\\", ""))
    assert made.replace("\u2060", "").replace("\\", "") == markup.plain(text).replace("\\", "").replace("\u2060", "")
    assert "\n" not in made


def test_label_keeps_apart_what_streamlit_would_join() -> None:
    assert markup.label(":red[x] a->b") == "\\:\u2060red\\[x\\] a\\-\u2060\\>b"


def test_names_of_any_length_stay_short() -> None:
    long = "x" * 100_000
    assert len(markup.plain(long)) == len(markup.label(long)) == 120
    assert len(markup.name(long)) < 200


def test_excerpt_begins_near_the_first_mention() -> None:
    text = "word " * 60 + "Petrel" + " word" * 200
    made = markup.excerpt(text, [(300, 306)])
    assert made.startswith('<p class="at-excerpt">… word')
    assert "<mark>Petrel</mark>" in made
    assert made.endswith(" …</p>")
    assert markup.excerpt("Petrel left.", [(0, 6)]) == '<p class="at-excerpt"><mark>Petrel</mark> left.</p>'


def test_hostile_text_becomes_no_element() -> None:
    made = markup.name(HOSTILE) + markup.excerpt(HOSTILE, []) + markup.table((HOSTILE,), [(HOSTILE,)])
    assert "<img" not in made
    assert "</style" not in made
