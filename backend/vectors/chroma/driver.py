"""Chroma's client, as far as we use it; the only file that imports chromadb.

Nothing is ever sent to anybody but the server that the settings name, and no setting comes from a stranger's `.env`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import chromadb
import httpx
import numpy as np
from chromadb import errors
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.fastapi import FastAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.api.types import Where
from chromadb.config import Settings, System

from backend.vectors.base import Vector, Vectors

Metadata: TypeAlias = Mapping[str, str | int]
T = TypeVar("T")
VERSION = chromadb.__version__

# Measured on 100,000 clustered vectors of 384 columns, two cores: recall@20 1.000, recall@1000 0.998, 1,700 rows a
# second, 10 ms a read of 1,000. 16 neighbours build a tenth faster and lose recall where many vectors are alike.
# Chroma writes its index to disk when `sync_threshold` rows are new, and every process that opens the collection
# builds what was not written anew (50,000 rows: 40 s). We add in batches of thousands, so each of them is written.
_CONFIGURATION: CreateCollectionConfiguration = {
    "hnsw": {
        "space": "cosine",
        "ef_construction": 200,
        "max_neighbors": 24,
        "ef_search": 2_000,
        "sync_threshold": 2,
    }
}
_PAGE = 5_000  # ids in one request; SQLite takes some 32,000 variables
_CONNECTING = 5.0  # seconds
_REQUEST = 16_000_000  # bytes of vectors in one request; a server takes 40 million of everything


class Unanswered(Exception):
    """A server that cannot be reached, does not answer in time, or is no Chroma."""


# What Chroma can raise, by what it means to us; anything else of it is a mistake of ours and is not disguised.
MISSING = (errors.NotFoundError,)
UNREACHABLE = (
    errors.AuthorizationError,
    errors.ChromaAuthError,
    errors.InternalError,
    errors.QuotaError,
    errors.RateLimitError,
    errors.VersionMismatchError,
    Unanswered,
)
ChromaError = errors.ChromaError


def is_fault(error: Exception) -> bool:
    """Whether it is the store that failed; a server has errors without a name of their own, too."""
    return isinstance(error, (*UNREACHABLE, OSError)) or type(error) is ChromaError


class Collection:
    """A collection of rows: an id, a vector and some metadata each."""

    def __init__(self, collection: chromadb.Collection, *, batch: int = 0, close: Callable[[], None]) -> None:
        self._collection = collection
        self._batch = batch
        self.close = close

    @property
    def id(self) -> str:
        """What tells it from every other, also from the next of its name."""
        return str(self._collection.id)

    @property
    def metadata(self) -> Metadata:
        return cast(Metadata, self._collection.metadata or {})

    def add(self, ids: Sequence[str], metadatas: Sequence[Metadata], vectors: Sequence[Vector]) -> None:
        """Adds rows to a collection that was made by this process."""
        for part in parts(range(len(ids)), self._batch):
            self._collection.add(
                ids=[ids[number] for number in part],
                embeddings=np.stack([vectors[number] for number in part]),
                metadatas=[metadatas[number] for number in part],
            )

    def nearest(
        self, vectors: Vectors, limit: int, where: Mapping[str, Any] | None = None
    ) -> list[list[tuple[str, float]]]:
        """For each vector the nearest rows with their cosine similarity; one request for all."""
        chosen = cast("Where | None", where)
        result = self._collection.query(query_embeddings=vectors, n_results=limit, where=chosen, include=["distances"])
        distances = result["distances"]
        assert distances is not None
        return [
            [(row, 1.0 - distance) for row, distance in zip(ids, own, strict=True)]
            for ids, own in zip(result["ids"], distances, strict=True)
        ]

    def rows(
        self, where: Mapping[str, Any] | None = None, *, limit: int | None = None, offset: int | None = None
    ) -> list[str]:
        """The ids of rows, in the order in which they are stored."""
        chosen = cast("Where | None", where)
        return self._collection.get(where=chosen, limit=limit, offset=offset, include=[])["ids"]

    def vectors(self, rows: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these rows; of what is not stored there is none."""
        found: dict[str, Vector] = {}
        for part in parts(rows, _PAGE):
            result = self._collection.get(ids=list(part), include=["embeddings"])
            vectors = result["embeddings"]
            assert vectors is not None
            found |= {row: np.asarray(each, dtype=np.float32) for row, each in zip(result["ids"], vectors, strict=True)}
        return found

    def count(self, *, sample: int = 0) -> int:
        """The number of rows; reads some of them back from either end, which fails where vectors were lost."""
        count = self._collection.count()
        for offset in {0, max(0, count - sample)} if sample else ():
            self._collection.get(limit=sample, offset=offset, include=["embeddings"])
        return count

    def rename(self, name: str) -> None:
        """Gives it another name, at once for everybody; fails where there is one of that name."""
        self._collection.modify(name=name)


