"""The strategy `passages`: words and meaning, and the sentence of each passage that is nearest to the question."""

from __future__ import annotations

from collections.abc import Sequence

from backend.passages import CANDIDATE_LIMIT, by_words
from backend.ranking import fuse
from backend.retrieval.reader import Found, Reader

_KEPT = 100  # passages of each list that are fused


def find_passages(reader: Reader) -> Sequence[Found]:
    """Visible passages by their words and by meaning, fused by reciprocal ranks."""
    reader.require("chunk")
    reader.require("passages")
    with reader.step("passages by their words") as found:
        limit = CANDIDATE_LIMIT * reader.question.reach
        lexical = by_words(reader.view, reader.question.text, reader.scope, limit)
        found(len(lexical.scores))
        reader.note(lexical.cut)
    with reader.step("passages by meaning") as found:
        (semantic,) = reader.nearest_passages([reader.question_vector()], _KEPT)
        found(len(semantic.scores))
    lists = {"words": list(lexical.scores)[:_KEPT], "meaning": list(semantic.scores)[:_KEPT]}
    order = list(dict.fromkeys(passage_id for ids in lists.values() for passage_id in ids))
    scores = fuse(lists)
    ranked = sorted(order, key=lambda passage_id: -scores[passage_id])[:_KEPT]
    with reader.step("their nearest sentences") as found:
        nearest = reader.nearest_statements(ranked[: max(20, reader.question.limit)])
        found(len(nearest))
    places = {passage_id: (place,) for passage_id, (_, place) in nearest.items()}
    return [
        Found(passage_id, scores[passage_id], places.get(passage_id, ()), _why(passage_id, lists))
        for passage_id in ranked
    ]


def _why(passage_id: str, lists: dict[str, list[str]]) -> tuple[str, ...]:
    said = {"words": "words of the question", "meaning": "like the question in meaning"}
    return tuple(
        f"{said[name]} (place {ids.index(passage_id) + 1})" for name, ids in lists.items() if passage_id in ids
    )
