"""What an Index promises, one promise per test, kept by Chroma on disk and on a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from chromadb import errors as chroma_errors

from backend.errors import IndexNotReady, StoreUnreachable
from backend.vectors.base import Index, Neighbour, Vector, Vectors
from backend.vectors.chroma import driver, open_chroma

DIMENSION = 16


def some_id(number: int) -> str:
    return str(UUID(int=number))


def unit(rows: np.ndarray) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def random_vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> Vectors:
    return unit(np.random.default_rng(seed).normal(size=(count, dimension)))


def write(index: Index, name: str, vectors: Vectors, labels: list[str] | None = None, first: int = 0) -> list[str]:
    """A complete collection of these vectors, whose ids count from `first`."""
    ids = [some_id(first + number) for number in range(len(vectors))]
    index.create(name, kind="entity", encoder="letters", dimension=vectors.shape[1])
    if ids:
        index.add(name, ids, labels or ["Thing"] * len(ids), vectors)
    index.seal(name)
    return ids


def exact(vectors: Vectors, vector: Vector, limit: int) -> list[Neighbour]:
    """The nearest of the vectors, whose ids count from 0, by comparing with each."""
    scores = vectors.astype(np.float64) @ vector
    found = [Neighbour(some_id(number), round(float(score), 6)) for number, score in enumerate(scores)]
    return sorted(found, key=lambda neighbour: (-neighbour.score, neighbour.id))[:limit]


@pytest.fixture
def index(vectors_place: Path | str) -> Iterator[Index]:
    opened = open_chroma(vectors_place)
    yield opened
    opened.close()


def test_nearest_returns_the_nearest_rows_best_first(index: Index) -> None:
    vectors = random_vectors(300)
    write(index, "entity-a", vectors)
    found = index.nearest("entity-a", random_vectors(1, seed=1)[0], limit=20)
    expected = exact(vectors, random_vectors(1, seed=1)[0], 20)
    assert [neighbour.id for neighbour in found] == [neighbour.id for neighbour in expected]
    assert [neighbour.score for neighbour in found] == pytest.approx([n.score for n in expected], abs=2e-6)


def test_a_score_is_a_cosine_similarity_of_six_decimals(index: Index) -> None:
    vectors = np.eye(DIMENSION, dtype=np.float32)
    write(index, "entity-a", np.stack([vectors[0], -vectors[0], unit(vectors[0] + vectors[1])]))
    scores = [neighbour.score for neighbour in index.nearest("entity-a", vectors[0], limit=3)]
    assert scores == pytest.approx([1.0, 0.707107, -1.0], abs=2e-6)
    assert scores == [round(score, 6) for score in scores]


def test_ties_are_ordered_by_id(index: Index) -> None:
    vectors = np.repeat(random_vectors(1), 200, axis=0)
    ids = write(index, "entity-a", vectors[::-1])
    assert [neighbour.id for neighbour in index.nearest("entity-a", vectors[0], limit=500)] == sorted(ids)


def test_a_crowd_of_equal_vectors_does_not_hide_the_others(index: Index) -> None:
    """An HNSW graph connects equal vectors with each other only."""
    others = random_vectors(500)
    crowd = np.repeat(random_vectors(1, seed=1), 2_000, axis=0)
    write(index, "entity-a", np.concatenate([crowd[:1_000], others, crowd[1_000:]]))
    near = unit(others[7] + 0.05 * crowd[0])
    assert index.nearest("entity-a", near, limit=1)[0].id == some_id(1_007)
    assert len(index.nearest("entity-a", crowd[0], limit=1_000)) == 1_000


def test_limit_is_kept_and_never_exceeds_max_results(index: Index) -> None:
    write(index, "entity-a", random_vectors(1_500))
    vector = random_vectors(1, seed=1)[0]
    assert len(index.nearest("entity-a", vector, limit=7)) == 7
    assert len(index.nearest("entity-a", vector, limit=5_000)) == index.max_results == 1_000
    assert index.nearest("entity-a", vector, limit=0) == []


def test_labels_restrict_the_rows(index: Index) -> None:
    labels = ["common"] * 900 + ["rare"] * 20 + ["other"] * 80
    write(index, "entity-a", random_vectors(1_000), labels)
    vector = random_vectors(1, seed=1)[0]
    ids = {label: {some_id(n) for n, each in enumerate(labels) if each == label} for label in set(labels)}
    for _ in range(2):  # what is known of a label after the first read changes nothing
        for label, expected in ids.items():
            found = {neighbour.id for neighbour in index.nearest("entity-a", vector, limit=1_000, labels=[label])}
            assert found == expected
    both = {neighbour.id for neighbour in index.nearest("entity-a", vector, limit=1_000, labels=["rare", "other"])}
    assert both == ids["rare"] | ids["other"]
    assert index.nearest("entity-a", vector, limit=10, labels=["nowhere"]) == []


def test_rows_of_a_rare_label_score_as_all_others_do(index: Index) -> None:
    vectors = random_vectors(200)
    write(index, "entity-a", vectors, ["rare"] * 50 + ["common"] * 150)
    vector = random_vectors(1, seed=1)[0]
    every = {neighbour.id: neighbour.score for neighbour in index.nearest("entity-a", vector, limit=200)}
    for neighbour in index.nearest("entity-a", vector, limit=50, labels=["rare"]):
        assert neighbour.score == pytest.approx(every[neighbour.id], abs=2e-6)


def test_equal_vectors_of_different_labels_keep_their_labels(index: Index) -> None:
    vectors = np.repeat(random_vectors(1), 4, axis=0)
    write(index, "entity-a", vectors, ["Ship", "Port", "Ship", "Port"])
    found = index.nearest("entity-a", vectors[0], limit=10, labels=["Port"])
    assert [neighbour.id for neighbour in found] == [some_id(1), some_id(3)]


HOSTILE = ["", " ", "a\0b", "'; DROP TABLE embeddings; --", "$in", "\ud800", "Ünïcode 船", "x" * 100_000, '{"$ne": 1}']


@pytest.mark.parametrize("label", HOSTILE, ids=range(len(HOSTILE)))
def test_a_label_may_be_any_text(index: Index, label: str) -> None:
    write(index, "entity-a", random_vectors(3), [label, label + " ", "Thing"])
    found = index.nearest("entity-a", random_vectors(1, seed=1)[0], limit=10, labels=[label])
    assert [neighbour.id for neighbour in found] == [some_id(0)]


def test_many_labels_at_once(index: Index) -> None:
    labels = [f"label {number}" for number in range(40_000)]
    write(index, "entity-a", random_vectors(700), labels[:700])
    assert len(index.nearest("entity-a", random_vectors(1)[0], limit=1_000, labels=labels)) == 700


def test_read_returns_what_was_written(index: Index) -> None:
    vectors = np.concatenate([random_vectors(40), np.repeat(random_vectors(1, seed=1), 100, axis=0)])
    ids = write(index, "entity-a", vectors)
    found = index.read("entity-a", [*ids, ids[0], some_id(9_999)])
    assert sorted(found) == sorted(ids)
    assert np.allclose(np.stack([found[id] for id in ids]), vectors, atol=1e-7)
    assert index.read("entity-a", []) == {}


def test_ids_returns_every_id_once(index: Index) -> None:
    vectors = np.concatenate([random_vectors(40), np.repeat(random_vectors(1, seed=1), 100, axis=0)])
    ids = write(index, "entity-a", vectors)
    assert sorted(index.ids("entity-a")) == sorted(ids)


def test_rows_come_in_as_many_parts_as_one_likes(index: Index) -> None:
    vectors = random_vectors(18_000, dimension=4)
    ids = [some_id(number) for number in range(len(vectors))]
    index.create("entity-a", kind="entity", encoder="letters", dimension=4)
    for start in range(0, len(ids), 700):
        part = slice(start, start + 700)
        index.add("entity-a", ids[part], ["Thing"] * len(ids[part]), vectors[part])
    index.seal("entity-a")
    assert sorted(index.ids("entity-a")) == ids
    assert index.nearest("entity-a", vectors[17_999], limit=1)[0].score == pytest.approx(1, abs=2e-6)


def test_collections_have_their_sizes(index: Index) -> None:
    write(index, "entity-a", random_vectors(5))
    write(index, "entity-b", np.repeat(random_vectors(1), 200, axis=0))
    write(index, "entity-c", random_vectors(0))
    assert index.collections() == {"entity-a": 5, "entity-b": 200, "entity-c": 0}


def test_an_empty_collection_has_no_neighbours(index: Index) -> None:
    write(index, "entity-a", random_vectors(0))
    assert index.nearest("entity-a", random_vectors(1)[0], limit=5) == []
    assert index.nearest("entity-a", random_vectors(1)[0], limit=5, labels=["Thing"]) == []


def test_a_collection_is_seen_when_it_is_complete(vectors_place: Path | str, index: Index) -> None:
    reader = open_chroma(vectors_place)
    index.create("entity-a", kind="entity", encoder="letters", dimension=DIMENSION)
    index.add("entity-a", [some_id(0)], ["Thing"], random_vectors(1))
    assert reader.collections() == {}
    with pytest.raises(IndexNotReady):
        reader.nearest("entity-a", random_vectors(1)[0], limit=1)
    index.seal("entity-a")
    assert reader.collections() == {"entity-a": 1}
    assert [neighbour.id for neighbour in reader.nearest("entity-a", random_vectors(1)[0], limit=1)] == [some_id(0)]
    reader.close()


def test_names_lists_half_written_collections_too(index: Index) -> None:
    write(index, "entity-a", random_vectors(3))
    index.create("entity-b", kind="entity", encoder="letters", dimension=DIMENSION)
    assert index.names() == ["entity-a", "entity-b"]
    index.drop("entity-b")
    assert index.names() == ["entity-a"]


def test_create_empties_a_collection_that_exists(vectors_place: Path | str, index: Index) -> None:
    reader = open_chroma(vectors_place)
    write(index, "entity-a", random_vectors(50))
    assert len(reader.nearest("entity-a", random_vectors(1)[0], limit=100)) == 50
    write(index, "entity-a", random_vectors(3), first=100)
    for each in (index, reader):
        found = each.nearest("entity-a", random_vectors(1)[0], limit=100)
        assert {neighbour.id for neighbour in found} == {some_id(100), some_id(101), some_id(102)}
    reader.close()


@pytest.mark.parametrize("vectors_place", ["folders"], indirect=True)
def test_drop_leaves_nothing_on_the_disk(tmp_path: Path, index: Index) -> None:
    write(index, "entity-a", random_vectors(50))
    index.drop("entity-a")
    assert index.collections() == {}
    assert list((tmp_path / "vectors").iterdir()) == []
    with pytest.raises(IndexNotReady):
        index.nearest("entity-a", random_vectors(1)[0], limit=1)


def test_drop_of_what_is_not_there_is_no_error(index: Index) -> None:
    index.drop("entity-a")


def test_who_holds_a_dropped_collection_gets_the_same_answer_or_is_told(
    vectors_place: Path | str, index: Index
) -> None:
    write(index, "entity-a", random_vectors(50))
    reader = open_chroma(vectors_place)
    before = reader.nearest("entity-a", random_vectors(1)[0], limit=10)
    index.drop("entity-a")
    for _ in range(20):
        with suppress(IndexNotReady):
            assert reader.nearest("entity-a", random_vectors(1)[0], limit=10) == before
    reader.close()


def test_a_drop_in_the_same_process_waits_for_its_readers(index: Index) -> None:
    write(index, "entity-a", random_vectors(3_000, dimension=4))
    failures: list[Exception] = []

    def query() -> None:
        try:
            while True:
                index.nearest("entity-a", random_vectors(1, dimension=4)[0], limit=1_000)
        except Exception as error:  # noqa: BLE001 - looked at below
            failures.append(error)

    threads = [threading.Thread(target=query) for _ in range(4)]
    for thread in threads:
        thread.start()
    index.drop("entity-a")
    for thread in threads:
        thread.join()
    assert [type(failure) for failure in failures] == [IndexNotReady] * 4


def test_a_missing_collection_names_what_builds_it(index: Index) -> None:
    with pytest.raises(IndexNotReady) as caught:
        index.nearest("entity-a", random_vectors(1)[0], limit=1)
    assert caught.value.details == {"index": "vector", "remedy": "attest index"}
    assert "attest index" in caught.value.hint
    assert "entity-a" in caught.value.message


def test_a_vector_of_another_encoder_is_not_compared(index: Index) -> None:
    write(index, "entity-a", random_vectors(3))
    with pytest.raises(IndexNotReady, match="another encoder, letters"):
        index.nearest("entity-a", random_vectors(1, dimension=3)[0], limit=1)


@pytest.mark.parametrize("name", ["", "a", "../entity", "entity/../x", "entity~1", "entity-*", "x" * 300])
def test_a_name_cannot_leave_the_folder(index: Index, name: str) -> None:
    with pytest.raises(ValueError, match="name of a collection"):
        index.drop(name)
    with pytest.raises(ValueError, match="name of a collection"):
        index.create(name, kind="entity", encoder="letters", dimension=3)
    with pytest.raises(ValueError, match="name of a collection"):
        index.nearest(name, random_vectors(1)[0], limit=1)


def test_rows_that_do_not_fit_together_are_refused(index: Index) -> None:
    index.create("entity-a", kind="entity", encoder="letters", dimension=DIMENSION)
    with pytest.raises(ValueError, match="2 ids and 1 labels"):
        index.add("entity-a", [some_id(0), some_id(1)], ["Thing"], random_vectors(2))
    with pytest.raises(ValueError, match="do not go with"):
        index.add("entity-a", [some_id(0)], ["Thing"], random_vectors(1, dimension=3))
    with pytest.raises(ValueError, match="not a number"):
        index.add("entity-a", [some_id(0)], ["Thing"], np.full((1, DIMENSION), np.nan, dtype=np.float32))


def test_an_id_that_comes_twice_does_not_pass_silently(index: Index) -> None:
    index.create("entity-a", kind="entity", encoder="letters", dimension=DIMENSION)
    index.add("entity-a", [some_id(0)], ["Thing"], random_vectors(1))
    index.add("entity-a", [some_id(0)], ["Thing"], random_vectors(1, seed=1))
    with pytest.raises(chroma_errors.DuplicateIDError):
        index.seal("entity-a")


def test_many_threads_read_at_once(index: Index) -> None:
    vectors = random_vectors(2_000)
    for number in range(3):
        write(index, f"entity-{number}", vectors)
    expected = [n.id for n in exact(vectors, vectors[0], 10)]
    wrong: list[object] = []

    def read(seed: int) -> None:
        for turn in range(60):
            found = [n.id for n in index.nearest(f"entity-{(seed + turn) % 3}", vectors[0], limit=10)]
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_folder_of_any_name_will_do(tmp_path: Path) -> None:
    index = open_chroma(tmp_path / "Übersicht %20 ?x=1 #a 船")
    write(index, "entity-a", random_vectors(3))
    assert index.collections() == {"entity-a": 3}
    index.close()


def test_a_relative_folder_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    index = open_chroma(Path("vectors"))
    write(index, "entity-a", random_vectors(3))
    index.close()
    monkeypatch.chdir("/")
    assert index.collections() == {"entity-a": 3}
    index.close()


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("not a folder")
    with pytest.raises(StoreUnreachable, match="is not a folder"):
        open_chroma(tmp_path / "vectors")


def test_a_folder_that_cannot_be_made_is_named() -> None:
    index = open_chroma(Path("/proc/nowhere"))
    with pytest.raises(StoreUnreachable, match="/proc/nowhere"):
        index.create("entity-a", kind="entity", encoder="letters", dimension=3)


@pytest.mark.parametrize("vectors_place", ["folders"], indirect=True)
def test_a_damaged_database_is_an_error_and_not_an_empty_result(tmp_path: Path, index: Index) -> None:
    write(index, "entity-a", random_vectors(3))
    index.close()
    (database,) = (tmp_path / "vectors").glob("entity-a~*/chroma.sqlite3")
    database.write_bytes(b"garbage" * 1_000)
    for _ in range(3):
        with pytest.raises(StoreUnreachable, match="not a database"):
            index.nearest("entity-a", random_vectors(1)[0], limit=1)
    assert index.collections() == {}
    assert index.names() == ["entity-a"]


@pytest.mark.parametrize("vectors_place", ["folders"], indirect=True)
def test_a_collection_that_lost_vectors_is_not_counted(tmp_path: Path, index: Index) -> None:
    """Chroma itself opens it, counts every row, and answers from what is left."""
    write(index, "entity-a", random_vectors(300))
    index.close()
    (ids,) = (tmp_path / "vectors").glob("entity-a~*/*/index_metadata.pickle")
    ids.unlink()
    assert index.collections() == {}


def test_a_strange_env_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma's settings have no prefix: a MIGRATIONS of somebody else's would end in an error."""
    (tmp_path / ".env").write_text("MIGRATIONS=none\nIS_PERSISTENT=0\nANONYMIZED_TELEMETRY=True\n")
    monkeypatch.chdir(tmp_path)
    index = open_chroma(tmp_path / "vectors")
    write(index, "entity-a", random_vectors(3))
    assert index.collections() == {"entity-a": 3}
    index.close()


def test_every_error_of_chroma_has_been_thought_of() -> None:
    """A new class in chromadb.errors: decide whether it goes into MISSING or UNREACHABLE, or is a mistake of ours."""
    mistakes = {
        chroma_errors.BatchSizeExceededError,
        chroma_errors.DuplicateIDError,
        chroma_errors.IDAlreadyExistsError,
        chroma_errors.InvalidArgumentError,
        chroma_errors.InvalidDimensionException,
        chroma_errors.InvalidHTTPVersion,
        chroma_errors.InvalidUUIDError,
        chroma_errors.UniqueConstraintError,
    }
    known = {chroma_errors.ChromaError, *driver.MISSING, *driver.UNREACHABLE, *mistakes}
    exceptions = (each for each in vars(chroma_errors).values() if isinstance(each, type))
    assert {each for each in exceptions if issubclass(each, Exception)} == known - {driver.Unanswered}


def test_the_version_is_for_people(index: Index) -> None:
    assert index.version().startswith("Chroma ")
