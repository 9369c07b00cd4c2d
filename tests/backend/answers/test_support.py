"""Which sentences are supported, and what is said of those that are not."""

from __future__ import annotations

import pytest

from backend.answers.citations import written_sentences
from backend.answers.known_names import KnownNames
from backend.answers.support import NOT_STATED, Checker, says_not_stated
from backend.questions import AnswerSentence
from backend.vectors.encoder import open_encoder
from tests.backend.answers.evidence import SHIPS

NAMES = {
    "meridian freight": {"mfc", "meridian"},
    "halden shipping": {"halden"},
    "orion lines": set[str](),
    "aurora star": set[str](),
    "us": {"united states"},
    "東京": {"tokyo"},
    "march 2021": set[str](),
}
ENCODER = open_encoder(None)


def check(text: str) -> AnswerSentence:
    (sentence,) = Checker(SHIPS, NAMES, ENCODER).check(written_sentences(text))
    return sentence


@pytest.mark.encoder
@pytest.mark.parametrize(
    "text",
    [
        "Meridian Freight hired the Aurora Star in March 2021 [1].",
        "MFC hired the Aurora Star in March 2021 [1].",
        "The ship had to pay 40,000 euros because of an oil spill [2].",
        "The ship had to pay 40.000 euros because of an oil spill. [2]",
        "Halden owns the Aurora Star, built in 1998 [3].",  # the name is the title
        "It can load 1,500,000 tons [1, 3].",
        NOT_STATED,
        "The documents in scope do not state who insured the vessel.",
        "The documents don’t mention this [1].",
    ],
)
def test_what_the_cited_passages_say_is_supported(text: str) -> None:
    assert check(text) == AnswerSentence(check(text).text, check(text).citations, supported=True)


@pytest.mark.encoder
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The Aurora Star was fined.", "It cites no evidence."),
        ("The Aurora Star was fined 40,000 euros [9].", "[9] is no evidence that was given."),
        ("The Aurora Star was fined 40,000 euros [2, 8, 9].", "[8] and [9] are no evidence that was given."),
        ("The Aurora Star was fined 41,000 euros [2].", "The cited passages do not say “41,000”."),
        ("Meridian Freight hired the Aurora Star in May 2021 [1].", "The cited passages do not say “May 2021”."),
        ("Orion Lines hired the Aurora Star in March 2021 [1].", "The cited passages do not say “Orion Lines”."),
        (
            "Orion Lines hired Halden in 2022 [1].",
            "The cited passages do not say “2022”, “Orion Lines” and “Halden”.",
        ),
        ("The weather is fine today [2].", "No sentence of the cited passages says something close to it."),
        ("The documents in scope do not state this, but Orion Lines did it.", "It cites no evidence."),
        ("The documents in scope do not state this [9].", "[9] is no evidence that was given."),
    ],
)
def test_what_they_do_not_say_is_marked_with_the_reason(text: str, why: str) -> None:
    sentence = check(text)
    assert not sentence.supported
    assert why in sentence.why


@pytest.mark.encoder
def test_sentences_are_checked_the_same_together_and_one_by_one() -> None:
    text = "Halden owns the vessel [3]. It was fined [2]. Orion Lines hired it [1]. Halden owns the vessel [3]."
    written = written_sentences(text)
    checker = Checker(SHIPS, NAMES, ENCODER)
    one_by_one = tuple(checker.check([each])[0] for each in written)
    assert checker.check(written) == Checker(SHIPS, NAMES, ENCODER).check(written) == one_by_one
    assert [sentence.supported for sentence in one_by_one] == [True, True, False, True]


@pytest.mark.parametrize(
    ("sentence", "passage", "missing"),
    [
        ("Meridian Freight left.", "MFC left.", []),
        ("Meridian’s ship left.", "Meridian Freight", []),
        ("MERIDIAN FREIGHT left.", "nothing", ["MERIDIAN FREIGHT"]),
        ("It told us.", "nothing", []),
        ("US law.", "the United States", []),
        ("US law.", "nothing", ["US"]),
        ("Tokyo is large.", "東京は大きい。", []),
        ("東京は大きい。", "京都は古い。", ["東京"]),
        ("In March 2021.", "nothing", []),
        ("Nobody Known left.", "nothing", []),
    ],
)
def test_known_names_count_with_their_aliases(sentence: str, passage: str, missing: list[str]) -> None:
    assert KnownNames(NAMES).unstated(sentence, passage) == missing


def test_of_names_within_one_another_the_longest_counts() -> None:
    names = KnownNames({"meridian": set(), "meridian freight": set()})
    assert names.unstated("Meridian Freight left.", "nothing") == ["Meridian Freight"]


@pytest.mark.parametrize(
    "text",
    [
        "The documents in scope do not state this, but he did.",
        "The documents in scope do not state this: he fled.",
        "The documents do not say that although he fled.",
        "He did not state this.",
        "The documents in scope state this.",
    ],
)
def test_a_claim_behind_not_stated_is_a_claim(text: str) -> None:
    assert not says_not_stated(text)
