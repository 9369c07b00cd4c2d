"""Which columns of a table are read, and how large a table may be."""

from __future__ import annotations

from backend.errors import Malformed
from backend.loading.formats.limits import MAX_ROWS, MAX_TEXT_BYTES, MAX_VALUES

# Vectors, layouts and the row numbers of a pandas frame: large, and nothing that is shown.
_SKIPPED = {"index", "__index_level_0__", "x", "y", "graph_embedding", "embedding"}


def is_read(column: str) -> bool:
    """Whether a column has anything that is shown."""
    return column not in _SKIPPED and not column.endswith("_embedding")


def too_many(name: str) -> Malformed:
    """The error of a table that is larger than any index."""
    return Malformed(
        f"{name} has over {MAX_ROWS:,} rows, {MAX_VALUES:,} values or {MAX_TEXT_BYTES >> 30} GiB.",
        hint="No index that was seen comes near that size.",
    )
