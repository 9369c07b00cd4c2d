"""The strategy `traversal`, and those that are one of its retrievers, from a question to ranked statements."""

from __future__ import annotations

from collections.abc import Sequence

from backend.errors import Malformed
from backend.retrieval.reader import Found, Reader
from backend.retrieval.traversal.assembly import assemble
from backend.retrieval.traversal.options import read_options, read_retrievers
from backend.retrieval.traversal.ranking import Ranked, rank_statements
from backend.retrieval.traversal.retrievers import Traversal
from backend.statements import WHOLE


def traversal(reader: Reader) -> Sequence[Found]:
    """Traversal-based search by the retrievers that the question names."""
    return _search(reader, read_retrievers(reader.question.retrievers))


def entities(reader: Reader) -> Sequence[Found]:
    """EntityBasedSearch alone."""
    return _alone(reader, "EntityBasedSearch")


def topics(reader: Reader) -> Sequence[Found]:
    """TopicBeamSearch alone."""
    return _alone(reader, "TopicBeamSearch")


def _alone(reader: Reader, name: str) -> Sequence[Found]:
    if reader.question.retrievers:
        raise Malformed("This strategy is one retriever.", hint="Use the strategy `traversal` to choose retrievers.")
    return _search(reader, ((name, 1.0),))


def _search(reader: Reader, retrievers: Sequence[tuple[str, float]]) -> Sequence[Found]:
    options = read_options(reader.question.options)
    if "model" in (options.reranker, options.topic_reranker):
        reader.reranker()  # what is not set up is better known before anything is read
    weights = dict(retrievers)
    search = Traversal(reader, options, list(weights))
    reached = search.run()
    transcriptions = search.contexts.transcriptions()
    ranked = rank_statements(reader, options, reached, weights, transcriptions)
    contents = {one.passage.id: one for one in reader.known(dict.fromkeys(one.key.passage_id for one in ranked))}
    reader.results = assemble(ranked, contents, search.contexts, options, reader.open_encoder().count_tokens)
    reader.context = tuple(transcriptions)
    return _passages(ranked)


def _passages(ranked: Sequence[Ranked]) -> list[Found]:
    """Passages in the order of their best statement, each with its statements, best first."""
    found: dict[str, list[Ranked]] = {}
    for one in ranked:
        found.setdefault(one.key.passage_id, []).append(one)
    return [
        Found(passage_id, own[0].score, tuple(one.key.place for one in own[:3] if one.key.place != WHOLE), _why(own[0]))
        for passage_id, own in found.items()
    ]


def _why(best: Ranked) -> tuple[str, ...]:
    ranks = ", ".join(f"{name} (place {rank})" for name, rank in best.ranks.items())
    reranked = f", reranker (place {best.reranked[0]})" if best.reranked else ""
    return (f"from {best.reached.start}", *best.reached.path, f"{ranks}{reranked}")
