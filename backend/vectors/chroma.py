"""The vectors in Chroma; the only file that imports chromadb.

On disk every collection is a folder of its own, with a Chroma of its own inside it. It is written as `NAME~TOKEN.part`
and renamed to `NAME~TOKEN` when it is complete, so nobody ever opens one that is half written, no reader shares a
database with a writer, two processes never set up the same database, and what is dropped leaves the disk at once.
(One folder for all was measured too: a fresh one failed when two processes opened it at the same moment, readers
waited up to a second for the writer's locks, and the files of dropped collections stayed for good.) One more open
Chroma costs 20 ms, 1 MB, 6 file handles and 6 idle threads.

Chroma's threads do not survive a fork: a process that has used an index must start others, never fork.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import chromadb
import numpy as np
from chromadb import errors
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.api.types import Where
from chromadb.config import Settings

from backend.errors import AttestError, IndexNotReady, StoreUnreachable
from backend.vectors.base import Neighbour, Vector, Vectors

MAX_RESULTS = 1_000

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
_BUFFER = 16_384  # rows gathered before they are written: big batches are faster, and equal vectors meet in them
_COPIES = 64  # ids that share one row at most
_PAGE = 5_000  # ids in one request; SQLite takes some 32,000 variables
_LABELS = 10_000  # labels in one filter
_FEW = 1_000  # up to so many rows are compared one by one, which is exact and faster than a filtered walk of the graph
_QUESTIONS = 256  # choices of labels for which that is remembered
_SAMPLE = 64  # rows read back from either end of a collection before it counts as complete
_IDLE = 60.0  # seconds after which a collection that another process dropped is closed here

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,198}[a-zA-Z0-9]")
_MARK = "attest"  # in the metadata of every collection of ours
_REMEDY = "attest index"
_BUILD = f"Run `{_REMEDY}`."

# What Chroma can raise, by what it means to us; anything else of it is a mistake of this file and is not disguised.
MISSING = (errors.NotFoundError,)
UNREACHABLE = (
    errors.AuthorizationError,
    errors.ChromaAuthError,
    errors.InternalError,
    errors.QuotaError,
    errors.RateLimitError,
    errors.VersionMismatchError,
)

Row = tuple[str, float]
T = TypeVar("T")


def open_chroma(path: Path) -> ChromaIndex:
    """Opens the vectors below a folder, which is made when the first collection is."""
    if path.exists() and not path.is_dir():
        raise StoreUnreachable(f"The vector store {path} is not a folder.", hint="Check ATTEST_HOME.")
    return ChromaIndex(_Folders(path.absolute()))


@dataclass(slots=True)
class _Opened:
    """A collection that is open in this process, and how many readers are using it."""

    collection: chromadb.Collection
    close: Callable[[], None]
    gone: Callable[[], bool]
    users: int = 0
    used: float = 0.0
    retired: bool = False
    few: dict[tuple[str, ...], list[str] | None] = field(default_factory=dict)  # rows of rare labels
    copies: dict[str, str] | None = None  # id -> row, for rows of several ids


@dataclass(slots=True)
class _Draft:
    """A collection that is being written, and the rows gathered for it."""

    opened: _Opened
    batch: int
    dimension: int
    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    vectors: list[Vectors] = field(default_factory=list)
    added: int = 0


class _Place(Protocol):
    """Where collections are: folders on disk, or a server."""

    def create(self, name: str, metadata: dict[str, str | int]) -> tuple[_Opened, int]:
        """Makes an empty collection that readers do not see yet; returns it and the rows that one request takes."""

    def reopen(self, name: str) -> _Opened:
        """Opens the collection being written as another process will find it."""

    def publish(self, name: str) -> None:
        """Shows readers the collection that was being written, which is closed, all at once."""

    def open(self, name: str) -> _Opened | None:
        """Opens a complete collection, or says that there is none."""

    def remove(self, name: str) -> None:
        """Removes a collection, complete or not."""

    def names(self) -> list[str]:
        """The collections, those that are half written too."""

    def version(self) -> str:
        """Name and version, for people."""


class ChromaIndex:
    """An Index in Chroma; safe to read from many threads, written by one."""

    max_results = MAX_RESULTS

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._open: dict[str, _Opened] = {}
        self._drafts: dict[str, _Draft] = {}

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self.drop(collection)
        metadata: dict[str, str | int] = {_MARK: 1, "kind": kind, "encoder": encoder, "dimension": dimension}
        with _translated(collection):
            opened, batch = self._place.create(collection, metadata)
        self._drafts[collection] = _Draft(opened, batch, dimension)

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        draft = self._drafts[collection]
        if not len(ids) == len(labels) == len(vectors) or vectors.shape[1:] != (draft.dimension,):
            raise ValueError(f"{len(ids)} ids and {len(labels)} labels do not go with vectors of {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError(f"A vector for {collection} holds what is not a number")
        draft.ids += ids
        draft.labels += labels
        draft.vectors.append(np.asarray(vectors, dtype=np.float32))
        if len(draft.ids) >= _BUFFER:
            with _translated(collection):
                _write(draft)

    def seal(self, collection: str) -> None:
        draft = self._drafts[collection]
        with _translated(collection):
            _write(draft)
            draft.opened.close()
            draft.opened = self._place.reopen(collection)
            kept = _size(draft.opened)
            draft.opened.close()
            if kept == draft.added:
                self._place.publish(collection)
        del self._drafts[collection]
        if kept != draft.added:
            raise StoreUnreachable(
                f"The vector store kept {kept} of {draft.added} vectors of {collection}.",
                hint="Is its disk full? Run the command again.",
            )

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        limit = min(limit, MAX_RESULTS)
        if limit < 1:
            return []
        with self._reading(collection) as opened:
            _same_dimension(opened, collection, vector)
            rows = _of_labels(opened, vector, limit, labels) if labels else _query(opened, vector, limit)
        found = [Neighbour(id, score) for row, score in rows for id in row.split(" ")]
        found.sort(key=lambda neighbour: (-neighbour.score, neighbour.id))
        return found[:limit]

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        wanted = list(dict.fromkeys(ids))
        with self._reading(collection) as opened:
            found = _vectors(opened, wanted)
            missing = [id for id in wanted if id not in found]
            if missing:
                rows = {id: row for id in missing if (row := _copies(opened).get(id)) is not None}
                shared = _vectors(opened, list(dict.fromkeys(rows.values())))
                found |= {id: shared[row] for id, row in rows.items()}
        return found

    def ids(self, collection: str) -> Iterator[str]:
        offset = 0
        while True:
            with self._reading(collection) as opened:
                rows = opened.collection.get(limit=10 * _PAGE, offset=offset, include=[])["ids"]
            for row in rows:
                yield from row.split(" ")
            offset += len(rows)
            if len(rows) < 10 * _PAGE:
                return

    def collections(self) -> dict[str, int]:
        sizes = {}
        for name in self.names():
            with suppress(IndexNotReady, StoreUnreachable), self._reading(name) as opened:
                sizes[name] = _size(opened)
        return sizes

    def names(self) -> list[str]:
        with _translated("all"):
            return self._place.names()

    def drop(self, collection: str) -> None:
        _checked(collection)
        draft = self._drafts.pop(collection, None)
        if draft is not None:
            draft.opened.close()
        with _translated(collection):
            self._place.remove(collection)
        with self._lock:
            opened = self._open.pop(collection, None)
            if opened is not None:
                _retire(opened)

    def version(self) -> str:
        return self._place.version()

    def close(self) -> None:
        """Closes what is open; an index that is used again opens it again."""
        with self._lock:
            for opened in self._open.values():
                _retire(opened)
            self._open.clear()
        for draft in self._drafts.values():
            draft.opened.close()
        self._drafts.clear()

    @contextmanager
    def _reading(self, name: str) -> Iterator[_Opened]:
        opened = self._use(name)
        try:
            with _translated(name, opened.gone):
                yield opened
        finally:
            with self._lock:
                opened.users -= 1
                opened.used = time.monotonic()
                if opened.retired and not opened.users:
                    opened.close()

    def _use(self, name: str) -> _Opened:
        """The open collection; a dropped one serves on while Chroma can, unless there is a new one of its name."""
        known = self._known(name)
        if known is not None:
            return known
        with self._opening:  # which takes as long as reading the vectors; who reads other collections does not wait
            known = self._known(name)
            if known is not None:
                return known
            with _translated(name):
                fresh = self._place.open(_checked(name))
            with self._lock:
                return self._put(name, fresh)

    def _known(self, name: str) -> _Opened | None:
        with self._lock:
            self._close_dropped()
            known = self._open.get(name)
            if known is None or known.gone():
                return None
            known.users += 1
            return known

    def _put(self, name: str, fresh: _Opened | None) -> _Opened:
        known = self._open.get(name)
        if fresh is not None and fresh.gone():
            fresh.close()
            fresh = None
        if fresh is not None:
            if known is not None:
                _retire(known)
            known = self._open[name] = fresh
        if known is None:
            raise _not_there(name)
        known.users += 1
        return known

    def _close_dropped(self) -> None:
        """Lets go of what other processes dropped: an open collection keeps its vectors in memory."""
        long_ago = time.monotonic() - _IDLE
        for name, opened in list(self._open.items()):
            if not opened.users and opened.used and opened.used < long_ago and opened.gone():
                _retire(self._open.pop(name))


def _retire(opened: _Opened) -> None:
    """Closes a collection now, or when its last reader is done."""
    opened.retired = True
    if not opened.users:
        opened.close()


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(draft: _Draft) -> None:
    """Writes the gathered rows, equal vectors of one label as one row.

    An HNSW graph connects equal vectors with each other only: 5,000 copies among 20,000 vectors cost up to a fifth of
    the recall of every search, and half the speed of building. So the id of a row is the ids of all its copies.
    """
    if not draft.ids:
        return
    rows = list(_rows(draft))
    for start in range(0, len(rows), draft.batch):
        ids, tokens, vectors = zip(*rows[start : start + draft.batch], strict=True)
        metadatas = [_metadata(id, token) for id, token in zip(ids, tokens, strict=True)]
        draft.opened.collection.add(ids=list(ids), embeddings=np.stack(vectors), metadatas=metadatas)  # type: ignore[arg-type]
    draft.added += len(draft.ids)
    draft.ids, draft.labels, draft.vectors = [], [], []


def _rows(draft: _Draft) -> Iterator[tuple[str, str, Vector]]:
    groups: defaultdict[tuple[str, bytes], list[str]] = defaultdict(list)
    for id, label, vector in zip(draft.ids, draft.labels, np.concatenate(draft.vectors), strict=True):
        if not id or " " in id:
            raise ValueError(f"{id!r} cannot be the id of a vector")
        groups[label, vector.tobytes()].append(id)
    for (label, data), ids in groups.items():
        for part in _parts(ids, _COPIES):
            yield " ".join(part), _token(label), np.frombuffer(data, dtype=np.float32)


def _metadata(row: str, token: str) -> dict[str, str | int]:
    copies = row.count(" ") + 1
    return {"label": token} | ({"copies": copies} if copies > 1 else {})


def _token(label: str) -> str:
    """What stands for a label in Chroma: labels are anybody's text, of any length."""
    return hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- reading ---------------------------------------------------------------------------------------------------------


