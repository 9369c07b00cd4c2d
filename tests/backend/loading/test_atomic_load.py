"""A load is seen whole or not at all, however it ends, and readers never wait for it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.explorer import Explorer
from backend.models import EntityQuery, JobState, Mode, WalkQuery
from backend.settings import SQLITE
from tests.bundles import fleet, write_bundle
from tests.explorers import open_test_explorer
from tests.servers.neo4j import Neo4j

DOCUMENTS = 250
ROOT = Path(__file__).parents[3]
PHASES = (
    "starting",
    "reading documents",
    "reading relations",
    "writing entities",
    "writing passages",
    "writing relations",
    "checking vectors",
    "loading the encoder",
    "encoding names",
    "committing",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def explorer(home: Path) -> Iterator[Explorer]:
    opened = open_test_explorer(home)
    yield opened
    opened.close()


def picture(explorer: Explorer) -> dict[str, Any]:
    """Everything that a reader can see, as values that compare."""
    found = [
        explorer.search(EntityQuery(text, mode=mode, limit=50))
        for text in ("Port 3", "Vessel 7", "first", "second")
        for mode in Mode
    ]
    walks = [explorer.walk(WalkQuery(hit.id, depth=2)) for hit in found[0].hits if hit.status == "supported"]
    return {
        "datasets": explorer.status().datasets,
        "hits": [replace(result, timings_ms={}) for result in found],
        "walks": [replace(result, timings_ms={}) for result in walks],
    }


def start_load(home: Path, bundle: Path, pause: float = 0.0, graph: str = SQLITE) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.load_process", str(home), graph, str(bundle), "fleet", str(pause)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": "."})


def test_a_load_killed_at_any_moment_shows_nothing_and_the_next_one_completes_it(tmp_path: Path) -> None:
    kill_loads(tmp_path, SQLITE, DOCUMENTS, PHASES)


@pytest.mark.neo4j
def test_a_load_into_neo4j_killed_at_any_moment_shows_nothing_and_the_next_one_completes_it(
    tmp_path: Path, neo4j_server: Neo4j
) -> None:
    neo4j_server.clear()
    kill_loads(tmp_path, neo4j_server.address, 40, ("writing relations", "committing"))


@pytest.mark.neo4j
@pytest.mark.thorough
def test_a_larger_load_into_neo4j_killed_at_any_moment_shows_nothing_and_the_next_one_completes_it(
    tmp_path: Path, neo4j_server: Neo4j
) -> None:
    neo4j_server.clear()
    kill_loads(tmp_path, neo4j_server.address, DOCUMENTS, PHASES)


def kill_loads(tmp_path: Path, graph: str, documents: int, phases: Sequence[str]) -> None:
    """Kills a second load in each phase; before and after the next one compare with stores of nothing else."""
    first = write_bundle(tmp_path / "first", **fleet(documents))
    second = write_bundle(tmp_path / "second", **fleet(documents + 50, edition="second"))
    moments = random.Random(7)
    with (
        closing(open_test_explorer(tmp_path / "home", graph=graph)) as explorer,
        closing(open_test_explorer(tmp_path / "other")) as other,
    ):
        explorer.load([first], dataset="fleet")
        other.load([first], dataset="fleet")
        before = picture(other)
        assert picture(explorer) == before
        for phase in phases:
            kill_load(start_load(tmp_path / "home", second, 0.1, graph), phase, moments.uniform(0, 0.2))
            job = explorer.jobs()[0]
            if job.state is JobState.COMMITTED:
                assert phase == phases[-1]  # the signal came after the commit; what follows is the complete state
            else:
                assert job.state is JobState.KILLED
                assert picture(explorer) == before
        explorer.load([second], dataset="fleet")
        other.load([second], dataset="fleet")
        assert picture(explorer) == picture(other)
        assert all(check.stored == check.recorded for check in explorer.status(check=True).check or ())


def kill_load(process: subprocess.Popen[str], phase: str, seconds: float) -> None:
    """Kills a load so long after it has said that a phase begins."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == phase:
            time.sleep(seconds)
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_readers_see_one_state_or_the_other_while_a_load_runs(tmp_path: Path, home: Path, explorer: Explorer) -> None:
    first = write_bundle(tmp_path / "first", **fleet(DOCUMENTS))
    second = write_bundle(tmp_path / "second", **fleet(DOCUMENTS, edition="second"))
    explorer.load([first], dataset="fleet")
    before = picture(explorer)
    seen: list[dict[str, Any]] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                seen.append(picture_of_names(explorer))
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    output, _ = start_load(home, second, pause=0.05).communicate(timeout=120)
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert "committed" in output
    after = picture_of_names(explorer)
    assert picture(explorer) != before
    assert {repr(picture) for picture in seen} <= {repr(after), repr(names_of(before))}


def picture_of_names(explorer: Explorer) -> dict[str, Any]:
    """A picture that one reading gives, so that it is of one state."""
    result = explorer.search(EntityQuery("Vessel 7", mode=Mode.HYBRID, limit=50))
    return {"names": [(hit.name, hit.counts, hit.score) for hit in result.hits]}


def names_of(whole: dict[str, Any]) -> dict[str, Any]:
    hybrid = whole["hits"][3]
    return {"names": [(hit.name, hit.counts, hit.score) for hit in hybrid.hits]}


def test_a_stopped_load_leaves_nothing(tmp_path: Path, home: Path, explorer: Explorer) -> None:
    bundle = write_bundle(tmp_path / "first", **fleet(4 * DOCUMENTS))
    process = start_load(home, bundle, pause=0.1)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("writing"):
            break
    explorer.stop(explorer.jobs()[0].id)
    process.communicate(timeout=120)
    assert explorer.jobs()[0].state is JobState.STOPPED
    assert explorer.status().datasets == ()


def test_lost_vectors_are_reported_and_made_anew_by_the_next_load(tmp_path: Path, explorer: Explorer) -> None:
    bundle = write_bundle(tmp_path / "first", **fleet(20))
    explorer.load([bundle], dataset="fleet")
    before = picture(explorer)
    explorer.index_store().drop(explorer.catalog().vector_collections[0].name)
    checks = explorer.status(check=True).check or ()
    assert [(check.stored, check.remedy) for check in checks if check.remedy] == [(None, "attest index")]

    (report,) = explorer.load([bundle], dataset="fleet")

    assert len(report.mended) == 2
    assert picture(explorer) == before
