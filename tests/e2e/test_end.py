"""The end of a server."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.application import serve
from tests.e2e.conftest import Enter


def test_server_ends_quietly_and_closes_its_stores(demo_home: Path, enter: Enter, tmp_path: Path) -> None:
    home = Path(shutil.copytree(demo_home, tmp_path / "home"))  # other servers hold the demo's own open
    with serve(home, tmp_path / "log") as server:
        visit = enter(server).open(q="a company that ships grain", mode="semantic")
        expect(visit.page.locator(".at-why").first).to_contain_text("meaning", timeout=120_000)  # with it the encoder
    assert server.logged().rstrip().endswith("Stopping...")
    assert not list(home.glob("*.sqlite-wal"))
