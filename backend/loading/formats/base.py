"""What a format gives to the loader: rows by kind, as often as it asks, and a sentence on what was recognised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from backend.loading.issues import Issues
from backend.loading.rows import R, Row

R_co = TypeVar("R_co", bound=Row, covariant=True)


class RowStream(Protocol[R_co]):
    """The good rows of one kind; iterate once, since that notes what was wrong.

    `file` is what issues name, `read` the rows so far, good and bad, `position` how much of `size` was read.
    """

    file: str
    size: int
    read: int

    @property
    def position(self) -> int:
        """How much of `size` was read."""
        ...

    def __iter__(self) -> Iterator[R_co]: ...


class Source(Protocol):
    """Something to load; `format` says what it was recognised as and by which sign, `kinds` what it has.

    It knows of no store, and gives the same rows every time.
    """

    @property
    def name(self) -> str: ...

    @property
    def format(self) -> str: ...

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def rows(self, of: type[R], issues: Issues) -> RowStream[R]:
        """The rows of a kind; raises Malformed, also while they are iterated, where a file cannot be read."""
        ...
