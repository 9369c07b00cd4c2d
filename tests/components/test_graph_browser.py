"""The graph view in a browser: clicks, keys, themes, what travels, and that no name ever runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from components.graph.assets import STATIC, published
from tests.e2e.graph_playground import hostile, invented
from tests.servers.process import free_port

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
GRAPH = '.attest-graph[data-ready="true"]'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The playground, served from a folder of its own with the published scripts beside it."""
    folder = tmp_path_factory.mktemp("playground")
    published(STATIC)
    (folder / "static").symlink_to(STATIC)
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    (folder / "app.py").write_text("from tests.e2e.graph_playground import page\n\npage()\n")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        assert process.poll() is None, "the playground ended"
        try:
            with urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail("the playground did not start")


class Graph:
    """One page with a graph, and what it received and asked for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.received: list[int] = []
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: self.received.append(len(frame))))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector(GRAPH, timeout=60_000)
        self.root = page.locator(".attest-graph")
        self.idle()

    def idle(self) -> None:
        """Until the script has run to its end."""
        self.page.wait_for_selector('.stApp[data-test-script-state="notRunning"]', timeout=60_000)

    def ask(self, question: str, *arguments: str) -> Any:
        return self.root.evaluate(f"(root, given) => root.attestGraph.{question}(...given)", list(arguments))

    def attribute(self, name: str) -> str:
        return self.root.get_attribute(name) or ""

    def click(self, kind: str, item: str) -> None:
        place = self.ask(f"{kind}Dom", item)
        self.page.mouse.click(place["x"], place["y"])
        self.tells(kind, item)
        self.chosen(item)

    def tells(self, kind: str, item: str | None) -> None:
        expect(self.page.get_by_text(f"event: {kind} {item}")).to_be_visible(timeout=30_000)
        self.idle()

    def chosen(self, item: str) -> None:
        expect(self.root).to_have_attribute("data-selected", item, timeout=30_000)

    def runs(self) -> int:
        return int(self.page.get_by_text("runs: ").inner_text().removeprefix("runs: "))


@pytest.fixture
def graph(browser: Browser, server: str) -> Iterator[Graph]:
    yield from _graph(browser, f"{server}/?nodes=15")


def _graph(browser: Browser, address: str, **options: Any) -> Iterator[Graph]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, **options)
    opened = Graph(context.new_page(), address)
    yield opened
    assert opened.errors == []
    context.close()


WALK = invented(15)


def test_a_click_on_a_node_or_an_edge_is_told_at_once(graph: Graph) -> None:
    graph.click("node", WALK.nodes[4].id)
    graph.click("edge", WALK.edges[0].id)
    assert graph.runs() == 3


def test_a_click_beside_everything_lets_go(graph: Graph) -> None:
    graph.click("node", WALK.nodes[4].id)
    box = graph.root.bounding_box()
    assert box is not None
    graph.page.mouse.click(box["x"] + 8, box["y"] + 8)
    graph.tells("none", None)
    graph.chosen("")


def test_a_double_click_walks_on(graph: Graph) -> None:
    node = WALK.nodes[4].id
    place = graph.ask("nodeDom", node)
    graph.page.mouse.dblclick(place["x"], place["y"])
    graph.tells("expand", node)


def test_a_click_neither_moves_nor_sends_the_graph(graph: Graph) -> None:
    places = {node.id: graph.ask("nodeDom", node.id) for node in WALK.nodes}
    scale = graph.ask("scale")
    graph.received.clear()
    graph.click("node", WALK.nodes[4].id)
    assert sum(graph.received) < 5_000  # the whole page's run; the graph's own part is about 1,000
    assert {node: graph.ask("nodeDom", node) for node in places} == places
    assert graph.ask("scale") == scale


def test_what_python_chooses_is_shown_without_moving_anything(graph: Graph) -> None:
    scale = graph.ask("scale")
    graph.page.get_by_role("button", name="Choose the first edge").click()
    graph.chosen(WALK.edges[0].id)
    assert graph.ask("scale") == scale


def test_new_data_arrives_without_the_library_and_keeps_a_zoom(browser: Browser, server: str) -> None:
    for graph in _graph(browser, f"{server}/?nodes=60&bound=20"):
        expect(graph.root).to_have_attribute("data-nodes", "20")
        graph.page.get_by_role("button", name="Zoom in").click()
        scale = graph.ask("scale")
        place = graph.ask("nodeDom", invented(60).start.id)
        graph.received.clear()
        graph.page.locator('[data-testid="stNumberInput"] input').fill("60")
        graph.page.keyboard.press("Enter")
        expect(graph.root).to_have_attribute("data-nodes", "60", timeout=30_000)
        graph.page.wait_for_selector(GRAPH)
        assert sum(graph.received) < 60_000
        assert graph.ask("scale") == scale
        assert graph.ask("nodeDom", invented(60).start.id) == place


def test_by_keyboard(graph: Graph) -> None:
    press = graph.page.keyboard.press
    graph.root.focus()
    press("Home")
    press("ArrowRight")
    press("Enter")
    expect(graph.page.get_by_text("event: node")).to_be_visible(timeout=30_000)
    chosen = graph.attribute("data-selected")
    assert chosen in {node.id for node in WALK.nodes[1:]}
    press("e")
    press("Enter")
    expect(graph.page.get_by_text("event: edge")).to_be_visible(timeout=30_000)
    assert graph.attribute("data-selected") in {edge.id for edge in WALK.edges if chosen in (edge.source, edge.target)}
    press("Escape")
    graph.tells("none", None)
    before = graph.ask("scale")
    press("+")
    assert graph.ask("scale") > before
    press("0")
    assert graph.ask("scale") == pytest.approx(before)
    runs = graph.runs()
    press("r")  # would run the page again anywhere else
    graph.page.wait_for_timeout(500)
    graph.idle()
    assert graph.runs() == runs


def test_it_can_be_left_and_says_what_it_is(graph: Graph) -> None:
    assert graph.attribute("role") == "application"
    assert graph.attribute("aria-label").startswith("Graph: Meridian Freight, 15 entities, ")
    graph.root.focus()
    for name in ("Zoom in", "Zoom out", "Show the whole graph"):
        graph.page.keyboard.press("Tab")
        expect(graph.page.get_by_role("button", name=name)).to_be_focused()


def test_the_theme_is_followed(graph: Graph) -> None:
    graph.page.emulate_media(color_scheme="dark")
    expect(graph.root).to_have_css("background-color", "rgb(18, 24, 27)", timeout=30_000)
    graph.page.wait_for_selector(GRAPH)
    graph.page.wait_for_function("root => root.attestGraph.names().length > 8", arg=graph.root.element_handle())


def test_hostile_names_are_only_ever_text(browser: Browser, server: str) -> None:
    for graph in _graph(browser, f"{server}/?shape=hostile"):
        title = graph.page.title()
        for node in hostile().nodes:
            place = graph.ask("nodeDom", node.id)
            graph.page.mouse.move(place["x"], place["y"])
            graph.page.mouse.move(place["x"] + 1, place["y"])
            expect(graph.page.locator(".attest-tip")).to_be_visible()
        expect(graph.page.locator(".attest-tip")).to_contain_text("{{7*7}} `code`")
        assert graph.page.locator(".attest-graph img, .attest-graph a, .attest-graph script").count() == 0
        assert graph.page.title() == title
        assert not [url for url in graph.requests if "127.0.0.1" not in url and not url.startswith(("blob:", "data:"))]
