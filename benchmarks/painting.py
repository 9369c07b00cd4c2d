"""In Chromium: the first page after a start, a graph's first paint, and a click until its evidence stands there."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import perf_counter
from urllib.parse import urlencode

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NothingCame

from backend.models import MAX_EDGES, WalkQuery, WalkResult
from benchmarks.build import say
from benchmarks.measure import Timings
from benchmarks.serving import Server, served, wait_until_settled
from benchmarks.stores import Opened
from benchmarks.table import Table
from tests.chromium import chromium

NODES = (100, 500, 2_000)
_PAINTS, _CLICKS, _STARTS = 5, 20, 3
_READY = '.attest-graph[data-ready="true"]'
_PANE = ".st-key-pane-explore"
_CHANGED = f"before => (document.querySelector('{_PANE} h2')?.innerText ?? before) !== before"


def bench_first_page(opened: Opened) -> Table:
    """From the start of the server to the first page that can be used."""
    table = Table(
        "First page after the start of the server", ("entities", "start", "listening s", "page s", "memory MB")
    )
    for start in range(1, _STARTS + 1):
        say(f"first page, start {start} …")
        with chromium() as browser, served(opened.explorer.settings) as server:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(server.address)
            page.get_by_role("searchbox").first.wait_for(timeout=120_000)
            ready = perf_counter() - server.started
            table.add(opened.size, start, server.listening_s, ready, server.memory_mb())
    return table


def bench_paint(opened: Opened) -> Table:
    """Graphs of several sizes: painted, and clicked on."""
    columns = (
        "nodes",
        "edges",
        "paint ms",
        "p95 ms",
        "address to picture ms",
        "click to evidence ms",
        "p95 ms",
        "clicks",
    )
    table = Table("Chromium: a graph's first paint, and a click to its evidence", columns)
    with chromium() as browser, served(opened.explorer.settings) as server:
        for nodes in NODES:
            query = _walk(opened, nodes)
            walk = opened.explorer.walk(query)
            say(f"painting {len(walk.nodes)} nodes …")
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            painted, opening = Timings(), Timings()
            for _ in range(_PAINTS):
                with opening.one():
                    page.goto(_address(server, query))
                    page.wait_for_selector(_READY, timeout=120_000)
                painted.wall.append(float(page.locator(".attest-graph").get_attribute("data-paint") or 0))
                wait_until_settled(page)
            clicks = _clicks(page, walk)
            row = (painted.median, painted.p95, opening.median, clicks.median, clicks.p95, len(clicks.wall))
            table.add(len(walk.nodes), len(walk.edges), *row)
            page.close()
        table.notes.append(f"Memory of the server after this: {server.memory_mb():,.0f} MB.")
    table.notes.append(
        "Paint: from the data's arrival in the browser to the drawn graph. Address to picture: everything, from the "
        "request for the page on. Clicks are on nodes and edges by turns, over the wire and back."
    )
    return table


def _walk(opened: Opened, nodes: int) -> WalkQuery:
    hub = opened.graph.entity_ids[0]
    return WalkQuery(hub, depth=2, max_nodes=nodes, max_edges=min(3 * nodes, MAX_EDGES), max_candidates=5 * nodes)


def _address(server: Server, query: WalkQuery) -> str:
    bounds = {"nodes": query.max_nodes, "edges": query.max_edges, "candidates": query.max_candidates}
    return f"{server.address}/explore?{urlencode({'entity': query.entity_id, 'depth': query.depth, **bounds})}"


def _clicks(page: Page, walk: WalkResult) -> Timings:
    """The time from each click to another title of the evidence pane; clicks that meet nothing new do not count."""
    timings = Timings()
    page.locator(_PANE).wait_for()
    for thing, place in _targets(walk):
        before = page.locator(f"{_PANE} h2").first.inner_text()
        at = page.locator(".attest-graph").evaluate(f"(root, id) => root.attestGraph.{place}(id)", thing)
        try:
            with timings.one():
                page.mouse.click(at["x"], at["y"])
                page.wait_for_function(_CHANGED, arg=before, polling="raf", timeout=5_000)
        except NothingCame:
            timings.wall.pop()
        if len(timings.wall) == _CLICKS:
            break
        page.wait_for_timeout(500)  # two clicks in short order are a double click
    return timings


def _targets(walk: WalkResult) -> Iterator[tuple[str, str]]:
    chance = Random(1)
    nodes, edges = list(walk.nodes), list(walk.edges)
    chance.shuffle(nodes)
    chance.shuffle(edges)
    for node, edge in zip(nodes[: 2 * _CLICKS], edges, strict=False):
        yield node.id, "nodeDom"
        yield edge.id, "edgeDom"
