"""Data: a bundle is uploaded, loaded in the background, found, and removed again; a server that may only read."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.bundles import fleet, write_bundle
from tests.e2e.application import Server, serve
from tests.e2e.conftest import Enter
from tests.e2e.visit import Visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def writable(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a copy of the demo's store."""
    folder = tmp_path_factory.mktemp("writable")
    home = shutil.copytree(demo_home, folder / "home")
    with serve(home, folder / "log") as server:
        yield server


@pytest.fixture
def read_only(demo_home: Path, tmp_path: Path) -> Iterator[Server]:
    with serve(demo_home, tmp_path / "log", ATTEST_READ_ONLY="1") as server:
        yield server


def zipped(folder: Path) -> Path:
    """The bundle in this folder as a .zip beside it."""
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.iterdir():
            file.write(path, path.name)
    return archive


def job(visit: Visit, dataset: str) -> Locator:
    """The newest load of a dataset."""
    return visit.page.locator('[class*="st-key-job-"]').filter(has_text=f"Load {dataset}").first


def row(visit: Visit, dataset: str) -> str:
    """The row of a dataset, with one space between its cells."""
    found = visit.page.locator("table.at-table").first.get_by_role("row").filter(has_text=dataset)
    expect(found).to_be_visible(timeout=120_000)
    return " ".join(found.inner_text().split())


def test_upload_is_loaded_though_the_page_is_closed_then_found_and_removed(
    writable: Server, enter: Enter, tmp_path: Path
) -> None:
    visit = enter(writable)
    bundle = zipped(write_bundle(tmp_path / "fleet", **fleet(5)))
    visit.open("data")
    assert row(visit, "demo").startswith("demo 330")
    visit.choose("From", "An upload")
    expect(visit.page.get_by_text("A bundle as a .zip, up to 200 MB")).to_be_visible()
    visit.page.locator('input[type="file"]').set_input_files(bundle)
    expect(visit.page.get_by_text("fleet.zip")).to_be_visible()
    visit.button("Load", exact=True).click()
    expect(job(visit, "fleet")).to_be_visible(timeout=120_000)
    visit.page.close()

    visit = enter(writable).open("data")
    expect(job(visit, "fleet")).to_contain_text("done", timeout=120_000)
    assert row(visit, "fleet") == "fleet 5 5 12 10 5"
    job(visit, "fleet").get_by_text("Report", exact=True).click()
    expect(job(visit, "fleet")).to_contain_text("5 documents new")

    visit.go("Search")
    visit.search_box.press_sequentially("Vessel 3")
    expect(visit.hit("Vessel 3 first")).to_contain_text("1 passage in 1 document")

    visit.go("Data")
    visit.button("Remove a dataset").click()
    visit.pick("Dataset", "fleet")
    visit.button("Remove …").click()
    dialog = visit.page.get_by_role("dialog", name="Remove a dataset")
    expect(dialog).to_contain_text("5 documents, 5 passages, 12 entities and 5 relations would be gone")
    visit.button("Keep it").click()
    expect(dialog).to_have_count(0)
    assert row(visit, "fleet")
    visit.button("Remove a dataset").click()
    visit.pick("Dataset", "fleet")
    visit.button("Remove …").click()
    visit.button("Remove it").click()
    expect(visit.page.locator("table.at-table").first.get_by_role("row").filter(has_text="fleet")).to_have_count(0)
    assert row(visit, "demo").startswith("demo 330")
    visit.go("Search")
    expect(visit.search_box).to_have_value("Vessel 3")
    visit.choose("Search in", "Names")
    expect(visit.page.get_by_text("Nothing found for")).to_be_visible()


def test_load_from_a_path_can_be_stopped_and_leaves_nothing(writable: Server, enter: Enter, tmp_path: Path) -> None:
    visit = enter(writable).open("data")
    bundle = write_bundle(tmp_path / "armada", **fleet(20_000))
    visit.page.get_by_role("textbox", name="A bundle").fill(str(bundle))
    visit.press("Tab")
    visit.button("Load", exact=True).click()
    visit.button("Stop").click(timeout=120_000)
    expect(job(visit, "armada")).to_contain_text("stopped", timeout=120_000)
    expect(visit.button("Stop")).to_have_count(0)
    expect(visit.page.locator("table.at-table").first).not_to_contain_text("armada")


def test_server_that_may_only_read_offers_nothing_else(read_only: Server, enter: Enter) -> None:
    visit = enter(read_only)
    visit.open("data")
    expect(visit.page.get_by_text("This server may only read")).to_be_visible()
    expect(visit.page.get_by_role("heading", name="Jobs")).to_be_visible()
    visit.settle()
    assert row(visit, "demo").startswith("demo 330")
    main = visit.page.get_by_role("main")
    for role in ("button", "textbox", "checkbox", "combobox", "radiogroup"):
        expect(main.get_by_role(role)).to_have_count(0)
    expect(visit.page.locator('input[type="file"]')).to_have_count(0)
    visit.go("Search")
    visit.button("Search for Meridian Freight").click()
    expect(visit.hit("Meridian Freight")).to_be_visible()
