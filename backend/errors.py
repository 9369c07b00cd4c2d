"""The errors of Attest, split by what the reader of the message can do.

AttestError
├── Malformed         the request is wrong: change it
├── Unavailable       the thing asked for is not there, or not visible in this scope
├── IndexNotReady     an index is missing, populating or built with another encoder: build it
├── StoreUnreachable  the graph store or the vector store does not answer
├── NotConfigured     a setting is missing or wrong
└── ModelFailed       a language model did not answer as it should

"Nothing found" is a result, never an error.
"""

from __future__ import annotations

from typing import ClassVar


class AttestError(Exception):
    """What happened, to what, and what to do next; `kind`, `message`, `hint` and `details` are shown as they are."""

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Malformed(AttestError):
    kind = "malformed"
    exit_code = 2


class Unavailable(AttestError):
    kind = "unavailable"
    exit_code = 3


class IndexNotReady(AttestError):
    """Names the label, the index and its state; `hint` is the command that builds it."""

    kind = "index_not_ready"
    exit_code = 4


class StoreUnreachable(AttestError):
    kind = "store_unreachable"
    exit_code = 5


class NotConfigured(AttestError):
    kind = "not_configured"
    exit_code = 6


class ModelFailed(AttestError):
    kind = "model_failed"
    exit_code = 7
