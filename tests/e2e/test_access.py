"""Without a mouse, and without eyes: everything can be reached by keyboard, and has a name."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.visit import Visit, entity

pytestmark = pytest.mark.browser

FOCUSED = """element => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return element === active || element.contains(active);
}"""
# What somebody can act on. A name can come from a label, an attribute or the text, so Chromium is asked for it.
ACTIVE = {
    "application",
    "button",
    "checkbox",
    "combobox",
    "link",
    "menuitem",
    "radio",
    "radiogroup",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
}


def tab_to(visit: Visit, target: Locator, *, within: int = 40) -> None:
    """Presses Tab until this has the focus."""
    for _ in range(within):
        if target.evaluate(FOCUSED):
            return
        visit.press("Tab")
    raise AssertionError(f"{within} times Tab do not lead to {target}")


def nameless(visit: Visit) -> list[str]:
    """The active elements that a screen reader would have no name for."""
    session = visit.page.context.new_cdp_session(visit.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    active = [node for node in nodes if not node["ignored"] and node["role"]["value"] in ACTIVE]
    assert len(active) > 8, "this is not the tree of a page"
    return [f"{node['role']['value']} {node}" for node in active if not node.get("name", {}).get("value", "").strip()]


def test_from_the_first_page_to_the_evidence_of_a_relation_by_keyboard(visit: Visit) -> None:
    visit.open()
    tab_to(visit, visit.search_box)
    visit.page.keyboard.type("halcyon")
    expect(visit.hit("MV Halcyon")).to_be_visible()
    visit.settle()
    tab_to(visit, visit.hit("MV Halcyon").get_by_role("link", name="Explore"))
    visit.press("Enter")
    visit.wait_for_graph()
    expect(visit.title).to_contain_text("MV Halcyon")
    tab_to(visit, visit.graph)
    visit.press("Home", "e")
    expect(visit.page.locator(".attest-live")).to_contain_text("MV Halcyon")
    visit.press("Enter")
    expect(visit.pane.locator("h2")).to_contain_text("→")
    expect(visit.pane.locator(".at-text mark", has_text="Halcyon").first).to_be_visible()
    assert "edge" in visit.address
    tab_to(visit, visit.pane.get_by_role("radio", name="Evidence"))
    visit.press("Tab")
    assert visit.button("In context").first.evaluate(FOCUSED)
    visit.press("Enter")
    expect(visit.button("Whole document")).to_be_visible()


def test_evidence_from_the_table_by_keyboard(visit: Visit) -> None:
    visit.explore("halcyon")
    tab_to(visit, visit.page.get_by_role("radiogroup", name="Shown as"))
    visit.press("ArrowRight", "Space")
    expect(visit.table).to_be_attached()
    visit.settle()
    tab_to(visit, visit.page.locator(".st-key-table canvas").first)
    visit.press("ArrowDown", "Shift+Space")
    expect(visit.pane.locator("h2")).to_contain_text("→")
    assert "edge" in visit.address


def test_evidence_of_a_hit_by_keyboard(visit: Visit) -> None:
    visit.open(q="Keld")
    tab_to(visit, visit.button("Evidence for Jonas Keld"))
    visit.press("Enter")
    expect(visit.pane.locator("h2")).to_contain_text("Jonas Keld")


@pytest.mark.parametrize("shown", ["start", "hits", "nothing", "graph", "table", "data"])
def test_everything_active_has_a_name(visit: Visit, shown: str) -> None:
    if shown == "graph":
        visit.explore("sedge-lane-trust")
    elif shown == "table":
        visit.open("explore", entity=entity("sedge-lane-trust"), view="table")
        expect(visit.table).to_be_attached()
    elif shown == "data":
        visit.open("data")
        expect(visit.page.get_by_role("heading", name="Jobs")).to_be_visible()
    else:
        visit.open(**{} if shown == "start" else {"q": "Keld" if shown == "hits" else "Halcyonid", "mode": "lexical"})
    assert nameless(visit) == []


def test_graph_says_what_it_is_and_how_to_use_it(visit: Visit) -> None:
    visit.explore("sedge-lane-trust")
    said = visit.graph.get_attribute("aria-label") or ""
    assert re.match(r"Graph: Sedge Lane Trust, 5 entities, ", said)
    assert "no passage states" in said
    assert "Arrow keys" in visit.page.locator("#attest-keys").inner_text()
