"""TopicBeamSearch: from the topics nearest to the question along the topics beside them, by a beam of bounded width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.errors import IndexNotReady
from backend.models import IndexState
from backend.retrieval.reader import Reader
from backend.retrieval.traversal.options import TraversalOptions
from backend.retrieval.traversal.tfidf import tfidf_scores
from backend.stores.lexical import Topic
from backend.stores.readiness import not_ready
from backend.vectors.base import Vector

_TOGETHER = 10  # topics that are expanded in one step
_WAYS = {"passage": "in the same passage", "adjacent": "in the passage beside it", "entity": "by shared entities"}


class Visit(NamedTuple):
    """A topic on the beam: its score, how deep it lies, and the way to it."""

    topic: Topic
    score: float
    depth: int
    path: tuple[str, ...]


@dataclass(slots=True)
class Beam:
    """One search over topics."""

    reader: Reader
    options: TraversalOptions

    def topics(self) -> list[Visit]:
        """The topics that the beam visits, best first, each once; raises IndexNotReady without topic vectors."""
        self.reader.require("topic")
        question = self.reader.question_vector()
        waiting = self._seeds(question)
        seen = {visit.topic.id for visit in waiting}
        visited: list[Visit] = []
        while waiting and len(visited) < self.options.topic_beam_width:
            waiting.sort(key=lambda one: (-one.score, one.topic.id))
            batch = waiting[: min(_TOGETHER, self.options.topic_beam_width - len(visited))]
            waiting = waiting[len(batch) :]
            visited += batch
            deeper = [one for one in batch if one.depth < self.options.topic_beam_max_depth]
            following = self._neighbours(deeper, question, seen)
            seen.update(one.topic.id for one in following)
            waiting = [*waiting, *following][: max(self.options.topic_beam_width, len(waiting))]
        return self._reranked(visited)

    def _seeds(self, question: Vector) -> list[Visit]:
        scores: dict[str, float] = {}
        for collection in self.reader.catalog.vector_collections:
            if collection.kind == "topic":
                limit = 5 * self.options.topic_top_k
                try:
                    near = self.reader.open_index().nearest(
                        collection.name, question, limit=limit, labels=self.reader.scope.collections
                    )
                except IndexNotReady as error:
                    detail = "its vectors are not in the vector store"
                    raise not_ready("", "topic", IndexState.MISSING, detail=detail) from error
                scores.update((one.id, one.score) for one in near)
        ordered = sorted(scores, key=lambda one: (-scores[one], one))
        known = self.reader.view.topics(ordered, self.reader.scope) if ordered else {}
        first = [one for one in ordered if one in known][: self.options.topic_top_k]
        return [Visit(known[one], scores[one], 0, (f"topic {known[one].title!r} like the question",)) for one in first]

    def _neighbours(self, visits: Sequence[Visit], question: Vector, seen: set[str]) -> list[Visit]:
        """The topics beside these that were not seen yet, scored by way of the best of their parents."""
        ways = self._ways()
        near = (
            self.reader.view.topics_near(
                [one.topic.id for one in visits], list(ways), max(ways.values(), default=0), self.reader.scope
            )
            if visits and ways
            else {}
        )
        beside = {
            other: None
            for found in near.values()
            for way, others in found.items()
            for other in others[: ways[way]]
            if other not in seen
        }
        if not beside:
            return []
        known = self.reader.view.topics(list(beside), self.reader.scope)
        vectors = self.reader.vectors_of("topic", [*known, *(one.topic.id for one in visits)])
        best: dict[str, Visit] = {}
        for parent in visits:
            for way, others in near.get(parent.topic.id, {}).items():
                for other in others[: ways[way]]:
                    visit = _visit(parent, way, known.get(other), vectors, question)
                    if visit and (other not in best or visit.score > best[other].score):
                        best[other] = visit
        return list(best.values())

    def _ways(self) -> dict[str, int]:
        options = self.options
        chosen = {
            "passage": options.max_chunk_neighbors if options.use_same_chunk_neighbors else 0,
            "adjacent": options.max_chunk_neighbors if options.use_adjacent_chunk_neighbors else 0,
            "entity": options.max_entity_neighbors if options.use_entity_neighbors else 0,
        }
        return {way: limit for way, limit in chosen.items() if limit}

    def _reranked(self, visited: Sequence[Visit]) -> list[Visit]:
        """The first topics, in the order of the topic reranker where there is one."""
        if self.options.topic_reranker == "none":
            return list(visited)
        texts = {visit.topic.id: visit.topic.title for visit in visited}
        if self.options.topic_reranker == "tfidf":
            by_text = tfidf_scores(list(texts.values()), [self.reader.question.text])
            scores = {topic_id: by_text.get(text, 0.0) for topic_id, text in texts.items()}
        elif self.options.topic_reranker == "model":
            read = self.reader.reranker().scores(self.reader.question.text, list(texts.values()))
            scores = dict(zip(texts, read, strict=True))
        else:
            question = self.reader.question_vector()
            stored = self.reader.vectors_of("topic", list(texts))
            scores = {topic_id: float(question @ stored[topic_id]) if topic_id in stored else 0.0 for topic_id in texts}
        ordered = sorted(visited, key=lambda one: (-scores[one.topic.id], -one.score, one.topic.id))
        return ordered[: self.options.max_topics]


def _visit(
    parent: Visit, way: str, topic: Topic | None, vectors: Mapping[str, Vector], question: Vector
) -> Visit | None:
    if topic is None or topic.id not in vectors or parent.topic.id not in vectors:
        return None
    score = path_weighted(question, vectors[parent.topic.id], vectors[topic.id])
    return Visit(topic, score, parent.depth + 1, (*parent.path, f"topic {topic.title!r} {_WAYS[way]}"))


def path_weighted(question: Vector, parent: Vector, topic: Vector) -> float:
    """cos(question, topic) x (1 + cos(parent, topic)) / 2, the toolkit's score of a topic beside another."""
    import numpy as np

    def cosine(one: Vector, other: Vector) -> float:
        return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))

    return round(cosine(question, topic) * (1 + cosine(parent, topic)) / 2, 6)
