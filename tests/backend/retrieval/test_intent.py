"""What a question is about, read from its text and its names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.communities.values import Intent, TimeSpan
from backend.models import Entity
from backend.retrieval.communities.abbreviations import capital_runs, initials, parenthesised
from backend.retrieval.communities.intent import read_intent
from backend.retrieval.names import ALIAS, EXACT, Name, QuestionNames
from backend.words import words


def entity(name: str, *aliases: str) -> Entity:
    return Entity(name, name, "t", name, "Thing", aliases)


def named(text: str, *found: tuple[str, Entity, str], themes: tuple[str, ...] = ()) -> QuestionNames:
    """The names of a text, each with its entity and channel; proper where it has a capital."""
    asked = [word.text for word in words(text)]
    names = []
    for written, known, channel in found:
        form = [word.text for word in words(written)]
        start = next(n for n in range(len(asked)) if asked[n : n + len(form)] == form)
        proper = any(c.isupper() for c in written)
        names.append(Name(" ".join(form), start, start + len(form), proper, ((known, channel),)))
    return QuestionNames(tuple(names), (), themes, "")


def test_a_question_is_read_whole() -> None:
    text = "Why was the World Health Organization (WHO) criticised by China's press between 2003 and 2020?"
    names = named(
        text,
        ("World Health Organization", entity("World Health Organization", "OMS", "WHO"), EXACT),
        ("China", entity("China", "PRC"), EXACT),
        themes=("criticised", "press", "2003", "2020"),
    )
    assert read_intent(text, names) == Intent(
        entities=("World Health Organization", "China"),
        aliases=("WHO", "OMS", "PRC"),
        themes=("criticised", "press"),
        time=(TimeSpan("between 2003 and 2020", "2003-01-01", "2020-12-31"),),
        sentiment=("criticised",),
    )


def test_an_abbreviation_leads_to_what_it_stands_for() -> None:
    text = "What does WHO do?"
    intent = read_intent(text, named(text, ("WHO", entity("World Health Organization", "WHO", "OMS"), ALIAS)))
    assert (intent.entities, intent.aliases) == (("WHO",), ("World Health Organization", "OMS"))


def test_a_word_in_small_letters_is_no_name_beside_one_with_capitals() -> None:
    text = "Who sold heat to Meridian Freight?"
    names = named(
        text,
        ("heat", entity("Heat"), EXACT),
        ("Meridian Freight", entity("Meridian Freight"), EXACT),
        themes=("sold heat",),
    )
    assert read_intent(text, names) == Intent(("Meridian Freight",), ("MF",), ("sold heat",), (), ())


def test_a_name_of_a_text_whose_words_run_together_is_given_folded() -> None:
    text = "東京のWorld Bankと"
    names = QuestionNames((Name("world bank", 1, 3, True, ()),), (), (), "")
    assert read_intent(text, names).entities == ("world bank",)


def test_words_of_mood_join_the_themes() -> None:
    text = "Good Corp and its problems"
    intent = read_intent(text, named(text, ("Good Corp", entity("Good Corp"), EXACT), themes=("problems",)))
    assert (intent.sentiment, intent.themes) == (("good", "problems"), ("problems", "good"))


def test_a_blank_question_is_about_nothing() -> None:
    assert read_intent(" ", QuestionNames((), (), (), "")) == Intent((), (), (), (), ())


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("the World Health Organization (WHO) said", ("World Health Organization", "WHO")),
        ("WHO (World Health Organization)", ("World Health Organization", "WHO")),
        ("United States of America (U.S.A.)", ("United States of America", "U.S.A.")),
        ("Bureau of Land Management ( BLM )", ("Bureau of Land Management", "BLM")),
        ("the agency (EMSA)", ("EMSA",)),
        ("Ann (born 1950) of Rome (Italy)", ()),
        ("()(((", ()),
    ],
)
def test_forms_in_parentheses(text: str, forms: tuple[str, ...]) -> None:
    assert parenthesised(text) == forms


def test_initials_are_those_of_all_words_or_without_the_small_ones() -> None:
    assert initials("United States of America") == ("USA", "USOA")
    assert initials("World Bank") == ("WB",)
    assert initials("Meridian") == ()
    assert initials("") == ()


def test_runs_of_capitals_are_names_that_nobody_knows_yet() -> None:
    text = "Describe how Port of Halden Authority, Aurora Star and the Sea met Ann. Bob Lee of Rome left"
    assert capital_runs(text) == ("Port of Halden Authority", "Aurora Star", "Bob Lee of Rome")


@given(st.text("Aa (.)of-é\u0301京_1", max_size=60))
def test_any_text_is_read(text: str) -> None:
    intent = read_intent(text, QuestionNames((), (), (), ""))
    assert all(form.strip() for form in intent.aliases)
    assert all(run in text for run in capital_runs(text))
