"""A copy of a store in another one answers as the original does, in every version and scope."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend import cli
from backend.errors import Malformed
from backend.explorer import Explorer
from backend.models import EntityQuery, Job, JobState, Mode, Progress, Scope, WalkQuery
from backend.settings import Settings
from backend.vectors.base import Vectors
from tests.encoders import LettersEncoder
from tests.explorers import open_test_explorer
from tests.model import Load, Truth
from tests.servers.neo4j import Neo4j
from tests.world import SMALL_WORLD
from tests.worlds import (
    MEMORY,
    Abandoned,
    World,
    apply,
    differences,
    entity_queries,
    loads,
    new_explorer,
    outcome,
    run,
    scopes,
    walk_queries,
)

LIBRARY = Load(
    "library",
    documents=[{"id": "d"}],
    passages=[{"id": "p", "document_id": "d", "text": "Ada met Berg."}],
    entities=[{"id": "a", "name": "Ada"}, {"id": "b", "name": "Berg"}],
    mentions=[{"entity_id": "a", "passage_id": "p"}, {"entity_id": "b", "passage_id": "p", "start": 8, "end": 12}],
    relations=[{"id": "r", "source": "a", "target": "b", "type": "MET", "passage_ids": ["p"]}],
)


@pytest.fixture
def original(folder: Path) -> Iterator[Explorer]:
    """A store of two datasets, one of them in two versions."""
    with closing(new_explorer(folder / "original")) as opened:
        for step in (*SMALL_WORLD, LIBRARY):
            apply(opened, step, folder)
        yield opened


@pytest.fixture
def empty(folder: Path) -> Iterator[Explorer]:
    """An empty store beside it."""
    with closing(new_explorer(folder / "empty")) as opened:
        yield opened


# --- answers ---------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(world=loads(), data=st.data())
def test_a_copy_of_any_world_answers_as_the_world(world: World, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        check_copies(Path(name), world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=3)
@given(world=loads(), data=st.data())
def test_a_copy_of_any_world_in_neo4j_and_back_answers_as_the_world(
    neo4j_server: Neo4j, world: World, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        check_copies(Path(name), world, data, neo4j_server.address)


def check_copies(folder: Path, world: World, data: st.DataObject, store_place: str) -> None:
    """Copies to the place, and from there to an embedded store; both must answer as the original does."""
    with (
        closing(new_explorer(folder / "original")) as original,
        closing(new_explorer(folder / "copy", store_place)) as copy,
        closing(new_explorer(folder / "again")) as again,
    ):
        for step in world:
            apply(original, step, folder)
        original.copy(copy)
        copy.copy(again)
        truth = Truth(world)
        scope = data.draw(scopes(truth))
        asked = [data.draw(entity_queries(truth, Mode.HYBRID)) for _ in range(3)]
        walks = [data.draw(walk_queries(truth)) for _ in range(3)]
        expected = answers(original, scope, asked, walks)
        for other in (copy, again):
            assert differences(answers(other, scope, asked, walks), expected) == []


def answers(
    explorer: Explorer, scope: Scope, asked: Sequence[EntityQuery], walks: Sequence[WalkQuery]
) -> dict[str, Any]:
    """All that the store shows of everything in it, and what it answers to the questions."""
    names = explorer.catalog()
    rows = explorer.store.read(lambda view: view.row_counts())
    ids = explorer.store.read(
        lambda view: {kind: [i for name in rows for i in view.row_ids(kind, name)] for kind in ("document", "entity")}
    )
    return {
        "rows": rows,
        "names": (names.labels, names.relation_types, names.collections, names.metadata_keys),
        "status": (explorer.status().datasets, explorer.status().collections),
        "documents": {i: outcome(explorer.document, i, scope) for i in ids["document"]},
        "entities": {i: outcome(explorer.entity, i, scope) for i in ids["entity"]},
        "evidence": {i: outcome(explorer.entity_evidence, i, scope) for i in ids["entity"]},
        "types": {i: outcome(explorer.relation_types, i, scope) for i in ids["entity"]},
        "searches": [outcome(explorer.search, query) for query in asked],
        "walks": [outcome(explorer.walk, query) for query in walks],
    }


def test_what_stated_a_relation_before_it_changed_is_copied(
    original: Explorer, explorer: Explorer, empty: Explorer, folder: Path
) -> None:
    changed = [{**LIBRARY.relations[0], "type": "LEFT"}]
    apply(original, replace(LIBRARY, relations=changed, documents=[{"id": "d", "title": "New"}]), folder)
    original.copy(explorer)
    explorer.copy(empty)
    for copied in (original, explorer, empty):
        start = copied.store.read(lambda view: view.find("library", "a"))["entity"]
        assert [edge.type for edge in copied.walk(WalkQuery(start)).edges] == ["LEFT"]
        before = Scope(as_of="2020-01-01")
        assert [edge.type for edge in copied.walk(WalkQuery(start, scope=before)).edges] == ["MET"]


# --- the way there ---------------------------------------------------------------------------------------------------


def test_what_is_copied_is_counted_alike_in_both_stores(original: Explorer, empty: Explorer) -> None:
    rows = original.store.read(lambda view: view.row_counts())
    copies = original.copy(empty)
    assert {copy.dataset: copy.rows for copy in copies} == rows
    assert empty.store.read(lambda view: view.row_counts()) == rows
    assert rows["library"] == {
        "documents": 1,
        "versions": 1,
        "passages": 1,
        "mentions": 2,
        "entities": 2,
        "relations": 1,
        "support": 1,
        "topics": 1,
        "complements": 0,
        "communities": 0,
        "claims": 0,
    }


def test_a_copy_that_was_broken_off_goes_on_with_what_is_missing(original: Explorer, empty: Explorer) -> None:
    phases: list[str] = []

    def listener(progress: Progress) -> None:
        phases.append(progress.phase)
        if progress.phase == "committing" and phases.count("committing") > 1:
            raise Abandoned

    with pytest.raises(Abandoned):
        original.copy(empty, listener=listener)
    assert list(empty.store.read(lambda view: view.row_counts())) == ["harbour"]
    copies = original.copy(empty)
    assert [(copy.dataset, copy.copied) for copy in copies] == [("harbour", False), ("library", True)]
    assert [copy.copied for copy in original.copy(empty)] == [False, False]


def test_another_dataset_of_the_same_name_is_not_touched(original: Explorer, empty: Explorer, folder: Path) -> None:
    apply(empty, replace(LIBRARY, relations=[]), folder)
    with pytest.raises(Malformed, match="another dataset 'library': 0 relations there, 1 here"):
        original.copy(empty)
    assert list(empty.store.read(lambda view: view.row_counts())) == ["library"]


def test_other_versions_of_the_same_number_of_documents_are_another_dataset(
    original: Explorer, empty: Explorer, folder: Path
) -> None:
    apply(empty, replace(LIBRARY, passages=[{"id": "p", "document_id": "d", "text": "Ada saw Berg."}]), folder)
    with pytest.raises(Malformed, match="its documents have other versions"):
        original.copy(empty)


def test_a_store_is_not_copied_into_itself(original: Explorer) -> None:
    with pytest.raises(Malformed, match="is the store itself"):
        original.copy(original)


def test_both_stores_list_the_copy_among_their_jobs(original: Explorer, empty: Explorer) -> None:
    original.copy(empty)
    assert _described(original.jobs()[0]) == ("copy", None, JobState.COMMITTED)
    assert [_described(job) for job in empty.jobs()] == [
        ("copy", "library", JobState.COMMITTED),
        ("copy", "harbour", JobState.COMMITTED),
    ]


def _described(job: Job) -> tuple[str, str | None, JobState]:
    return job.kind, job.dataset, job.state


def test_a_load_waits_until_what_it_would_change_is_copied(original: Explorer, empty: Explorer, folder: Path) -> None:
    waiting = threading.Event()

    def hear(progress: Progress) -> None:
        if progress.phase.startswith("waiting for job"):
            waiting.set()

    loading = threading.Thread(target=lambda: load_again(original, folder, hear))

    def listener(progress: Progress) -> None:
        if progress.phase == "committing" and not waiting.is_set():
            loading.start()
            assert waiting.wait(30)

    original.copy(empty, listener=listener)
    loading.join()
    assert original.store.read(lambda view: view.row_counts())["library"]["versions"] == 2
    assert empty.store.read(lambda view: view.row_counts())["library"]["versions"] == 1


def load_again(explorer: Explorer, folder: Path, listener: Callable[[Progress], None]) -> None:
    run(explorer, replace(LIBRARY, documents=[{"id": "d", "title": "New"}]), folder, listener)


# --- vectors ---------------------------------------------------------------------------------------------------------


class _NeverEncodes(LettersEncoder):
    """Knows its name and refuses to work."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(f"encoded {len(texts)} texts")


