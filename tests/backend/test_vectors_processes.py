"""Vectors that one process writes while others read them, on disk and on a server.

`python -m tests.backend.test_vectors_processes write PLACE NAME...` writes the collections one after the other and
prints the name of each that is complete; `... read PLACE NAME MOMENT` opens one at a moment and prints what it found;
`... watch PLACE` opens whatever comes until there is none for a while, and prints how that ended.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID
from zlib import crc32

import numpy as np
import pytest

from backend.errors import IndexNotReady
from backend.vectors.base import Index, Vectors
from backend.vectors.chroma import open_chroma
from tests.servers.chroma import collections_of

ROOT = Path(__file__).parents[2]
COUNT, DIMENSION, BATCH = 6_000, 32, 1_500


def vectors_of(name: str) -> Vectors:
    rows = np.random.default_rng(crc32(name.encode())).normal(size=(COUNT, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def ids_of(name: str) -> list[str]:
    return [str(UUID(int=crc32(name.encode()) << 64 | number)) for number in range(COUNT)]


def write(index: Index, name: str) -> None:
    ids, vectors = ids_of(name), vectors_of(name)
    index.create(name, kind="entity", encoder="letters", dimension=DIMENSION)
    for start in range(0, COUNT, BATCH):
        part = slice(start, start + BATCH)
        index.add(name, ids[part], ["Thing"] * BATCH, vectors[part])
    index.seal(name)


def assert_whole(index: Index, name: str) -> None:
    """It has exactly the rows that were written, and each of a sample is the nearest to itself."""
    ids, vectors = ids_of(name), vectors_of(name)
    assert index.collections()[name] == COUNT
    assert sorted(index.ids(name)) == ids
    sample = range(0, COUNT, 61)
    stored = index.read(name, [ids[number] for number in sample])
    assert np.allclose(np.stack([stored[ids[number]] for number in sample]), vectors[list(sample)], atol=1e-6)
    nearest = [index.nearest(name, vectors[number], limit=1)[0].id for number in sample]
    assert nearest == [ids[number] for number in sample]


def process(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.backend.test_vectors_processes", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def stored(place: Path | str) -> list[str]:
    """Everything that is there, as whoever keeps the place sees it."""
    if isinstance(place, Path):
        return [path.name for path in place.iterdir()]
    return list(collections_of(place))


def lines(running: subprocess.Popen[str]) -> list[str]:
    output, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    return output.split()


class Readers:
    """Threads that ask one collection the same questions again and again, and note every other answer."""

    def __init__(self, index: Index, name: str) -> None:
        self._index, self._name = index, name
        self._vectors = vectors_of(name)[:40]
        self._expected = [index.nearest(name, vector, limit=20) for vector in self._vectors]
        self._stop = threading.Event()
        self.reads = 0
        self.wrong: list[object] = []
        self._threads = [threading.Thread(target=self._read) for _ in range(3)]

    def _read(self) -> None:
        while not self._stop.is_set():
            for vector, expected in zip(self._vectors, self._expected, strict=True):
                try:
                    found = self._index.nearest(self._name, vector, limit=20)
                except Exception as error:  # noqa: BLE001 - the test looks at it
                    self.wrong.append(error)
                else:
                    self.reads += 1
                    if found != expected:
                        self.wrong.append(found)
                time.sleep(0.005)

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def test_reading_goes_on_while_another_process_writes(vectors_place: Path | str) -> None:
    index = open_chroma(vectors_place)
    write(index, "entity-0")
    with Readers(index, "entity-0") as readers:
        with process("write", vectors_place, "entity-1", "entity-2", "entity-3") as writer:
            assert writer.stdout is not None
            for name in writer.stdout:
                assert_whole(index, name.strip())
        assert writer.returncode == 0
    assert readers.wrong == []
    assert readers.reads > 100
    assert set(index.collections()) == {f"entity-{number}" for number in range(4)}
    for number in range(4):
        assert_whole(index, f"entity-{number}")
    index.close()


def test_a_writer_may_be_killed_at_any_moment(vectors_place: Path | str) -> None:
    index = open_chroma(vectors_place)
    write(index, "entity-0")
    random = np.random.default_rng(0)
    with Readers(index, "entity-0") as readers:
        for _ in range(4):
            writer = process("write", vectors_place, "entity-1")
            started = time.monotonic()
            while "entity-1" not in index.names() and time.monotonic() - started < 60:
                time.sleep(0.01)
            time.sleep(float(random.uniform(0, 1)))
            writer.kill()
            writer.communicate()
            if index.collections().keys() == {"entity-0"}:  # it was not done yet
                with pytest.raises(IndexNotReady):
                    index.nearest("entity-1", vectors_of("entity-1")[0], limit=1)
            else:
                assert_whole(index, "entity-1")
            assert "entity-1" in index.names()
            index.drop("entity-1")
            assert index.names() == ["entity-0"]
        assert lines(process("write", vectors_place, "entity-1")) == ["entity-1"]
    assert readers.wrong == []
    assert_whole(index, "entity-1")
    assert len(stored(vectors_place)) == 2  # nothing of the killed ones is left
    index.close()


def test_a_killed_collection_is_written_again_under_its_name(vectors_place: Path | str) -> None:
    index = open_chroma(vectors_place)
    writer = process("write", vectors_place, "entity-1")
    while "entity-1" not in index.names():
        time.sleep(0.01)
    writer.kill()
    writer.communicate()
    write(index, "entity-1")
    assert_whole(index, "entity-1")
    assert len(stored(vectors_place)) == 1
    index.close()


@pytest.mark.parametrize("vectors_place", ["folders"], indirect=True)
def test_many_processes_open_a_new_collection_at_once(vectors_place: Path | str) -> None:
    index = open_chroma(vectors_place)
    write(index, "entity-0")
    index.close()
    moment = str(time.time() + 5)
    readers = [process("read", vectors_place, "entity-0", moment) for _ in range(4)]
    assert [lines(reader) for reader in readers] == [[str(COUNT), ids_of("entity-0")[7]]] * 4


def test_what_another_process_drops(vectors_place: Path | str) -> None:
    index = open_chroma(vectors_place)
    write(index, "entity-0")
    write(index, "entity-1")
    reader, late = open_chroma(vectors_place), open_chroma(vectors_place)
    assert reader.nearest("entity-0", vectors_of("entity-0")[0], limit=5)
    assert lines(process("drop", vectors_place, "entity-0")) == []
    assert list(reader.collections()) == ["entity-1"]
    with pytest.raises(IndexNotReady):
        late.nearest("entity-0", vectors_of("entity-0")[0], limit=5)
    for each in (index, reader, late):
        each.close()


def test_a_folder_that_is_dropped_while_it_is_opened_is_there_or_not(tmp_path: Path) -> None:
    """A Chroma whose files go while it reads them for the first time can wait for itself forever."""
    index = open_chroma(tmp_path)
    watching = [process("watch", tmp_path) for _ in range(2)]
    for number in range(6):
        write(index, f"entity-{number}")
        time.sleep(0.02 * (number % 4))
        index.drop(f"entity-{number}")
    for running in watching:
        assert set(lines(running)) <= {"right", "IndexNotReady"}
    assert stored(tmp_path) == []
    index.close()


def test_nothing_is_sent_anywhere_else(vectors_place: Path | str) -> None:
    assert lines(process("alone", vectors_place)) == ["entity-0"]


def watch(index: Index) -> None:
    last = time.monotonic() + 10
    while time.monotonic() < last + 1:
        for name in index.names():
            last = time.monotonic()
            try:
                found = index.nearest(name, vectors_of(name)[7], limit=1)
            except IndexNotReady:
                print("IndexNotReady", flush=True)
            else:
                print("right" if found[0].id == ids_of(name)[7] else f"wrong {found}", flush=True)
        time.sleep(0.01)


def alone(place: str) -> None:
    """Ends this process as soon as it speaks with anybody but the server, if there is one."""

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        host, port = urlsplit(place).hostname, urlsplit(place).port
        silent = {"socket.__new__", "socket.getaddrinfo"} if host else set()
        if event.startswith("socket.") and event not in silent and arguments[1:] != ((host, port),):
            sys.exit(f"{event} was called with {arguments}")

    sys.addaudithook(heard)


def main(action: str, place: str, *rest: str) -> None:
    index = open_chroma(place if "://" in place else Path(place))
    if action == "write":
        for name in rest:
            write(index, name)
            print(name, flush=True)
    elif action == "read":
        while time.time() < float(rest[1]):
            pass
        print(index.collections()[rest[0]], index.nearest(rest[0], vectors_of(rest[0])[7], limit=1)[0].id)
    elif action == "watch":
        watch(index)
    elif action == "drop":
        index.drop(rest[0])
    elif action == "alone":
        alone(place)
        write(index, "entity-0")
        assert_whole(index, "entity-0")
        print("entity-0")
    index.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
