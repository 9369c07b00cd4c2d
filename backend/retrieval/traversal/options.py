"""The options of traversal-based search, named as in its documentation, each with the default of its code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from backend.errors import Malformed, NotConfigured

RETRIEVERS = ("ChunkBasedSearch", "EntityBasedSearch", "EntityNetworkSearch", "TopicBeamSearch")
DEFAULT_RETRIEVERS = (("ChunkBasedSearch", 1.0), ("EntityNetworkSearch", 1.0))
_RERANKERS = ("none", "tfidf", "encoder", "model")
_KEYWORD_PROVIDERS = ("nlp", "passthru", "llm")

# What the documentation of traversal-based search names and cannot be here: thread pools and caches (one reading asks
# a few batched questions), clients of a cloud, functions, and cuts that came before any ranking.
LEFT_OUT = (
    *("num_workers", "no_cache", "bedrock_reranker_client_config", "debug_results", "expand_entities"),
    *("source_formatter", "reranking_source_metadata_fn", "query_limit", "results_pruning_threshold"),
    *("chunk_cosine_top_k", "chunk_beam_width", "chunk_beam_max_depth", "enable_multipart_queries"),
    *("include_chunk_details", "token_truncation_mode"),
)


@dataclass(frozen=True, slots=True)
class TraversalOptions:
    """How traversal-based search looks and what it keeps; None means no limit."""

    include_facts: bool = False  # the text of a result shows the facts of each statement
    disaggregate_results: bool = False  # one result per topic, not per source
    reranker: str = "tfidf"  # one more ranked list of statements: none, tfidf, encoder, model
    max_statements: int | None = 200
    max_search_results: int | None = 5  # sources
    max_statements_per_topic: int | None = 10
    max_keywords: int | None = 3
    intermediate_limit: int | None = 50  # statements from one start
    vss_top_k: int = 10  # starts of one vector search
    vss_diversity_factor: int = 5  # so many times more are looked at, to take them from many sources
    statement_pruning_factor: float | None = 0.05  # of the best score
    statement_pruning_threshold: float | None = None
    max_context_tokens: int | None = None
    derive_subqueries: bool = False  # a language model takes the question apart, and each part is searched for too
    max_subqueries: int | None = 2
    # `vss`, a model that reads passages to find keywords, is none of them: what passages say is searched anyway.
    ec_keyword_provider: str = "nlp"  # nlp: names and themes; passthru: the question; llm: by a language model
    ec_max_entities: int | None = 5
    ec_max_score_factor: float = 10.0
    ec_min_score_factor: float = 0.1
    ec_max_contexts: int = 3
    ec_max_depth: int = 3
    topic_beam_width: int = 100
    topic_beam_max_depth: int = 6
    topic_top_k: int = 50
    use_same_chunk_neighbors: bool = True
    use_adjacent_chunk_neighbors: bool = True
    use_entity_neighbors: bool = False
    max_chunk_neighbors: int = 100
    max_entity_neighbors: int = 100
    topic_reranker: str = "none"
    max_topics: int | None = 40


def read_options(given: Sequence[str]) -> TraversalOptions:
    """The options of KEY=VALUE texts; raises Malformed for an unknown key or a value of a wrong kind."""
    chosen: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise Malformed(f"The option {text[:100]!r} has no value.", hint="Write KEY=VALUE.")
        chosen[key.strip()] = _value(key.strip(), value.strip())
    options = TraversalOptions(**chosen)
    for name in (options.reranker, options.topic_reranker):
        _check_reranker(name)
    if options.ec_keyword_provider not in _KEYWORD_PROVIDERS:
        raise Malformed(
            f"There is no keyword provider {options.ec_keyword_provider[:100]!r}.",
            hint=f"There are: {', '.join(_KEYWORD_PROVIDERS)}.",
        )
    return options


def _value(key: str, value: str) -> object:
    kinds = {field.name: str(field.type) for field in fields(TraversalOptions)}
    if key not in kinds:
        why = " It cannot be set here." if key in LEFT_OUT else ""
        raise Malformed(f"There is no option {key[:100]!r}.{why}", hint=f"There are: {', '.join(sorted(kinds))}.")
    kind, _, optional = kinds[key].partition(" | ")
    if optional and value.lower() == "none":
        return None
    readers: dict[str, Callable[[str], object]] = {"int": _count, "float": _share, "bool": _flag, "str": str}
    try:
        return readers[kind](value)
    except ValueError:
        wanted = {"int": "a whole number from 0", "float": "a number from 0", "bool": "true or false"}[kind]
        raise Malformed(
            f"The option {key} is {value[:100]!r}.", hint=f"Write {wanted}{' or none' if optional else ''}."
        ) from None


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ValueError
    return int(value)


def _share(value: str) -> float:
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def _flag(value: str) -> bool:
    if value.lower() not in ("true", "1", "yes", "false", "0", "no"):
        raise ValueError
    return value.lower() in ("true", "1", "yes")


def _check_reranker(name: str) -> None:
    if name == "bedrock":
        raise NotConfigured(
            "No client for the reranker 'bedrock' can be set up here.",
            hint="Use model, with a cross-encoder in ATTEST_RERANKER.",
        )
    if name not in _RERANKERS:
        raise Malformed(f"There is no reranker {name[:100]!r}.", hint=f"There are: {', '.join(_RERANKERS)}.")


def read_retrievers(given: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Names with weights, NAME or NAME=WEIGHT; without any the default ones. Raises Malformed for an unknown name."""
    chosen: list[tuple[str, float]] = []
    for text in given:
        name, equals, weight = text.partition("=")
        if name not in RETRIEVERS:
            raise Malformed(f"There is no retriever {name[:100]!r}.", hint=f"There are: {', '.join(RETRIEVERS)}.")
        try:
            chosen.append((name, _share(weight) if equals else 1.0))
        except ValueError:
            raise Malformed(f"The weight of {name} is {weight[:100]!r}.", hint="Write a number from 0.") from None
    return tuple(chosen) or DEFAULT_RETRIEVERS
