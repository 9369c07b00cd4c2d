"""Reports without a model: which sentences are quoted, and where each stands."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.communities.extractive import (
    InnerEdge,
    centrality,
    extractive_report,
    report_vector,
)
from backend.communities.values import Report, ReportOrigin, ReportSentence, SentenceSource
from backend.stores.lexical import Content
from backend.stores.rows import NewStatement
from tests.backend.communities.contents import content, edge, member

ANN, BOB, CAT = member("Ann", 3), member("Bob", 2), member("Cat", 2)
MEMBERS = [CAT, BOB, ANN, member("Dan", 1)]
TEXT = "It rained. Ann slept. Ann met Bob. Bob left."
RAIN = content("p1", TEXT, {"Ann": [1, 2], "Bob": [2, 3]})


def said(report: Report) -> list[str]:
    return [sentence.text for sentence in report.sentences]


def test_a_report_quotes_what_its_relations_and_passages_say() -> None:
    zoo = content("p2", "Cat sang. Ann, Cat and Dan laughed.", {"Cat": [0, 1], "Ann": [1], "Dan": [1]})
    assert extractive_report(MEMBERS, [InnerEdge(edge("Ann", "Bob"), RAIN)], [RAIN, zoo]) == Report(
        origin=ReportOrigin.EXTRACTIVE,
        title="Ann, Bob, Cat",
        summary="Ann met Bob. Ann, Cat and Dan laughed.",
        sentences=(
            ReportSentence("Ann met Bob.", (SentenceSource("p1", 22, 34),)),
            ReportSentence("Ann, Cat and Dan laughed.", (SentenceSource("p2", 10, 35),)),
        ),
        cited=("p1", "p2"),
    )
    assert TEXT[22:34] == "Ann met Bob."


def test_members_that_are_as_central_are_named_in_order_of_name() -> None:
    assert extractive_report([member("b"), member("a"), member("d", 0.5), member("c")], [], []).title == "a, b, c"
    assert extractive_report([member("b")], [], []).title == "b"


def test_a_sentence_with_one_end_stands_in_for_one_with_both_and_none_for_none() -> None:
    def quoted(source: str, target: str) -> list[str]:
        return said(extractive_report(MEMBERS, [InnerEdge(edge(source, target), RAIN)], []))

    assert quoted("Cat", "Bob") == ["Ann met Bob."]
    assert quoted("Ann", "Cat") == ["Ann slept."]
    assert quoted("Cat", "Dan") == []
    assert said(extractive_report(MEMBERS, [InnerEdge(edge("Ann", "Bob", passages=0), None)], [])) == []


def test_the_five_best_supported_edges_are_told_in_order() -> None:
    def one(source: str, target: str, **counts: int) -> InnerEdge:
        return InnerEdge(edge(source, target, **counts), content(source + target, f"{source}{target}.", {source: [0]}))

    edges = [
        one("f", "x", documents=1, passages=9),
        one("e", "y", documents=1, passages=9),
        one("e", "x", documents=1, passages=9),
        one("d", "x", documents=2, passages=2),
        one("c", "x", documents=2, passages=3),
        one("b", "x", documents=9, passages=9),
        one("a", "x", documents=1, passages=1),
    ]
    told = ["bx.", "cx.", "dx.", "ex.", "ey."]
    report = extractive_report([member("a")], edges, [])
    assert (said(report), report.summary) == (told, "bx. cx. dx.")
    assert extractive_report([member("a")], edges[::-1], []) == report


def test_of_the_passages_the_first_five_are_told() -> None:
    passages = [content(f"p{n}", f"Ann was {n}.", {"Ann": [0]}) for n in range(7)]
    assert said(extractive_report(MEMBERS, [], passages)) == [f"Ann was {n}." for n in range(5)]


def test_no_sentence_comes_twice() -> None:
    again = content("p2", "ANN  met Bob.", {"Ann": [0], "Bob": [0]})
    edges = [InnerEdge(edge("Ann", "Bob"), RAIN), InnerEdge(edge("Bob", "Ann"), RAIN)]
    report = extractive_report(MEMBERS, edges, [again])
    assert (said(report), report.cited) == (["Ann met Bob."], ("p1",))


@pytest.mark.parametrize(
    ("statement", "span"),
    [
        (NewStatement(0, 10, "Rain fell."), (0, 10)),
        (NewStatement(None, None, "Ann met Bob."), (22, 34)),
        (NewStatement(None, None, "They met."), (0, len(TEXT))),
    ],
)
def test_a_statement_of_a_bundle_stands_where_its_words_do(statement: NewStatement, span: tuple[int, int]) -> None:
    given = content("p", TEXT, {"Ann": [1], "Bob": [1]}, [NewStatement(None, None, "x"), statement])
    (sentence,) = extractive_report(MEMBERS, [InnerEdge(edge("Ann", "Bob"), given)], []).sentences
    assert sentence == ReportSentence(statement.text or "", (SentenceSource("p", *span),))


def test_a_passage_that_mentions_nothing_at_a_known_place_gives_its_first_sentence() -> None:
    assert said(extractive_report(MEMBERS, [], [content("p", TEXT, {"Ann": []})])) == ["It rained."]
    assert said(extractive_report(MEMBERS, [], [content("p", " ", {"Ann": []})])) == []


def test_without_anything_there_is_an_empty_report() -> None:
    assert extractive_report([], [], []) == Report(ReportOrigin.EXTRACTIVE, "", "")


PLACES = st.lists(st.integers(0, 3), max_size=4, unique=True).map(sorted)
CONTENTS = st.lists(st.dictionaries(st.sampled_from(["Ann", "Bob", "Eve"]), PLACES), max_size=7)


@given(CONTENTS)
def test_each_passage_tells_the_sentence_with_most_members(mentions: list[dict[str, list[int]]]) -> None:
    passages = [
        content(f"p{n}", " ".join(f"Said {n} {place}." for place in range(4)), own) for n, own in enumerate(mentions)
    ]
    expected = []
    for one in passages[:5]:
        places = sorted({place for own in one.mentions.values() for place in own}) or [0]
        counts = [sum(place in one.mentions[m] for m in one.mentions if m.name != "Eve") for place in places]
        best = min(range(len(places)), key=lambda n: (-counts[n], n))
        expected.append(f"Said {one.passage.id[1:]} {places[best]}.")
    report = extractive_report(MEMBERS, [], passages)
    assert said(report) == expected
    assert [_standing(passages, source) for each in report.sentences for source in each.sources] == expected


def _standing(passages: Sequence[Content], source: SentenceSource) -> str:
    (text,) = [one.passage.text for one in passages if one.passage.id == source.passage_id]
    return text[source.start : source.end]


# --- centrality and vectors ------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 2, st.sampled_from([0.1, 0.2, 1.0])), max_size=12))
def test_centrality_is_the_sum_of_weights_at_an_entity(edges: list[tuple[str, str, float]]) -> None:
    found = centrality(edges)
    for entity in "abcd":
        expected = sum(weight for u, v, weight in edges if u != v and entity in (u, v))
        assert found.get(entity, 0.0) == pytest.approx(expected)
    assert centrality(edges[::-1]) == found


def test_the_vector_of_a_report_is_the_mean_of_its_sentences() -> None:
    one, other = np.array([1, 0, 0], dtype=np.float32), np.array([0, 1, 0], dtype=np.float32)
    vector = report_vector([one, other])
    assert vector is not None
    assert vector.dtype == np.float32
    assert vector.tolist() == pytest.approx([1 / sqrt(2), 1 / sqrt(2), 0])
    assert report_vector([one, -one]) is None
    assert report_vector([]) is None
