"""From vectors to the rows of a collection and back: equal vectors share a row, and rare labels are looked through."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.vectors.base import Vector, Vectors
from backend.vectors.chroma.driver import Metadata, parts
from backend.vectors.chroma.places import Opened

BUFFER = 16_384  # rows gathered before they are written: big batches are faster, and equal vectors meet in them
_COPIES = 64  # ids that share one row at most
_LABELS = 10_000  # labels in one filter
_FEW = 1_000  # up to so many rows are compared one by one, which is exact and faster than a filtered walk of the graph
_QUESTIONS = 256  # choices of labels for which that is remembered
_SAMPLE = 64  # rows read back from either end of a collection before it counts as complete

Row = tuple[str, float]


@dataclass(slots=True)
class Draft:
    """A collection that is being written, and the rows gathered for it."""

    opened: Opened
    dimension: int
    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    vectors: list[Vectors] = field(default_factory=list)
    added: int = 0


# --- writing ---------------------------------------------------------------------------------------------------------


def write(draft: Draft) -> None:
    """Writes the gathered rows, equal vectors of one label as one row.

    An HNSW graph connects equal vectors with each other only: 5,000 copies among 20,000 vectors cost up to a fifth of
    the recall of every search, and half the speed of building. So the id of a row is the ids of all its copies.
    """
    if not draft.ids:
        return
    ids, tokens, vectors = zip(*_rows(draft), strict=True)
    draft.opened.collection.add(ids, [_metadata(id, token) for id, token in zip(ids, tokens, strict=True)], vectors)
    draft.added += len(draft.ids)
    draft.ids, draft.labels, draft.vectors = [], [], []


def _rows(draft: Draft) -> Iterator[tuple[str, str, Vector]]:
    groups: defaultdict[tuple[str, bytes], list[str]] = defaultdict(list)
    for id, label, vector in zip(draft.ids, draft.labels, np.concatenate(draft.vectors), strict=True):
        if not id or " " in id:
            raise ValueError(f"{id!r} cannot be the id of a vector")
        groups[label, vector.tobytes()].append(id)
    for (label, data), ids in groups.items():
        for part in parts(ids, _COPIES):
            yield " ".join(part), _token(label), np.frombuffer(data, dtype=np.float32)


def _metadata(row: str, token: str) -> Metadata:
    copies = row.count(" ") + 1
    return {"label": token} | ({"copies": copies} if copies > 1 else {})


def _token(label: str) -> str:
    """What stands for a label in Chroma: labels are anybody's text, of any length."""
    return hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- reading ---------------------------------------------------------------------------------------------------------


def nearest(opened: Opened, vectors: Vectors, limit: int, labels: Sequence[str]) -> list[list[Row]]:
    """For each vector the nearest rows with their scores, in no order; with labels, only rows of these."""
    if not labels:
        return _query(opened, vectors, limit)
    rows: list[list[Row]] = [[] for _ in vectors]
    for tokens in parts(sorted({_token(label) for label in labels}), _LABELS):
        where = {"label": {"$in": list(tokens)}}
        few = _few(opened, tuple(tokens), where)
        found = (
            _query(opened, vectors, limit, where) if few is None else [_compare(opened, one, few) for one in vectors]
        )
        for own, more in zip(rows, found, strict=True):
            own += more
    return rows


def _query(opened: Opened, vectors: Vectors, limit: int, where: Mapping[str, Any] | None = None) -> list[list[Row]]:
    found = opened.collection.nearest(vectors, limit, where)
    return [[(row, _score(similarity)) for row, similarity in own] for own in found]


def _few(opened: Opened, tokens: tuple[str, ...], where: Mapping[str, Any]) -> list[str] | None:
    """The rows of rare labels, None where they are many; remembered, since a collection that is read never changes."""
    if len(opened.few) >= _QUESTIONS:
        opened.few.clear()
    if tokens not in opened.few:
        rows = opened.collection.rows(where, limit=_FEW + 1)
        opened.few[tokens] = rows if len(rows) <= _FEW else None
    return opened.few.get(tokens)


def _compare(opened: Opened, vector: Vector, rows: list[str]) -> list[Row]:
    found = opened.collection.vectors(rows)
    if not found:
        return []
    stored = np.stack(list(found.values())).astype(np.float64)
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(vector)
    similarities = stored @ vector / np.where(lengths > 0, lengths, 1.0)
    return [(row, _score(similarity)) for row, similarity in zip(found, similarities.tolist(), strict=True)]


def _score(similarity: float) -> float:
    return round(min(1.0, max(-1.0, similarity)), 6) + 0.0


def vectors_of(opened: Opened, ids: Sequence[str]) -> dict[str, Vector]:
    """The vectors of these ids; of what is not stored there is none."""
    found = opened.collection.vectors(ids)
    missing = [id for id in ids if id not in found]
    if missing:
        rows = {id: row for id in missing if (row := _copies(opened).get(id)) is not None}
        shared = opened.collection.vectors(list(dict.fromkeys(rows.values())))
        found |= {id: shared[row] for id, row in rows.items()}
    return found


def _copies(opened: Opened) -> dict[str, str]:
    """The row of every id that shares one with others."""
    if opened.copies is None:
        rows = opened.collection.rows({"copies": {"$gt": 1}})
        opened.copies = {id: row for row in rows for id in row.split(" ")}
    return opened.copies


def size(opened: Opened) -> int:
    """The number of ids; raises when some of the rows that Chroma counts have lost their vectors."""
    rows = opened.collection.count(sample=_SAMPLE)
    copies = _copies(opened)
    return rows + len(copies) - len(set(copies.values()))
