"""What answers ask of a language model."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from backend.errors import ModelFailed


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; `role` is `system` or `user`."""

    role: str
    text: str


class LanguageModel(Protocol):
    """Continues a conversation."""

    @property
    def name(self) -> str:
        """Its name, for people."""

    def stream(self, messages: Sequence[Message]) -> Generator[str]:
        """The text in pieces as they come; while nothing comes, an empty one several times a second.

        So whoever reads it can stop at any time; closing the generator ends the request. Raises ModelFailed or
        NotConfigured when the model does not answer, breaks off or is too slow.
        """


def whole_text(model: LanguageModel, messages: Sequence[Message], *, most: int) -> str:
    """All that a model says; raises what it does, and ModelFailed when it writes more than so many characters."""
    text = ""
    with closing(model.stream(messages)) as pieces:
        for piece in pieces:
            text += piece
            if len(text) > most:
                raise ModelFailed(
                    f"The model {model.name} wrote more than {most:,} characters and was stopped.", hint="Ask again."
                )
    return text
