"""Traversal-based search as its documentation uses it: an engine that retrieves, and one that answers."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from backend.answers.answering import Moment
from backend.explorer import Explorer
from backend.models import EVERYTHING, Scope
from backend.questions import Answer, Question, Retrieval


@dataclass(frozen=True, slots=True)
class SearchNode:
    """One result: source, topics and statements as JSON `text`, and in `metadata` all that is known of them."""

    text: str
    metadata: Mapping[str, Any]


@dataclass(slots=True)
class Response:
    """What a query came to: the results, times and counts in `metadata`, and the answer, which comes as it is read."""

    source_nodes: tuple[SearchNode, ...]
    metadata: dict[str, Any]
    _moments: Generator[Moment]
    _answer: Answer | None = field(default=None)

    @property
    def response(self) -> str:
        """The whole answer as text."""
        return " ".join(sentence.text for sentence in self.answer.sentences) or self.answer.note

    @property
    def answer(self) -> Answer:
        """The whole answer, each sentence with what it rests on."""
        for moment in self._moments:
            self._answer = moment.answer
        assert self._answer is not None
        return self._answer

    def print_response_stream(self) -> None:
        """Prints the sentences of the answer as they are finished."""
        shown = 0
        for moment in self._moments:
            self._answer = moment.answer
            for sentence in moment.answer.sentences[shown:]:
                print(sentence.text, end=" ", flush=True)
            shown = len(moment.answer.sentences)
        print()


class TraversalEngine:
    """Retrieves by traversal-based search, and answers from what it finds.

    `retrievers` are names, or NAME=WEIGHT, `options` what the search has as KEY=VALUE; each call stands for itself.
    """

    def __init__(
        self,
        explorer: Explorer,
        *,
        retrievers: Sequence[str] = (),
        scope: Scope = EVERYTHING,
        **options: object,
    ) -> None:
        self._explorer = explorer
        self._retrievers = tuple(retrievers)
        self._options = tuple(f"{key}={value}" for key, value in options.items())
        self._scope = scope

    def retrieve(self, query: str) -> list[SearchNode]:
        """The results for a question, best first; raises Malformed for an unknown retriever or option."""
        return list(_nodes(self._retrieve(query)))

    def query(self, query: str) -> Response:
        """The results, and the answer of the configured model, or without one its best sentences."""
        begin = perf_counter()
        found = self._retrieve(query)
        metadata = {
            "query": query,
            "retrieve_ms": round(1000 * (perf_counter() - begin), 3),
            "num_source_nodes": len(found.results),
            "context": list(found.context),
            "steps": [{"name": step.name, "found": step.found, "ms": step.ms} for step in found.steps],
        }
        return Response(_nodes(found), metadata, self._explorer.answer(found))

    def _retrieve(self, query: str) -> Retrieval:
        question = Question(query, "traversal", self._retrievers, self._options, scope=self._scope)
        return self._explorer.retrieve(question)


def _nodes(found: Retrieval) -> tuple[SearchNode, ...]:
    return tuple(
        SearchNode(json.dumps(result["text"], indent=2, ensure_ascii=False), result["metadata"])
        for result in found.results
    )
