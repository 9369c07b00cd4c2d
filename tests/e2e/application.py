"""The application as it is run: loaded and served from the command line, in processes and stores of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from tests.servers.process import end_process, free_port

ROOT = Path(__file__).parents[2]
_PATIENCE = 240  # seconds that a busy machine may need; an idle one needs ten


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens, and the file that its log goes to."""

    address: str
    log: Path

    def logged(self, since: int = 0) -> str:
        """What it has logged after so many characters."""
        return self.log.read_text(encoding="utf-8", errors="replace")[since:]


def attest(home: Path, *arguments: str) -> None:
    """Runs one command over the store in this folder."""
    command = [sys.executable, "-m", "backend.cli", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=_environment(home), capture_output=True, text=True, timeout=_PATIENCE)
    assert done.returncode == 0, done.stderr[-2_000:]


@contextmanager
def serve(home: Path, log: Path, **settings: str) -> Iterator[Server]:
    """Serves the store in this folder on a free port, until the end of the block."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "backend.cli", "serve", "--port", str(port)],
            cwd=ROOT,
            env=_environment(home) | settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Server(f"http://127.0.0.1:{port}", log)
    try:
        _wait_for(server, process)
        yield server
    finally:
        end_process(process, signal.SIGTERM, patience=30)


def _environment(home: Path) -> dict[str, str]:
    """The environment of this process, without settings of whoever runs the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ATTEST_", "STREAMLIT_"))}
    return kept | {"ATTEST_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended: {server.logged()[-2_000:]}"
        try:
            with urlopen(f"{server.address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {server.logged()[-2_000:]}")
