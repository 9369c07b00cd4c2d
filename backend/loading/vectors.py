"""Keeping vectors in step with the graph: what has none gets one, and small collections are merged.

Every job writes into a collection of its own, which nobody reads before the job's commit and nobody writes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from backend.errors import IndexNotReady
from backend.loading.jobs import Ticker
from backend.loading.plan import batched
from backend.models import VectorCollection
from backend.stores.base import GraphWriter
from backend.vectors.base import Encoder, Index, Vector

# Collections of a kind that readers have to ask one after the other before a load merges them (design, section 3).
MAX_COLLECTIONS = 8
_BATCH = 512

Known = Callable[[Sequence[str]], Mapping[str, Vector]]


def _nothing(ids: Sequence[str]) -> Mapping[str, Vector]:
    return {}


class VectorWriter:
    """Writes the vectors of one job."""

    def __init__(
        self,
        writer: GraphWriter,
        collections: Sequence[VectorCollection],
        *,
        index: Callable[[], Index],
        encoder: Callable[[], Encoder],
        job_id: str,
    ) -> None:
        self._writer = writer
        self._collections = collections
        self._index = index
        self._encoder = encoder
        self._job_id = job_id
        self._name = f"entity-{job_id}"
        self._ids: list[str] = []

    def check_encoder(self) -> None:
        """Raises IndexNotReady when the store's vectors were made with another encoder."""
        for collection in self._collections:
            if collection.encoder != self._encoder().name:
                raise IndexNotReady(
                    f"The vectors of this store were made with {collection.encoder}, the encoder is "
                    f"{self._encoder().name}.",
                    hint="Set ATTEST_ENCODER back, or run `attest index` to make all vectors anew.",
                    index="vector",
                    remedy="attest index",
                )

    def forget_lost(self) -> list[str]:
        """Finds what the graph says is in the vector store and is not, so that it is made anew; in words."""
        mended = []
        sizes = self._index().collections() if self._collections else {}
        for collection in self._collections:
            if collection.name not in sizes:
                self._writer.forget_vectors(collection.name)
                mended.append(f"collection {collection.name} with {collection.count} vectors was lost")
            elif sizes[collection.name] < collection.count:
                stored = set(self._index().ids(collection.name))
                lost = [i for i, _ in self._writer.placed_vectors(collection.name) if i not in stored]
                self._writer.forget_vectors(collection.name, lost)
                mended.append(f"collection {collection.name} had lost {len(lost)} vectors")
        return mended

    def sweep(self) -> None:
        """Drops collections that no commit names: a killed job's, and those that a merge has replaced."""
        named = {collection.name for collection in self._collections}
        for name in self._index().names():
            if name not in named:
                self._index().drop(name)

    def forget_other_encoders(self) -> list[str]:
        """Lets vectors of another encoder be made anew; in words."""
        other = [collection for collection in self._collections if collection.encoder != self._encoder().name]
        for collection in other:
            self._writer.forget_vectors(collection.name)
        return [f"{collection.count} vectors were made with {collection.encoder}" for collection in other]

    def encode_missing(self, ticker: Ticker, *, known: Known = _nothing) -> int:
        """Gives a vector to whatever has none: the one that is `known` by its id, or a new one; how many are new."""
        waiting = list(self._writer.vector_texts("entity", missing_only=True))
        if not waiting and len(self._collections) <= MAX_COLLECTIONS:
            return 0
        self._create()
        encoded = 0
        for batch in batched(waiting, _BATCH):
            found = known([i for i, _, _ in batch])
            lacking = {i: text for i, _, text in batch if i not in found}
            if lacking and not encoded:
                ticker("loading the encoder")
                self._encoder().encode([""])  # its libraries alone take seconds
            ticker("encoding names" if lacking else "copying vectors", len(self._ids), len(waiting))
            self._add([(i, label) for i, label, _ in batch], {**found, **self._encode(lacking)})
            encoded += len(lacking)
        if len(self._collections) >= MAX_COLLECTIONS:
            self._merge(ticker)
        self._place()
        return encoded

    def _encode(self, texts: Mapping[str, str]) -> Mapping[str, Vector]:
        return dict(zip(texts, self._encoder().encode(list(texts.values())), strict=True)) if texts else {}

    def _merge(self, ticker: Ticker) -> None:
        for number, collection in enumerate(self._collections):
            ticker("merging vectors", number, len(self._collections))
            for batch in batched(self._writer.placed_vectors(collection.name), _BATCH):
                stored = self._index().read(collection.name, [i for i, _ in batch])
                self._add([(i, label) for i, label in batch if i in stored], stored)

    def _create(self) -> None:
        encoder = self._encoder()
        self._index().create(self._name, kind="entity", encoder=encoder.name, dimension=encoder.dimension)

    def _add(self, rows: Sequence[tuple[str, str]], vectors: Mapping[str, Vector]) -> None:
        """Adds rows of id and label, each with its vector."""
        import numpy as np

        if rows:
            ids = [i for i, _ in rows]
            self._index().add(self._name, ids, [label for _, label in rows], np.stack([vectors[i] for i in ids]))
            self._ids.extend(ids)

    def _place(self) -> None:
        self._index().seal(self._name)
        collection = VectorCollection(self._name, "entity", self._job_id, len(self._ids), self._encoder().name)
        self._writer.place_vectors(collection, self._ids)
