"""What answers ask of a language model."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol


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
