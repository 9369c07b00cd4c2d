"""The Data page, as a visitor reads it."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.errors import NotConfigured
from backend.explorer import Explorer
from backend.models import JobState
from components import cached
from tests.bundles import write_bundle
from tests.pages.conftest import HOSTILE, Visitor


def test_datasets_collections_and_indexes_are_counted(world: Explorer, visitor: Visitor) -> None:
    visitor.open("data")
    (dataset,) = cached.status().datasets
    row = "".join(f'<td class="at-number"><bdi class="at-name">{count}</bdi></td>' for count in (3, 6, 8))
    assert dataset.documents == 3
    assert row in visitor.markup
    assert "letters" in visitor.words
    assert "4 labels, all of them searchable by name and by meaning." in visitor.words


def test_empty_store_says_so(served: Explorer, visitor: Visitor) -> None:
    words = visitor.open("data").words
    assert "Nothing is loaded yet." in words
    assert "No job yet." in words


def test_jobs_come_with_their_report(served: Explorer, visitor: Visitor, folder: Path) -> None:
    bundle = write_bundle(folder / "b", documents=[{"id": "d"}, {"title": "no id"}], passages=[], entities=[])
    served.load([bundle], dataset="odd")
    words = visitor.open("data").words
    assert "Load odd done" in words
    assert "Left out: 1 rows without a required field" in words
    assert "documents.jsonl:2" in words


def test_path_that_is_no_bundle_is_refused_in_words(world: Explorer, visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("data")
    visitor.app.text_input(key="load-path").set_value(str(tmp_path / "nothing"))
    visitor.click("Load")
    assert "nothing does not exist. Give a folder, or a .zip of one." in visitor.errors
    assert [error.proto.title for error in visitor.app.error] == ["This cannot be loaded"]
    assert not visitor.run().errors  # said once


def test_nothing_given_is_said(world: Explorer, visitor: Visitor) -> None:
    assert "Give a path, or choose a file." in visitor.open("data").click("Load").errors


def test_upload_names_its_limit(world: Explorer, visitor: Visitor) -> None:
    visitor.open("data").choose("load-source", "An upload")
    assert visitor.app.file_uploader[0].label == "A bundle as a .zip, up to 200 MB"


def test_upload_that_is_no_bundle_is_refused_and_not_kept(world: Explorer, visitor: Visitor) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("readme.txt", "no bundle")
    visitor.open("data").choose("load-source", "An upload")
    visitor.app.file_uploader[0].upload("../../etc/no bundle.zip", archive.getvalue())
    assert "bundle" in visitor.click("Load").errors
    assert not list(Path(tempfile.gettempdir()).glob("attest-upload-*/no_bundle.zip"))


def test_dataset_is_removed_in_two_steps(world: Explorer, visitor: Visitor) -> None:
    visitor.open("data").click("Remove …")
    assert "8 entities and" in visitor.words
    assert "This cannot be undone." in visitor.words
    assert cached.status().datasets
    visitor.click("Remove it")
    assert "Nothing is loaded yet." in visitor.words


def test_reading_only_means_no_load_and_no_removal(
    read_only: Callable[[], None], world: Explorer, visitor: Visitor
) -> None:
    read_only()
    visitor.open("data")
    assert "This server may only read" in visitor.words
    assert "harbour" in visitor.words
    assert not {"Load", "Remove …", "Stop", "Give it up"} & set(visitor.buttons)
    job = world.jobs()[0]
    for attempt in (
        lambda: cached.start_load(Path("/"), dataset=None, collection=None, replace=False),
        lambda: cached.remove("harbour"),
        lambda: cached.stop(job.id),
        lambda: cached.undo(job.id),
    ):
        with pytest.raises(NotConfigured):
            attempt()
    assert world.jobs()[0].state is JobState.COMMITTED


def test_hostile_texts_are_shown_as_text(hostile: Explorer, visitor: Visitor) -> None:
    visitor.open("data")
    assert "<img" not in visitor.markup
    assert "[U+202E]gnp.exe" in visitor.words
    assert HOSTILE.split(" ![")[0] in visitor.words
