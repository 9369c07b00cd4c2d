"""The report of a community without a model: its most central entities, and sentences quoted from its passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from backend.communities.scoring import edge_weights
from backend.communities.values import Report, ReportOrigin, ReportSentence, SentenceSource
from backend.statements import WHOLE, places, span, text
from backend.stores.base import StoredEdge
from backend.stores.lexical import Content
from backend.vectors.base import Vector
from backend.words import fold

MOST_EDGES = MOST_PASSAGES = 5
_TITLED, _SUMMED_UP = 3, 3  # entities in the title, sentences in the summary


class CentralMember(NamedTuple):
    """A member of a community with its weighted degree inside it."""

    id: str
    name: str
    label: str
    centrality: float


@dataclass(frozen=True, slots=True)
class InnerEdge:
    """An edge between two members, and the first passage that states it, None where no visible one does."""

    edge: StoredEdge
    content: Content | None


def centrality(edges: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """The weighted degree Σ weight(u, v) over v of each entity, by the edges (id, id, weight) inside a community."""
    weights: dict[str, list[float]] = defaultdict(list)
    for (u, v), weight in edge_weights(edges).items():
        weights[u].append(weight)
        weights[v].append(weight)
    return {entity: fsum(weights[entity]) for entity in sorted(weights)}


def by_centrality(members: Iterable[CentralMember]) -> list[CentralMember]:
    """The most central first, then by name and id."""
    return sorted(members, key=lambda one: (-one.centrality, one.name, one.id))


def support_order(edge: StoredEdge) -> tuple[int, int, str, str, str, str]:
    """By what edges are sorted: most documents first, then most passages, source's name, type, target's name and id."""
    counts = edge.counts
    return -counts.documents, -counts.passages, edge.source.name, edge.type, edge.target.name, edge.id


def by_support(edges: Iterable[InnerEdge]) -> list[InnerEdge]:
    """The best supported first."""
    return sorted(edges, key=lambda one: support_order(one.edge))


def title(members: Iterable[CentralMember]) -> str:
    """The names of the three most central members, with commas between them."""
    return ", ".join(one.name for one in by_centrality(members)[:_TITLED])


def extractive_report(
    members: Sequence[CentralMember], edges: Iterable[InnerEdge], representative: Sequence[Content]
) -> Report:
    """A report in sentences that stand so in passages, each with its place there.

    Of the first passage of each of the five best supported edges the sentence that mentions both ends, else one of
    them; then of each of the first five representative passages the one that mentions most members. No sentence comes
    twice; the summary is the first three.
    """
    sentences: dict[str, ReportSentence] = {}
    for content, place in [*_of_edges(edges), *_of_passages(members, representative)]:
        said = text(content, place).strip()
        if said:
            sentences.setdefault(fold(said), ReportSentence(said, (_source(content, place),)))
    found = tuple(sentences.values())
    return Report(
        origin=ReportOrigin.EXTRACTIVE,
        title=title(members),
        summary=" ".join(one.text for one in found[:_SUMMED_UP]),
        sentences=found,
        cited=tuple(dict.fromkeys(source.passage_id for one in found for source in one.sources)),
    )


def report_passages(edges: Iterable[InnerEdge], representative: Sequence[Content]) -> list[Content]:
    """The passages that a report rests on, each once: of the best supported edges, then the representative ones."""
    stating = (one.content for one in by_support(edges)[:MOST_EDGES])
    found = [*(one for one in stating if one is not None), *representative[:MOST_PASSAGES]]
    return list({one.passage.id: one for one in found}.values())


def report_vector(sentences: Sequence[Vector]) -> Vector | None:
    """The mean of the vectors of sentences, of unit length; None where there are none or they cancel out."""
    import numpy as np

    if not sentences:
        return None
    mean: Vector = np.mean(np.stack(sentences), axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length > 0 else None


def _of_edges(edges: Iterable[InnerEdge]) -> Iterator[tuple[Content, int]]:
    for one in by_support(edges)[:MOST_EDGES]:
        place = None if one.content is None else _stating(one.content, one.edge)
        if one.content is not None and place is not None:
            yield one.content, place


def _stating(content: Content, edge: StoredEdge) -> int | None:
    """The first statement that mentions both ends, else the first that mentions one."""
    ends = {edge.source.id, edge.target.id}
    counting = _counting(content)
    counts = _counts(content, ends)
    return max((place for place in counting if counts[place]), key=lambda place: counts[place], default=None)


def _of_passages(members: Iterable[CentralMember], representative: Sequence[Content]) -> Iterator[tuple[Content, int]]:
    ids = {one.id for one in members}
    for content in representative[:MOST_PASSAGES]:
        counts = _counts(content, ids)
        place = max(_counting(content), key=lambda place: counts[place], default=None)
        if place is not None:
            yield content, place


def _counting(content: Content) -> list[int]:
    """The statements that count, in their order; the first one where none mentions anything."""
    return [place for place in places(content) if place != WHOLE] or [0][: len(content.statements)]


def _counts(content: Content, entities: set[str]) -> dict[int, int]:
    """Per statement how many of these entities it mentions."""
    counts: dict[int, int] = defaultdict(int)
    for entity, own in content.mentions.items():
        for place in own if entity.id in entities else ():
            counts[place] += 1
    return counts


def _source(content: Content, place: int) -> SentenceSource:
    """Where a statement stands: at its offsets, else where the passage has its words, else in the whole of it."""
    passage = content.passage
    known = span(content, place)
    if known is not None:
        return SentenceSource(passage.id, *known)
    said = text(content, place).strip()
    start = passage.text.find(said)
    return SentenceSource(passage.id, *((start, start + len(said)) if start >= 0 else (0, len(passage.text))))
