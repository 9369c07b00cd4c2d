"""What of each thing is encoded into its vector, alike in every store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from backend.stores.rows import NewStatement

# The kinds of vectors; beside `entity` each is chosen by a setting.
ENTITY, CHUNK, TOPIC, STATEMENT, REPORT = "entity", "chunk", "topic", "statement", "report"
KINDS = (ENTITY, CHUNK, TOPIC, STATEMENT, REPORT)
# Encoders read a few hundred words; what follows is not worth carrying.
_LONGEST = 4_000


class VectorText(NamedTuple):
    """A text to encode: `owner` is the row that says where its vector is, `label` what a search can be narrowed to."""

    owner: str
    id: str
    label: str
    text: str


def entity_text(name: str, description: str | None) -> str:
    """An entity by its name, with its description where it has one."""
    return f"{name}: {description}" if description else name


def passage_text(title: str | None, heading: str | None, text: str) -> str:
    """A passage with what it stands under: a text rarely repeats whom it is about."""
    return "\n".join(part for part in (title, heading, text) if part)


def report_text(title: str, summary: str) -> str:
    """A community by the title and the summary of its stored report."""
    return f"{title}\n{summary}"


def topic_text(topic_id: str, title: str, passages: Iterable[tuple[str, Sequence[NewStatement]]]) -> str:
    """A topic by its title and what it says: its own statements, or the whole of its passages where it has none."""
    texts = []
    for text, statements in passages:
        own = [statement.of(text) for statement in statements if statement.topic_id == topic_id]
        texts += own or [text]
    return f"{title}\n\n{' '.join(texts)}"[:_LONGEST]
