"""A cross-encoder in retrieval: one more ranked list, always in the guided walk, elsewhere where asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backend.errors import NotConfigured
from backend.explorer import Explorer
from backend.questions import Question, Retrieval
from backend.ranking import RRF_K
from tests.rerankers import write_reranker

ASKED = "Who kept the light at Skerry with Ida Berg?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_reranker(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def reranking(small_world: Explorer, model: Path) -> Explorer:
    """The small world, asked with a cross-encoder set up."""
    settings = replace(small_world.settings, reranker=str(model))
    index, encoder = small_world.index_store(), small_world.encoder()
    return Explorer(small_world.store, index=lambda: index, encoder=lambda: encoder, settings=settings)


def ask(explorer: Explorer, strategy: str, *options: str) -> Retrieval:
    return explorer.retrieve(Question(ASKED, strategy=strategy, options=options))


@pytest.mark.parametrize("option", ["reranker=model", "topic_reranker=model"])
def test_without_a_cross_encoder_its_rerankers_are_not_configured_and_name_the_setting(
    small_world: Explorer, option: str
) -> None:
    with pytest.raises(NotConfigured) as raised:
        ask(small_world, "traversal", option)
    assert "ATTEST_RERANKER" in raised.value.hint


def test_statements_are_reranked_in_the_order_of_the_cross_encoder(reranking: Explorer) -> None:
    found = ask(reranking, "traversal", "reranker=model", "max_search_results=none", "statement_pruning_factor=none")
    statements = [
        statement
        for result in found.results
        for topic in result["metadata"]["result"]["topics"]
        for statement in topic["statements"]
    ]
    by_rank = sorted(statements, key=lambda one: one["explain"]["reranked"]["rank"])
    scores = [one["explain"]["reranked"]["score"] for one in by_rank]
    assert len(set(scores)) > 1
    assert scores == sorted(scores, reverse=True)


def test_only_as_many_statements_are_read_as_are_kept_and_the_bound_is_named(reranking: Explorer) -> None:
    found = ask(reranking, "traversal", "reranker=model", "max_statements=2")
    assert "candidate" in found.truncated_by


def test_topics_come_in_the_order_of_the_cross_encoder(reranking: Explorer) -> None:
    found = ask(reranking, "topics", "topic_reranker=model", "reranker=none", "max_search_results=none")
    titles = [topic["topic"] for result in found.results for topic in result["metadata"]["result"]["topics"]]
    scores = reranking.reranker().scores(ASKED, titles)
    assert len(titles) > 1
    assert scores == sorted(scores, reverse=True)


def test_the_guided_walk_fuses_its_order_with_that_of_the_cross_encoder_and_says_so(
    small_world: Explorer, reranking: Explorer
) -> None:
    before, after = ask(small_world, "guided-walk"), ask(reranking, "guided-walk")
    assert set(before.ranked) == set(after.ranked)
    for item in after.evidence:
        walk, read = (int(part.split("place ")[1].rstrip(")")) for part in item.why[-1].split(", "))
        assert before.ranked[walk - 1] == item.passage.source_id
        assert item.score == round(1 / (RRF_K + walk) + 1 / (RRF_K + read), 6)
    assert "cross-encoder" in after.steps[-1].name


def test_the_same_question_has_the_same_answer_with_a_cross_encoder(reranking: Explorer) -> None:
    first, again = (ask(reranking, "guided-walk") for _ in range(2))
    assert (first.evidence, first.ranked) == (again.evidence, again.ranked)
