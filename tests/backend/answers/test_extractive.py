"""Answers without a model: what is quoted, from where, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.answers.extractive import extract
from backend.vectors.encoder import open_encoder
from backend.words import fold
from tests.backend.answers.evidence import SHIPS, item
from tests.encoders import LettersEncoder

LETTERS = LettersEncoder()
TEXTS = st.lists(st.text(alphabet="abcde .?!\n船", max_size=80), max_size=8)


@pytest.mark.encoder
def test_the_sentence_that_answers_comes_first() -> None:
    sentences = extract("Why was the Aurora Star fined?", SHIPS, open_encoder(None))
    assert sentences[0].text == "The Aurora Star was fined 40,000 euros for an oil spill in Piraeus."
    assert sentences[0].citations == (2,)
    assert all(sentence.supported and not sentence.why for sentence in sentences)


def test_without_evidence_there_is_no_answer() -> None:
    assert extract("Who owns the vessel?", [], LETTERS) == ()


def test_headings_questions_and_echoes_of_the_question_come_last_or_not_at_all() -> None:
    evidence = [
        item(1, "Who owns the vessel Aurora Star? The vessel: Aurora Star."),
        item(2, "Owner of the vessel"),
        item(3, "Halden Shipping is the owner of the vessel."),
    ]
    texts = [sentence.text for sentence in extract("Who owns the vessel Aurora Star?", evidence, LETTERS)]
    assert texts == ["Halden Shipping is the owner of the vessel.", "Owner of the vessel"]


def test_of_a_passage_without_named_sentences_the_best_one_counts() -> None:
    evidence = [item(1, "The vessel is owned by Halden. The vessel was owned by Orion. It rained.", whole=True)]
    (only,) = extract("owned by Halden", evidence, LETTERS)
    assert only.text == "The vessel is owned by Halden."


def test_the_best_sentence_of_a_passage_counts_where_the_search_has_named_another() -> None:
    told = item(1, "The vessel was painted. The vessel Aurora Star is owned by Halden. It rained.", whole=True)
    named = replace(told, sentences=((0, len("The vessel was painted.")),))
    first, *_ = extract("Who is the owner of the vessel Aurora Star?", [named], LETTERS)
    assert first.text == "The vessel Aurora Star is owned by Halden."


def test_of_sentences_that_say_as_much_the_one_that_the_search_has_named_comes_first() -> None:
    told = item(1, "The vessel sank in May. The vessel sank in Maya.", whole=True)
    named = replace(told, sentences=((told.passage.text.index("The vessel sank in Maya"), len(told.passage.text)),))
    assert extract("sank in May", [named], LETTERS)[0].text == "The vessel sank in Maya."


def test_what_is_the_same_is_quoted_once() -> None:
    evidence = [item(1, "It sank in May."), item(2, "IT  SANK in May."), item(3, "Nobody died.")]
    assert [s.text for s in extract("When did it sink?", evidence, LETTERS)] == ["It sank in May.", "Nobody died."]


@given(question=st.text(max_size=40), texts=TEXTS, whole=st.booleans())
def test_at_most_five_sentences_two_of_a_passage_no_two_alike_each_quoted(
    question: str, texts: list[str], whole: bool
) -> None:
    evidence = [item(n, text, whole=whole) for n, text in enumerate(texts, start=1)]
    sentences = extract(question, evidence, LETTERS)
    assert len(sentences) <= 5
    assert len({fold(sentence.text) for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        (n,) = sentence.citations
        assert sentence.text in texts[n - 1]
    cited = [sentence.citations for sentence in sentences]
    assert all(cited.count(each) <= (1 if whole else 2) for each in cited)
    assert sentences == extract(question, list(evidence), LETTERS)
