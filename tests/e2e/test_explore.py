"""Explore: a click shows the evidence and moves nothing, bounds are named and can be moved, back and forward."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.visit import Visit, edge, entity

pytestmark = pytest.mark.browser

CHARTERS = edge("meridian-freight", "charters", "halcyon")
OWNS = edge("jonas-keld", "owns", "meridian-freight")  # from a card index: no passage states it


def picture(visit: Visit, *nodes: str) -> dict[str, Any]:
    """What must stay as it is: where the nodes are, the zoom, when it was painted, and the element itself."""
    return {
        "places": {node: visit.ask_graph("nodeDom", entity(node)) for node in nodes},
        "scale": visit.ask_graph("scale"),
        "paint": visit.graph.get_attribute("data-paint"),
        "counts": visit.counts(),
        "mark": visit.graph.evaluate("root => root.markOfThisTest ??= Math.random()"),
    }


def test_click_on_node_and_edge_shows_evidence_and_moves_nothing(visit: Visit) -> None:
    visit.explore("meridian-freight", depth="2")
    nodes = ("meridian-freight", "halcyon", "jonas-keld", "calder-quay")
    before = picture(visit, *nodes)
    visit.click_node(entity("calder-quay"))
    expect(visit.pane.locator("h2")).to_contain_text("Calder Quay Holdings")
    expect(visit.pane.locator(".at-text mark", has_text="Calder Quay").first).to_be_visible()
    visit.expect_address(node=entity("calder-quay"), edge="")
    assert picture(visit, *nodes) == before
    visit.click_edge(CHARTERS)
    expect(visit.pane.locator("h2")).to_have_text("Meridian Freight charters → MV Halcyon")
    expect(visit.pane).to_contain_text("7 passages in 5 documents")
    expect(visit.pane.locator(".at-text").first.locator("mark", has_text="Meridian Freight")).to_be_visible()
    expect(visit.pane.locator(".at-text").first.locator("mark", has_text="Halcyon")).to_be_visible()
    visit.expect_address(node="", edge=CHARTERS)
    assert picture(visit, *nodes) == before
    visit.button(re.compile(r"^Show \d+ more")).click()
    expect(visit.pane.locator(".at-text")).to_have_count(7)
    assert picture(visit, *nodes) == before


def test_path_says_that_no_passage_states_it_and_offers_what_mentions_both(visit: Visit) -> None:
    visit.explore("meridian-freight", depth="2")
    visit.click_edge(OWNS)
    expect(visit.pane.locator("h2")).to_have_text("Jonas Keld owns → Meridian Freight")
    expect(visit.pane.locator(".at-badge")).to_have_text("no passage states it")
    expect(visit.pane).to_contain_text("No passage states this relation.")
    expect(visit.pane).to_contain_text(re.compile("not a direct source", re.IGNORECASE))
    text = visit.pane.locator(".at-text").first
    expect(text.locator("mark", has_text="Keld")).to_be_visible()
    expect(text.locator("mark", has_text="Meridian")).to_be_visible()
    expect(visit.page.locator(".attest-legend")).to_contain_text("no passage states it")


def test_click_sends_little_beside_the_passages(visit: Visit) -> None:
    visit.explore("port-ostrava-bay")
    visit.click_node(entity("halcyon"))
    expect(visit.pane.locator("h2")).to_contain_text("MV Halcyon")
    visit.settle()
    for name in ("alcedo", "halcyon"):
        visit.received.clear()
        visit.click_node(entity(name))
        expect(visit.pane.locator("h2")).to_contain_text(re.compile(name, re.IGNORECASE))
        visit.settle()
        passages = "".join(visit.pane.locator(".at-text").all_inner_texts())
        assert passages
        assert sum(visit.received) - len(passages.encode()) < 10_000


def test_bound_is_named_and_can_be_raised_and_narrowed(visit: Visit) -> None:
    visit.explore("port-ostrava-bay", depth="2")
    expect(visit.bounds).to_contain_text(re.compile(r"100 entities, [\d,]+ of at least [\d,]+ relations\."))
    expect(visit.bounds).to_contain_text("Cut by the node bound: weakest left out.")
    assert visit.counts()[0] == 100
    visit.button("Narrow to 50").click()
    expect(visit.graph).not_to_have_attribute("data-nodes", "100")
    visit.wait_for_graph()
    assert visit.counts()[0] == 50
    visit.expect_address(nodes="50")
    visit.button("Show 100").click()
    expect(visit.graph).to_have_attribute("data-nodes", "100")
    visit.wait_for_graph()
    visit.button("Show 200").click()
    expect(visit.graph).not_to_have_attribute("data-nodes", "100")
    visit.wait_for_graph()
    assert visit.counts()[0] > 150
    expect(visit.bounds).to_contain_text("300 of 432 relations. Cut by the edge bound")
    visit.open("explore", entity=entity("meridian-freight"), depth="2")
    expect(visit.bounds).not_to_contain_text("bound")  # nothing was cut, so there is nothing to narrow
    expect(visit.button(re.compile("^Narrow to"))).to_have_count(0)


def test_walk_on_then_back_forward_and_trail(visit: Visit) -> None:
    visit.open(q="Meridian Freight")
    visit.hit("Meridian Freight").get_by_role("link", name="Explore").click()
    visit.wait_for_graph()
    expect(visit.button("Back")).to_be_disabled()
    visit.click_node(entity("halcyon"))
    visit.button("Walk from here").click()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.expect_address(entity=entity("halcyon"))
    visit.wait_for_graph()
    box = visit.ask_graph("nodeDom", entity("calder-quay"))
    visit.page.mouse.dblclick(box["x"], box["y"])
    expect(visit.title).to_contain_text("Calder Quay Holdings")
    visit.wait_for_graph()

    visit.button("Back").click()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.button("Back").click()
    expect(visit.title).to_contain_text("Meridian Freight")
    visit.expect_address(entity=entity("meridian-freight"), node=entity("halcyon"))
    expect(visit.graph).to_have_attribute("data-selected", entity("halcyon"))
    expect(visit.button("Back")).to_be_disabled()
    visit.button("Forward").click()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.button("Forward").click()
    expect(visit.title).to_contain_text("Calder Quay Holdings")
    expect(visit.button("Forward")).to_be_disabled()

    trail = visit.page.locator(".st-key-trail")
    trail.get_by_role("button", name="MV Halcyon").click()
    expect(visit.title).to_contain_text("MV Halcyon")
    trail.get_by_role("link", name="Meridian Freight").click()  # the search that led here
    expect(visit.search_box).to_have_value("Meridian Freight")
    expect(visit.hit("Meridian Freight")).to_be_visible()


def test_back_of_the_browser_undoes_one_step(visit: Visit) -> None:
    visit.explore("meridian-freight")
    visit.choose("Steps", "2 steps")
    expect(visit.bounds).to_contain_text("beyond 2 steps")
    visit.page.go_back()
    expect(visit.bounds).to_contain_text("beyond 1 step")
    visit.wait_for_graph()
    visit.page.go_forward()
    expect(visit.bounds).to_contain_text("beyond 2 steps")


def test_table_is_the_same_walk_with_the_same_selection(visit: Visit) -> None:
    visit.explore("meridian-freight")
    visit.click_edge(CHARTERS)
    expect(visit.pane.locator("h2")).to_contain_text("charters")
    edges = visit.counts()[1]
    visit.choose("Shown as", "Table")
    expect(visit.table).to_have_attribute("aria-rowcount", str(edges + 1))
    expect(visit.table.locator('[role="row"][aria-selected="true"]')).to_contain_text("charters")
    expect(visit.pane.locator("h2")).to_have_text("Meridian Freight charters → MV Halcyon")
    visit.choose("Shown as", "Graph")
    visit.wait_for_graph()
    assert visit.selected() == CHARTERS
