"""Traversal-based search as its documentation has it, and where it does the better thing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.errors import Malformed, NotConfigured
from backend.explorer import Explorer
from backend.passages import RankedPassages
from backend.questions import Named, Question
from backend.retrieval.traversal.beam import path_weighted
from backend.retrieval.traversal.contexts import ContextEntity, choose_contexts, degree_filter
from backend.retrieval.traversal.options import RETRIEVERS, TraversalOptions, read_options, read_retrievers
from backend.retrieval.traversal.retrievers import diverse
from backend.retrieval.traversal.tfidf import tfidf_scores
from tests.bundles import long_report, write_bundle
from tests.counting import CountingEncoder, CountingIndex

WIDGETS, SHIPPING, WEATHER = (
    "Widgets: Acme makes widgets",
    "Shipping: Acme ships by sea",
    "Weather: It rained in Paris",
)
ASKED, CONTEXT = "who makes acme widgets", "acme, sea freight"


# --- the scorer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrases", "options", "scores"),
    [
        ([ASKED], {}, [0.87, 0.13, 0.0]),
        ([ASKED, CONTEXT], {"primary": 1}, [0.5025, 0.254, 0.0]),
        ([ASKED, CONTEXT], {"limit": 1}, [0.88, 0.42, None]),
    ],
)
def test_scores_of_the_toolkit(phrases: list[str], options: dict[str, int], scores: list[float | None]) -> None:
    found = tfidf_scores([WIDGETS, SHIPPING, WEATHER], phrases, **options)
    got = [None if text not in found else round(found[text], 4) for text in (WIDGETS, SHIPPING, WEATHER)]
    assert got == scores


def test_texts_shorter_than_a_trigram_score_nothing() -> None:
    assert tfidf_scores(["ab", "c"], ["xyz"]) == {"ab": 0.0, "c": 0.0}


# --- contexts --------------------------------------------------------------------------------------------------------


def named(name: str) -> Named:
    return Named(name, name, "Thing")


def kept(**similarities: float) -> dict[str, ContextEntity]:
    return {name: ContextEntity(named(name), 1, similarity) for name, similarity in similarities.items()}


def chosen(paths: Sequence[Sequence[str]], entities: dict[str, ContextEntity]) -> list[list[str]]:
    found = choose_contexts([[named(name) for name in path] for path in paths], entities)
    return [[one.entity.name for one in path] for path in found]


def test_roots_take_turns_and_the_more_similar_way_comes_first() -> None:
    paths = [["r1", "a", "x"], ["r1", "a", "y"], ["r1", "b"], ["r2"]]
    entities = kept(r1=0.5, a=0.2, x=0.0, b=0.4, r2=0.3)  # y is filtered out
    assert chosen(paths, entities) == [["r1", "b"], ["r2"], ["r1", "a", "x"]]


def test_a_context_that_begins_another_is_left_out_and_one_whose_name_does_is_not() -> None:
    paths = [["Neptune"], ["Neptune", "S3"], ["Neptune Analytics"]]
    entities = {name: ContextEntity(named(name), 1, 0.0) for name in ("Neptune", "S3", "Neptune Analytics")}
    assert chosen(paths, entities) == [["Neptune", "S3"], ["Neptune Analytics"]]


def test_degrees_far_from_the_baseline_are_left_out() -> None:
    within = degree_filter(TraversalOptions(), 10)
    assert [degree for degree in (0, 1, 10, 100, 101) if within(degree)] == [1, 10, 100]


def test_starts_are_taken_from_the_sources_in_turns() -> None:
    ranked = RankedPassages(dict.fromkeys("12345", 0.0), documents=dict(zip("12345", "AAABC", strict=True)))
    assert diverse(ranked, 3, 5) == ["1", "4", "5"]
    assert diverse(ranked, 3, 0) == ["1", "2", "3"]


def test_scores_of_topics_beside_topics_are_those_of_the_toolkit() -> None:
    question, parent = np.array([1, 0, 0], np.float32), np.array([0.9, 0.1, 0], np.float32)
    scores = [path_weighted(question, parent, np.array(one, np.float32)) for one in ([0.8, 0.2, 0], [0.7, 0.3, 0])]
    assert scores == [pytest.approx(0.96577, abs=1e-5), pytest.approx(0.89939, abs=1e-5)]


# --- options ---------------------------------------------------------------------------------------------------------


def test_options_are_read_by_their_kind() -> None:
    options = read_options(["vss_top_k=3", "max_statements=none", "include_facts=true", "statement_pruning_factor=0.2"])
    assert (options.vss_top_k, options.max_statements) == (3, None)
    assert (options.include_facts, options.statement_pruning_factor) == (True, 0.2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("vss_topk=3", "There are: "),
        ("num_workers=3", "There are: "),
        ("vss_top_k=-1", "a whole number from 0"),
        ("vss_top_k=none", "a whole number from 0"),
        ("include_facts=maybe", "true or false"),
        ("statement_pruning_factor=nan", "a number from 0"),
        ("vss_top_k", "KEY=VALUE"),
        ("reranker=best", "There are: "),
        ("ec_keyword_provider=vss", "There are: "),
    ],
)
def test_an_option_that_cannot_be_is_malformed_and_says_what_can(given: str, said: str) -> None:
    with pytest.raises(Malformed) as raised:
        read_options([given])
    assert said in raised.value.hint


def test_a_reranker_in_a_cloud_is_not_configured_and_the_message_names_the_one_that_can_be() -> None:
    with pytest.raises(NotConfigured) as raised:
        read_options(["reranker=bedrock"])
    assert "model" in raised.value.hint


def test_retrievers_have_weights() -> None:
    assert read_retrievers(()) == (("ChunkBasedSearch", 1.0), ("EntityNetworkSearch", 1.0))
    assert read_retrievers(["TopicBeamSearch=0.5"]) == (("TopicBeamSearch", 0.5),)
    for wrong in ("BestSearch", "TopicBeamSearch=much"):
        with pytest.raises(Malformed):
            read_retrievers([wrong])


# --- whole searches --------------------------------------------------------------------------------------------------


def ask(explorer: Explorer, text: str, **fields: Any) -> Any:
    return explorer.retrieve(Question(text, strategy="traversal", **fields))


def test_a_result_has_the_keys_of_the_documentation(small_world: Explorer) -> None:
    found = ask(small_world, "Who kept the light at Skerry?")
    first = found.results[0]
    assert set(first) == {"text", "metadata"}
    assert set(first["metadata"]) == {"result", "entity_contexts"}
    assert set(first["metadata"]["result"]) == {"source", "topics"}
    assert set(first["metadata"]["result"]["source"]) == {"sourceId", "metadata"}
    topic = first["metadata"]["result"]["topics"][0]
    assert set(topic) == {"topic", "topicId", "statements"}
    assert set(topic["statements"][0]) == {
        *("statementId", "statement", "facts", "details", "chunkId", "score", "statement_str", "retrievers", "explain"),
    }
    (context, *_) = first["metadata"]["entity_contexts"]["contexts"]
    assert set(context["entities"][0]) == {"entity", "score", "reranking_score"}
    assert set(context["entities"][0]["entity"]) == {"entityId", "value", "classification"}
    assert set(first["text"]) in ({"source", "topic", "statements"}, {"source", "topics"})


def test_results_are_one_per_source_or_where_asked_one_per_topic(small_world: Explorer) -> None:
    whole = ask(small_world, "Who kept the light?", options=("max_search_results=none",)).results
    sources = [one["metadata"]["result"]["source"]["sourceId"] for one in whole]
    assert len(sources) == len(set(sources)) > 1
    apart = ask(
        small_world, "Who kept the light?", options=("max_search_results=none", "disaggregate_results=true")
    ).results
    assert all(len(one["metadata"]["result"]["topics"]) == 1 for one in apart)
    assert len(apart) >= len(whole)


def test_weights_change_the_order_and_scores_are_the_fused_ones(small_world: Explorer) -> None:
    def scores(*retrievers: str) -> list[float]:
        found = ask(small_world, "Who kept the light?", retrievers=retrievers, options=("reranker=none",))
        return [item.score for item in found.evidence]

    alone = scores("ChunkBasedSearch")
    assert alone[0] == round(1 / 61, 6)
    assert scores("ChunkBasedSearch=2")[0] == round(2 / 61, 6)
    assert scores("ChunkBasedSearch=0") == [0.0] * len(alone)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_each_retriever_works_alone_and_says_how_it_came_to_each_statement(
    small_world: Explorer, retriever: str
) -> None:
    found = ask(small_world, "What is known of Ida Berg and the Heron?", retrievers=(retriever,))
    assert found.evidence
    for result in found.results:
        for topic in result["metadata"]["result"]["topics"]:
            for statement in topic["statements"]:
                assert statement["retrievers"] == [f"{retriever} (1)"]
                assert statement["explain"]["ranks"].keys() == {retriever}
                assert statement["explain"]["path"]


def test_default_search_costs_at_most_ten_queries_of_the_graph(small_world: Explorer) -> None:
    small_world.catalog()
    before = small_world.store.reads
    ask(small_world, "Who kept the light at Skerry with Ida Berg?")
    assert small_world.store.reads - before <= 10


def test_default_search_costs_two_searches_of_passage_vectors_one_of_others_and_two_batches_of_texts(
    small_world: Explorer,
) -> None:
    index, encoder = CountingIndex(small_world.index_store()), CountingEncoder(small_world.encoder())
    counted = Explorer(small_world.store, index=lambda: index, encoder=lambda: encoder, settings=small_world.settings)
    assert ask(counted, "Who kept the light at Skerry with Ida Berg?").context  # there was something to transcribe
    kinds = {collection.name: collection.kind for collection in counted.catalog().vector_collections}
    assert {kinds[name] for name in index.searches} == {"chunk", "entity"}
    assert all(times <= (2 if kinds[name] == "chunk" else 1) for name, times in index.searches.items())
    assert len(encoder.batches) <= 2


def test_a_bound_on_candidates_is_named_and_moved_by_the_reach(explorer: Explorer, folder: Path) -> None:
    explorer.load([write_bundle(folder / "report", **long_report(130))])
    cut = ask(explorer, "When did the light burn?")
    (bound,) = cut.cuts
    assert (bound.bound, bound.value) == ("candidate", 100)
    assert ask(explorer, "When did the light burn?", reach=2).truncated_by == ()
    for wrong in (0, 9):
        with pytest.raises(Malformed):
            ask(explorer, "When did the light burn?", reach=wrong)


def test_a_second_question_knows_nothing_of_the_first(small_world: Explorer) -> None:
    first = ask(small_world, "Who is Ida Berg?")
    ask(small_world, "Where is the Heron?")
    again = ask(small_world, "Who is Ida Berg?")
    assert (again.evidence, again.results, again.context) == (first.evidence, first.results, first.context)
