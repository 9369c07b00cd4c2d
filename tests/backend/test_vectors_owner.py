"""A graph store and a vector store that do not belong together are recognised, and nothing is mixed or dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend.errors import IndexNotReady, NotConfigured
from backend.explorer import Explorer
from backend.settings import Settings
from backend.stores.sqlite.store import SqliteStore
from backend.vectors.base import Index
from backend.vectors.chroma import ChromaIndex, open_chroma
from tests.backend.test_vectors_index import random_vectors, some_id, write
from tests.bundles import write_bundle
from tests.encoders import LettersEncoder

MINE, OTHER = some_id(1), some_id(2)
VECTOR = random_vectors(1)[0]
USES: dict[str, Callable[[Index], object]] = {
    "nearest": lambda index: index.nearest("entity-a", VECTOR, limit=3),
    "read": lambda index: index.read("entity-a", [some_id(0)]),
    "ids": lambda index: list(index.ids("entity-a")),
    "names": lambda index: index.names(),
    "collections": lambda index: index.collections(),
    "create": lambda index: index.create("entity-a", kind="entity", encoder="letters", dimension=3),
    "drop": lambda index: index.drop("entity-a"),
}

Open = Callable[..., ChromaIndex]


@pytest.fixture
def opened(vectors_place: Path | str) -> Iterator[Open]:
    """Opens the vectors for the graph store of an identity."""
    every: list[ChromaIndex] = []

    def open_for(identity: str, graph: str = "") -> ChromaIndex:
        every.append(open_chroma(vectors_place, identity=identity, graph=graph))
        return every[-1]

    yield open_for
    for index in every:
        index.close()


@pytest.mark.parametrize("use", USES)
def test_the_vectors_of_another_graph_are_refused(opened: Open, vectors_place: Path | str, use: str) -> None:
    write(opened(MINE, "the graph at bolt://one"), "entity-a", random_vectors(20))
    with pytest.raises(NotConfigured) as caught:
        USES[use](opened(OTHER, "the graph at bolt://two"))
    for named in (str(vectors_place), "bolt://one", "bolt://two", MINE, OTHER):
        assert named in caught.value.message
    assert "ATTEST_GRAPH" in caught.value.hint
    assert opened(MINE).collections() == {"entity-a": 20}


def test_whoever_belongs_to_them_comes_back(opened: Open) -> None:
    write(opened(MINE), "entity-a", random_vectors(20))
    again = opened(MINE, "moved to another address")
    write(again, "entity-b", random_vectors(10))
    assert again.collections() == {"entity-a": 20, "entity-b": 10}
    again.drop("entity-a")
    assert again.names() == ["entity-b"]


def test_reading_claims_nothing(opened: Open) -> None:
    with pytest.raises(IndexNotReady):
        opened(OTHER).nearest("entity-a", VECTOR, limit=3)
    assert opened(OTHER).collections() == {}
    opened(OTHER).drop("entity-a")
    write(opened(MINE), "entity-a", random_vectors(20))


def test_vectors_of_an_earlier_version_are_taken_over(opened: Open) -> None:
    write(opened(""), "entity-a", random_vectors(20))
    mine = opened(MINE)
    assert len(mine.nearest("entity-a", VECTOR, limit=30)) == 20
    write(mine, "entity-b", random_vectors(10))
    assert mine.collections() == {"entity-a": 20, "entity-b": 10}
    with pytest.raises(NotConfigured):
        opened(OTHER).names()


def test_an_emptied_place_still_has_its_owner(opened: Open) -> None:
    mine = opened(MINE)
    write(mine, "entity-a", random_vectors(3))
    mine.drop("entity-a")
    with pytest.raises(NotConfigured):
        write(opened(OTHER), "entity-a", random_vectors(3))


def test_of_many_who_come_first_one_is_the_owner(opened: Open) -> None:
    ready = threading.Barrier(6)
    refused: list[str] = []

    def claim(number: int) -> None:
        index = opened(some_id(number))
        ready.wait()
        try:
            write(index, f"entity-{number}", random_vectors(3))
        except NotConfigured:
            refused.append(some_id(number))

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    assert len(opened("").names()) == 1


def test_a_graph_never_sweeps_away_the_vectors_of_another(vectors_place: Path | str, tmp_path: Path) -> None:
    mine, other = (explorer_over(tmp_path / name, vectors_place) for name in ("mine", "other"))
    bundle = write_bundle(tmp_path / "bundle", entities=[{"id": "e", "name": "Anchor"}])
    mine.load([bundle])
    before = mine.status(check=True).check
    for use in (lambda: other.load([bundle]), other.build_indexes, lambda: other.status(check=True)):
        with pytest.raises(NotConfigured, match=str(tmp_path / "mine")):
            use()
    assert other.status().datasets == ()
    assert mine.status(check=True).check == before
    assert mine.build_indexes() == []
    for explorer in (mine, other):
        explorer.close()


def explorer_over(home: Path, vectors_place: Path | str) -> Explorer:
    """An embedded graph store whose vectors are in this place."""
    store, encoder = SqliteStore(home), LettersEncoder()

    def index() -> Index:
        return open_chroma(vectors_place, identity=store.identity, graph=store.place)

    return Explorer(store, index=index, encoder=lambda: encoder, settings=Settings(home=home))