# --- on disk ---------------------------------------------------------------------------------------------------------


def create_in(path: Path, name: str, metadata: Metadata) -> Collection:
    """Makes a collection in a Chroma of its own in an empty folder."""
    client = _client(path)
    collection = client.create_collection(
        name, embedding_function=None, metadata=dict(metadata), configuration=_CONFIGURATION
    )
    return Collection(collection, batch=client.get_max_batch_size(), close=client.close)


def open_in(path: Path, name: str) -> Collection:
    """Opens the collection of a folder and reads it into memory: no later question needs its files."""
    client = _client(path)
    try:
        collection = client.get_collection(name, embedding_function=None)
        collection.count()
    except BaseException:
        client.close()
        raise
    return Collection(collection, close=client.close)


def _client(path: Path) -> Client:
    try:
        return cast(Client, chromadb.PersistentClient(path, settings=_settings()))
    except BaseException:
        # Chroma keeps what it could not open, and the next attempt would end in an error about that.
        SharedSystemClient._identifier_to_system.pop(str(path), None)
        raise


def _settings(**more: Any) -> Settings:
    options: dict[str, Any] = {"_env_file": None, "anonymized_telemetry": False, "migrations": "apply", **more}
    return Settings(**options)


# --- on a server -----------------------------------------------------------------------------------------------------


class Connection:
    """A pool of connections to a server, for many threads; every request has so many seconds.

    It connects when it is asked something, and again after the server was away. (Chroma's own client would ask three
    things before a time limit could be set, so this is what lies under it.)
    """

    def __init__(self, address: str, *, seconds: float) -> None:
        self._api = System(_settings(chroma_server_host=address, chroma_server_http_port=0)).instance(FastAPI)
        self._api._session.timeout = httpx.Timeout(seconds, connect=_CONNECTING)
        self._api._make_request = _answered(self._api._make_request)  # type: ignore[method-assign]
        self._greeted = False

    def greet(self) -> None:
        """Makes sure, once, that a Chroma server is what answers."""
        if not self._greeted:
            try:
                self._api.heartbeat()
            except (KeyError, TypeError, ValueError) as error:
                raise Unanswered("what answers there is no Chroma server") from error
            self._greeted = True

    def create(self, name: str, metadata: Metadata, *, dimension: int = 0) -> Collection:
        """Makes a collection; fails where there is one of that name."""
        model = self._api.create_collection(name, metadata=dict(metadata), configuration=_CONFIGURATION)
        row = dimension * 16 // 3 + 256  # bytes: four thirds of four per column, and the rest
        batch = min(self._api.get_max_batch_size(), max(1, _REQUEST // row))
        return self._collection(model, batch)

    def open(self, name: str) -> Collection:
        """Opens a collection."""
        return self._collection(self._api.get_collection(name), 0)

    def listed(self) -> dict[str, Metadata]:
        """Every collection there, with its metadata."""
        return {str(model["name"]): cast(Metadata, model["metadata"] or {}) for model in self._api.list_collections()}

    def remove(self, name: str) -> None:
        """Removes a collection."""
        self._api.delete_collection(name)

    def close(self) -> None:
        """Closes the connections; it is of no more use."""
        self._api._session.close()

    def _collection(self, model: Any, batch: int) -> Collection:
        opened = chromadb.Collection(client=self._api, model=model, embedding_function=None)
        return Collection(opened, batch=batch, close=lambda: None)


def _answered(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Requests whose every failure on the way is Unanswered.

    A question that met a connection which the server had just closed is asked again; whatever writes is not.
    """

    def request(method: str, path: str, **options: Any) -> Any:
        asking = method == "get" or path.endswith(("/get", "/query"))
        for again in (asking, False):
            try:
                return ask(method, path, **options)
            except errors.ChromaError:
                raise
            except httpx.HTTPError as error:
                if not again or not isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)):
                    raise Unanswered(str(error) or type(error).__name__) from error
            except Exception as error:  # Chroma has nothing better for what is no answer of its server
                raise Unanswered(f"what answers there is no Chroma server: {str(error)[:200]}") from error
        raise AssertionError

    return request


def parts(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    """The items in parts of at most so many."""
    return (items[start : start + size] for start in range(0, len(items), size))
