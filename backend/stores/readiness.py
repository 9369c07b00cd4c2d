"""What a catalog says beside names, alike in every store: which data it is of, and whether its indexes are ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.models import IndexState, IndexStatus, Progress


@dataclass(frozen=True, slots=True)
class FullText:
    """The state of the one index that holds the names of all labels; `percent` only while it is populating."""

    state: IndexState
    percent: float | None = None
    detail: str = ""


def data_version(commits: int) -> str:
    """The part of a cache's key that changes with the data."""
    # The day stands in it because an empty scope means the end of today.
    return f"{commits}-{datetime.now(UTC).date().isoformat()}"


def index_states(
    labels: Mapping[str, tuple[int, int]],
    full_text: FullText,
    *,
    building: Callable[[], Progress | None],
) -> tuple[IndexStatus, ...]:
    """The indexes of each label, of which the store has so many entities, and so many of these without a vector.

    `building` says what a running `attest index` is doing.
    """
    found = []
    for label, (entities, without) in sorted(labels.items()):
        found.append(IndexStatus(label, "fulltext", full_text.state, full_text.percent, full_text.detail))
        vector_state = IndexState.MISSING if without else IndexState.ONLINE
        detail = f"{without} of {entities} entities have no vector" if without else ""
        found.append(IndexStatus(label, "vector", vector_state, detail=detail))
    broken = any(status.state is not IndexState.ONLINE for status in found)
    progress = building() if broken else None
    return tuple(found) if progress is None else tuple(_populating(status, progress) for status in found)


def _populating(status: IndexStatus, progress: Progress) -> IndexStatus:
    if status.state in (IndexState.ONLINE, IndexState.POPULATING):
        return status
    percent = round(100 * progress.done / progress.total, 1) if progress.total else 0.0
    return IndexStatus(status.label, status.index, IndexState.POPULATING, percent)
