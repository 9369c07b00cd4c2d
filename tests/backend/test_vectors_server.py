"""What can go wrong with a Chroma server, each tried on a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from backend.errors import IndexNotReady, StoreUnreachable
from backend.vectors.base import Index
from backend.vectors.chroma import ChromaIndex, open_chroma
from backend.vectors.chroma.driver import Connection
from backend.vectors.chroma.server import Server
from tests.backend.test_vectors_index import DIMENSION, random_vectors, some_id, write
from tests.servers.chroma import ChromaServer, collections_of

QUESTION = random_vectors(1, seed=1)[0]
USES: dict[str, Callable[[Index], object]] = {
    "nearest": lambda index: index.nearest("entity-a", QUESTION, limit=3),
    "read": lambda index: index.read("entity-a", [some_id(0)]),
    "ids": lambda index: list(index.ids("entity-a")),
    "names": lambda index: index.names(),
    "collections": lambda index: index.collections(),
    "create": lambda index: index.create("entity-b", kind="entity", encoder="letters", dimension=3),
    "drop": lambda index: index.drop("entity-a"),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    """A server of this test alone, which may be killed."""
    with ChromaServer(tmp_path / "chroma") as started:
        yield started


@pytest.fixture
def index(server: ChromaServer) -> Iterator[ChromaIndex]:
    opened = open_chroma(server.address)
    yield opened
    opened.close()


@pytest.mark.parametrize("use", USES)
def test_a_server_that_is_down_is_named(use: str) -> None:
    index = open_chroma("http://127.0.0.1:9")
    with pytest.raises(StoreUnreachable, match=r"http://127\.0\.0\.1:9 does not answer") as caught:
        USES[use](index)
    assert "http://127.0.0.1:9" in caught.value.hint
    assert "ATTEST_VECTORS" in caught.value.hint
    index.close()


def test_what_is_open_survives_a_restart(server: ChromaServer, index: ChromaIndex) -> None:
    write(index, "entity-a", random_vectors(500))
    before = index.nearest("entity-a", QUESTION, limit=10)
    for end in (server.stop, server.kill):
        end()
        for use in ("nearest", "read", "names", "collections", "drop"):
            with pytest.raises(StoreUnreachable):
                USES[use](index)
        server.start()
        assert index.nearest("entity-a", QUESTION, limit=10) == before
        assert index.collections() == {"entity-a": 500}


def test_a_server_that_dies_while_it_is_read(server: ChromaServer, index: ChromaIndex) -> None:
    """Every answer is the right one or says that there is none; when the server is back, so are the answers."""
    write(index, "entity-a", random_vectors(2_000))
    expected = index.nearest("entity-a", QUESTION, limit=1_000)
    ended = threading.Event()
    wrong: list[object] = []
    failed: list[StoreUnreachable] = []

    def read() -> None:
        while not ended.is_set():
            try:
                found = index.nearest("entity-a", QUESTION, limit=1_000)
            except StoreUnreachable as error:
                failed.append(error)
            else:
                wrong.extend([] if found == expected else [found])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        server.kill()
        server.start()
        assert index.nearest("entity-a", QUESTION, limit=1_000) == expected
    ended.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert failed


def test_a_server_that_dies_while_it_is_written(server: ChromaServer, index: ChromaIndex) -> None:
    write(index, "entity-a", random_vectors(20))
    index.create("entity-b", kind="entity", encoder="letters", dimension=DIMENSION)
    index.add("entity-b", [some_id(0)], ["Thing"], random_vectors(1))
    server.kill()
    with pytest.raises(StoreUnreachable):
        index.seal("entity-b")
    server.start()
    assert index.names() == ["entity-a", "entity-b"]
    assert index.collections() == {"entity-a": 20}
    write(index, "entity-b", random_vectors(30))
    assert index.collections() == {"entity-a": 20, "entity-b": 30}
    assert set(collections_of(server.address)) == {"entity-a", "entity-b"}


def test_a_server_that_hangs_has_so_many_seconds(server: ChromaServer) -> None:
    index = ChromaIndex(Server(server.address, reading=0.5, writing=0.5), None)
    write(index, "entity-a", random_vectors(20))
    server.pause()
    try:
        for use in ("nearest", "names", "collections", "drop"):
            began = monotonic()
            with pytest.raises(StoreUnreachable, match="does not answer: timed out"):
                USES[use](index)
            assert monotonic() - began < 10
    finally:
        server.go_on()
    assert len(index.nearest("entity-a", QUESTION, limit=30)) == 20
    index.close()


class Stranger(BaseHTTPRequestHandler):
    """A web server that has never heard of Chroma."""

    status, body = 200, b"<h1>Welcome</h1>"

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, *_: object) -> None: ...


@pytest.mark.parametrize("use", ["nearest", "names", "create"])
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<h1>Welcome</h1>"),
        (200, b"{}"),
        (200, b"[]"),
        (404, b"gone"),
        (401, b""),
        (502, b"<h1>Bad gateway</h1>"),
    ],
)
def test_what_is_no_chroma_server_is_said(use: str, status: int, body: bytes) -> None:
    handler = type("Answer", (Stranger,), {"status": status, "body": body})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        index = open_chroma(f"http://127.0.0.1:{stranger.server_port}")
        with pytest.raises(StoreUnreachable, match="no Chroma server"):
            USES[use](index)
        index.close()
        stranger.shutdown()


def test_other_programs_may_use_the_server_too(server: ChromaServer, index: ChromaIndex) -> None:
    other = Connection(server.address, seconds=30)
    other.create("entity-b", {"made_by": "others"})
    write(index, "entity-a", random_vectors(3))
    assert index.names() == ["entity-a"]
    index.drop("entity-b")
    assert set(collections_of(server.address)) == {"entity-a", "entity-b"}
    with pytest.raises(IndexNotReady):
        index.nearest("entity-b", QUESTION, limit=3)
    other.close()


def test_wide_vectors_are_sent_in_parts(server: ChromaServer, index: ChromaIndex) -> None:
    """A server refuses more than forty million bytes at once."""
    vectors = random_vectors(700, dimension=16_000)
    ids = write(index, "entity-a", vectors)
    assert np.allclose(index.read("entity-a", [ids[-1]])[ids[-1]], vectors[-1], atol=1e-7)


def test_a_closed_index_can_be_used_again(index: ChromaIndex) -> None:
    write(index, "entity-a", random_vectors(3))
    index.close()
    assert len(index.nearest("entity-a", QUESTION, limit=3)) == 3


def test_ids_never_mixes_a_collection_with_the_next_of_its_name(
    server: ChromaServer, index: ChromaIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.vectors.chroma.index._PAGE", 100)
    write(index, "entity-a", random_vectors(300))
    reading = index.ids("entity-a")
    next(reading)
    other = open_chroma(server.address)
    write(other, "entity-a", random_vectors(300))
    other.close()
    with pytest.raises(IndexNotReady):
        list(reading)
