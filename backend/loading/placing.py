"""In which statements of its passage a mention is: by its offsets, else by the names of what it mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from backend.stores.base import GraphWriter
from backend.stores.rows import NewMention, NewStatement
from backend.words import token_text


def placed(mentions: Sequence[NewMention], writer: GraphWriter) -> list[NewMention]:
    """The mentions with the places of their statements; costs two queries, whatever their number."""
    texts = writer.passage_texts(list({mention.passage_id for mention in mentions}))
    nameless = [mention for mention in mentions if _needs_names(mention, texts[mention.passage_id][1])]
    names = writer.entity_names(list({mention.entity_id for mention in nameless})) if nameless else {}
    return [
        replace(mention, statements=_places(mention, *texts[mention.passage_id], names.get(mention.entity_id, ())))
        for mention in mentions
    ]


def _needs_names(mention: NewMention, statements: Sequence[NewStatement]) -> bool:
    return mention.start is None or any(statement.start is None for statement in statements)


def _places(
    mention: NewMention, text: str, statements: Sequence[NewStatement], names: Sequence[str]
) -> tuple[int, ...]:
    if not _needs_names(mention, statements):
        return tuple(place for place, statement in enumerate(statements) if _meets(mention, statement))
    forms = [token_text(name) for name in (*((mention.surface,) if mention.surface else ()), *names)]
    return tuple(place for place, statement in enumerate(statements) if _names(statement.of(text), forms))


def _meets(mention: NewMention, statement: NewStatement) -> bool:
    # Both have offsets; a mention that a wrong end of a sentence cuts in two is in both parts.
    return mention.start < statement.end and statement.start < mention.end  # type: ignore[operator]


def _names(text: str, forms: Iterable[str]) -> bool:
    words = _words(text)
    return any(form in words for form in forms)


@lru_cache(maxsize=4_096)  # the mentions of a passage come one after the other
def _words(text: str) -> str:
    return token_text(text)
