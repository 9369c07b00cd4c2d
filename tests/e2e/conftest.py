"""The application in headless Chromium: what a visitor sees, clicks and types, from the first page on.

Nothing here knows the code of a page. Servers and stores are the real ones, with the demo graph and the real encoder;
every wait is for something that a visitor could see. A page that asks for anything beyond this machine fails its test,
as does one that leaves an error in the browser's console or in the server's log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.e2e.application import ROOT, Server, attest, serve
from tests.e2e.visit import Visit
from tests.once import once

expect.set_options(timeout=120_000)  # a busy machine may take one of these minutes to load the encoder


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the stores, which pytest-xdist's workers share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "e2e-stores"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def demo_home(stores: Path, chromium_path: str) -> Path:
    """A store with the demo graph and its communities. Nothing writes to it."""
    first, second = ROOT / "demo" / "first", ROOT / "demo" / "second"
    arguments = ("load", str(first), str(second), "--dataset", "demo", "--communities")
    return once(stores / "demo", lambda home: attest(home, *arguments))


@pytest.fixture(scope="session")
def demo(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the demo graph."""
    with serve(demo_home, tmp_path_factory.mktemp("demo") / "log") as server:
        yield server


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """A window, whose pages share a cache, as a visitor's do."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    yield context
    context.close()


Enter = Callable[[Server], Visit]


@pytest.fixture
def enter(window: BrowserContext) -> Iterator[Enter]:
    """Opens a page of a server; in the end each is checked."""
    visits: list[Visit] = []

    def make(server: Server) -> Visit:
        visits.append(Visit(window, server))
        return visits[-1]

    yield make
    for visit in visits:
        visit.page.close()
    for visit in visits:
        visit.check()


@pytest.fixture
def visit(demo: Server, enter: Enter) -> Visit:
    """A page of the demo's server."""
    return enter(demo)
