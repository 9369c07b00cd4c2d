"""From the hierarchy to a community, from its report to a passage, and from an entity to its communities."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.bundles import write_bundle
from tests.e2e.application import Server, attest, serve
from tests.e2e.conftest import Enter, once
from tests.e2e.test_access import FOCUSED, nameless, tab_to
from tests.e2e.test_hostile import MADE
from tests.e2e.test_looks import BACKGROUNDS, SIZES, look
from tests.e2e.visit import Visit, entity
from tests.pages.conftest import HOSTILE
from tests.pages.test_communities import INDEX, LOW, TOP, index_id, index_rows

pytestmark = pytest.mark.browser

KELD = "Jonas Keld"


def row(visit: Visit, words: str) -> Locator:
    """The first row of the tree with these words."""
    return visit.page.get_by_role("treeitem").filter(has_text=words).first


def citation(visit: Visit, number: int) -> Locator:
    return visit.page.locator(".attest-report a.cite").nth(number - 1)


@pytest.fixture(scope="module")
def index_server(stores: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """A server of a graph that came with communities, of which one is full of attacks."""

    def load(home: Path) -> None:
        rows = index_rows()
        bad = f"{HOSTILE} [Data: Entities (bo); Claims (<img src=x onerror=alert(1)>)]"
        rows["communities"].append({"id": "bad", "level": 0, "title": HOSTILE, "entity_ids": ["bo", "yard"]})
        rows["reports"].append({"community_id": "bad", "title": HOSTILE, "summary": bad})
        bundle = write_bundle(tmp_path_factory.mktemp("bundle") / "index", **rows)
        attest(home, "load", str(bundle), "--dataset", INDEX)

    with serve(once(stores / "index", load), tmp_path_factory.mktemp("index") / "log") as server:
        yield server


def test_from_the_tree_to_the_passage_that_a_report_quotes(visit: Visit) -> None:
    visit.open("communities")
    row(visit, KELD).click()
    expect(visit.pane.locator("h2").first).to_contain_text(KELD)
    visit.settle()
    visit.page.get_by_role("link", name="Open this community").click()
    expect(visit.page.locator("h1.at-community")).to_contain_text(KELD)
    expect(visit.pane.locator("h2").first).to_have_text("Passages that mention most members")
    visit.settle()
    quoted = visit.page.locator(".attest-report p").first.inner_text().rsplit(" ", 1)[0]
    citation(visit, 1).click()
    expect(visit.pane.locator(".at-sentence")).to_have_text(quoted)
    assert visit.address["thing"][0].startswith("passage:")
    expect(citation(visit, 1)).to_have_attribute("aria-current", "true")
    visit.button("In context").click()
    expect(visit.button("Whole document")).to_be_visible()


def test_picture_goes_in_and_out_and_its_fields_are_chosen(visit: Visit) -> None:
    visit.open("communities", shown="picture")
    visit.page.locator("button.tile").filter(has_text=KELD).first.click()
    expect(visit.pane.locator("h2").first).to_contain_text(KELD)
    visit.settle()
    within = visit.page.locator("button.tile").first
    name = within.locator("bdi").first.inner_text()
    within.click()
    expect(visit.pane.locator("h2").first).to_have_text(name)
    visit.settle()
    visit.button("Everything").click()
    expect(visit.pane.locator("h2").first).to_contain_text("communities on")


def test_titles_are_found_as_they_are_typed(visit: Visit) -> None:
    visit.open("communities")
    visit.page.get_by_role("searchbox", name="Find by title").press_sequentially("keld edvin")
    expect(visit.page.get_by_text("1 community found.")).to_be_visible()
    expect(visit.page.get_by_role("treeitem")).to_have_count(1)


def test_community_is_the_same_for_whoever_opens_its_address(visit: Visit, demo: Server, browser: Browser) -> None:
    visit.open("communities")
    row(visit, KELD).dblclick()
    expect(visit.page.locator("h1.at-community")).to_contain_text(KELD)
    visit.settle()
    citation(visit, 2).click()
    expect(visit.pane.locator(".at-sentence")).to_be_visible()
    visit.settle()
    href = citation(visit, 2).evaluate("link => link.href")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    for url in (visit.page.url, href):
        other = Visit(context, demo).goto(url)
        for part in ("h1.at-community", ".st-key-pane-communities"):
            expect(other.page.locator(part)).to_have_text(visit.page.locator(part).inner_text(), use_inner_text=True)
        expect(citation(other, 2)).to_have_attribute("aria-current", "true")
        other.check()
    context.close()


def test_question_is_the_same_for_whoever_opens_its_address(visit: Visit) -> None:
    visit.open("communities", about="What did Meridian Freight pay in 2022?", level="1", score="weighted")
    expect(visit.page.locator(".at-community-hit").first).to_be_visible()
    expect(visit.page.get_by_role("combobox", name="Level")).to_have_value("Level 1")
    expect(visit.page.locator(".at-intent")).to_contain_text("Names: Meridian Freight")
    expect(visit.pane.locator("#evidence-1")).to_be_attached()
    visit.page.get_by_role("button", name="Only documents of 2022").click()
    visit.expect_address(where=["date >= 2022-01-01", "date <= 2022-12-31"])
    expect(visit.page.locator(".at-community-hit").first).to_be_visible()
    visit.settle()
    visit.page.locator('[class*="st-key-pick-"] button').first.click()
    expect(visit.page.locator("h1.at-community")).to_be_visible()
    visit.page.locator(".st-key-way").get_by_role("link", name="What did Meridian").click()
    expect(visit.page.locator(".at-community-hit").first).to_be_visible()


def test_graph_of_a_community_has_its_evidence_and_leads_to_explore(visit: Visit) -> None:
    visit.open("communities")
    row(visit, KELD).dblclick()
    visit.choose("Part", "Graph")
    visit.wait_for_graph()
    visit.click_node(entity("meridian-freight"))
    expect(visit.pane.locator("h2").first).to_contain_text("Meridian Freight")
    place = visit.ask_graph("nodeDom", entity("meridian-freight"))
    visit.page.wait_for_timeout(600)
    visit.settle()
    visit.page.mouse.dblclick(place["x"], place["y"])
    expect(visit.title).to_contain_text("Meridian Freight")


def test_from_an_entity_to_its_community_and_back(visit: Visit) -> None:
    visit.open(q="Meridian Freight", mode="lexical")
    visit.pane.locator(".st-key-communities-of").get_by_role("link").first.click()
    expect(visit.page.locator("h1.at-community")).to_contain_text("Meridian Freight")
    visit.settle()
    visit.page.get_by_role("radio", name=re.compile("^Members")).click()
    tab_to(visit, visit.page.locator(".st-key-table canvas").first)
    visit.press("ArrowDown", "Shift+Space")
    expect(visit.pane.get_by_role("link", name="Explore", exact=True)).to_be_visible()
    visit.settle()
    visit.pane.get_by_role("link", name="Explore", exact=True).click()
    expect(visit.title).to_be_visible()
    visit.wait_for_graph()
    expect(visit.pane.locator(".st-key-communities-of").get_by_role("link").first).to_be_visible()


def test_from_the_tree_to_a_passage_by_keyboard(visit: Visit) -> None:
    visit.open("communities")
    first = visit.page.get_by_role("treeitem").first
    tab_to(visit, first)
    visit.press("ArrowDown")
    assert visit.page.get_by_role("treeitem").nth(1).evaluate(FOCUSED)
    visit.press("ArrowRight")
    expect(visit.page.get_by_role("treeitem").nth(1)).to_have_attribute("aria-expanded", "true")
    visit.settle()
    visit.press("ArrowDown", "Enter")
    expect(visit.page.get_by_role("treeitem").nth(2)).to_have_attribute("aria-selected", "true")
    visit.settle()
    visit.press("Shift+Enter")
    expect(visit.page.locator("h1.at-community")).to_be_visible()
    visit.settle()
    tab_to(visit, citation(visit, 1))
    visit.press("Enter")
    expect(visit.pane.locator(".at-sentence").first).to_be_visible()
    visit.settle()
    assert citation(visit, 1).evaluate(FOCUSED)


@pytest.mark.parametrize("params", [{}, {"shown": "picture"}, {"community": TOP}], ids=["tree", "picture", "community"])
def test_everything_active_has_a_name(index_server: Server, enter: Enter, params: dict[str, str]) -> None:
    visit = enter(index_server).open("communities", **params)
    assert nameless(visit) == []


def test_citations_lead_to_their_things_or_say_that_they_are_nothing(index_server: Server, enter: Enter) -> None:
    visit = enter(index_server).open("communities", community=TOP)
    report = visit.page.locator(".attest-report")
    expect(report.locator(".nothing")).to_have_count(2)
    expect(report.locator(".nothing").first).to_contain_text("leads to nothing: there is no entity nobody")
    report.get_by_role("link", name="claim old").click()
    expect(visit.pane).to_contain_text("The yard is said to be old.")
    visit.settle()
    report.get_by_role("link", name="relation sells").click()
    expect(visit.pane.locator("h2").first).to_contain_text("SELLS_TO")
    visit.settle()
    report.get_by_role("link", name="community low").click()
    expect(visit.page.locator("h1.at-community")).to_have_text("Yard and Bo")
    visit.expect_address(community=LOW)


def test_hostile_titles_and_reports_are_text(index_server: Server, enter: Enter) -> None:
    visit = enter(index_server)
    bad = index_id("community", "bad")
    for params in ({"at": bad}, {"shown": "picture"}, {"community": bad}, {"about": "Bo", "level": "0"}):
        visit.open("communities", **params)
        expect(visit.page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
        assert visit.page.evaluate(MADE) == []
    visit.page.wait_for_timeout(300)


def test_without_communities_the_button_finds_them(
    stores: Path, enter: Enter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = {kind: own for kind, own in index_rows().items() if kind not in ("communities", "reports", "claims")}
    home = tmp_path_factory.mktemp("none")
    attest(home, "load", str(write_bundle(tmp_path_factory.mktemp("bundle") / "none", **rows)), "--dataset", "none")
    with serve(home, tmp_path_factory.mktemp("log") / "log") as server:
        visit = enter(server).open("communities")
        visit.button("Find communities").click()
        expect(visit.page.get_by_role("treeitem").nth(1)).to_contain_text("3 members")


@pytest.fixture(params=[(theme, size) for theme in BACKGROUNDS for size in SIZES], ids="-".join)
def dressed(request: pytest.FixtureRequest, visit: Visit) -> Visit:
    """A visit in each theme and size."""
    theme, size = request.param
    width, height = SIZES[size]
    visit.page.set_viewport_size({"width": width, "height": height})
    visit.page.emulate_media(color_scheme=theme)
    return visit


def test_everything_fits_and_nothing_is_cut_off(dressed: Visit, tmp_path: Path) -> None:
    dressed.open("communities")
    row(dressed, KELD).click()
    expect(dressed.pane.locator("h2").first).to_contain_text(KELD)
    dressed.settle()
    problems = look(dressed, tmp_path, "tree")
    community = dressed.address["at"][0]
    dressed.open("communities", shown="picture")
    expect(dressed.page.locator("button.tile").first).to_be_visible()
    problems += look(dressed, tmp_path, "picture")
    for part in ("report", "members", "relations", "graph"):
        dressed.open("communities", community=community, part=part)
        if part == "graph":
            dressed.wait_for_graph()
        problems += look(dressed, tmp_path, part)
    dressed.open("communities", about="What did Meridian Freight pay in 2022?")
    expect(dressed.page.locator(".at-community-hit").first).to_be_visible()
    dressed.settle()
    problems += look(dressed, tmp_path, "question")
    assert not problems, "\n".join(problems)
