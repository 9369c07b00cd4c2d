"""An Index and an Encoder that count what is asked of them, and pass it on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from backend.vectors.base import Encoder, Index, Neighbour, Vector, Vectors


class CountingIndex:
    """`searches` says for each collection how often its nearest rows were asked for; one search may be for many."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.searches: Counter[str] = Counter()

    @property
    def max_results(self) -> int:
        return self._index.max_results

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        self.searches[collection] += 1
        return self._index.nearest(collection, vector, limit=limit, labels=labels)

    def nearest_each(
        self, collection: str, vectors: Vectors, *, limit: int, labels: Sequence[str] = ()
    ) -> list[list[Neighbour]]:
        self.searches[collection] += 1
        return self._index.nearest_each(collection, vectors, limit=limit, labels=labels)

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self._index.create(collection, kind=kind, encoder=encoder, dimension=dimension)

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        self._index.add(collection, ids, labels, vectors)

    def seal(self, collection: str) -> None:
        self._index.seal(collection)

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        return self._index.read(collection, ids)

    def ids(self, collection: str) -> Iterator[str]:
        return self._index.ids(collection)

    def collections(self) -> dict[str, int]:
        return self._index.collections()

    def names(self) -> list[str]:
        return self._index.names()

    def drop(self, collection: str) -> None:
        self._index.drop(collection)

    def close(self) -> None:
        self._index.close()

    def version(self) -> str:
        return self._index.version()


class CountingEncoder:
    """`batches` are the texts of each call."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.batches: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(tuple(texts))
        return self._encoder.encode(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)
