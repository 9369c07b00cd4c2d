"""A Neo4j whose graph is taken away under those who read and write it, and a writer whose place is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from backend.errors import StoreUnreachable
from backend.explorer import Explorer
from backend.models import EntityQuery, JobState, Mode, Progress, WalkQuery
from backend.stores.neo4j.driver import Address
from backend.stores.neo4j.store import Neo4jStore
from tests.servers.neo4j import Neo4j
from tests.world import DATASET, SECOND, SMALL_WORLD, entity
from tests.worlds import apply, new_explorer, run

pytestmark = pytest.mark.neo4j


@pytest.fixture
def harbour(neo4j_server: Neo4j, tmp_path: Path) -> Explorer:
    """The small world on the server."""
    explorer = new_explorer(tmp_path, neo4j_server.address)
    for step in SMALL_WORLD:
        apply(explorer, step, tmp_path)
    return explorer


def questions(explorer: Explorer, folder: Path) -> list[Callable[[], object]]:
    """Whatever somebody may ask of a store, or do to it."""
    return [
        explorer.catalog,
        explorer.status,
        explorer.jobs,
        explorer.build_indexes,
        lambda: explorer.search(EntityQuery("ida", mode=Mode.LEXICAL)),
        lambda: explorer.walk(WalkQuery(entity("ida"))),
        lambda: explorer.remove(dataset=DATASET),
        lambda: run(explorer, SECOND, folder),
    ]


def test_database_that_was_emptied_is_said_to_hold_no_graph(
    harbour: Explorer, neo4j_server: Neo4j, tmp_path: Path
) -> None:
    neo4j_server.clear()
    for ask in questions(harbour, tmp_path):
        with pytest.raises(StoreUnreachable, match="holds no graph of Attest any more") as raised:
            ask()
        assert "load the data again" in raised.value.hint
    with neo4j_server.driver() as driver:
        assert driver.execute_query("MATCH (n) RETURN n").records == []
    harbour.close()


def test_graph_made_anew_is_never_mixed_with_the_one_before(
    harbour: Explorer, neo4j_server: Neo4j, tmp_path: Path
) -> None:
    other = new_explorer(tmp_path, neo4j_server.address)  # empties the database
    for step in SMALL_WORLD:
        apply(other, step, tmp_path)
    assert other.catalog().labels
    for ask in questions(harbour, tmp_path):
        with pytest.raises(StoreUnreachable, match="holds another graph than when it was opened"):
            ask()
    assert [job.state for job in other.jobs()] == [JobState.COMMITTED] * 2
    other.close()
    harbour.close()


@pytest.mark.parametrize("phase", ["writing relations", "committing"])
def test_load_whose_database_is_emptied_ends_and_leaves_nothing(
    harbour: Explorer, neo4j_server: Neo4j, tmp_path: Path, phase: str
) -> None:
    def empty(progress: Progress) -> None:
        if progress.phase == phase:
            neo4j_server.clear()

    with pytest.raises(StoreUnreachable, match="holds no graph of Attest any more"):
        run(harbour, SECOND, tmp_path, empty)
    with neo4j_server.driver() as driver:
        assert driver.execute_query("MATCH (n) RETURN n").records == []
    harbour.close()


@pytest.mark.parametrize("phase", ["writing relations", "committing"])
def test_writer_whose_place_was_taken_writes_no_more_and_leaves_the_rows_of_the_other(
    harbour: Explorer, neo4j_server: Neo4j, tmp_path: Path, phase: str
) -> None:
    before = harbour.status().datasets
    with neo4j_server.driver() as driver:

        def take(progress: Progress) -> None:
            if progress.phase == phase:
                driver.execute_query("MATCH (k:AttestStore) SET k.lease = 'another'")
                driver.execute_query("CREATE (:Entity {id: 'of another', since: 3})")

        with pytest.raises(StoreUnreachable, match="another has taken its place"):
            run(harbour, SECOND, tmp_path, take)
        assert len(driver.execute_query("MATCH (n:Entity {id: 'of another'}) RETURN n").records) == 1
        driver.execute_query("MATCH (k:AttestStore) SET k.lease = null")
    assert harbour.status().datasets == before
    assert harbour.jobs()[0].state is JobState.FAILED
    run(harbour, SECOND, tmp_path)
    assert harbour.jobs()[0].state is JobState.COMMITTED
    harbour.close()


def test_commit_whose_writer_died_while_it_was_put_in_place_keeps_no_reader_waiting(
    harbour: Explorer, neo4j_server: Neo4j, tmp_path: Path
) -> None:
    before = harbour.walk(WalkQuery(entity("ida"))).edges
    with neo4j_server.driver() as driver:
        driver.execute_query("MATCH (k:AttestStore) SET k.committing = true")
    assert harbour.walk(WalkQuery(entity("ida"))).edges == before
    run(harbour, SECOND, tmp_path)
    harbour.close()


def test_reading_that_commits_always_run_into_gives_up_in_words(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    other = Neo4jStore(Address(neo4j_server.address))

    def commit(_: object) -> None:
        job = other.jobs.open("index", None)
        assert other.jobs.acquire(job.id) is None
        with other.writer(job.id) as writer:
            writer.commit(None)
        other.jobs.close(job.id, JobState.COMMITTED)

    with pytest.raises(StoreUnreachable, match="changes faster than it can be read"):
        explorer.store.read(commit)
    other.close()
    explorer.close()
