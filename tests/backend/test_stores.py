"""The contract of a graph store: what every store promises, one promise per test, each against every store."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.errors import IndexNotReady, Malformed, Unavailable
from backend.explorer import Explorer
from backend.loading.jobs import Stopped
from backend.models import (
    Catalog,
    Condition,
    Counts,
    EdgeKind,
    EntityQuery,
    Hidden,
    IndexState,
    JobState,
    Mode,
    PassageQuery,
    Progress,
    Scope,
    Status,
    WalkQuery,
)
from backend.scope import resolve
from backend.stores.base import GraphStore, GraphView
from tests import model
from tests.encoders import LettersEncoder
from tests.model import Load, Removal, Row, Truth
from tests.world import DATASET, ENTITIES, FIRST, SECOND, SMALL_WORLD, document, edge, entity
from tests.worlds import (
    ExactIndex,
    apply,
    differences,
    learn_passage_ids,
    new_explorer,
    open_store,
    outcome,
    run,
    unfinished,
)

ROOT = Path(__file__).parents[2]
BEFORE, AFTER = Scope(as_of="2021-12-31"), Scope(as_of="2022-12-31")


def picture(explorer: Explorer) -> dict[str, Any]:
    """Everything that a reader can see of a store, as a value that compares."""
    catalog = explorer.catalog()
    scope = resolve(Scope())
    counts = explorer.store.read(lambda view: (view.dataset_counts(scope), view.collection_counts(scope)))
    found = {
        (text, mode): outcome(explorer.search, EntityQuery(text, mode=mode, limit=50))
        for text in ("the keeper", "Berg", "Gannet", "Old", "Heron")
        for mode in Mode
    }
    seen = {hit.id for result in found.values() for hit in result.hits}
    return {
        "names": (catalog.labels, catalog.relation_types, catalog.collections, catalog.metadata_keys),
        "counts": counts,
        "found": found,
        "walks": {key: outcome(explorer.walk, WalkQuery(key, depth=2)) for key in sorted(seen)},
        "evidence": {key: explorer.entity_evidence(key) for key in sorted(seen)},
        "documents": {key: outcome(explorer.document, document(key)) for key in ("register", "letter", "gazette")},
    }


def names(explorer: Explorer, text: str, mode: Mode = Mode.LEXICAL, **options: Any) -> list[str]:
    """The names of the hits, best first."""
    return [hit.name for hit in explorer.search(EntityQuery(text, mode=mode, **options)).hits]


def one_document(*entities: Row, relations: list[Row] | None = None, dataset: str = "d", text: str = "Words.") -> Load:
    """A load of one document with one passage that mentions each of the entities."""
    return Load(
        dataset,
        [{"id": "doc", "title": "Doc"}],
        [{"id": "p", "document_id": "doc", "text": text}],
        list(entities),
        [{"entity_id": row["id"], "passage_id": "p"} for row in entities],
        relations or [],
    )


# --- what is loaded is seen ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [Scope(), BEFORE, AFTER, Scope(collections=("letters",)), Scope(as_of="2020-01-01")])
def test_small_world_is_as_the_oracle_says(small_world: Explorer, scope: Scope) -> None:
    truth = Truth(SMALL_WORLD)
    learn_passage_ids(small_world, truth)
    for key in truth.entities:
        query = WalkQuery(key, depth=2, scope=scope)
        assert not differences(outcome(small_world.walk, query), outcome(model.walk, truth, query))
    for text in ("ida", "Skerry", "the keeper", "神戸", "pet", "light burned", "Tomas"):
        for mode in Mode:
            search = EntityQuery(text, mode=mode, scope=scope)
            expected = outcome(model.search, truth, search, LettersEncoder())
            assert not differences(outcome(small_world.search, search), expected)


def test_empty_store_finds_nothing_and_says_so(explorer: Explorer) -> None:
    catalog = explorer.catalog()
    assert (catalog.labels, catalog.relation_types, catalog.collections) == ((), (), ())
    for mode in Mode:
        result = explorer.search(EntityQuery("anything", mode=mode))
        assert (result.hits, result.facets, result.cuts) == ((), (), ())
    assert explorer.scope_size() == (0, 0)
    with pytest.raises(Unavailable):
        explorer.walk(WalkQuery(entity("ida")))


def test_document_without_a_collection_belongs_to_the_one_given_else_to_its_dataset(
    explorer: Explorer, folder: Path
) -> None:
    plain = one_document({"id": "a", "name": "A"})
    run(explorer, replace(plain, dataset="bare"), folder)
    run(explorer, replace(plain, dataset="given", collection="shelf"), folder)
    run(
        explorer,
        replace(plain, dataset="own", documents=[{"id": "doc", "collection": "mine"}], collection="shelf"),
        folder,
    )
    assert explorer.catalog().collections == ("bare", "mine", "shelf")


def test_label_is_entity_where_a_row_has_no_type(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document({"id": "a", "name": "A"}, {"id": "b", "name": "B", "type": ""}), folder)
    assert explorer.catalog().labels == ("Entity",)


def test_unknown_fields_are_kept_as_metadata(explorer: Explorer, folder: Path) -> None:
    load = one_document({"id": "a", "name": "A", "born": 1912, "metadata": {"tags": ["x", None]}})
    run(explorer, replace(load, documents=[{"id": "doc", "language": "de"}]), folder)
    assert explorer.entity(entity("a", "d")).metadata == {"born": 1912, "tags": ["x", None]}
    assert explorer.document(document("doc", "d")).metadata == {"language": "de"}
    assert explorer.scope_size(Scope(conditions=(Condition("language", "=", ("de",)),))) == (1, 1)


def test_labels_and_types_that_sound_like_the_graphs_own_are_kept_and_walked(explorer: Explorer, folder: Path) -> None:
    ends = [{"id": "a", "name": "A", "type": "Topic"}, {"id": "b", "name": "B", "type": "Document"}]
    types = ("HAS_PART", "MENTIONED_IN", "has part")
    relations = [{"source": "a", "target": "b", "type": name, "passage_ids": ["p"]} for name in types]
    run(explorer, one_document(*ends, relations=relations), folder)
    assert explorer.catalog().labels == ("Document", "Topic")
    assert {e.type for e in explorer.walk(WalkQuery(entity("a", "d"))).edges} == set(types)


def test_relation_of_an_entity_to_itself_is_never_followed_or_counted(explorer: Explorer, folder: Path) -> None:
    loop = {"source": "a", "target": "a", "type": "IS", "passage_ids": ["p"]}
    run(explorer, one_document({"id": "a", "name": "A"}, relations=[loop]), folder)
    result = explorer.walk(WalkQuery(entity("a", "d")))
    assert result.edges == ()
    assert result.nodes[0].hidden_relations == Hidden(0, exact=True)
    assert result.truncated_by == ()
    assert explorer.relation_types(entity("a", "d")) == ()


def test_identical_relation_rows_count_and_a_second_load_meets_its_own(explorer: Explorer, folder: Path) -> None:
    row = {"source": "a", "target": "b", "type": "T", "passage_ids": ["p"]}
    load = one_document(
        {"id": "a", "name": "A"}, {"id": "b", "name": "B"}, relations=[row, row, {**row, "weight": 2.0}]
    )
    for _ in range(2):
        run(explorer, load, folder)
        (found,) = explorer.walk(WalkQuery(entity("a", "d"))).edges
        assert (found.weight, found.counts) == (3, Counts(1, 1))


def test_relation_that_a_later_load_names_without_passages_counts_once(explorer: Explorer, folder: Path) -> None:
    row = {"id": "r", "source": "a", "target": "b", "type": "T"}
    load = one_document({"id": "a", "name": "A"}, {"id": "b", "name": "B"}, relations=[{**row, "passage_ids": ["p"]}])
    run(explorer, load, folder)
    run(explorer, Load("d", relations=[row]), folder)
    (found,) = explorer.walk(WalkQuery(entity("a", "d"))).edges
    assert (found.kind, found.weight, found.counts) == (EdgeKind.ASSERTION, 1, Counts(1, 1))


def test_source_id_finds_the_current_version(small_world: Explorer) -> None:
    found = small_world.show_source(DATASET, "r1").passage
    assert found is not None
    assert (found.document.version, found.text) == (2, "Skerry Line owns the Gannet.")


def test_evidence_that_is_no_direct_source_mentions_both(small_world: Explorer) -> None:
    both = small_world.mentioning_both(entity("petrel"), entity("kobe"))
    assert [passage.source_id for passage in both.passages] == ["r0"]
    assert small_world.mentioning_both(entity("ida"), entity("tomas")).passages == ()


# --- versions --------------------------------------------------------------------------------------------------------


def test_new_version_supersedes_the_one_before(small_world: Explorer) -> None:
    salvage = small_world.entity(entity("salvage"))
    assert (salvage.status, salvage.counts) == (Status.UNSUPPORTED, Counts(0, 0))
    edges = {e.id for e in small_world.walk(WalkQuery(entity("gannet"))).edges}
    assert edges == {edge("line", "OWNS", "gannet")}
    assert small_world.document(document("register")).version == 2


def test_earlier_version_is_current_at_an_earlier_time(small_world: Explorer) -> None:
    assert small_world.entity(entity("salvage"), BEFORE).status is Status.SUPPORTED
    edges = {e.id for e in small_world.walk(WalkQuery(entity("gannet"), scope=BEFORE)).edges}
    assert edges == {edge("salvage", "OWNS", "gannet")}
    assert small_world.document(document("register"), BEFORE).version == 1


@pytest.mark.parametrize(
    ("as_of", "version"),
    [
        ("2021-02-28", None),
        ("2021-03-01", 1),  # a date is its last instant, here and there
        ("2021-03-01T12:00:00Z", None),
        ("2022-02-28", 1),
        ("2022-03-01", 2),
    ],
)
def test_version_is_current_from_the_last_instant_of_its_date(
    small_world: Explorer, as_of: str, version: int | None
) -> None:
    if version is None:
        with pytest.raises(Unavailable):
            small_world.document(document("register"), Scope(as_of=as_of))
    else:
        assert small_world.document(document("register"), Scope(as_of=as_of)).version == version


def test_of_two_versions_with_the_same_date_the_later_load_is_current(explorer: Explorer, folder: Path) -> None:
    for text in ("One.", "Two."):
        load = one_document({"id": "a", "name": "A"}, text=text)
        run(explorer, replace(load, documents=[{"id": "doc", "valid_from": "2020-01-01"}]), folder)
    assert explorer.document(document("doc", "d")).passages[0].text == "Two."


def test_backdated_version_does_not_supersede(explorer: Explorer, folder: Path) -> None:
    for text, day in (("One.", "2021-01-01"), ("Two.", "2020-01-01")):
        load = one_document({"id": "a", "name": "A"}, text=text)
        run(explorer, replace(load, documents=[{"id": "doc", "valid_from": day}]), folder)
    assert explorer.document(document("doc", "d")).passages[0].text == "One."
    assert explorer.document(document("doc", "d"), Scope(as_of="2020-06-01")).passages[0].text == "Two."


def test_same_content_again_changes_nothing(small_world: Explorer, folder: Path) -> None:
    before = picture(small_world)
    run(small_world, SECOND, folder)
    assert picture(small_world) == before


def test_rows_in_another_order_are_the_same_content(explorer: Explorer, folder: Path) -> None:
    run(explorer, FIRST, folder)
    before = picture(explorer)
    turned = {kind: list(reversed(getattr(FIRST, kind))) for kind in ("documents", "entities", "mentions", "relations")}
    run(explorer, replace(FIRST, **turned), folder)
    assert picture(explorer) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda load: replace(load, documents=[{**load.documents[0], "author": "Someone"}]),
        lambda load: replace(load, passages=[{**load.passages[0], "heading": "New"}, *load.passages[1:]]),
        lambda load: replace(load, mentions=load.mentions[1:]),
        lambda load: replace(load, relations=load.relations[1:]),
        lambda load: replace(load, relations=[{**load.relations[0], "description": "New"}, *load.relations[1:]]),
    ],
    ids=["document", "passage", "mention", "relation left out", "relation changed"],
)
def test_any_difference_in_its_rows_makes_a_new_version(
    small_world: Explorer, folder: Path, change: Callable[[Load], Load]
) -> None:
    run(small_world, change(SECOND), folder)
    assert small_world.document(document("register")).version == 3


def test_document_that_returns_to_an_earlier_content_has_a_version_of_its_own(explorer: Explorer, folder: Path) -> None:
    texts = ("One.", "Two.", "One.")
    for text in texts:
        run(explorer, one_document({"id": "a", "name": "A"}, text=text), folder)
    versions = [explorer.document(document("doc", "d"), version=number) for number in (1, 2, 3)]
    assert [version.passages[0].text for version in versions] == list(texts)
    assert len({version.passages[0].id for version in versions}) == 3
    assert explorer.document(document("doc", "d")).version == 3


def test_entity_and_relation_without_passages_are_updated_in_place(small_world: Explorer, folder: Path) -> None:
    light = {"id": "light", "name": "South Light", "type": "Lighthouse"}
    path = {"id": "knows", "source": "ida", "target": "tomas", "type": "ADMIRES"}
    run(small_world, Load(DATASET, entities=[light], relations=[path]), folder)
    assert small_world.entity(entity("light")).name == "South Light"
    assert "Lighthouse" in small_world.catalog().labels
    assert {e.type for e in small_world.walk(WalkQuery(entity("ida"))).edges} == {"KEEPS", "ADMIRES"}
    assert "KNOWS" not in small_world.catalog().relation_types


def test_rows_may_refer_to_rows_of_earlier_loads(small_world: Explorer, folder: Path) -> None:
    more = Load(
        DATASET,
        mentions=[{"entity_id": "kobe", "passage_id": "g1"}],
        relations=[{"source": "gannet", "target": "kobe", "type": "NEARS", "passage_ids": ["g1"]}],
    )
    for _ in range(2):  # the second time nothing changes
        run(small_world, more, folder)
        assert small_world.entity(entity("kobe")).counts == Counts(passages=2, documents=2)
        (near,) = small_world.walk(WalkQuery(entity("gannet"), relation_types=("NEARS",))).edges
        assert (near.kind, near.weight) == (EdgeKind.ASSERTION, 1)
        assert small_world.document(document("gazette")).version == 1


def test_mentions_that_are_alike_count_as_often_as_a_load_has_them(small_world: Explorer, folder: Path) -> None:
    alike = {"entity_id": "kobe", "passage_id": "g1"}
    before = small_world.status().datasets[0].mentions
    for rows, more in ((1, 1), (2, 2), (2, 2), (1, 2), (3, 3)):  # what an earlier load has had stays
        run(small_world, Load(DATASET, mentions=[alike] * rows), folder)
        assert small_world.status().datasets[0].mentions == before + more


def test_what_is_absent_from_a_new_load_stays(small_world: Explorer, folder: Path) -> None:
    run(small_world, Load(DATASET, [{"id": "new"}]), folder)
    assert small_world.scope_size() == (4, 4)
    assert names(small_world, "Ida") == ["Ida Berg"]


# --- --replace -------------------------------------------------------------------------------------------------------


@pytest.fixture
def replaced(small_world: Explorer, folder: Path) -> Explorer:
    """The small world after a load with --replace that brings only the second register and its entities."""
    kept = [row for row in ENTITIES if row["id"] in ("line", "petrel", "gannet", "kobe")]
    run(small_world, replace(SECOND, entities=kept, replace=True), folder)
    return small_world


def test_replace_retires_what_the_load_does_not_bring(replaced: Explorer) -> None:
    assert replaced.scope_size() == (1, 1)
    assert names(replaced, "Ida") == []
    assert {e.type for e in replaced.walk(WalkQuery(entity("petrel"))).edges} == {"OWNS", "CALLS_AT"}
    (counts,) = replaced.status().datasets
    assert (counts.documents, counts.entities, counts.relations) == (1, 4, 3)


def test_replace_leaves_earlier_times_as_they_were(replaced: Explorer) -> None:
    assert replaced.scope_size(BEFORE) == (3, 3)
    assert names(replaced, "Ida", scope=BEFORE) == ["Ida Berg"]


@pytest.mark.parametrize("valid_from", [None, "2020-01-01"])
def test_retired_document_that_comes_back_is_seen(explorer: Explorer, folder: Path, valid_from: str | None) -> None:
    row = {"id": "doc", "valid_from": valid_from} if valid_from else {"id": "doc"}
    load = replace(one_document({"id": "a", "name": "A"}), documents=[row])
    run(explorer, load, folder)
    run(explorer, Load("d", [{"id": "other"}], replace=True), folder)
    assert explorer.scope_size() == (1, 1)
    run(explorer, load, folder)
    assert explorer.scope_size() == (2, 2)
    assert names(explorer, "A") == ["A"]


def test_retired_document_that_comes_back_with_an_earlier_date_is_seen(explorer: Explorer, folder: Path) -> None:
    load = one_document({"id": "a", "name": "A"})
    run(explorer, load, folder)
    run(explorer, replace(load, documents=[{"id": "doc", "author": "B"}]), folder)  # valid from its load
    run(explorer, Load("d", [{"id": "other"}], replace=True), folder)
    run(explorer, replace(load, documents=[{"id": "doc", "valid_from": "2020-01-01"}]), folder)
    assert explorer.scope_size() == (2, 2)


def test_replace_retires_a_document_whose_next_version_lies_in_the_future(explorer: Explorer, folder: Path) -> None:
    load = one_document({"id": "a", "name": "A"})
    run(explorer, load, folder)
    run(explorer, replace(load, documents=[{"id": "doc", "valid_from": "2999-01-01"}]), folder)
    run(explorer, Load("d", [{"id": "other"}], replace=True), folder)
    assert explorer.scope_size() == (1, 1)
    assert explorer.scope_size(Scope(as_of="3000-01-01")) == (1, 1)


# --- removal ---------------------------------------------------------------------------------------------------------


def test_removed_dataset_leaves_nothing_behind(small_world: Explorer, index: ExactIndex, folder: Path) -> None:
    small_world.remove(dataset=DATASET)
    catalog = small_world.catalog()
    assert (catalog.labels, catalog.relation_types, catalog.collections, catalog.metadata_keys) == ((), (), (), ())
    assert small_world.status().datasets == ()
    assert names(small_world, "Ida Berg", Mode.HYBRID) == []
    run(small_world, FIRST, folder)  # a new beginning: the first version once more
    assert small_world.document(document("register")).version == 1


def test_removed_document_takes_along_what_only_it_held(small_world: Explorer) -> None:
    small_world.remove(document_id=document("register"))
    assert small_world.scope_size() == (2, 2)
    for gone in ("kobe", "salvage"):
        with pytest.raises(Unavailable):
            small_world.entity(entity(gone))
    (owns,) = small_world.walk(WalkQuery(entity("line"))).edges  # the gazette states it too
    assert (owns.id, owns.weight) == (edge("line", "OWNS", "petrel"), 1)
    catalog = small_world.catalog()
    assert "CALLS_AT" not in catalog.relation_types
    assert "records" not in catalog.collections


def test_label_that_no_entity_has_any_more_is_gone(small_world: Explorer, folder: Path) -> None:
    assert "Place" in small_world.catalog().labels
    for name in ("light", "kobe"):
        row = next(row for row in ENTITIES if row["id"] == name)
        run(small_world, Load(DATASET, entities=[{**row, "type": "Site"}]), folder)
    assert "Place" not in small_world.catalog().labels
    with pytest.raises(Malformed, match="Place"):
        small_world.search(EntityQuery("light", labels=("Place",)))


@pytest.mark.parametrize("what", [{"dataset": "nowhere"}, {"document_id": document("nothing")}])
def test_removal_of_what_is_not_there_is_unavailable(small_world: Explorer, what: dict[str, str]) -> None:
    before = picture(small_world)
    with pytest.raises(Unavailable):
        small_world.remove(**what)
    assert picture(small_world) == before


# --- datasets --------------------------------------------------------------------------------------------------------


def test_two_datasets_with_the_same_ids_do_not_meet(small_world: Explorer, folder: Path) -> None:
    other = [replace(step, dataset="copy") for step in SMALL_WORLD]
    before = small_world.walk(WalkQuery(entity("petrel"), depth=2))
    for step in other:
        run(small_world, step, folder)
    after = small_world.walk(WalkQuery(entity("petrel"), depth=2))
    assert replace(after, timings_ms={}) == replace(before, timings_ms={})
    assert names(small_world, "Petrel") == ["Petrel", "Petrel"]
    first, second = small_world.status().datasets
    assert replace(first, name="") == replace(second, name="")


def test_removing_one_dataset_leaves_the_other_as_it_was(small_world: Explorer, folder: Path) -> None:
    before = picture(small_world)
    for step in SMALL_WORLD:
        run(small_world, replace(step, dataset="copy"), folder)
    small_world.remove(dataset="copy")
    assert picture(small_world) == before


# --- what does not commit is not seen --------------------------------------------------------------------------------

# A load that would change everything: a new version, another name, a new entity, a new label, a new relation.
UPHEAVAL = Load(
    DATASET,
    [{"id": "letter", "collection": "new", "metadata": {"new": 1}}, {"id": "new"}],
    [{"id": "l0", "document_id": "letter", "text": "Heron."}, {"id": "n0", "document_id": "new", "text": "Heron."}],
    [{"id": "ida", "name": "Heron"}, {"id": "heron", "name": "Heron", "type": "Bird"}],
    [{"entity_id": "heron", "passage_id": "n0"}, {"entity_id": "gannet", "passage_id": "n0"}],
    [{"source": "heron", "target": "gannet", "type": "EATS", "passage_ids": ["n0"]}],
    replace=True,
)


def test_nothing_of_an_unfinished_load_is_seen(small_world: Explorer, folder: Path) -> None:
    before = picture(small_world)
    version = small_world.catalog().data_version
    with unfinished(small_world, UPHEAVAL, folder):
        assert picture(small_world) == before
        assert small_world.jobs()[0].state is JobState.RUNNING
    assert picture(small_world) == before
    assert small_world.catalog().data_version == version
    assert small_world.jobs()[0].state is JobState.FAILED


def test_load_that_failed_can_be_run_again(small_world: Explorer, folder: Path) -> None:
    with unfinished(small_world, UPHEAVAL, folder):
        pass
    run(small_world, UPHEAVAL, folder)
    hits = small_world.search(EntityQuery("Heron", mode=Mode.LEXICAL)).hits
    assert {(hit.id, hit.status) for hit in hits} == {
        (entity("heron"), Status.SUPPORTED),
        (entity("ida"), Status.UNSUPPORTED),  # the new version of the letter has lost her
    }
    assert small_world.jobs()[0].state is JobState.COMMITTED


def test_stopped_load_leaves_nothing_behind(small_world: Explorer, folder: Path) -> None:
    before = picture(small_world)

    def stop(progress: Progress) -> None:
        if progress.phase == "writing entities":
            small_world.stop(small_world.jobs()[0].id)

    with pytest.raises(Stopped):
        run(small_world, UPHEAVAL, folder, stop)
    assert picture(small_world) == before
    assert small_world.jobs()[0].state is JobState.STOPPED


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.worlds import open_store
from backend.models import Entity
store = open_store(sys.argv[2], Path(sys.argv[1]))
job = store.jobs.open("load", "harbour")
assert store.jobs.acquire(job.id) is None
with store.writer(job.id) as writer:
    writer.put_entities("harbour", [Entity(sys.argv[3], "x", "harbour", "Ida Heron", "Bird")])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_writer_is_known_as_such_and_holds_up_nobody(
    small_world: Explorer, folder: Path, store_place: str
) -> None:
    before = picture(small_world)
    command = [sys.executable, "-c", KILLED, str(folder / "home"), store_place, entity("heron")]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode == -signal.SIGKILL
    assert small_world.jobs()[0].state is JobState.KILLED
    assert picture(small_world) == before
    run(small_world, SECOND, folder)
    assert picture(small_world) == before
    assert [job.state for job in small_world.jobs()[:2]] == [JobState.COMMITTED, JobState.UNDONE]


def test_second_writer_is_told_who_holds_the_lease(store: GraphStore) -> None:
    first, second = store.jobs.open("load", "a"), store.jobs.open("load", "b")
    assert store.jobs.acquire(first.id) is None
    holder = store.jobs.acquire(second.id)
    assert holder is not None
    assert (holder.id, holder.dataset) == (first.id, "a")
    store.jobs.close(first.id, JobState.STOPPED)
    assert store.jobs.acquire(second.id) is None


def test_jobs_are_listed_newest_first(small_world: Explorer) -> None:
    small_world.remove(dataset=DATASET)
    assert [(job.kind, job.state) for job in small_world.jobs()] == [
        ("remove", JobState.COMMITTED),
        ("load", JobState.COMMITTED),
        ("load", JobState.COMMITTED),
    ]


# --- reading ---------------------------------------------------------------------------------------------------------


def test_any_thread_may_read(small_world: Explorer) -> None:
    expected = picture(small_world)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: picture(small_world), range(8))) == [expected] * 8


def test_reading_goes_on_while_a_writer_is_at_work(small_world: Explorer, folder: Path) -> None:
    expected = picture(small_world)
    with unfinished(small_world, UPHEAVAL, folder), ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: picture(small_world), range(4), timeout=30)) == [expected] * 4


def test_reading_that_has_begun_is_not_torn_by_a_commit(small_world: Explorer, folder: Path) -> None:
    loading = iter([lambda: run(small_world, UPHEAVAL, folder)])

    def read_twice(view: GraphView) -> tuple[Catalog, Catalog, bool]:
        before = view.catalog()
        for load in loading:  # only the first time: a store may run this again
            load()
        return before, view.catalog(), view.entity(entity("heron"), resolve(Scope())) is not None

    before, after, has_heron = small_world.store.read(read_twice)
    assert before == after
    assert has_heron == ("Bird" in before.labels)
    assert "Bird" in small_world.catalog().labels


def test_data_version_changes_with_every_commit(explorer: Explorer, folder: Path) -> None:
    versions = [explorer.catalog().data_version]
    for step in (*SMALL_WORLD, Removal(DATASET)):
        apply(explorer, step, folder)
        versions.append(explorer.catalog().data_version)
    assert len(set(versions)) == 4


@contextmanager
def reads_at_most(explorer: Explorer, count: int) -> Iterator[None]:
    before = explorer.store.reads
    yield
    assert 0 < explorer.store.reads - before <= count


SCOPES = [
    Scope(),
    Scope(collections=("letters", "records"), document_ids=(document("letter"), document("register"))),
    Scope(conditions=(Condition("title", "exists"), Condition("title", "contains", ("e",))), as_of="2022-06-01"),
]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("labels", [(), ("Person", "Place")])
def test_search_costs_at_most_six_reads(
    small_world: Explorer, mode: Mode, labels: tuple[str, ...], scope: Scope
) -> None:
    with reads_at_most(small_world, 6):
        assert small_world.search(EntityQuery("ida light", labels=labels, mode=mode, scope=scope)).hits


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("types", [(), ("KEEPS", "KNOWS")])
def test_walk_costs_at_most_four_reads_per_step(
    small_world: Explorer, depth: int, types: tuple[str, ...], scope: Scope
) -> None:
    with reads_at_most(small_world, 4 * depth):
        assert small_world.walk(WalkQuery(entity("ida"), depth=depth, relation_types=types, scope=scope)).edges


def test_hundreds_of_labels_cost_no_more_reads(explorer: Explorer, folder: Path, index: ExactIndex) -> None:
    rows = [{"id": f"e{n}", "name": f"Name {n}", "type": f"Label {n}"} for n in range(300)]
    run(explorer, one_document(*rows), folder)
    for mode in Mode:
        before = index.reads
        with reads_at_most(explorer, 6):
            assert len(explorer.search(EntityQuery("name", mode=mode, limit=500)).hits) == 300
        assert index.reads - before <= 2


# --- requests that cannot be answered --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (EntityQuery("  "), "blank"),
        (EntityQuery("x", limit=0), "limit"),
        (EntityQuery("x", limit=501), "501"),
        (EntityQuery("x", labels=("Nobody",)), "Person"),
        (EntityQuery("x", scope=Scope(collections=("nowhere",))), "letters"),
        (EntityQuery("x", scope=Scope(document_ids=(document("nothing"),))), document("nothing")),
        (EntityQuery("x", scope=Scope(as_of="soon")), "soon"),
        (EntityQuery("x", scope=Scope(conditions=(Condition("year", "~", ("1",)),))), "~"),
    ],
)
def test_search_that_makes_no_sense_is_malformed(small_world: Explorer, query: EntityQuery, named: str) -> None:
    with pytest.raises(Malformed, match=named):
        small_world.search(query)


@pytest.mark.parametrize(
    "change",
    [
        {"entity_id": "ida"},
        {"entity_id": entity("ida").upper()},
        {"entity_id": f"{{{entity('ida')}}}"},
        {"entity_id": f"{entity('ida')}\n"},
        *({"depth": depth} for depth in (0, 3, -1)),
        *({name: 0} for name in ("max_nodes", "max_edges", "max_candidates")),
        {"max_nodes": 2_001},
        {"max_edges": 6_001},
        {"max_candidates": 50_001},
        {"relation_types": ("EATS",)},
        {"scope": Scope(collections=("nowhere",))},
    ],
    ids=str,
)
def test_walk_that_makes_no_sense_is_malformed(small_world: Explorer, change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        small_world.walk(replace(WalkQuery(entity("ida")), **change))


@pytest.mark.parametrize(
    ("entity_id", "scope"),
    [
        (entity("nobody"), Scope()),
        (entity("salvage"), Scope()),  # only a superseded passage mentions it
        (entity("ida"), Scope(collections=("press",))),
        (entity("petrel"), Scope(as_of="2020-01-01", collections=("records",))),
        (document("letter"), Scope()),
    ],
)
def test_walk_from_what_no_visible_passage_mentions_is_unavailable(
    small_world: Explorer, entity_id: str, scope: Scope
) -> None:
    with pytest.raises(Unavailable):
        small_world.walk(WalkQuery(entity_id, scope=scope))


# --- scope -----------------------------------------------------------------------------------------------------------


def test_scope_hides_passages_edges_and_counts_together(small_world: Explorer) -> None:
    press = Scope(collections=("press",))
    (hit,) = small_world.search(EntityQuery("Petrel", mode=Mode.LEXICAL, scope=press)).hits
    assert (hit.counts, [p.source_id for p in hit.passages]) == (Counts(1, 1), ["g0"])
    result = small_world.walk(WalkQuery(entity("petrel"), scope=press))
    assert {(e.type, e.weight, e.counts.passages) for e in result.edges} == {("OWNS", 1, 1), ("COMMANDS", 1, 1)}
    assert result.nodes[0].hidden_relations == Hidden(0, exact=True)


def test_relation_types_of_an_entity_outside_the_scope_are_none(small_world: Explorer) -> None:
    assert small_world.relation_types(entity("kobe"), Scope(collections=("letters",))) == ()


def test_document_without_a_title_has_no_title_to_ask_for(explorer: Explorer, folder: Path) -> None:
    run(explorer, replace(one_document({"id": "a", "name": "A"}), documents=[{"id": "doc"}]), folder)
    assert explorer.scope_size(Scope(conditions=(Condition("title", "exists"),))) == (0, 1)
    assert explorer.document(document("doc", "d")).title == "doc"  # readers see something all the same


VALUES: list[Any] = [
    9,
    "10",
    10.5,
    "abc",
    "b",
    True,
    "2021-06-01",
    "2021-06-01T12:00:00Z",
    ["a", 3],
    {"k": 1},
    None,
    [],
]


def test_conditions_select_the_documents_that_the_oracle_selects(explorer: Explorer, folder: Path) -> None:
    documents = [{"id": f"d{n}", "metadata": {"k": value}} for n, value in enumerate(VALUES)]
    run(explorer, Load("d", documents), folder)
    asked = ("9", "10", "3", "a", "b", "abc", "true", "2021-06-01", "2021-06-01T12:00:00Z", '{"k": 1}', "", "1", "K")
    for operator in ("=", "!=", "<", "<=", ">", ">=", "in", "contains", "exists"):
        for value in asked:
            values = {"in": (value, "10"), "exists": ()}.get(operator, (value,))
            condition = Condition("k", operator, values)
            expected = sum(model.matches(row, condition) for row in documents)
            assert explorer.scope_size(Scope(conditions=(condition,)))[0] == expected, condition


# --- names -----------------------------------------------------------------------------------------------------------

ODD_NAMES = [
    "東京タワー",
    "القاهرة",
    "Москва",
    "नई दिल्ली",
    "กรุงเทพ",
    "AC/DC",
    "O'Neill",
    "C++",
    "+++",
    "´",
    'a "b" c',
    "x-y",
    "Q",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_name_is_found_by_itself_and_by_its_beginning(explorer: Explorer, folder: Path, name: str) -> None:
    run(explorer, one_document({"id": "a", "name": name}, {"id": "b", "name": "Zz"}), folder)
    for end in range(1, len(name) + 1):
        if name[:end].strip():
            assert names(explorer, name[:end]) == [name], name[:end]


def test_name_in_a_script_without_spaces_is_found_by_any_run(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document({"id": "a", "name": "国立東京大学"}, {"id": "b", "name": "京東"}), folder)
    assert names(explorer, "東京") == ["国立東京大学"]


@pytest.mark.parametrize(
    "text", ["ada OR nobody", "ada*", 'ada"', "ada AND (", "name:ada", "ada NEAR(x)", "^ada", "-ada", "a'da ada"]
)
def test_query_syntax_has_no_effect(explorer: Explorer, folder: Path, text: str) -> None:
    run(explorer, one_document({"id": "a", "name": "Ada"}), folder)
    assert names(explorer, text) == ["Ada"]


def test_candidate_bound_is_named_and_keeps_the_exact_name(explorer: Explorer, folder: Path) -> None:
    rows = [{"id": f"e{n:04}", "name": f"Port {n}"} for n in range(1_001)]
    run(explorer, one_document(*rows, {"id": "z", "name": "Port", "type": "Entity"}), folder)
    result = explorer.search(EntityQuery("port", mode=Mode.LEXICAL, limit=1))
    assert [hit.name for hit in result.hits] == ["Port"]
    assert result.truncated_by == ("candidate",)
    assert [(cut.bound, cut.value, cut.labels) for cut in result.cuts] == [("candidate", 1_000, ("Entity",))]
    assert [facet.exact for facet in result.facets] == [False]


# --- vectors ---------------------------------------------------------------------------------------------------------


def test_renamed_entity_is_found_by_its_new_meaning_and_once(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document({"id": "a", "name": "Lighthouse"}, {"id": "b", "name": "Elsewhere"}), folder)
    run(explorer, Load("d", entities=[{"id": "a", "name": "Zebra"}]), folder)
    for text in ("Lighthouse", "Zebra"):
        assert sorted(names(explorer, text, Mode.SEMANTIC)) == ["Elsewhere", "Zebra"]


def test_many_small_loads_are_merged_and_found_as_before(explorer: Explorer, folder: Path) -> None:
    for number in range(12):
        run(explorer, one_document({"id": f"e{number}", "name": f"Name {number}"}, dataset=f"d{number}"), folder)
        kinds = Counter(collection.kind for collection in explorer.catalog().vector_collections)
        assert max(kinds.values()) <= 9
        assert len(kinds) == 4
    assert len(names(explorer, "Name 3", Mode.SEMANTIC, limit=50)) == 12
    assert names(explorer, "Name 3", Mode.SEMANTIC)[0] == "Name 3"
    found = explorer.passages(PassageQuery("anything", Mode.SEMANTIC, limit=50))
    assert len({hit.passage.dataset for hit in found.hits}) == 12


@pytest.mark.parametrize("small_index", [ExactIndex(max_results=3)], ids=["three results"])
def test_semantic_cap_is_named_after_a_second_read(folder: Path, store_place: str, small_index: ExactIndex) -> None:
    explorer = new_explorer(folder / "home", store_place, small_index)
    rows = [{"id": f"e{n}", "name": f"Name {n}", "type": "A" if n < 6 else "B"} for n in range(8)]
    run(explorer, one_document(*rows), folder)
    before = small_index.reads
    result = explorer.search(EntityQuery("Name 1", labels=("B",), mode=Mode.SEMANTIC, limit=2))
    assert small_index.reads - before == 2
    assert sorted(hit.name for hit in result.hits) == ["Name 6", "Name 7"]  # the second read asks for the label
    assert result.truncated_by == ()
    result = explorer.search(EntityQuery("Name 1", mode=Mode.SEMANTIC, limit=4))
    assert len(result.hits) == 3
    assert [(cut.bound, cut.value) for cut in result.cuts] == [("semantic", 3)]
    explorer.close()


def test_lost_vectors_are_named_with_the_command_that_makes_them_and_made_again(
    small_world: Explorer, index: ExactIndex
) -> None:
    expected = picture(small_world)
    for name in index.collections():
        index.drop(name)
    assert names(small_world, "Ida") == ["Ida Berg"]  # names need no vectors
    with pytest.raises(IndexNotReady, match="attest index"):
        small_world.search(EntityQuery("Ida"))
    assert [check.stored for check in small_world.status(check=True).check or ()] != []
    small_world.build_indexes()
    assert picture(small_world) == expected


def test_next_load_mends_lost_vectors(small_world: Explorer, index: ExactIndex, folder: Path) -> None:
    expected = picture(small_world)
    for name in index.collections():
        index.drop(name)
    report = run(small_world, SECOND, folder)
    assert report.mended
    assert picture(small_world) == expected


def test_vectors_that_no_commit_names_are_dropped_by_the_next_load(
    small_world: Explorer, index: ExactIndex, folder: Path
) -> None:
    index.create("entity-of-a-killed-job", kind="entity", encoder="letters", dimension=64)
    run(small_world, SECOND, folder)
    assert set(index.collections()) == {c.name for c in small_world.catalog().vector_collections}


class OtherEncoder(LettersEncoder):
    name = "other"


def test_another_encoder_is_refused_until_the_index_is_built_with_it(
    small_world: Explorer, index: ExactIndex, folder: Path, store_place: str
) -> None:
    encoder = OtherEncoder()
    store = open_store(store_place, folder / "home")
    other = Explorer(store, index=lambda: index, encoder=lambda: encoder, settings=small_world.settings)
    with pytest.raises(IndexNotReady, match="attest index"):
        other.search(EntityQuery("Ida"))
    with pytest.raises(IndexNotReady):
        run(other, SECOND, folder)
    assert names(other, "Ida") == ["Ida Berg"]
    assert names(small_world, "Ida", Mode.HYBRID)[0] == "Ida Berg"
    other.build_indexes()
    assert names(other, "Ida", Mode.HYBRID)[0] == "Ida Berg"
    assert {status.state for status in other.catalog().indexes} == {IndexState.ONLINE}
    other.close()


# --- bounds of a walk ------------------------------------------------------------------------------------------------

TRIANGLE: list[Row] = [
    {"source": "a", "target": "b", "type": "T", "passage_ids": ["p"]},
    {"source": "a", "target": "c", "type": "T", "passage_ids": ["p"]},
    {"source": "b", "target": "c", "type": "T"},
]
CORNERS: list[Row] = [{"id": name, "name": name.upper()} for name in "abc"]


def test_edge_between_two_waiting_entities_is_missing_once(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document(*CORNERS, relations=TRIANGLE), folder)
    result = explorer.walk(WalkQuery(entity("a", "d"), depth=2, max_edges=2))
    assert [(cut.bound, cut.step, cut.missing) for cut in result.cuts] == [("edge", 2, 1)]


def test_edge_bound_that_is_filled_exactly_by_the_last_step_cuts_nothing(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document(*CORNERS, relations=TRIANGLE), folder)
    result = explorer.walk(WalkQuery(entity("a", "d"), depth=2, max_edges=3, max_candidates=3))
    assert (len(result.edges), result.truncated_by) == (3, ())
    more = [*TRIANGLE, {"source": "c", "target": "b", "type": "U"}]
    run(explorer, one_document(*CORNERS, relations=more), folder)
    result = explorer.walk(WalkQuery(entity("a", "d"), depth=2, max_edges=3, max_candidates=3))
    assert (len(result.edges), result.truncated_by) == (3, ("candidate",))


def test_node_bound_keeps_edges_among_the_nodes_that_are_shown(explorer: Explorer, folder: Path) -> None:
    back = {"source": "b", "target": "a", "type": "U"}
    run(explorer, one_document(*CORNERS, relations=[*TRIANGLE, back]), folder)
    result = explorer.walk(WalkQuery(entity("a", "d"), max_nodes=2))
    assert [(e.source, e.target) for e in result.edges] == [
        (entity("a", "d"), entity("b", "d")),
        (entity("b", "d"), entity("a", "d")),
    ]
    assert [(cut.bound, cut.missing) for cut in result.cuts] == [("node", 1), ("depth", 1)]


def test_candidate_bound_says_how_many_were_read_and_never_how_many_there_are(explorer: Explorer, folder: Path) -> None:
    run(explorer, one_document(*CORNERS, relations=TRIANGLE), folder)
    result = explorer.walk(WalkQuery(entity("a", "d"), max_candidates=1))
    (cut,) = [cut for cut in result.cuts if cut.bound == "candidate"]
    assert (cut.read, cut.missing) == (1, None)
    assert result.nodes[0].hidden_relations == Hidden(0, exact=False)


# --- real data -------------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_real_data_is_counted_as_its_files_are(folder: Path, shared_data: Callable[[str], Path]) -> None:
    explorer = new_explorer(folder / "home")  # that every store counts alike is tested in `test_same_answers`
    source = shared_data("redocred-300")
    explorer.load([source], dataset="redocred")
    (counts,) = explorer.status().datasets
    assert counts.documents == 300
    assert (counts.passages, counts.entities, counts.mentions, counts.relations) == (2_493, 4_565, 7_908, 10_642)
