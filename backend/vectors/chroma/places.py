"""What folders and a server have in common: collections that readers see when they are whole, and an owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from backend.errors import NotConfigured
from backend.vectors.chroma.driver import Collection, Metadata

MARK = "attest"  # in the metadata of every collection of ours


@dataclass(frozen=True, slots=True)
class Owner:
    """The graph store that vectors belong to: its identity, and how people know it."""

    identity: str
    graph: str

    def __str__(self) -> str:
        return f"{self.graph} ({self.identity})" if self.graph else self.identity


@dataclass(slots=True)
class Opened:
    """A collection that is open in this process, and how many readers are using it."""

    collection: Collection
    gone: Callable[[], bool] = lambda: False  # whether it was dropped; asked before every use
    dropped: Callable[[], bool] = lambda: False  # the same, with more effort; asked when a use has failed
    forget_idle: bool = False  # whether it can be opened again at no cost
    users: int = 0
    used: float = 0.0
    retired: bool = False
    lost: bool = False  # Chroma says that it is not there
    few: dict[tuple[str, ...], list[str] | None] = field(default_factory=dict)  # rows of rare labels
    copies: dict[str, str] | None = None  # id -> row, for rows of several ids


class Place(Protocol):
    """Where collections are: folders on disk, or a server."""

    @property
    def name(self) -> str:
        """The folder or the address."""

    @property
    def hint(self) -> str:
        """What to look at when it does not answer."""

    def owner(self) -> Owner | None:
        """The graph store that the collections here belong to, if one has claimed them."""

    def claim(self, owner: Owner) -> None:
        """Says whose collections these are; does nothing where that has been said."""

    def create(self, name: str, metadata: Metadata) -> Opened:
        """Makes an empty collection that readers do not see yet."""

    def reopen(self, name: str) -> Opened:
        """Opens the collection being written as another process will find it."""

    def publish(self, name: str) -> None:
        """Shows readers the collection that was being written, which is closed, all at once."""

    def open(self, name: str) -> Opened | None:
        """Opens a complete collection, or says that there is none."""

    def remove(self, name: str) -> None:
        """Removes a collection, complete or not."""

    def names(self) -> list[str]:
        """The collections, those that are half written too."""

    def version(self) -> str:
        """Name and version, for people."""

    def close(self) -> None:
        """Gives back what it holds; a use after that takes it again."""


def check_owner(place: Place, owner: Owner | None) -> None:
    """Raises NotConfigured when the collections here belong to another graph store."""
    found = place.owner() if owner else None
    if owner and found and found.identity != owner.identity:
        raise NotConfigured(
            f"The vectors in {place.name} belong to the graph store {found}, not to {owner}.",
            hint="Set ATTEST_GRAPH and ATTEST_VECTORS to stores that belong together, or give this graph an empty "
            "vector store of its own. Nothing was changed.",
        )
