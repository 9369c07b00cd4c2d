"""Twenty visitors over one open Explorer while loads and removals commit: nobody meets an error or half an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from backend.explorer import Explorer
from backend.models import EntityQuery, Mode, Scope, WalkQuery
from backend.settings import Settings
from backend.vectors.base import Index
from backend.vectors.chroma import open_chroma
from tests.bundles import fleet, write_bundle
from tests.encoders import LettersEncoder
from tests.servers.neo4j import Neo4j
from tests.world import DATASET, FIRST, SECOND, document, entity
from tests.worlds import open_store, outcome, run

VISITORS = 20
# All but the names of relation types: on a server one that goes with what was removed is known for a moment longer.
QUESTIONS: tuple[tuple[str, Callable[[Explorer], object]], ...] = (
    ("by name and meaning", lambda seen: outcome(seen.search, EntityQuery("vessel petrel", mode=Mode.HYBRID))),
    ("by name", lambda seen: outcome(seen.search, EntityQuery("port light", mode=Mode.LEXICAL, limit=20))),
    ("in a scope", lambda seen: outcome(seen.search, EntityQuery("gannet", scope=Scope(collections=("records",))))),
    ("walk", lambda seen: outcome(seen.walk, WalkQuery(entity("petrel"), depth=2))),
    ("walk to a port", lambda seen: outcome(seen.walk, WalkQuery(entity("port1", "fleet"), max_candidates=5))),
    ("evidence", lambda seen: outcome(seen.entity_evidence, entity("gannet"))),
    ("document", lambda seen: outcome(seen.document, document("register"))),
    ("names", lambda seen: replace(seen.catalog(), relation_types=())),
    ("counts", lambda seen: seen.status().datasets),
)


@pytest.fixture
def shared(folder: Path, store_place: str) -> Iterator[Explorer]:
    """An explorer as the application opens it, its vectors in a Chroma on disk."""
    if store_place != "sqlite":
        Neo4j(store_place).clear()
    encoder, store = LettersEncoder(), open_store(store_place, folder / "home")

    def index() -> Index:
        return open_chroma(folder / "vectors", identity=store.identity)

    explorer = Explorer(store, index=index, encoder=lambda: encoder, settings=Settings(home=folder))
    yield explorer
    explorer.close()


def test_twenty_visitors_meet_neither_an_error_nor_half_an_answer(
    shared: Explorer, store_place: str, folder: Path
) -> None:
    pause = 0 if store_place == "sqlite" else 1.0  # a server that twenty never leave alone takes a minute to load
    run(shared, FIRST, folder)
    bundle = write_bundle(folder / "fleet", **fleet(40))
    steps: list[Callable[[], object]] = [
        lambda: run(shared, SECOND, folder),
        lambda: shared.load([bundle], dataset="fleet"),
        lambda: shared.remove(dataset="fleet"),
        lambda: shared.remove(dataset=DATASET),
    ]
    right: dict[str, list[object]] = {name: [ask(shared)] for name, ask in QUESTIONS}
    over = threading.Event()

    def visit(number: int) -> list[tuple[str, object]]:
        answers = []
        while not over.is_set():
            for turn in range(len(QUESTIONS)):
                name, ask = QUESTIONS[(turn + number) % len(QUESTIONS)]
                answers.append((name, ask(shared)))
                over.wait(pause)
        return answers

    with ThreadPoolExecutor(VISITORS) as threads:
        visits = [threads.submit(visit, number) for number in range(VISITORS)]
        try:
            for step in steps:
                step()
                for name, ask in QUESTIONS:
                    right[name].append(ask(shared))
        finally:
            over.set()
        answers = [answer for each in visits for answer in each.result()]
    assert len(answers) >= VISITORS * len(QUESTIONS)
    assert [(name, found) for name, found in answers if found not in right[name]] == []


def test_closed_explorer_leaves_no_thread_no_file_and_no_connection(
    shared: Explorer, store_place: str, folder: Path
) -> None:
    run(shared, FIRST, folder)
    before = set(threading.enumerate())
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda question: question[1](shared), QUESTIONS * 2))
    shared.close()
    assert set(threading.enumerate()) <= before
    end = monotonic() + 10  # Chroma lets go of its files in threads of its own
    while files := [file.path for file in psutil.Process().open_files() if file.path.startswith(str(folder))]:
        assert monotonic() < end, files
        sleep(0.05)
    if store_place != "sqlite":
        port = int(store_place.rpartition(":")[2])
        assert [each for each in psutil.Process().net_connections() if each.raddr and each.raddr.port == port] == []


def test_more_visitors_than_connections_never_wait_for_each_other(shared: Explorer, folder: Path) -> None:
    run(shared, FIRST, folder)
    with ThreadPoolExecutor(60) as threads:  # a server is given 50 connections
        reports = list(threads.map(lambda _: shared.status(), range(60)))
    assert reports == [reports[0]] * 60
