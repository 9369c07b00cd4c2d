"""Vectors in Chroma: the only file that imports chromadb, and where its errors become ours."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from backend.errors import IndexNotReady, StoreUnreachable
from backend.vectors.base import Neighbour, Vector, Vectors

_HNSW = {"space": "cosine", "ef_construction": 200, "max_neighbors": 24, "ef_search": 200}
_PAGE = 5_000


class ChromaIndex:
    """An Index in a Chroma client."""

    max_results = 1_000

    def __init__(self, client: Any) -> None:
        self._client = client
        self._open: dict[str, Any] = {}
        self._lock = threading.Lock()

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self.drop(collection)
        with chroma_errors(collection):
            self._client.create_collection(
                collection,
                embedding_function=None,
                metadata={"attest": 1, "kind": kind, "encoder": encoder, "dimension": dimension},
                configuration={"hnsw": _HNSW},
            )

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        opened = self._collection(collection)
        size = self._client.get_max_batch_size()
        for start in range(0, len(ids), size):
            part = slice(start, start + size)
            with chroma_errors(collection):
                opened.add(
                    ids=list(ids[part]),
                    embeddings=vectors[part],
                    metadatas=[{"label": _token(label)} for label in labels[part]],
                )

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        opened = self._collection(collection)
        where = {"label": {"$in": [_token(label) for label in labels]}} if labels else None
        with chroma_errors(collection):
            found = opened.query(query_embeddings=[vector], n_results=limit, where=where, include=["distances"])
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        neighbours = [Neighbour(row_id, round(1 - distance, 6)) for row_id, distance in pairs]
        return sorted(neighbours, key=lambda neighbour: (-neighbour.score, neighbour.id))

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        opened = self._collection(collection)
        with chroma_errors(collection):
            found = opened.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], found["embeddings"], strict=True))

    def ids(self, collection: str) -> Iterator[str]:
        opened = self._collection(collection)
        offset = 0
        while True:
            with chroma_errors(collection):
                page = opened.get(limit=_PAGE, offset=offset, include=[])["ids"]
            if not page:
                return
            yield from page
            offset += len(page)

    def collections(self) -> dict[str, int]:
        with chroma_errors("all"):
            ours = [c for c in self._client.list_collections() if (c.metadata or {}).get("attest")]
            return {collection.name: collection.count() for collection in ours}

    def drop(self, collection: str) -> None:
        with self._lock:
            self._open.pop(collection, None)
        try:
            with chroma_errors(collection):
                self._client.delete_collection(collection)
        except IndexNotReady:
            pass  # it is not there, as wanted

    def version(self) -> str:
        return f"Chroma {chromadb.__version__}"

    def _collection(self, name: str) -> Any:
        with self._lock:
            if name not in self._open:
                with chroma_errors(name):
                    self._open[name] = self._client.get_collection(name, embedding_function=None)
            return self._open[name]


def open_chroma(path: Path) -> ChromaIndex:
    """Opens the vectors in a folder, made where it is not there."""
    path.mkdir(parents=True, exist_ok=True)
    with chroma_errors(str(path)):
        return ChromaIndex(chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False)))


@contextmanager
def chroma_errors(thing: str) -> Iterator[None]:
    """Turns Chroma's errors into ours, naming the collection."""
    try:
        yield
    except NotFoundError as error:
        raise IndexNotReady(
            f"The vectors {thing} are not in the vector store.",
            hint="Run `attest index`.",
            index="vector",
            remedy="attest index",
        ) from error
    except (ChromaError, OSError) as error:
        raise StoreUnreachable(f"The vector store does not answer: {error}.", hint="Is its folder readable?") from error


def _token(label: str) -> str:
    return hashlib.blake2b(label.encode(), digest_size=12).hexdigest()
