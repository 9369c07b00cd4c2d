"""A report without any model: the most central entities as its title, and sentences quoted from passages.

Of the best supported relations each gives the sentence that states it, of the most representative passages each the
sentence that mentions most members.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from backend import statements
from backend.communities.values import Report, ReportOrigin, ReportSentence, SentenceSource
from backend.questions import Named
from backend.stores.lexical import Content

# How many relations and passages give a sentence, how many sentences are the summary, and how many names the title.
RELATIONS, PASSAGES = 5, 5
_SUMMARY, _TITLE = 3, 3


class InnerEdge(NamedTuple):
    """An edge between two members as the scope sees it, with the numbers of what states it and its weight."""

    id: str
    source: Named
    target: Named
    type: str
    documents: int
    passages: int
    weight: float


def centrality(edges: Iterable[InnerEdge]) -> dict[str, float]:
    """The weighted degree of each member within the community: the sum of the weights of its edges there."""
    degrees: dict[str, float] = defaultdict(float)
    for edge in edges:
        degrees[edge.source.id] += edge.weight
        degrees[edge.target.id] += edge.weight
    return dict(degrees)


def most_supported(edges: Iterable[InnerEdge]) -> list[InnerEdge]:
    """The edges that most documents, then passages, state; then by names, type and id."""
    stated = [edge for edge in edges if edge.passages]
    return sorted(stated, key=_support)[:RELATIONS]


def _support(edge: InnerEdge) -> tuple[int, int, str, str, str, str]:
    return (-edge.documents, -edge.passages, edge.source.name, edge.type, edge.target.name, edge.id)


def extractive_report(
    members: Mapping[Named, float],
    stating: Iterable[tuple[InnerEdge, Content]],
    representative: Iterable[Content],
) -> Report:
    """The report of a community: its members with their centrality, edges each with a passage that states it, passages.

    No sentence comes twice; without any member it has no title.
    """
    ids = {member.id for member in members}
    found: dict[SentenceSource, str] = {}
    for edge, content in stating:
        _add(found, content, _stating(content, edge))
    for content in representative:
        _add(found, content, _telling(content, ids))
    sentences = tuple(ReportSentence(text, (source,)) for source, text in found.items())
    central = sorted(members, key=lambda member: (-members[member], member.name, member.id))
    return Report(
        origin=ReportOrigin.EXTRACTIVE,
        title=", ".join(dict.fromkeys(member.name for member in central[:_TITLE])),
        summary=" ".join(sentence.text for sentence in sentences[:_SUMMARY]),
        sentences=sentences,
        cited=tuple(dict.fromkeys(source.passage_id for source in found)),
    )


def _add(found: dict[SentenceSource, str], content: Content, place: int | None) -> None:
    if place is not None:
        start, end = statements.span(content, place) or (0, len(content.passage.text))
        found.setdefault(SentenceSource(content.passage.id, start, end), statements.text(content, place).strip())


def _stating(content: Content, edge: InnerEdge) -> int | None:
    """The sentence that mentions both ends, else either; the first of several."""
    places = {entity.id: set(own) for entity, own in content.mentions.items()}
    source, target = places.get(edge.source.id, set()), places.get(edge.target.id, set())
    return min(source & target or source | target, default=None)


def _telling(content: Content, members: set[str]) -> int | None:
    """The sentence that mentions most members; the first of several."""
    mentioned: dict[int, int] = defaultdict(int)
    for entity, places in content.mentions.items():
        for place in places if entity.id in members else ():
            mentioned[place] += 1
    return min(mentioned, key=lambda place: (-mentioned[place], place), default=None)


def places_of(report: Report, contents: Mapping[str, Content]) -> Iterator[tuple[str, int]]:
    """Passage and place of the statement that each sentence of a report is, as far as the passages are at hand."""
    for sentence in report.sentences:
        for source in sentence.sources:
            content = contents.get(source.passage_id)
            spans = [] if content is None else [statements.span(content, n) for n in range(len(content.statements))]
            if (source.start, source.end) in spans:
                yield source.passage_id, spans.index((source.start, source.end))