def _query(opened: _Opened, vector: Vector, limit: int, where: Where | None = None) -> list[Row]:
    result = opened.collection.query(query_embeddings=vector[None], n_results=limit, where=where, include=["distances"])
    distances = result["distances"]
    assert distances is not None
    return [(row, _score(1.0 - distance)) for row, distance in zip(result["ids"][0], distances[0], strict=True)]


def _of_labels(opened: _Opened, vector: Vector, limit: int, labels: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for tokens in _parts(sorted({_token(label) for label in labels}), _LABELS):
        where = cast(Where, {"label": {"$in": list(tokens)}})
        few = _few(opened, tuple(tokens), where)
        rows += _query(opened, vector, limit, where) if few is None else _compare(opened, vector, few)
    return rows


def _few(opened: _Opened, tokens: tuple[str, ...], where: Where) -> list[str] | None:
    """The rows of rare labels, None where they are many; remembered, since a collection that is read never changes."""
    if len(opened.few) >= _QUESTIONS:
        opened.few.clear()
    if tokens not in opened.few:
        rows = opened.collection.get(where=where, limit=_FEW + 1, include=[])["ids"]
        opened.few[tokens] = rows if len(rows) <= _FEW else None
    return opened.few.get(tokens)


def _compare(opened: _Opened, vector: Vector, rows: list[str]) -> list[Row]:
    found = _vectors(opened, rows)
    if not found:
        return []
    stored = np.stack(list(found.values())).astype(np.float64)
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(vector)
    similarities = stored @ vector / np.where(lengths > 0, lengths, 1.0)
    return [(row, _score(similarity)) for row, similarity in zip(found, similarities.tolist(), strict=True)]


def _score(similarity: float) -> float:
    return round(min(1.0, max(-1.0, similarity)), 6) + 0.0


def _vectors(opened: _Opened, rows: list[str]) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    for part in _parts(rows, _PAGE):
        result = opened.collection.get(ids=list(part), include=["embeddings"])
        vectors = result["embeddings"]
        assert vectors is not None
        found |= {id: np.asarray(vector, dtype=np.float32) for id, vector in zip(result["ids"], vectors, strict=True)}
    return found


def _copies(opened: _Opened) -> dict[str, str]:
    """The row of every id that shares one with others."""
    if opened.copies is None:
        rows = opened.collection.get(where=cast(Where, {"copies": {"$gt": 1}}), include=[])["ids"]
        opened.copies = {id: row for row in rows for id in row.split(" ")}
    return opened.copies


def _size(opened: _Opened) -> int:
    """The number of ids; raises when some of the rows that Chroma counts have lost their vectors."""
    rows = opened.collection.count()
    for offset in {0, max(0, rows - _SAMPLE)}:
        opened.collection.get(limit=_SAMPLE, offset=offset, include=["embeddings"])
    copies = _copies(opened)
    return rows + len(copies) - len(set(copies.values()))


def _same_dimension(opened: _Opened, name: str, vector: Vector) -> None:
    metadata = opened.collection.metadata or {}
    if metadata.get("dimension") != len(vector):
        raise IndexNotReady(
            f"The vectors of {name} were made with another encoder, {metadata.get('encoder')}.",
            hint=_BUILD,
            index="vector",
            remedy=_REMEDY,
        )


def _parts(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


# --- names and errors ------------------------------------------------------------------------------------------------


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a collection")
    return name


def _not_there(name: str) -> IndexNotReady:
    return IndexNotReady(
        f"The vectors {name} are not in the vector store.",
        hint=_BUILD,
        index="vector",
        remedy=_REMEDY,
    )


@contextmanager
def _translated(name: str, gone: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Chroma's errors, and the disk's, as ours."""
    try:
        yield
    except AttestError:
        raise
    except MISSING as error:
        raise _not_there(name) from error
    except (errors.ChromaError, OSError) as error:
        if gone():
            raise _not_there(name) from error
        if not isinstance(error, (*UNREACHABLE, OSError)):
            raise
        raise StoreUnreachable(
            f"The vector store does not answer: {error}",
            hint="Check that its folder is there, can be written, and that the disk is not full.",
        ) from error


# --- on disk ---------------------------------------------------------------------------------------------------------

_PART, _TRASH = ".part", ".trash"


class _Folders:
    """Collections on disk, each in a folder of its own: `NAME~TOKEN`, with `.part` at its end while it is written.

    The token makes every path new: Chroma keeps what it opened by path, and would show the old one.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(self, name: str, metadata: dict[str, str | int]) -> tuple[_Opened, int]:
        path = self._root / f"{name}~{secrets.token_hex(4)}{_PART}"
        path.mkdir(parents=True)
        client = _client(path)
        collection = client.create_collection(
            name, embedding_function=None, metadata=metadata, configuration=_CONFIGURATION
        )
        return _Opened(collection, client.close, lambda: False), client.get_max_batch_size()

    def reopen(self, name: str) -> _Opened:
        return self._connect(name, self._folders(name, _PART)[-1])

    def publish(self, name: str) -> None:
        part = self._folders(name, _PART)[-1]
        for path in [*part.rglob("*"), part]:
            _to_disk(path)
        part.rename(part.with_name(part.name.removesuffix(_PART)))
        _to_disk(self._root)

    def open(self, name: str) -> _Opened | None:
        for path in self._folders(name):
            with _held(path, fcntl.LOCK_SH) as there:
                if there:
                    return self._connect(name, path)
        return None

    def remove(self, name: str) -> None:
        for path in self._folders(name) + self._folders(name, _PART):
            with _held(path, fcntl.LOCK_EX) as there:
                if there:
                    path.rename(path.with_name(path.name + _TRASH))
        for path in self._root.glob(f"*~*{_TRASH}"):
            shutil.rmtree(path, ignore_errors=True)

    def names(self) -> list[str]:
        return sorted({path.name.partition("~")[0] for path in self._root.glob("*~*") if path.suffix != _TRASH})

    def version(self) -> str:
        return f"Chroma {chromadb.__version__}, on disk"

    def _folders(self, name: str, end: str = "") -> list[Path]:
        return sorted(self._root.glob(f"{name}~{'[0-9a-f]' * 8}{end}"))

    def _connect(self, name: str, path: Path) -> _Opened:
        client = _client(path)
        try:
            collection = client.get_collection(name, embedding_function=None)
            collection.count()  # reads the vectors into memory: no later question needs their files
        except BaseException:
            client.close()
            raise
        return _Opened(collection, client.close, lambda: not path.exists())


@contextmanager
def _held(path: Path, how: int) -> Iterator[bool]:
    """Whether a folder is still there, and stays while the block runs.

    Who opens one shares it, who removes it has it alone: a Chroma whose files go while it reads them for the first time
    can wait for itself forever. Once it is open it needs them no more.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(handle, how)
        yield path.exists()
    finally:
        os.close(handle)


def _client(path: Path) -> Client:
    """A Chroma that neither phones home nor takes settings from a stranger's `.env` in the working directory."""
    options: dict[str, Any] = {"_env_file": None, "anonymized_telemetry": False, "migrations": "apply"}
    try:
        return cast(Client, chromadb.PersistentClient(path, settings=Settings(**options)))
    except BaseException:
        # Chroma keeps what it could not open, and the next attempt would end in an error about that.
        SharedSystemClient._identifier_to_system.pop(str(path), None)
        raise


def _to_disk(path: Path) -> None:
    """Asks the system to write a file or folder now: a commit that follows says that it is there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
