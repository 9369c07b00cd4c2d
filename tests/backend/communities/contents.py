"""Passages with statements and mentions for tests, made of a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.communities.extractive import CentralMember
from backend.models import Counts, Document, Passage, Status
from backend.questions import Named
from backend.sentences import sentence_spans
from backend.stores.base import End, StoredEdge
from backend.stores.lexical import Content
from backend.stores.rows import NewStatement


def member(name: str, centrality: float = 1.0) -> CentralMember:
    return CentralMember(f"id-{name}", name, "Thing", centrality)


def edge(source: str, target: str, *, documents: int = 1, passages: int = 1, type: str = "KNOWS") -> StoredEdge:
    ends = [End(f"id-{name}", name, "t", name, "Thing", Status.SUPPORTED) for name in (source, target)]
    counts = Counts(passages=passages, documents=documents)
    return StoredEdge(f"{source}-{type}-{target}", *ends, type, int(passages > 0), int(passages == 0), counts)


def content(
    passage_id: str,
    text: str,
    mentions: Mapping[str, Sequence[int]],
    statements: Sequence[NewStatement] | None = None,
) -> Content:
    """A passage whose statements are its sentences, unless others are given; mentions are places by name."""
    document = Document(id="d", source_id="d", dataset="t", title="Paper", collection="c", version=1)
    passage = Passage(id=passage_id, source_id=passage_id, dataset="t", text=text, document=document, position=0)
    own = tuple(NewStatement(*span) for span in sentence_spans(text)) if statements is None else tuple(statements)
    named = {Named(f"id-{name}", name, "Thing"): tuple(places) for name, places in mentions.items()}
    return Content(passage, own, (), named, (), (), None, None)
