"""The client of OpenAI-compatible endpoints against a real server: what comes, what is said when it goes wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from backend.answers.base import Message
from backend.answers.openai import OpenAIModel, Patience, open_model
from backend.errors import AttestError, ModelFailed, NotConfigured
from backend.settings import Settings
from tests.servers.model import Cut, Done, Fail, Finish, ModelServer, Raw, Repeat, Step, Wait, says
from tests.servers.process import free_port

MESSAGES = (Message("system", "Rules."), Message("user", "A question."))
HURRY = Patience(connecting=5, beginning=5, between=0.5, whole=5)
ROOT = Path(__file__).parents[3]


def event(data: str) -> Raw:
    return Raw(f"data: {data}\n\n".encode())


def ask(script: list[Step], *, key: str | None = None, patience: Patience = HURRY) -> str:
    with ModelServer(script) as server:
        model = OpenAIModel(server.address, "tiny", key, patience=patience)
        return "".join(model.stream(MESSAGES))


def failure(script: list[Step], *, key: str | None = None, patience: Patience = HURRY) -> AttestError:
    with pytest.raises((ModelFailed, NotConfigured)) as caught:
        ask(script, key=key, patience=patience)
    assert caught.value.hint
    assert key is None or key not in str(caught.value)
    return caught.value


def test_the_pieces_come_in_their_order() -> None:
    assert ask(says("It ", "left", "", " [1].\u2028 船")) == "It left [1].\u2028 船"


def test_the_server_is_asked_for_a_stream_by_this_model_with_this_key() -> None:
    with ModelServer(says("a")) as server:
        for key in ("sekrit", None):
            list(OpenAIModel(server.address, "tiny", key).stream(MESSAGES))
        assert server.keys == ["Bearer sekrit", "Bearer none"]
        assert server.requests[0] == server.requests[1]
        assert server.requests[0] == {
            "model": "tiny",
            "stream": True,
            "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "A question."}],
        }


@pytest.mark.parametrize(
    "script",
    [
        ["a", Done()],
        ["a", Finish(), Cut()],
        [event('{"choices": [{"delta": {"content": "a"}}]}'), Done()],
        [event('{"choices": [{"delta": {"refusal": "a"}}]}'), Done()],
        [Raw(b": keep alive\n\nevent: x\r\nid: 1\r\n"), "a", event('{"choices": [], "usage": {}}'), Done()],
        [event('{"choices": [{"delta": {"reasoning_content": "hm"}}]}'), "a", Finish(), Done()],
        [Raw(b'data:{"choices": [{"delta": '), Raw(b'{"content": "a"}}]}\r\n\r\n'), Done()],
    ],
)
def test_servers_differ_and_are_understood(script: list[Step]) -> None:
    assert ask(script) == "a"


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ([Fail(401, "bad key sekrit")], NotConfigured, "refused the key"),
        ([Fail(403)], NotConfigured, "refused the key"),
        ([Fail(404)], NotConfigured, "is not there"),
        ([Fail(307, headers=(("Location", "http://127.0.0.1:1/v1"),))], NotConfigured, "is not there"),
        ([Fail(429, headers=(("Retry-After", "60"),))], ModelFailed, "takes no more requests"),
        ([Fail(400, "the context is too long for sekrit")], ModelFailed, "the context is too long for …"),
        ([Fail(500, "out of\nmemory")], ModelFailed, "failed (500): out of memory."),
        (["a", event('{"error": {"message": "out of memory"}}')], ModelFailed, "failed: out of memory."),
        ([event("nonsense")], ModelFailed, "no answer of a model"),
        ([event("[1, 2]"), Done()], ModelFailed, "no answer of a model"),
        ([event('{"choices": 5}'), event('{"choices": [{"delta": "x"}]}'), Done()], ModelFailed, "nothing that could"),
        ([event('{"choices": [{"delta": {"content": 5}, "finish_reason": 3}]}'), Done()], ModelFailed, "nothing that"),
        ([Raw(b"<html>A page.</html>"), Done()], ModelFailed, "nothing that could be read"),
        ([Raw(b"data: \xff\xfe\n\n"), Done()], ModelFailed, "no answer of a model"),
        (["a", Cut()], ModelFailed, "broke off"),
        ([Cut()], ModelFailed, "broke off"),
        (["a", Raw(b""), Done()], ModelFailed, "broke off in the middle"),
        (["a", Finish("length"), Done()], ModelFailed, "limit of tokens"),
        ([Finish("content_filter"), Done()], ModelFailed, "declined"),
        (["a", Wait(30)], ModelFailed, "silent for 0.5 seconds"),
    ],
)
def test_what_went_wrong_is_said(script: list[Step], kind: type[AttestError], words: str) -> None:
    error = failure(script, key="sekrit")
    assert isinstance(error, kind)
    assert words in error.message
    assert "tiny" in error.message


def test_a_server_that_wants_a_key_says_so() -> None:
    assert "wants a key" in failure([Fail(401)]).message


def test_a_model_that_does_not_begin_or_does_not_end_is_left() -> None:
    assert "had not begun" in failure([Wait(30)], patience=Patience(beginning=0.3)).message
    assert "had not ended" in failure([Repeat("x", 0.01)], patience=Patience(beginning=5, whole=0.6)).message


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_a_server_that_is_not_there_is_named(host: str) -> None:
    address = f"http://{host}:{free_port()}/v1"
    with pytest.raises(ModelFailed, match="cannot be reached") as caught:
        list(OpenAIModel(address, "tiny").stream(MESSAGES))
    assert address in caught.value.message


@pytest.mark.parametrize("begun", [True, False])
def test_a_reader_who_stops_ends_the_connection_at_once(begun: bool) -> None:
    with ModelServer([*(["a"] if begun else []), Wait(60)]) as server:
        pieces = OpenAIModel(server.address, "tiny").stream(MESSAGES)
        next(piece for piece in pieces if (piece == "a" if begun else server.requests))
        started = time.monotonic()
        pieces.close()
        assert server.hung_up.wait(20)
        assert time.monotonic() - started < 10


def test_while_nothing_comes_a_reader_is_asked_again_and_again() -> None:
    with ModelServer([Wait(1), *says("a")]) as server:
        pieces = list(OpenAIModel(server.address, "tiny").stream(MESSAGES))
    assert pieces.count("") >= 3
    assert "".join(pieces) == "a"


def test_a_model_is_opened_where_the_settings_name_one() -> None:
    assert open_model(Settings()) is None
    model = open_model(Settings(llm_url="http://localhost:1/v1", llm_model="tiny", llm_key="sekrit"))
    assert model is not None
    assert model.name == "tiny"


def test_the_client_is_not_imported_before_a_model_is_asked() -> None:
    code = "import sys, backend.answers.answering, backend.answers.openai as o\n"
    code += "from backend.settings import Settings\no.open_model(Settings(llm_url='http://h/v1', llm_model='m'))\n"
    code += "sys.exit('openai' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
