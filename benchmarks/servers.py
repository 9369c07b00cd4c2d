"""The servers that are measured: a Neo4j and a Chroma of our own over folders that are kept, or the Neo4j that
`ATTEST_TEST_NEO4J` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from backend.settings import Settings
from tests.servers.chroma import ChromaServer
from tests.servers.neo4j import Missing, Neo4j, Neo4jServer

_HEAP, _PAGE_CACHE = "2g", "3g"
_SHOWN = {"heap": "server.memory.heap.max_size", "page cache": "server.memory.pagecache.size"}
_named_in_use = Lock()


@dataclass(frozen=True, slots=True)
class Kind:
    """What is measured side by side: stores of which the graph, the vectors, or both may be on a server."""

    name: str
    graph_served: bool = False
    vectors_served: bool = False


KINDS = {
    kind.name: kind
    for kind in (
        Kind("sqlite"),
        Kind("sqlite+chroma-server", vectors_served=True),
        Kind("neo4j", graph_served=True),
        Kind("neo4j+chroma-server", graph_served=True, vectors_served=True),
    )
}


class Servers:
    """Servers by the folder of their data, each started when it is first asked for; they end with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._neo4j: dict[Path, Neo4j] = {}
        self._chroma: dict[Path, str] = {}

    def neo4j(self, folder: Path) -> Neo4j:
        """The Neo4j over a folder; raises Missing where none can be had."""
        if folder not in self._neo4j:
            self._neo4j[folder] = self._stack.enter_context(_named() if is_named() else _started(folder))
        return self._neo4j[folder]

    def chroma(self, folder: Path) -> str:
        """The address of the Chroma over a folder."""
        if folder not in self._chroma:
            self._chroma[folder] = self._stack.enter_context(ChromaServer(folder)).address
        return self._chroma[folder]

    def settings(self, kind: Kind, home: Path, *, graph: Path | None = None) -> Settings:
        """The settings of stores in a folder; the data of a Neo4j may be in another."""
        found = {"ATTEST_HOME": str(home)}
        if kind.graph_served:
            found |= self.neo4j(graph or home / "neo4j").settings()
        if kind.vectors_served:
            found["ATTEST_VECTORS"] = self.chroma(home / "chroma")
        return Settings.from_environment(found)


def is_named() -> bool:
    """Whether the environment names a Neo4j, in which nothing is kept."""
    return bool(os.environ.get("ATTEST_TEST_NEO4J"))


def memory_of(server: Neo4j) -> str:
    """How much memory a Neo4j may use."""
    with server.driver() as driver:
        asked = driver.execute_query("SHOW SETTINGS YIELD name, value WHERE name IN $names", names=[*_SHOWN.values()])
        values = {row["name"]: row["value"] for row in asked.records}
    return ", ".join(f"{what} {values[name]}" for what, name in _SHOWN.items())


@contextmanager
def _started(folder: Path) -> Iterator[Neo4j]:
    # What is enough for the tests would read a large graph from disk and end a log file with every few commits.
    server = Neo4jServer(folder, heap=_HEAP, page_cache=_PAGE_CACHE, log_file="256m", brief=False)
    try:
        server.start()
    except AssertionError as error:
        raise Missing(str(error)) from None
    try:
        yield server.running
    finally:
        server.stop()


@contextmanager
def _named() -> Iterator[Neo4j]:
    user, password = (os.environ.get(f"ATTEST_TEST_NEO4J_{name}") for name in ("USER", "PASSWORD"))
    server = Neo4j(os.environ["ATTEST_TEST_NEO4J"], user, password)
    if not _named_in_use.acquire(blocking=False):
        raise Missing("ATTEST_TEST_NEO4J names a server, which holds one graph: choose one of --sizes")
    try:
        with server.driver() as driver:
            [row] = driver.execute_query("RETURN EXISTS { MATCH (n) } AS used").records
        if row["used"]:
            raise Missing("the database of ATTEST_TEST_NEO4J is not empty")
        yield server
        server.empty()
    finally:
        _named_in_use.release()
