"""Evidence as it is shown: a passage that was found, numbered, with its supporting sentences marked."""

from __future__ import annotations

from backend import statements
from backend.questions import EvidenceItem
from backend.retrieval.reader import Found
from backend.stores.lexical import Content


def item(n: int, found: Found, content: Content) -> EvidenceItem:
    """The passage as number `n`, with the places of its supporting statements."""
    places = sorted(set(found.places))
    spans = [statements.span(content, place) for place in places if place < len(content.statements)]
    sentences = tuple(dict.fromkeys(span for span in spans if span is not None))
    return EvidenceItem(n, content.passage, sentences, round(found.score, 6), found.why)
