"""A real server that speaks as OpenAI-compatible ones do, and does what its script says."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Wait:
    """Is silent for so many seconds, or until the server ends."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Raw:
    """Sends these bytes as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Fail:
    """Answers with an error; only as the first step."""

    status: int
    message: str = "the server says no"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """Says why the answer ends."""

    reason: str = "stop"


@dataclass(frozen=True, slots=True)
class Done:
    """Ends the stream in order."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Cuts the connection."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Sends a piece of text again and again, until the reader has gone."""

    text: str
    pause: float = 0.001


Step: TypeAlias = str | Wait | Raw | Fail | Finish | Done | Cut | Repeat


def says(*pieces: str) -> list[Step]:
    """The script of a model that writes these pieces and ends in order."""
    return [*pieces, Finish(), Done()]


class ModelServer:
    """Follows its script at every request; text is a piece of the answer, all else a step of its own.

    `requests` are the bodies that came, `keys` what they had for authorization; `hung_up` is set when a reader has gone
    before the end.
    """

    def __init__(self, script: Sequence[Step] = ()) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.hung_up = threading.Event()
        self.ending = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        """Its address, as the settings take it."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        self.model = self.server.model
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.model.requests.append(json.loads(body))
        self.model.keys.append(self.headers["Authorization"])
        self.begun = False
        self.close_connection = True
        try:
            for step in self.model.script:
                self._follow(step)
        except OSError:
            self.model.hung_up.set()

    def _follow(self, step: Step) -> None:
        match step:
            case str():
                self._event({"choices": [{"index": 0, "delta": {"content": step}, "finish_reason": None}]})
            case Finish():
                self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": step.reason}]})
            case Raw():
                self._send(step.data)
            case Wait():
                self._wait(step.seconds)
            case Repeat():
                while not self.model.ending.is_set():
                    self._follow(step.text)
                    self._wait(step.pause)
            case Fail():
                self._fail(step)
            case Done():
                self._send(b"data: [DONE]\n\n")
                self._begin()
                self.wfile.write(b"0\r\n\r\n")
            case Cut():
                self._begin()
                self.connection.shutdown(socket.SHUT_RDWR)

    def _wait(self, seconds: float) -> None:
        """Waits, and notices when the reader goes meanwhile."""
        self.connection.settimeout(seconds)
        try:
            if self.connection.recv(1) == b"":
                raise ConnectionResetError("the reader has gone")
        except TimeoutError:
            pass
        finally:
            self.connection.settimeout(None)

    def _event(self, data: dict[str, object]) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **data}
        self._send(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _send(self, data: bytes) -> None:
        self._begin()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

    def _fail(self, step: Fail) -> None:
        body = json.dumps({"error": {"message": step.message, "type": "scripted", "code": None}}).encode()
        self.begun = True
        self.send_response(step.status)
        for name, value in (*step.headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the tests look at `requests`."""
