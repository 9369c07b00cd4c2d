"""Somebody in front of a browser: a page of the served application, and all that it asked for and complained about."""

from __future__ import annotations

import re
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, WebSocket, expect

from backend.identity import edge_id, stable_id
from tests.e2e.application import Server

DATASET = "demo"
_PATIENCE = 120.0  # seconds; a busy machine may take one of them to load the encoder
_GRAPH = ".attest-graph"
_RESTS = '.stApp[data-test-script-state="notRunning"]'
# Opened at the address of a page, Streamlit asks whether its server lies below that page, and then above.
_PROBES = ("/_stcore/health", "/_stcore/host-config")
_OURS = re.compile(r"(https?|wss?)://(127\.0\.0\.1|localhost)(:\d+)?/|(data|blob):")


def entity(name: str) -> str:
    """The id of an entity of the demo graph by its source id."""
    return stable_id("entity", DATASET, name)


def edge(source: str, name: str, target: str) -> str:
    """The id of an edge of the demo graph."""
    return edge_id(entity(source), name, entity(target))


class Visit:
    """A page of one server. `check` holds at the end of every test: nothing fetched elsewhere, nothing complained."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self.server = server
        self.page = context.new_page()
        self.page.set_default_timeout(_PATIENCE * 1_000)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.received: list[int] = []  # bytes of each message from the server
        self._logged = len(server.logged())
        page = self.page
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self._hear)
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _listen(self, opened: WebSocket) -> None:
        self.requests.append(opened.url)
        opened.on("framereceived", lambda frame: self.received.append(len(frame)))

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error" and not said.location["url"].endswith(_PROBES):
            self.complaints.append(f"console: {said.text} ({said.location['url']})")

    def check(self) -> None:
        """Every request went to this machine; neither the browser nor the server's log has an error."""
        assert [url for url in self.requests if not _OURS.match(url)] == []
        assert self.complaints == []
        assert "Traceback" not in self.server.logged(self._logged)

    # --- going and waiting --------------------------------------------------------------------------------------------

    def open(self, path: str = "", **params: str | list[str]) -> Visit:
        """Goes to an address as if it was typed, and waits for the page."""
        query = urlencode(params, doseq=True)
        return self.goto(f"{self.server.address}/{path}{'?' if query else ''}{query}")

    def goto(self, url: str) -> Visit:
        self.page.goto(url)
        return self.settle()

    def explore(self, name: str, **params: str | list[str]) -> Visit:
        """Opens the walk from an entity of the demo graph, as a graph."""
        self.open("explore", entity=entity(name), **params)
        self.wait_for_graph()
        return self

    def settle(self) -> Visit:
        """Until the script has run and no element of an earlier run is left."""
        self.page.wait_for_selector(_RESTS)
        expect(self.page.locator('[data-stale="true"], [data-testid="stSkeleton"]')).to_have_count(0)
        return self

    def wait_for_graph(self) -> None:
        self.page.wait_for_selector(f'{_GRAPH}[data-ready="true"]')
        self.settle()

    def go(self, page: str) -> None:
        """To a page by its link in the sidebar."""
        self.page.mouse.move(700, 20)  # away from the link's neighbour, whose tooltip would cover it
        self.page.get_by_role("link", name=page, exact=True).click()

    # --- the address --------------------------------------------------------------------------------------------------

    @property
    def address(self) -> dict[str, list[str]]:
        """The parameters of the address."""
        return parse_qs(urlsplit(self.page.url).query)

    def expect_address(self, **params: str | list[str]) -> None:
        """Waits until the address has these parameters, each with these values or, for an empty text, not at all."""
        wanted = {key: [value] if isinstance(value, str) and value else list(value) for key, value in params.items()}
        self.page.wait_for_function(
            """wanted => {
                const now = new URLSearchParams(location.search);
                const isThere = ([key, values]) => now.getAll(key).join("\\n") === values.join("\\n");
                return Object.entries(wanted).every(isThere);
            }""",
            arg=wanted,
        )

    # --- what is on the page ------------------------------------------------------------------------------------------

    def button(self, name: str | re.Pattern[str], *, exact: bool = False) -> Locator:
        return self.page.get_by_role("button", name=name, exact=exact)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def words(self) -> str:
        """All that can be read."""
        return self.page.locator("body").inner_text().replace("\u2060", "")

    def expect_words(self, *texts: str) -> None:
        """Waits until all of these can be read, wherever their lines are broken."""
        deadline = monotonic() + _PATIENCE
        while missing := [text for text in texts if text not in " ".join(self.words.split())]:
            assert monotonic() < deadline, f"not to be read: {missing}"
            self.page.wait_for_timeout(100)

    @property
    def search_box(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Search for an entity")

    @property
    def question_box(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Ask a question")

    def hit(self, name: str) -> Locator:
        """The first hit with this name."""
        return self.page.locator('[class*="st-key-hit-"]', has=self.page.locator(".at-hit", has_text=name)).first

    @property
    def pane(self) -> Locator:
        """The evidence pane."""
        return self.page.locator(
            ".st-key-pane-explore, .st-key-pane-search, .st-key-pane-ask, .st-key-pane-communities"
        )

    @property
    def title(self) -> Locator:
        """The name of what is explored."""
        return self.page.locator("h1.at-focus")

    @property
    def bounds(self) -> Locator:
        return self.page.locator(".st-key-bounds .at-bound")

    def choose(self, group: str, option: str) -> None:
        """One of a few options that stand side by side."""
        self.page.get_by_role("radiogroup", name=group).get_by_role("radio", name=option, exact=True).click()

    def pick(self, box: str, option: str | re.Pattern[str]) -> None:
        """An option of a list that opens, and closes again."""
        self.page.get_by_role("combobox", name=box).click()
        self.page.get_by_role("option", name=option).first.click()

    def add(self, box: str, option: str | re.Pattern[str]) -> None:
        """One more option of a list that stays open for others; its field is left, since that makes it smaller."""
        self.pick(box, option)
        self.press("Escape", "Tab")

    def set_day(self, day: str) -> None:
        """Types a day into "As of", which takes it when the field is left."""
        year, month, date = day.split("-")
        self.page.get_by_role("spinbutton", name="year, As of").click()
        self.page.keyboard.type(year + month + date)
        self.press("Tab", "Tab")

    @property
    def table(self) -> Locator:
        """The table of a walk, as screen readers have it: its picture is a canvas."""
        return self.page.locator('.st-key-table canvas [role="grid"]')

    # --- the graph ----------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Locator:
        return self.page.locator(_GRAPH)

    def ask_graph(self, question: str, *arguments: str) -> Any:
        return self.graph.evaluate(f"(root, given) => root.attestGraph.{question}(...given)", list(arguments))

    def counts(self) -> tuple[int, int]:
        """Nodes and edges of the graph."""
        return tuple(int(self.graph.get_attribute(f"data-{what}") or 0) for what in ("nodes", "edges"))  # type: ignore[return-value]

    def selected(self) -> str:
        return self.graph.get_attribute("data-selected") or ""

    def click_node(self, node: str) -> None:
        self._click("nodeDom", node)

    def click_edge(self, edge: str) -> None:
        self._click("edgeDom", edge)

    def _click(self, where: str, target: str) -> None:
        place = self.ask_graph(where, target)
        self.page.mouse.click(place["x"], place["y"])
        expect(self.graph).to_have_attribute("data-selected", target)
