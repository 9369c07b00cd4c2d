"""The application over a Neo4j and a Chroma server: the pages of the embedded stores, also after one was gone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.application import Server, attest, serve
from tests.e2e.conftest import Enter
from tests.e2e.visit import Visit, edge, entity
from tests.servers.chroma import ChromaServer
from tests.servers.neo4j import Missing, Neo4jServer

pytestmark = pytest.mark.neo4j
DOWN = re.compile(r"The graph store .* does not answer")
OWNS = edge("jonas-keld", "owns", "meridian-freight")  # nobody asks for it before, so that no answer is kept
CHARTERS = edge("meridian-freight", "charters", "halcyon")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of its own, which tests may kill."""
    try:
        own = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    except Missing as missing:
        pytest.skip(str(missing))
    with own:
        yield own


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """The same for vectors."""
    with ChromaServer(tmp_path_factory.mktemp("chroma") / "data") as own:
        yield own


@pytest.fixture(scope="module")
def moved(
    database: Neo4jServer, vectors: ChromaServer, demo_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The demo graph, moved to the servers, and served from there."""
    home = tmp_path_factory.mktemp("moved") / "home"
    shutil.copytree(demo_home, home)
    attest(home, "copy", "--to", database.address, "--vectors-to", vectors.address)
    with serve(home, home / "log", ATTEST_GRAPH=database.address, ATTEST_VECTORS=vectors.address) as server:
        yield server


def test_pages_show_what_they_show_of_the_embedded_store(demo: Server, moved: Server, enter: Enter) -> None:
    embedded, there = enter(demo), enter(moved)
    for visit in (embedded, there):
        visit.open(q="meridian", collection="Press")
        expect(visit.hit("Meridian Freight")).to_be_visible()
        expect(visit.page.locator(".st-key-hits")).to_contain_text("meaning 0.")
    expect_alike(embedded, there, ".st-key-hits")
    for visit in (embedded, there):
        visit.explore("meridian-freight", depth="2", edge=CHARTERS)
        expect(visit.pane.locator("h2")).to_have_text("Meridian Freight charters → MV Halcyon")
    assert there.counts() == embedded.counts()
    for part in ("h1.at-focus", ".st-key-bounds", ".st-key-pane-explore", "section[data-testid='stSidebar']"):
        expect_alike(embedded, there, part)
    there.click_node(entity("halcyon"))
    expect(there.pane.locator("h2")).to_contain_text("MV Halcyon")


def expect_alike(one: Visit, other: Visit, place: str) -> None:
    expected = one.page.locator(place).inner_text()
    expect(other.page.locator(place)).to_have_text(expected, use_inner_text=True)


def test_open_pages_go_on_when_the_server_is_back(database: Neo4jServer, moved: Server, enter: Enter) -> None:
    visit = enter(moved)
    visit.explore("meridian-freight", depth="2")
    database.kill()
    try:
        visit.click_edge(OWNS)
        expect(visit.pane).to_contain_text(DOWN)
    finally:
        database.start()
    visit.click_node(entity("halcyon"))
    expect(visit.pane.locator("h2")).to_contain_text("MV Halcyon")
    visit.click_edge(CHARTERS)
    expect(visit.pane).to_contain_text("7 passages in 5 documents")
    visit.go("Search")
    visit.search_box.press_sequentially("keld")
    expect(visit.hit("Jonas Keld")).to_be_visible()


def test_page_that_is_opened_while_the_server_is_down_says_so_and_appears_when_it_is_back(
    database: Neo4jServer, moved: Server, enter: Enter
) -> None:
    visit = enter(moved)
    database.kill()
    try:
        for page in ("data", "", "explore?entity=" + entity("halcyon")):
            visit.goto(f"{moved.address}/{page}")
            expect(visit.page.get_by_text(DOWN).first).to_be_visible()
    finally:
        database.start()
    visit.wait_for_graph()
    expect(visit.title).to_contain_text("MV Halcyon")


def test_names_are_searched_while_the_vectors_are_gone_and_the_page_says_so(
    vectors: ChromaServer, moved: Server, enter: Enter
) -> None:
    visit = enter(moved)
    visit.open(q="meridian")
    expect(visit.page.locator(".st-key-hits")).to_contain_text("meaning 0.")
    vectors.kill()
    try:
        visit.search_box.fill("halcyon")
        expect(visit.page.get_by_text(re.compile("The vector store .* does not answer"))).to_be_visible()
        expect(visit.hit("MV Halcyon")).to_be_visible()
        expect(visit.pane.locator(".at-text mark", has_text="Halcyon").first).to_be_visible()
    finally:
        vectors.start()
    visit.search_box.fill("jonas")
    expect(visit.hit("Jonas Keld")).to_be_visible()
    expect(visit.page.locator(".st-key-hits")).to_contain_text("meaning 0.")
