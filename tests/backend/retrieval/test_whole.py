"""Questions about the whole are told from those about something."""

from __future__ import annotations

import pytest

from backend.retrieval.whole import asks_about_the_whole


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes?",
        "Give me an overview.",
        "What are these documents about?",
        "Which topics do the texts cover?",
        "Summarise everything",
        "what is all this about overall",
    ],
)
def test_a_question_about_everything_asks_about_the_whole(question: str) -> None:
    assert asks_about_the_whole(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who owns the MV Halcyon?",
        "What are the main themes of Hamlet?",
        "What group does the singer belong to?",
        "When was the lighthouse built?",
        "",
    ],
)
def test_a_question_about_something_does_not(question: str) -> None:
    assert not asks_about_the_whole(question)
