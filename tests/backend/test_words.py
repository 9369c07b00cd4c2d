"""Names are found by themselves and by their beginning, whatever they are written with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.words import Word, fold, token_text, words

NAMES = [
    "北京大学",
    "東京タワー",
    "ソニー株式会社",
    "القاهرة",
    "Москва",
    "Йошкар-Ола",
    "नई दिल्ली",
    "กรุงเทพมหานคร",
    "서울",
    "Αθήνα",
    "תל אביב",
    "Zoë-Ångström",
    "São Tomé",
    "AT&T",
    "AC/DC",
    "C++",
    "C#",
    "+++",
    "O'Neill",
    "O’Neill",
    'Wilfried "Willi" Schneider',
    "Rock 'n' Roll",
    "don't",
    "x86-64",
    "Q",
    "7",
    "№ 5",
    "½ Prince",
    "Straße",
    "İstanbul",
    "\N{WAVE DASH}",
    "😀",
    "´",
    "˚C",
    "¨",
    "C₂H₆",
    "a.b.c",
    "semi;colon",
    "100 %",
]


def found(name: str, text: str) -> bool:
    """Whether the text finds the name by the rule of design 2.2.3: any word, and the last one's beginning."""
    named, asked = words(name), words(text)
    return any(
        word == other
        or (word.unspaced and other.unspaced and word.text in other.text)
        or (position == len(asked) - 1 and other.text.startswith(word.text))
        for position, word in enumerate(asked)
        for other in named
    )


printable = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co", "Cf"]), max_size=12)


@pytest.mark.parametrize("name", NAMES)
def test_name_is_found_by_itself(name: str) -> None:
    assert words(name)
    assert found(name, name)


@pytest.mark.parametrize("name", NAMES)
def test_name_is_found_by_every_beginning(name: str) -> None:
    for end in range(1, len(name) + 1):
        beginning = name[:end]
        # Quotes, signs and spaces alone are words of their own only in a name that has nothing else.
        if any(c.isalnum() for c in beginning) or not any(c.isalnum() for c in name):
            assert found(name, beginning), beginning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada Lovelace", ["ada", "lovelace"]),
        ("  ADA   lovelace ", ["ada", "lovelace"]),
        ("Zoë-Ångström", ["zoe", "angstrom"]),
        ("AC/DC", ["ac", "dc"]),
        ("O'Neill", ["o", "neill"]),
        ("Straße", ["strasse"]),
        ("ﬁne", ["fine"]),
        ("ＡＢＣ", ["abc"]),
        ("Łódź", ["lodz"]),
        ("Øresund", ["oresund"]),
        ("name:ada AND (x OR y*) ~2", ["name", "ada", "and", "x", "or", "y", "2"]),
        ("C++", ["c"]),
        ("+++", ["+", "+", "+"]),
        ("北京大学", ["北京大学"]),
        ("北京 Beijing大学", ["北京", "beijing", "大学"]),
        ("नई दिल्ली", ["नई", "दिल्ली"]),
        ("ada ada", ["ada", "ada"]),
        ("", []),
        (" \t\n", []),
        ("\u3000", []),
    ],
)
def test_text_is_reduced_to_plain_lowercase_words(text: str, expected: list[str]) -> None:
    assert [word.text for word in words(text)] == expected


@pytest.mark.parametrize("text", ["ガ", "は ば ぱ", "ハバパ"])
def test_voicing_marks_tell_kana_apart(text: str) -> None:
    assert len({fold(c) for c in text.replace(" ", "")}) == len(text.replace(" ", ""))


@pytest.mark.parametrize(("one", "other"), [("की", "का"), ("ที่", "ทา")])
def test_vowel_signs_tell_words_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("مُحَمَّد", "محمد"), ("שָׁלוֹם", "שלום"), ("Ёлка", "елка"), ("Ἀθῆναι", "αθηναι"), ("é", "e\u0301")]
)
def test_accents_and_points_are_folded(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize("word", ["北京", "すし", "ソニー", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ", "𠀋"])
def test_script_without_spaces_matches_on_any_run(word: str) -> None:
    assert all(found.unspaced for found in words(word))


@pytest.mark.parametrize("word", ["ada", "Москва", "서울", "नई", "عمر", "7"])
def test_script_with_spaces_matches_on_whole_words_and_beginnings(word: str) -> None:
    assert not any(found.unspaced for found in words(word))


def test_full_text_index_keeps_each_character_of_an_unspaced_run() -> None:
    assert token_text("Café 東京") == " cafe 東 京 "
    assert Word("東京", unspaced=True).tokens == ("東", "京")


@given(printable)
def test_only_blank_text_has_no_words(text: str) -> None:
    assert bool(words(text)) == bool(text.strip())


@given(st.text(max_size=12))
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=12))
def test_words_of_a_folded_text_are_the_words_of_the_text(text: str) -> None:
    assert words(fold(text)) == words(text)


@given(st.text(max_size=12))
def test_words_are_not_empty_and_hold_no_white_space(text: str) -> None:
    assert all(word.text and not any(c.isspace() for c in word.text) for word in words(text))


@given(printable)
def test_any_name_is_found_by_itself(name: str) -> None:
    assert found(name, name) == bool(name.strip())


@given(printable, st.sampled_from(["upper", "lower", "title", "casefold"]))
def test_case_of_a_query_does_not_matter_in_common_scripts(name: str, change: str) -> None:
    plain = "".join(c for c in name if c.isascii() or "а" <= c <= "я")
    assert words(getattr(plain, change)()) == words(plain)
