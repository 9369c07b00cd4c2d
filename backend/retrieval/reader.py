"""What every strategy reads with: one reading of the stores within a scope, and the encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from backend.answers.base import LanguageModel
from backend.errors import NotConfigured
from backend.identity import statement_id
from backend.models import Catalog, Cut
from backend.passages import RankedPassages, by_meaning, require_index
from backend.questions import Question, Step
from backend.scope import ResolvedScope
from backend.stores.base import GraphView
from backend.stores.lexical import Content
from backend.vectors.base import Encoder, Index, Reranker, Vector, Vectors, read_vectors


class Found(NamedTuple):
    """A passage that a strategy found, with the places of its supporting statements and the way to it in words."""

    passage_id: str
    score: float
    places: tuple[int, ...]
    why: tuple[str, ...]


@dataclass(slots=True)
class Reader:
    """One reading for one question; it notes the steps and the bounds that cut.

    `results` and `context` are what traversal-based search has beside passages.
    """

    view: GraphView
    question: Question
    scope: ResolvedScope
    catalog: Catalog
    open_index: Callable[[], Index]
    open_encoder: Callable[[], Encoder]
    open_reranker: Callable[[], Reranker] | None = None
    model: LanguageModel | None = None
    steps: list[Step] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    results: tuple[Mapping[str, Any], ...] = ()
    context: tuple[str, ...] = ()
    _vectors: dict[str, Vector] = field(default_factory=dict)
    _contents: dict[str, Content] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[int], None]]:
        """Times a step; what is yielded takes the number of things that it found."""
        found = 0

        def note(count: int) -> None:
            nonlocal found
            found = count

        begin = perf_counter()
        yield note
        self.steps.append(Step(name, found, round(1000 * (perf_counter() - begin), 3)))

    def require(self, index: str) -> None:
        """Raises IndexNotReady unless this index is online and of the encoder."""
        require_index(self.catalog, index, self.open_encoder)

    def reranker(self) -> Reranker:
        """The cross-encoder; raises NotConfigured where none is set up."""
        if self.open_reranker is None:
            raise NotConfigured(
                "No cross-encoder is set up, which the reranker `model` needs.",
                hint="Set ATTEST_RERANKER to one, or use the reranker tfidf or encoder.",
            )
        return self.open_reranker()

    def language_model(self) -> LanguageModel:
        """The language model; raises NotConfigured where none is set up."""
        if self.model is None:
            raise NotConfigured(
                "No language model is set up, which ec_keyword_provider=llm and derive_subqueries need.",
                hint="Set ATTEST_LLM_URL and ATTEST_LLM_MODEL, or leave these options as they are.",
            )
        return self.model

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts, in one batch of those that were not encoded before."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self.open_encoder().encode(new), strict=True))
        return [self._vectors[text] for text in texts]

    def question_vector(self) -> Vector:
        """The vector of the question."""
        return self.encode([self.question.text])[0]

    def nearest_passages(self, vectors: Sequence[Vector], wanted: int) -> list[RankedPassages]:
        """For each vector the visible passages nearest to it; one search of each collection for all."""
        if not vectors:
            return []
        lists = by_meaning(self.view, stacked(vectors), self.scope, self.catalog, self.open_index(), wanted=wanted)
        self.note(lists[0].cut)
        return lists

    def note(self, cut: Cut | None) -> None:
        """Notes a bound that cut, once."""
        if cut is not None and cut not in self.cuts:
            self.cuts.append(cut)

    def contents(self, passage_ids: Iterable[str]) -> Mapping[str, Content]:
        """What stands in passages; those that were read before are not read again."""
        wanted = list(dict.fromkeys(passage_ids))
        new = [passage_id for passage_id in wanted if passage_id not in self._contents]
        if new:
            self._contents.update(self.view.contents(new, self.scope))
        return {passage_id: self._contents[passage_id] for passage_id in wanted if passage_id in self._contents}

    def known(self, passage_ids: Iterable[str]) -> list[Content]:
        """What stands in those of the passages that were read before."""
        return [self._contents[passage_id] for passage_id in passage_ids if passage_id in self._contents]

    def statement_vectors(self, contents: Iterable[Content]) -> dict[tuple[str, int], Vector]:
        """The stored vectors of all statements of passages, by passage and place, as far as there are any."""
        keys = {
            (content.statement_vectors, statement_id(content.passage.id, place)): (content.passage.id, place)
            for content in contents
            if content.statement_vectors is not None
            for place in range(len(content.statements))
        }
        stored = self.read_vectors(keys)
        return {key: stored[one] for (_, one), key in keys.items() if one in stored}

    def read_vectors(self, wanted: Iterable[tuple[str, str]]) -> dict[str, Vector]:
        """The stored vectors by id of pairs of collection and id; without any the index is not opened."""
        pairs = list(wanted)
        return read_vectors(self.open_index(), pairs) if pairs else {}

    def vectors_of(self, kind: str, ids: Sequence[str]) -> dict[str, Vector]:
        """The stored vectors of things of a kind, from whichever collection has them."""
        found: dict[str, Vector] = {}
        for collection in self.catalog.vector_collections:
            wanted = [one for one in ids if one not in found]
            if collection.kind == kind and wanted:
                found.update(self.open_index().read(collection.name, wanted))
        return found

    def passage_vectors(self, contents: Iterable[Content]) -> dict[str, Vector]:
        """The stored vectors of passages, as far as there are any."""
        return self.read_vectors(
            (content.vectors, content.passage.id) for content in contents if content.vectors is not None
        )

    def similarities(self, contents: Sequence[Content], vector: Vector) -> dict[tuple[str, int], float]:
        """How near each statement is to a vector; where statements have no vectors, that of the passage stands in."""
        own = self.statement_vectors(contents)
        whole = self.passage_vectors([content for content in contents if (content.passage.id, 0) not in own])
        near: dict[tuple[str, int], float] = {}
        for content in contents:
            for place in range(len(content.statements)):
                key = (content.passage.id, place)
                stored = own.get(key, whole.get(content.passage.id))
                if stored is not None:
                    near[key] = round(float(vector @ stored), 6)
        return near

    def nearest_statements(self, passage_ids: Iterable[str]) -> dict[str, tuple[float, int]]:
        """Per passage how near its nearest statement is to the question, and the place of the first so near."""
        contents = list(self.contents(passage_ids).values())
        best: dict[str, tuple[float, int]] = {}
        for (passage_id, place), similarity in self.similarities(contents, self.question_vector()).items():
            if passage_id not in best or (similarity, -place) > (best[passage_id][0], -best[passage_id][1]):
                best[passage_id] = (similarity, place)
        return best


def stacked(vectors: Sequence[Vector]) -> Vectors:
    """Rows of one matrix."""
    import numpy as np

    return np.stack(vectors)
