"""The Index in Chroma: collections that are open, who is using them, and what goes wrong with them in our words."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from backend.errors import AttestError, IndexNotReady, StoreUnreachable
from backend.vectors.base import Neighbour, Vector, Vectors
from backend.vectors.chroma import driver, rows
from backend.vectors.chroma.places import MARK, Opened, Owner, Place, check_owner

MAX_RESULTS = 1_000
_IDLE = 60.0  # seconds after which a collection that another process dropped is closed here
_PAGE = 50_000  # ids in one request that reads them all

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,198}[a-zA-Z0-9]")
_REMEDY = "attest index"
_BUILD = f"Run `{_REMEDY}`."

T = TypeVar("T")


class ChromaIndex:
    """An Index in Chroma; safe to read from many threads, written by one."""

    max_results = MAX_RESULTS

    def __init__(self, place: Place, owner: Owner | None) -> None:
        self._place = place
        self._owner = owner
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._open: dict[str, Opened] = {}
        self._drafts: dict[str, rows.Draft] = {}

    # --- writing -----------------------------------------------------------------------------------------------------

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self.drop(collection)
        metadata: driver.Metadata = {MARK: 1, "kind": kind, "encoder": encoder, "dimension": dimension}
        with self._translated(collection):
            if self._owner:
                self._place.claim(self._owner)
                check_owner(self._place, self._owner)
            self._drafts[collection] = rows.Draft(self._place.create(collection, metadata), dimension)

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        draft = self._drafts[collection]
        if not len(ids) == len(labels) == len(vectors) or vectors.shape[1:] != (draft.dimension,):
            raise ValueError(f"{len(ids)} ids and {len(labels)} labels do not go with vectors of {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError(f"A vector for {collection} holds what is not a number")
        draft.ids += ids
        draft.labels += labels
        draft.vectors.append(np.asarray(vectors, dtype=np.float32))
        if len(draft.ids) >= rows.BUFFER:
            with self._translated(collection):
                rows.write(draft)

    def seal(self, collection: str) -> None:
        draft = self._drafts[collection]
        with self._translated(collection):
            rows.write(draft)
            draft.opened.collection.close()
            draft.opened = self._place.reopen(collection)
            kept = rows.size(draft.opened)
            draft.opened.collection.close()
            if kept == draft.added:
                self._place.publish(collection)
        del self._drafts[collection]
        if kept != draft.added:
            raise StoreUnreachable(
                f"The vector store kept {kept} of {draft.added} vectors of {collection}.",
                hint="Is its disk full? Run the command again.",
            )

    def drop(self, collection: str) -> None:
        _checked(collection)
        draft = self._drafts.pop(collection, None)
        if draft is not None:
            draft.opened.collection.close()
        with self._translated(collection):
            check_owner(self._place, self._owner)
            self._place.remove(collection)
        with self._lock:
            opened = self._open.pop(collection, None)
            if opened is not None:
                _retire(opened)

    # --- reading -----------------------------------------------------------------------------------------------------

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        return self.nearest_each(collection, vector[None], limit=limit, labels=labels)[0]

    def nearest_each(
        self, collection: str, vectors: Vectors, *, limit: int, labels: Sequence[str] = ()
    ) -> list[list[Neighbour]]:
        limit = min(limit, MAX_RESULTS)
        if limit < 1 or not len(vectors):
            return [[] for _ in vectors]

        def near(opened: Opened) -> list[list[rows.Row]]:
            _same_dimension(opened, collection, vectors[0])
            return rows.nearest(opened, vectors, limit, labels)

        return [_neighbours(stored)[:limit] for stored in self._ask(collection, near)]

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        wanted = list(dict.fromkeys(ids))
        return self._ask(collection, lambda opened: rows.vectors_of(opened, wanted))

    def ids(self, collection: str) -> Iterator[str]:
        offset = 0
        with self._reading(collection) as opened:
            while True:
                page = opened.collection.rows(limit=_PAGE, offset=offset)
                for row in page:
                    yield from row.split(" ")
                offset += len(page)
                if len(page) < _PAGE:
                    return

    def collections(self) -> dict[str, int]:
        sizes = {}
        for name in self.names():
            try:
                sizes[name] = self._ask(name, rows.size)
            except IndexNotReady:
                pass
            except StoreUnreachable as error:
                if isinstance(error.__cause__, driver.Unanswered):  # nothing is known of what is there
                    raise
        return sizes

    def names(self) -> list[str]:
        with self._translated("all"):
            check_owner(self._place, self._owner)
            return self._place.names()

    def version(self) -> str:
        return self._place.version()

    def close(self) -> None:
        """Closes what is open; an index that is used again opens it again."""
        with self._lock:
            for opened in self._open.values():
                _retire(opened)
            self._open.clear()
        for draft in self._drafts.values():
            draft.opened.collection.close()
        self._drafts.clear()
        self._place.close()

    # --- what is open ------------------------------------------------------------------------------------------------

    def _ask(self, name: str, question: Callable[[Opened], T]) -> T:
        """What a collection answers; one that was dropped meanwhile, and made anew, is asked again."""
        for again in (True, False):
            with self._reading(name) as opened:
                try:
                    with self._translated(name, opened):
                        return question(opened)
                except IndexNotReady:
                    if not (again and opened.lost):
                        raise
        raise AssertionError

    @contextmanager
    def _reading(self, name: str) -> Iterator[Opened]:
        opened = self._use(name)
        try:
            with self._translated(name, opened):
                yield opened
        finally:
            with self._lock:
                opened.users -= 1
                opened.used = time.monotonic()
                if opened.retired and not opened.users:
                    opened.collection.close()

    def _use(self, name: str) -> Opened:
        """The open collection; a dropped one serves on while Chroma can, unless there is a new one of its name."""
        known = self._known(name)
        if known is not None:
            return known
        with self._opening:  # which takes as long as reading the vectors; who reads other collections does not wait
            known = self._known(name)
            if known is not None:
                return known
            with self._translated(name):
                check_owner(self._place, self._owner)
                fresh = self._place.open(_checked(name))
            with self._lock:
                return self._put(name, fresh)

    def _known(self, name: str) -> Opened | None:
        with self._lock:
            self._close_idle()
            known = self._open.get(name)
            if known is None or known.lost or known.gone():
                return None
            known.users += 1
            return known

    def _put(self, name: str, fresh: Opened | None) -> Opened:
        known = self._open.get(name)
        if fresh is not None and fresh.gone():
            fresh.collection.close()
            fresh = None
        if known is not None and (fresh is not None or known.lost):
            _retire(self._open.pop(name))
            known = None
        if fresh is not None:
            known = self._open[name] = fresh
        if known is None:
            raise _not_there(name)
        known.users += 1
        return known

    def _close_idle(self) -> None:
        """Lets go of what other processes dropped: an open collection keeps its vectors in memory."""
        long_ago = time.monotonic() - _IDLE
        for name, opened in list(self._open.items()):
            if not opened.users and opened.used and opened.used < long_ago and (opened.forget_idle or opened.gone()):
                _retire(self._open.pop(name))

    @contextmanager
    def _translated(self, name: str, opened: Opened | None = None) -> Iterator[None]:
        """Chroma's errors, and the disk's, as ours."""
        try:
            yield
        except AttestError:
            raise
        except driver.MISSING as error:
            if opened is not None:
                opened.lost = True
            raise _not_there(name) from error
        except (driver.ChromaError, driver.Unanswered, OSError) as error:
            unanswered = isinstance(error, driver.Unanswered)
            if opened is not None and not unanswered and (opened.gone() or opened.dropped()):
                opened.lost = True
                raise _not_there(name) from error
            if not driver.is_fault(error):
                raise
            raise StoreUnreachable(
                f"The vector store {self._place.name} does not answer: {error}", hint=self._place.hint
            ) from error


def _neighbours(stored: Sequence[rows.Row]) -> list[Neighbour]:
    found = [Neighbour(id, score) for row, score in stored for id in row.split(" ")]
    return sorted(found, key=lambda neighbour: (-neighbour.score, neighbour.id))


def _retire(opened: Opened) -> None:
    """Closes a collection now, or when its last reader is done."""
    opened.retired = True
    if not opened.users:
        opened.collection.close()


def _same_dimension(opened: Opened, name: str, vector: Vector) -> None:
    metadata = opened.collection.metadata
    if metadata.get("dimension") != len(vector):
        raise IndexNotReady(
            f"The vectors of {name} were made with another encoder, {metadata.get('encoder')}.",
            hint=_BUILD,
            index="vector",
            remedy=_REMEDY,
        )


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
