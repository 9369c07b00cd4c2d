"""Keeping vectors in step with the graph: what has none gets one, and small collections are merged.

Every job writes into collections of its own, one per kind, which nobody reads before the job's commit and nobody writes
after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from backend.errors import IndexNotReady
from backend.loading.jobs import Ticker
from backend.loading.plan import batched
from backend.models import VectorCollection
from backend.stores.base import GraphWriter
from backend.stores.encoded import VectorText
from backend.vectors.base import Encoder, Index, Vector

# Collections of a kind that readers have to ask one after the other before a load merges them (design, section 3).
MAX_COLLECTIONS = 8
_BATCH = 512
_PLURAL = {"entity": "names", "chunk": "passages", "topic": "topics", "statement": "statements", "report": "reports"}

Known = Callable[[str, Sequence[str]], Mapping[str, Vector]]


def _nothing(kind: str, ids: Sequence[str]) -> Mapping[str, Vector]:
    return {}


class VectorWriter:
    """Writes the vectors of one job; `kinds` are those that the settings choose."""

    def __init__(
        self,
        writer: GraphWriter,
        collections: Sequence[VectorCollection],
        *,
        index: Callable[[], Index],
        encoder: Callable[[], Encoder],
        job_id: str,
        kinds: Sequence[str],
    ) -> None:
        self._writer = writer
        self._collections = collections
        self._index = index
        self._encoder = encoder
        self._job_id = job_id
        self._kinds = kinds

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
                self._writer.forget_vectors(collection)
                mended.append(f"collection {collection.name} with {collection.count} vectors was lost")
            elif sizes[collection.name] < collection.count:
                stored = set(self._index().ids(collection.name))
                lost = [text.owner for text in self._writer.placed_vectors(collection) if text.id not in stored]
                self._writer.forget_vectors(collection, set(lost))
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
            self._writer.forget_vectors(collection)
        return [f"{collection.count} vectors were made with {collection.encoder}" for collection in other]

    def encode_missing(self, ticker: Ticker, *, known: Known = _nothing) -> list[str]:
        """Gives a vector to whatever has none: the one that is `known` by its id, or a new one; how many are new."""
        encoded = {kind: self._encode_kind(kind, ticker, known) for kind in self._kinds}
        return [f"{count} {_PLURAL[kind]} encoded" for kind, count in encoded.items() if count]

    def _encode_kind(self, kind: str, ticker: Ticker, known: Known) -> int:
        waiting = batched(self._writer.vector_texts(kind, missing_only=True), _BATCH)
        first = next(waiting, [])
        of_kind = [collection for collection in self._collections if collection.kind == kind]
        if not first and len(of_kind) <= MAX_COLLECTIONS:
            return 0
        draft = _Draft(kind, f"{kind}-{self._job_id}", self._index(), self._encoder())
        encoded = 0
        for batch in (first, *waiting) if first else ():
            found = known(kind, [text.id for text in batch])
            lacking = {text.id: text.text for text in batch if text.id not in found}
            if lacking and not encoded:
                ticker("loading the encoder")
                self._encoder().encode([""])  # its libraries alone take seconds
            ticker(f"encoding {_PLURAL[kind]}" if lacking else "copying vectors", draft.size)
            draft.add(batch, {**found, **self._encode(lacking)})
            encoded += len(lacking)
        if len(of_kind) >= MAX_COLLECTIONS:
            self._merge(of_kind, draft, ticker)
        draft.index.seal(draft.name)
        placed = VectorCollection(draft.name, kind, self._job_id, draft.size, self._encoder().name)
        self._writer.place_vectors(placed, draft.owners)
        return encoded

    def _encode(self, texts: Mapping[str, str]) -> Mapping[str, Vector]:
        return dict(zip(texts, self._encoder().encode(list(texts.values())), strict=True)) if texts else {}

    def _merge(self, collections: Sequence[VectorCollection], draft: _Draft, ticker: Ticker) -> None:
        for number, collection in enumerate(collections):
            ticker("merging vectors", number, len(collections))
            for batch in batched(self._writer.placed_vectors(collection), _BATCH):
                stored = self._index().read(collection.name, [text.id for text in batch])
                draft.add([text for text in batch if text.id in stored], stored)


class _Draft:
    """A collection that is being written; `owners` are the rows whose vectors are in it, each once and in order."""

    def __init__(self, kind: str, name: str, index: Index, encoder: Encoder) -> None:
        self.name = name
        self.index = index
        self.size = 0
        self._owners: dict[str, None] = {}
        index.create(name, kind=kind, encoder=encoder.name, dimension=encoder.dimension)

    @property
    def owners(self) -> Collection[str]:
        return self._owners.keys()

    def add(self, texts: Iterable[VectorText], vectors: Mapping[str, Vector]) -> None:
        """Adds rows, each with its vector."""
        import numpy as np

        rows = list(texts)
        if rows:
            labels = [text.label for text in rows]
            self.index.add(self.name, [text.id for text in rows], labels, np.stack([vectors[text.id] for text in rows]))
            self._owners.update(dict.fromkeys(text.owner for text in rows))
            self.size += len(rows)
