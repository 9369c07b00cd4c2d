"""What a Neo4j does to its users when it is down, refuses them, is slow, or dies, and how they recover."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from backend.errors import AttestError, StoreUnreachable
from backend.explorer import Explorer
from backend.models import EntityQuery, JobState, Mode, Progress
from backend.settings import Settings
from backend.stores.neo4j.driver import Address, Server
from backend.stores.neo4j.store import Neo4jStore
from tests.encoders import LettersEncoder
from tests.servers.neo4j import Missing, Neo4jServer
from tests.world import SECOND, SMALL_WORLD
from tests.worlds import ExactIndex, apply, run

PASSWORD = "correct-horse-9"
IDA = EntityQuery("ida", mode=Mode.HYBRID)

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of its own, with a password, that tests may kill."""
    try:
        own = Neo4jServer(tmp_path_factory.mktemp("neo4j"), password=PASSWORD)
    except Missing as missing:
        pytest.skip(str(missing))
    with own:
        yield own


Open = Callable[..., Explorer]


@pytest.fixture
def open_there(server: Neo4jServer, tmp_path: Path) -> Iterator[Open]:
    """Opens explorers on the server, which share their vectors."""
    index, encoder, opened = ExactIndex(), LettersEncoder(), list[Explorer]()

    def make(**changes: str | None) -> Explorer:
        address = Address(
            **{"uri": server.address, "user": server.user, "password": PASSWORD, "database": None, **changes}  # type: ignore[arg-type]
        )
        settings = Settings(home=tmp_path)
        opened.append(Explorer(Neo4jStore(address), index=lambda: index, encoder=lambda: encoder, settings=settings))
        return opened[-1]

    yield make
    for explorer in opened:
        explorer.close()


@pytest.fixture
def harbour(server: Neo4jServer, open_there: Open, tmp_path: Path) -> Explorer:
    """The small world on the server, and nothing else."""
    server.running.clear()
    explorer = open_there()
    for step in SMALL_WORLD:
        apply(explorer, step, tmp_path)
    return explorer


def refusal(ask: Callable[[], object]) -> StoreUnreachable:
    """The error, which holds the password nowhere: not in its words, its details or its traceback."""
    with pytest.raises(StoreUnreachable) as raised:
        ask()
    told = "".join(traceback.format_exception(raised.value)) + repr(raised.value.details)
    assert PASSWORD not in told
    return raised.value


def test_server_that_is_down_is_named(tmp_path: Path) -> None:
    store = Neo4jStore(Address("neo4j://127.0.0.1:9", "neo4j", PASSWORD))
    error = refusal(lambda: store.read(lambda view: view.catalog()))
    assert "neo4j://127.0.0.1:9" in error.message
    assert PASSWORD not in repr(store) + repr(Address("neo4j://127.0.0.1:9", "neo4j", PASSWORD))
    store.close()


def test_wrong_password_is_told_with_the_settings_to_check(open_there: Open) -> None:
    error = refusal(lambda: open_there(password="wrong-wrong-wrong").catalog())
    assert "refuses the user 'neo4j'" in error.message
    assert "ATTEST_NEO4J_PASSWORD" in error.hint
    assert "wrong-wrong-wrong" not in str(error)


def test_unknown_database_is_named(open_there: Open) -> None:
    error = refusal(lambda: open_there(database="nowhere").catalog())
    assert "no database 'nowhere'" in error.message


def test_query_over_its_time_limit_ends_and_says_so(server: Neo4jServer) -> None:
    slow = Server(Address(server.address, server.user, PASSWORD), read_seconds=1.0)

    def ask() -> None:
        with slow.reading() as reading:
            reading.read("UNWIND range(1, 2000000000) AS n WITH n WHERE n < 0 RETURN count(n) AS n")

    assert "within its time limit" in refusal(ask).message
    slow.close()


def test_killed_server_is_told_and_served_again_without_opening_anew(server: Neo4jServer, harbour: Explorer) -> None:
    before = harbour.search(IDA).hits
    server.kill()
    try:
        assert server.address in refusal(lambda: harbour.search(IDA)).message
    finally:
        server.start()
    assert harbour.search(IDA).hits == before


# Each phase starts a server again. Before its commit a load is invisible however it ends, which needs no server killed.
@pytest.mark.parametrize("phase", [pytest.param("writing mentions", marks=pytest.mark.thorough), "committing"])
def test_load_during_which_the_server_is_killed_is_not_seen_and_is_completed_by_the_next(
    server: Neo4jServer, open_there: Open, tmp_path: Path, phase: str
) -> None:
    server.running.clear()
    explorer = open_there()
    run(explorer, SMALL_WORLD[0], tmp_path)
    before = explorer.search(IDA).hits, explorer.status().datasets

    def kill(progress: Progress) -> None:
        if progress.phase == phase:
            server.kill()

    try:
        refusal(lambda: run(explorer, SECOND, tmp_path, kill))
    finally:
        with suppress(AssertionError):  # it was not killed, so the load cannot have failed
            server.start()
    assert (explorer.search(IDA).hits, explorer.status().datasets) == before
    assert explorer.jobs()[0].state in (JobState.RUNNING, JobState.FAILED, JobState.KILLED)
    run(explorer, SECOND, tmp_path)
    fresh = open_there()
    assert fresh.search(IDA).hits == explorer.search(IDA).hits != before[0]
    assert fresh.jobs()[0].state is JobState.COMMITTED


def test_errors_are_of_the_family(open_there: Open) -> None:
    with pytest.raises(AttestError):
        open_there(uri="bolt://127.0.0.1:9").status()
