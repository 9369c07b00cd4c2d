"""What a catalog says beside names, alike in every store: which data it is of, and whether its indexes are ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.errors import IndexNotReady
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
    passages: FullText,
    kinds: Mapping[str, tuple[int, int]],
    building: Callable[[], Progress | None],
) -> tuple[IndexStatus, ...]:
    """The indexes of each label, of which the store has so many entities, and so many of these without a vector.

    Those that have no label follow: the full-text index of passages, and the vectors of the other kinds, of which there
    are so many rows and so many without theirs. `building` says what a running `attest index` is doing.
    """
    found = []
    for label, (entities, without) in sorted(labels.items()):
        found.append(IndexStatus(label, "fulltext", full_text.state, full_text.percent, full_text.detail))
        vector_state = IndexState.MISSING if without else IndexState.ONLINE
        detail = f"{without} of {entities} entities have no vector" if without else ""
        found.append(IndexStatus(label, "vector", vector_state, detail=detail))
    if labels or kinds["chunk"][0]:
        found.append(IndexStatus("", "passages", passages.state, passages.percent, passages.detail))
        for kind, (rows, without) in kinds.items():
            state = IndexState.MISSING if without else IndexState.ONLINE
            detail = f"{without} of {rows} have no vector" if without else ""
            found.append(IndexStatus("", kind, state, detail=detail))
    broken = any(status.state is not IndexState.ONLINE for status in found)
    progress = building() if broken else None
    return tuple(found) if progress is None else tuple(_populating(status, progress) for status in found)


def _populating(status: IndexStatus, progress: Progress) -> IndexStatus:
    if status.state in (IndexState.ONLINE, IndexState.POPULATING):
        return status
    percent = round(100 * progress.done / progress.total, 1) if progress.total else 0.0
    return IndexStatus(status.label, status.index, IndexState.POPULATING, percent)


def not_ready(
    label: str, index: str, state: IndexState, *, percent: float | None = None, detail: str = ""
) -> IndexNotReady:
    """The error that names label, index, state and remedy."""
    progress = "" if percent is None else f" ({percent:.0f} %)"
    reason = f": {detail}" if detail else ""
    wait = "Wait until `attest index` has ended." if state is IndexState.POPULATING else "Run `attest index`."
    of_label = f" of label {label!r}" if label else ""
    return IndexNotReady(
        f"The {index} index{of_label} is {state}{progress}{reason}.",
        hint=wait,
        label=label,
        index=index,
        state=str(state),
        percent=percent,
        remedy="attest index",
    )