def test_vectors_are_copied_and_not_made_again(folder: Path) -> None:
    with closing(open_test_explorer(folder / "one")) as original:
        for step in SMALL_WORLD:
            apply(original, step, folder)
        query = EntityQuery("Petrel", mode=Mode.SEMANTIC)
        expected = outcome(original.search, query)
    with (
        closing(open_test_explorer(folder / "one", _NeverEncodes())) as original,
        closing(open_test_explorer(folder / "two", _NeverEncodes())) as copy,
    ):
        original.copy(copy)
    with closing(open_test_explorer(folder / "two")) as copy:
        assert differences(outcome(copy.search, query), expected) == []
        assert copy.status(check=True).check[0].remedy == ""


def test_vectors_that_are_lost_are_made_again(folder: Path) -> None:
    with (
        closing(open_test_explorer(folder / "one")) as original,
        closing(open_test_explorer(folder / "two")) as copy,
    ):
        apply(original, LIBRARY, folder)
        query = EntityQuery("Ada", mode=Mode.SEMANTIC)
        expected = outcome(original.search, query)
        for name in original.index_store().names():
            original.index_store().drop(name)
        original.copy(copy)
        assert differences(outcome(copy.search, query), expected) == []


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_copies_into_a_folder_and_says_how_to_use_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(open_test_explorer(folder / "one")) as original:
        apply(original, LIBRARY, folder)
    for name, value in Settings(home=folder / "one").environment().items():
        monkeypatch.setenv(name, value)
    cli.app(["copy", "--to", str(folder / "two")], standalone_mode=False)
    assert capsys.readouterr().out.splitlines() == [
        "library: copied, 1 documents, 1 versions, 1 passages, 2 mentions, 2 entities, 1 relations, 1 support, "
        "1 topics, 0 complements, 0 communities, 0 claims",
        "To use the copy, set:",
        f"  ATTEST_HOME={folder / 'two'}",
        "  ATTEST_GRAPH=sqlite",
        "  ATTEST_VECTORS=chroma",
    ]
    with closing(open_test_explorer(folder / "two")) as copy:
        assert [hit.name for hit in copy.search(EntityQuery("ada", mode=Mode.LEXICAL)).hits] == ["Ada"]
