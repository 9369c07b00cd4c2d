"""The application as it is run: a server in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter, sleep
from urllib.request import urlopen

import psutil
from playwright.sync_api import Page

from backend.settings import Settings
from tests.servers.process import end_process, free_port

ROOT = Path(__file__).parent.parent
_PATIENCE = 240  # seconds that a busy machine may need


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens, the moment it was started, and how long it took until it did."""

    address: str
    process: psutil.Process
    started: float
    listening_s: float

    def memory_mb(self) -> float:
        """What its process and those it has started hold."""
        family = [self.process, *self.process.children(recursive=True)]
        return sum(float(process.memory_info().rss) for process in family) / 2**20


def environment(settings: Settings) -> dict[str, str]:
    """The environment of this process with the settings, and without others of ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ATTEST_", "STREAMLIT_"))}
    return {**kept, **settings.environment()}


@contextmanager
def served(settings: Settings) -> Iterator[Server]:
    """A server of the stores that the settings name, until the end of the block."""
    port = free_port()
    command = [sys.executable, "-m", "backend.cli", "serve", "--port", str(port)]
    started = perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/_stcore/health", process)
        yield Server(address, psutil.Process(process.pid), started, perf_counter() - started)
    finally:
        end_process(process, signal.SIGTERM)


def wait_until_settled(page: Page) -> None:
    """Until the page's script has run."""
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]', timeout=_PATIENCE * 1000)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    end = monotonic() + _PATIENCE
    while monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError("the server ended at once; `attest serve` says why")
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            sleep(0.02)
    raise RuntimeError("the server did not start")
