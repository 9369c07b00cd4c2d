"""Collections on a Chroma server, which other programs may use too.

One is written as `NAME.TOKEN.part` and given its name when it is complete, which is one transaction of the server.
A server answers for a dropped collection that it is not there, whoever still holds it, and never from what is left.
"""

from __future__ import annotations

import re
import secrets
import threading
from contextlib import suppress
from time import sleep

from backend.vectors.chroma import driver
from backend.vectors.chroma.places import MARK, Opened, Owner

_PART = re.compile(r"(.+)\.[0-9a-f]{8}\.part")
_OWNER = "attest-owner"  # a collection without rows, whose metadata say whose all others are
_LOOKS, _PAUSE = 5, 0.1  # seconds
READING, WRITING = 30.0, 300.0  # seconds that a request may take


class Server:
    """A Place on a server."""

    def __init__(self, address: str, *, reading: float = READING, writing: float = WRITING) -> None:
        self._address = address
        self._reading, self._writing = reading, writing
        self._lock = threading.Lock()
        self._connections: dict[float, driver.Connection] = {}
        self._unfinished: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self._address

    @property
    def hint(self) -> str:
        return f"Check that a Chroma server runs at {self._address}, or set ATTEST_VECTORS."

    def owner(self) -> Owner | None:
        try:
            metadata = self._ask().open(_OWNER).metadata
        except driver.MISSING:
            return None
        return Owner(str(metadata["identity"]), str(metadata["graph"]))

    def claim(self, owner: Owner) -> None:
        if self.owner() is None:
            try:
                self._ask().create(_OWNER, {"identity": owner.identity, "graph": owner.graph})
            except driver.ChromaError:
                if self.owner() is None:  # nobody was faster
                    raise

    def create(self, name: str, metadata: driver.Metadata) -> Opened:
        self._unfinished[name] = f"{name}.{secrets.token_hex(4)}.part"
        dimension = int(metadata["dimension"])
        return Opened(self._ask(self._writing).create(self._unfinished[name], metadata, dimension=dimension))

    def reopen(self, name: str) -> Opened:
        return Opened(self._ask().open(self._unfinished[name]))

    def publish(self, name: str) -> None:
        self._ask(self._writing).open(self._unfinished.pop(name)).rename(name)

    def open(self, name: str) -> Opened | None:
        collection = self._find(name)
        if collection is None or collection.metadata.get(MARK) != 1:
            return None
        return Opened(collection, dropped=lambda: self._dropped(name, collection.id), forget_idle=True)

    def remove(self, name: str) -> None:
        self._unfinished.pop(name, None)
        for stored in self._stored():
            if stored == name or _named(stored) == name:
                with suppress(*driver.MISSING):  # somebody was faster
                    self._ask(self._writing).remove(stored)

    def names(self) -> list[str]:
        return sorted({_named(stored) for stored in self._stored()})

    def version(self) -> str:
        return f"Chroma server at {self._address}"

    def close(self) -> None:
        with self._lock:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _find(self, name: str) -> driver.Collection | None:
        """The collection of a name; one that is being dropped is soon none, and may be neither until then."""
        for _ in range(_LOOKS):
            try:
                return self._ask().open(name)
            except driver.MISSING:
                return None
            except driver.ChromaError:
                sleep(_PAUSE)
        return self._ask().open(name)

    def _dropped(self, name: str, id: str) -> bool:
        """Whether a collection is not there any more, or will not be in a moment."""
        with suppress(driver.ChromaError, driver.Unanswered):  # what failed before is what counts
            for _ in range(_LOOKS):
                found = self._find(name)
                if found is None or found.id != id:
                    return True
                sleep(_PAUSE)
        return False

    def _stored(self) -> list[str]:
        """The names of our collections as the server has them."""
        return [stored for stored, metadata in self._ask().listed().items() if metadata.get(MARK) == 1]

    def _ask(self, seconds: float | None = None) -> driver.Connection:
        seconds = seconds or self._reading
        with self._lock:
            if seconds not in self._connections:
                self._connections[seconds] = driver.Connection(self._address, seconds=seconds)
            connection = self._connections[seconds]
        connection.greet()
        return connection


def _named(stored: str) -> str:
    unfinished = _PART.fullmatch(stored)
    return unfinished[1] if unfinished else stored
