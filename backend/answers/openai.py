"""Models behind an OpenAI-compatible endpoint: the only file that imports their client, when the first one is asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Generator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from backend.answers.base import LanguageModel, Message
from backend.errors import AttestError, ModelFailed, NotConfigured
from backend.settings import Settings

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam

_BEAT = 0.2  # seconds after which a reader is asked whether to go on
_TOLD = 300  # characters of a server's own words in a message


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a model may take: to be reached, to begin, between two pieces, and for the whole answer."""

    # On a processor without a graphics card a model reads a long prompt for minutes before it begins; the reader sees
    # the evidence meanwhile, and can stop it.
    connecting: float = 5
    beginning: float = 180
    between: float = 30
    whole: float = 600


def open_model(settings: Settings) -> LanguageModel | None:
    """The model that the settings name, or None where they name none; nothing is asked yet."""
    if settings.llm_url is None or settings.llm_model is None:
        return None
    return OpenAIModel(settings.llm_url, settings.llm_model, settings.llm_key)


class OpenAIModel:
    """A LanguageModel behind an address; every request has a connection of its own and is never repeated by itself."""

    def __init__(self, url: str, name: str, key: str | None = None, *, patience: Patience | None = None) -> None:
        self.name = name
        self._url = url
        self._key = key
        self._patience = patience or Patience()

    def stream(self, messages: Sequence[Message]) -> Generator[str]:
        # The request runs in a thread of its own, so that a reader can stop while nothing comes; asynchronously, so
        # that stopping ends the connection at once, and with it the work of a model on the reader's own machine.
        arrived: SimpleQueue[str | None] = SimpleQueue()
        loop = asyncio.new_event_loop()
        task = loop.create_task(self._read(messages, arrived))
        thread = threading.Thread(target=_run, args=(loop, task), daemon=True)
        thread.start()
        try:
            while (piece := _next(arrived)) is not None:
                yield piece
        finally:
            loop.call_soon_threadsafe(task.cancel)
            thread.join()
            loop.close()
        task.result()

    async def _read(self, messages: Sequence[Message], arrived: SimpleQueue[str | None]) -> None:
        """Puts the pieces into the queue, and None behind the last of them."""
        import openai

        reading = _Reading()
        try:
            async with asyncio.timeout(None) as limit, self._client() as client:
                await self._request(client, messages, reading, limit, arrived)
        except TimeoutError as error:
            raise self._too_slow(reading) from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from None  # the client's error holds the request, and so the key
        except openai.OpenAIError:
            hint = "Check that it runs, or set ATTEST_LLM_URL."
            raise ModelFailed(f"{self._who} cannot be reached.", hint=hint) from None
        finally:
            arrived.put(None)

    async def _request(
        self,
        client: openai.AsyncOpenAI,
        messages: Sequence[Message],
        reading: _Reading,
        limit: asyncio.Timeout,
        arrived: SimpleQueue[str | None],
    ) -> None:
        now = asyncio.get_running_loop().time
        end = now() + self._patience.whole
        limit.reschedule(now() + self._patience.beginning)
        # The client's own reader of streams does not tell one that was ended from one that merely stopped.
        async with client.chat.completions.with_streaming_response.create(
            model=self.name, messages=[_parameter(message) for message in messages], stream=True
        ) as response:
            async for data in self._events(response.iter_bytes()):
                if data == b"[DONE]":
                    reading.ended = True
                    break
                limit.reschedule(min(now() + self._patience.between, end))
                arrived.put(reading.take(self._chunk(data)))
                if reading.ended:
                    break
        if (problem := reading.problem()) is not None:
            raise ModelFailed(f"{self._who} {problem[0]}", hint=problem[1])

    async def _events(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The data of each event of the stream."""
        line = b""
        while (received := await self._received(stream)) is not None:
            *lines, line = (line + received).split(b"\n")
            for each in lines:
                if each.startswith(b"data:"):
                    yield each.removeprefix(b"data:").strip()

    async def _received(self, stream: AsyncIterator[bytes]) -> bytes | None:
        try:
            return await anext(stream, None)
        except Exception:  # noqa: BLE001 - whatever is raised here is the connection's, in classes of several packages
            raise ModelFailed(f"{self._who} broke off the connection.", hint="Ask again.") from None

    def _chunk(self, data: bytes) -> dict[str, object]:
        try:
            chunk = json.loads(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise ModelFailed(f"{self._who} answered with something that is no answer of a model.", hint=_ADDRESS_HINT)
        if error := chunk.get("error"):
            raise ModelFailed(f"{self._who} failed: {self._told(error)}", hint="Ask again.")
        return chunk

    @property
    def _who(self) -> str:
        return f"The model {self.name} at {self._url}"

    def _client(self) -> openai.AsyncOpenAI:
        import openai

        patience = self._patience
        return openai.AsyncOpenAI(
            base_url=self._url,
            # The client insists on a key; servers without one pay no heed to it.
            api_key=self._key or "none",
            max_retries=0,
            timeout=openai.Timeout(patience.whole, connect=patience.connecting),
            # What the documents say goes to the address that was set, and nowhere else.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )

    def _too_slow(self, reading: _Reading) -> AttestError:
        patience = self._patience
        if not reading.begun:
            took = f"had not begun to answer after {patience.beginning:g} seconds"
        else:
            took = f"was silent for {patience.between:g} seconds, or had not ended after {patience.whole:g}"
        return ModelFailed(f"{self._who} {took}.", hint="Ask again, or set a quicker model.")

    def _refusal(self, error: openai.APIStatusError) -> AttestError:
        who, status, told = self._who, error.status_code, self._told(error.body)
        if status in (401, 403):
            # What a server says here may repeat a part of the key.
            what = "refused the key" if self._key else "wants a key"
            return NotConfigured(f"{who} {what} ({status}).", hint="Set ATTEST_LLM_KEY.")
        if status in (404, 405) or status < 400:
            return NotConfigured(f"{who} is not there ({status}).", hint=_ADDRESS_HINT)
        if status == 429:
            return ModelFailed(f"{who} takes no more requests now (429).", hint="Wait a little and ask again.")
        if status < 500:
            hint = "If the prompt is too long for it, lower ATTEST_LLM_TOKENS."
            return ModelFailed(f"{who} refused the request ({status}): {told}", hint=hint)
        return ModelFailed(f"{who} failed ({status}): {told}", hint="Ask again.")

    def _told(self, error: object) -> str:
        """The server's own words on one line, without the key if they repeat it."""
        told = error.get("message") if isinstance(error, dict) else error
        line = " ".join(str(told or "no reason given").split())
        return (line.replace(self._key, "…") if self._key else line)[:_TOLD].rstrip(".") + "."


_ADDRESS_HINT = "Check ATTEST_LLM_MODEL and ATTEST_LLM_URL, which mostly ends in /v1."


class _Reading:
    """What has been read of one answer."""

    def __init__(self) -> None:
        self.begun = self.ended = False
        self._reason: object = None
        self._is_empty = True

    def take(self, chunk: dict[str, object]) -> str:
        """The text in an event, which may be of any shape; a model that is thinking sends events without one."""
        self.begun = True
        choice = _first(chunk.get("choices"))
        self._reason = choice.get("finish_reason")
        self.ended = self._reason is not None
        delta = choice.get("delta")
        text = (delta.get("content") or delta.get("refusal")) if isinstance(delta, dict) else None
        if not isinstance(text, str):
            return ""
        self._is_empty = False
        return text

    def problem(self) -> tuple[str, str] | None:
        """What is wrong with an answer after which nothing more came, and what to do; None where nothing is."""
        if self._reason == "length":
            return "stopped at its limit of tokens.", "Let it write more, or ask for less."
        if self._reason == "content_filter":
            return "declined to answer.", "Ask in other words."
        if self._is_empty:
            return "answered nothing that could be read.", _ADDRESS_HINT
        if not self.ended:
            return "broke off in the middle of its answer.", "Ask again."
        return None


def _first(choices: object) -> dict[str, object]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _parameter(message: Message) -> ChatCompletionMessageParam:
    if message.role == "system":
        return {"role": "system", "content": message.text}
    return {"role": "user", "content": message.text}


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    loop.run_until_complete(asyncio.wait({task}))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _next(arrived: SimpleQueue[str | None]) -> str | None:
    try:
        return arrived.get(timeout=_BEAT)
    except Empty:
        return ""
