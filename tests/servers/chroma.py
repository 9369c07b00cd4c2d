"""A real Chroma server, the one that comes with the package of the embedded Chroma."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

from tests.servers.process import end_process, free_port

_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
_PATIENCE = 60  # seconds that a busy machine may need; an idle one needs one


class ChromaServer:
    """A server over the data in a folder; it can be stopped, killed and started again at its address."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self._folder = folder
        self._port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.log = folder.with_name(f"{folder.name}.log")

    @property
    def address(self) -> str:
        """Its address, as the settings take it."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts it, and returns when it answers."""
        assert self._process is None, "it runs already"
        self._folder.mkdir(parents=True, exist_ok=True)
        program = Path(sys.executable).with_name("chroma")
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [program, "run", "--host", "127.0.0.1", "--port", str(self._port), "--path", self._folder],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                with urlopen(f"{self.address}/api/v2/heartbeat", timeout=5):
                    return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    self.kill()
                    raise AssertionError(f"Chroma did not start: {self.log.read_text(errors='replace')}") from None
                time.sleep(0.05)

    def stop(self) -> None:
        """Stops it in order; its data stay."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kills it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Lets it hang: connections are taken and never answered, until it goes on or is killed."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Ends a pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def empty(self) -> None:
        """Removes every collection."""
        for name in collections_of(self.address):
            urlopen(Request(f"{self.address}{_COLLECTIONS}/{name}", method="DELETE"), timeout=30).close()

    def __enter__(self) -> ChromaServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_process(process, how)


def collections_of(address: str) -> dict[str, dict[str, object]]:
    """Every collection that a server has, whoever made it, with its metadata."""
    with urlopen(f"{address}{_COLLECTIONS}", timeout=30) as answer:
        return {each["name"]: each["metadata"] or {} for each in json.load(answer)}
