"""Every view has an address that reopens it, for somebody else too; one that no longer resolves says so in words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.application import Server
from tests.e2e.visit import Visit, edge, entity

pytestmark = pytest.mark.browser

CHARTERS = edge("meridian-freight", "charters", "halcyon")
NOBODY = "00000000-0000-5000-8000-000000000000"


def expect_alike(one: Locator, other: Locator) -> None:
    """Waits until the one reads as the other does."""
    expect(one).to_have_text(other.inner_text(), use_inner_text=True)


def test_explore_is_the_same_for_whoever_opens_its_address(visit: Visit, demo: Server, browser: Browser) -> None:
    visit.explore("meridian-freight")
    visit.choose("Steps", "2 steps")
    expect(visit.bounds).to_contain_text("beyond 2 steps")
    visit.add("Collections", "Press")
    expect(visit.page.get_by_text(re.compile(r"\d+ of \d+ documents in scope"))).to_contain_text("17 of 330")
    visit.set_day("2024-06-30")
    visit.expect_address(as_of="2024-06-30")
    visit.add("Relation types", re.compile("^charters"))
    visit.expect_address(type="charters")
    visit.add("Relation types", re.compile("^directed by"))
    visit.expect_address(type=["charters", "directed by"])
    visit.wait_for_graph()
    expect(visit.title).to_contain_text("Meridian Freight")
    visit.click_edge(CHARTERS)
    visit.expect_address(edge=CHARTERS)
    expect(visit.pane.locator("h2")).to_contain_text("charters")
    visit.settle()
    assert visit.address == {
        "entity": [entity("meridian-freight")],
        "depth": ["2"],
        "type": ["charters", "directed by"],
        "edge": [CHARTERS],
        "collection": ["Press"],
        "as_of": ["2024-06-30"],
    }

    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Visit(context, demo)
    other.goto(visit.page.url).wait_for_graph()
    assert other.counts() == visit.counts()
    assert other.selected() == CHARTERS
    assert other.address == visit.address
    for part in ("title", "bounds", "pane"):
        expect_alike(getattr(other, part), getattr(visit, part))
    sidebar = "section[data-testid='stSidebar']"
    expect_alike(other.page.locator(sidebar), visit.page.locator(sidebar))
    other.check()
    context.close()


def test_search_is_the_same_for_whoever_opens_its_address(visit: Visit, demo: Server, browser: Browser) -> None:
    visit.open()
    visit.choose("Search in", "Names")
    visit.expect_address(mode="lexical")
    visit.search_box.press_sequentially("Meridian")
    expect(visit.hit("Meridian Freight")).to_be_visible()
    visit.add("Collections", "Press")
    visit.expect_address(q="Meridian", mode="lexical", collection="Press")
    expect(visit.hit("Meridian Freight")).to_be_visible()
    visit.settle()

    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Visit(context, demo)
    other.goto(visit.page.url)
    expect(other.search_box).to_have_value("Meridian")
    expect(other.page.get_by_role("radio", name="Names")).to_be_checked()
    expect(other.hit("Meridian Freight")).to_be_visible()
    expect_alike(other.page.locator(".st-key-hits"), visit.page.locator(".st-key-hits"))
    assert other.address == visit.address
    other.check()
    context.close()


@pytest.mark.parametrize(
    ("path", "params", "sentence"),
    [
        ("explore", {"entity": NOBODY}, "No passage mentions an entity with the id"),
        ("explore", {"entity": "halcyon"}, "'halcyon' is not an entity id"),
        ("explore", {"entity": entity("halcyon"), "collection": "Attic"}, "There is no collection 'Attic'"),
        ("explore", {"entity": entity("halcyon"), "depth": "x"}, "depth=x in the address is not a number"),
        ("explore", {"entity": entity("halcyon"), "nodes": "99999"}, "99999"),
        ("explore", {"entity": entity("halcyon"), "type": "eats"}, "There is no relation type 'eats'"),
        ("explore", {"entity": entity("halcyon"), "edge": NOBODY}, "is not among what is shown"),
        ("explore", {"entity": entity("halcyon"), "as_of": "once"}, "once"),
        ("", {"q": "halcyon", "label": "Planet"}, "'Planet'"),
        ("", {"q": "halcyon", "limit": "-1"}, "limit=-1 in the address is not a number"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_address_that_does_not_resolve_says_so(visit: Visit, path: str, params: dict[str, str], sentence: str) -> None:
    visit.open(path, **params)
    expect(visit.page.get_by_text(sentence).first).to_be_visible()


def test_address_that_does_not_resolve_can_be_left(visit: Visit) -> None:
    visit.open("explore", entity=entity("halcyon"), collection="Attic")
    visit.button("Everything in scope").click()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.expect_address(collection="", entity=entity("halcyon"))
