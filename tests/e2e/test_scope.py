"""One scope for all pages, and a graph as it was on a day."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visit import Visit, edge, entity

pytestmark = pytest.mark.browser


def test_scope_holds_on_every_page(visit: Visit) -> None:
    visit.open(q="Meridian Freight")
    expect(visit.pane).to_contain_text("19 passages in 11 documents")
    visit.add("Collections", "Press")
    expect(visit.pane).to_contain_text("8 passages in 6 documents")
    visit.hit("Meridian Freight").get_by_role("link", name="Explore").click()
    visit.wait_for_graph()
    visit.expect_address(collection="Press", entity=entity("meridian-freight"))
    expect(visit.title).to_contain_text("8 passages in 6 documents")
    visit.click_edge(edge("meridian-freight", "charters", "halcyon"))
    expect(visit.pane).to_contain_text("3 passages in 2 documents")
    visit.go("Data")
    expect(visit.page.get_by_role("heading", name="Datasets")).to_be_visible()
    visit.expect_address(collection="Press")
    visit.go("Search")
    expect(visit.search_box).to_have_value("Meridian Freight")
    visit.expect_address(collection="Press", q="Meridian Freight")
    expect(visit.page.get_by_text("17 of 330 documents in scope")).to_be_visible()


def test_graph_as_of_a_day_is_the_graph_of_that_day(visit: Visit) -> None:
    before, after = edge("calder-quay", "directed by", "edvin-sarpe"), edge("calder-quay", "directed by", "marta-keld")
    visit.explore("calder-quay")
    visit.click_edge(after)
    expect(visit.pane.locator("h2")).to_have_text("Calder Quay Holdings directed by → Marta Keld")
    visit.set_day("2023-06-30")
    visit.expect_address(as_of="2023-06-30")
    expect(visit.pane).to_contain_text("is not among what is shown")
    visit.wait_for_graph()
    visit.click_edge(before)
    expect(visit.pane.locator("h2")).to_have_text("Calder Quay Holdings directed by → Edvin Sarpe")
    expect(visit.pane.locator(".at-text mark", has_text="Sarpe").first).to_be_visible()


def test_condition_is_added_and_taken_away(visit: Visit) -> None:
    visit.open(q="Calder Quay")
    visit.button("Add a condition").click()
    visit.pick("Key", "pages")
    visit.pick("Comparison", "is at least")
    visit.page.get_by_role("textbox", name="Value").fill("10")
    visit.button("Add", exact=True).click()
    visit.expect_address(where="pages >= 10")
    expect(visit.page.get_by_text("pages ≥ 10").first).to_be_visible()
    expect(visit.page.get_by_text(re.compile(r"^\d+ of 330 documents in scope$"))).not_to_have_text(
        "330 of 330 documents in scope"
    )
