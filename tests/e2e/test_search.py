"""From the first page to the first hit, and on to its graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.application import Server, serve
from tests.e2e.conftest import Enter
from tests.e2e.visit import Visit, entity

pytestmark = pytest.mark.browser


def test_typing_finds_without_enter_and_one_click_explores(visit: Visit) -> None:
    visit.open()
    visit.search_box.press_sequentially("halcyon")
    hit = visit.hit("MV Halcyon")
    expect(hit).to_contain_text("Vessel")
    expect(hit.locator("mark", has_text="Halcyon").first).to_be_visible()
    expect(visit.pane).to_contain_text("MV Halcyon")
    visit.expect_address(q="halcyon")
    hit.get_by_role("link", name="Explore").click()
    visit.wait_for_graph()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.expect_address(entity=entity("halcyon"))


@pytest.fixture
def fresh(demo_home: Path, tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has visited yet."""
    with serve(demo_home, tmp_path / "log") as server:
        yield server


def test_names_are_found_while_meaning_still_loads(fresh: Server, enter: Enter) -> None:
    visit = enter(fresh).open(q="halcyon")
    expect(visit.hit("MV Halcyon")).to_contain_text("exact alias “Halcyon”")
    coming = visit.page.get_by_text("Meaning is still loading")
    expect(coming).to_be_visible()
    expect(coming).to_have_count(0, timeout=120_000)
    expect(visit.hit("MV Halcyon")).to_contain_text(re.compile(r"meaning 0\.\d\d"))


def test_guided_start_is_a_search(visit: Visit) -> None:
    visit.open()
    visit.button("Search for Calder Quay Holdings").click()
    expect(visit.hit("Calder Quay Holdings")).to_contain_text("exact name")
    expect(visit.search_box).to_have_value("Calder Quay Holdings")
    visit.expect_address(q="Calder Quay Holdings")


def test_click_on_a_hit_shows_its_evidence_and_sends_little_else(visit: Visit) -> None:
    visit.open(q="Keld", mode="lexical")
    visit.received.clear()
    visit.button("Evidence for Jonas Keld").click()
    expect(visit.pane.locator("h2")).to_contain_text("Jonas Keld")
    expect(visit.pane.locator(".at-text mark", has_text="Jonas Keld").first).to_be_visible()
    visit.expect_address(hit=entity("jonas-keld"))
    visit.settle()
    passages = "".join(visit.pane.locator(".at-text").all_inner_texts())
    assert sum(visit.received) - len(passages.encode()) < 10_000


def test_nothing_found_says_what_was_tried_and_offers_names_that_are_near(visit: Visit) -> None:
    visit.open(q="Halcyonid", mode="lexical")
    expect(visit.page.get_by_text("Nothing found for")).to_be_visible()
    expect(visit.page.get_by_text("Tried names and aliases")).to_be_visible()
    visit.page.locator(".st-key-nearest").get_by_role("button").first.click()
    expect(visit.page.locator(".at-hit").first).to_be_visible()
