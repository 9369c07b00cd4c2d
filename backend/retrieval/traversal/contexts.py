"""Entity network contexts: a filtered and ranked network of the entities that a question is about.

They begin from the names in the question, follow relations in either direction, leave out what is far more, or far
less, connected than where they began, and come as lists of entities that belong together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from backend.models import Entity
from backend.questions import Named
from backend.ranking import fuse
from backend.retrieval.names import QuestionNames, entities_named
from backend.retrieval.reader import Reader
from backend.retrieval.traversal.model import model_keywords
from backend.retrieval.traversal.options import TraversalOptions
from backend.retrieval.traversal.tfidf import tfidf_scores
from backend.stores.lexical import Content, NearEdge

# Edges of one entity among which its neighbours are chosen.
_EDGES = 100


@dataclass(frozen=True, slots=True)
class ContextEntity:
    """An entity of a context with its degree, and how like its name is to the question."""

    entity: Named
    degree: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Contexts:
    """The contexts of one question, best first, its keywords, and the edges that were read for them."""

    contexts: tuple[tuple[ContextEntity, ...], ...]
    keywords: tuple[str, ...]
    edges: Mapping[str, tuple[NearEdge, ...]]

    def transcriptions(self) -> list[str]:
        """The keywords, then each context, as texts: what is searched for beside the question."""
        own = [", ".join(one.entity.name.lower() for one in context) for context in self.contexts]
        return list(dict.fromkeys([*([", ".join(self.keywords)] if self.keywords else []), *own]))

    def entities(self) -> list[Named]:
        """Every entity of a context once, in their order."""
        return list(dict.fromkeys(one.entity for context in self.contexts for one in context))


@dataclass(frozen=True, slots=True)
class _Node:
    """A place in the forest that grows from the seeds."""

    entity: Named
    children: list[_Node]


def build_contexts(
    reader: Reader, options: TraversalOptions, names: QuestionNames, nearest: Sequence[Content]
) -> Contexts:
    """The contexts of the question; `nearest` are the passages whose entities are seeds too.

    Costs a query for each step of the network, and one for the degrees.
    """
    keywords, by_keyword = _keywords(reader, options, names)
    phrases = [reader.question.text, *keywords]
    seeds = _seeds(names, by_keyword, nearest, phrases)[: options.ec_max_entities]
    if not seeds or not options.ec_max_contexts:
        return Contexts((), keywords, {})
    edges: dict[str, tuple[NearEdge, ...]] = {}
    with reader.step("network of the entities") as note:
        forest = _grow(reader, options, seeds, phrases, edges)
        nodes = list(_all(forest))
        degrees = reader.view.degrees([node.entity.id for node in nodes], reader.scope)
        note(len(nodes))
    similar = _similarities((node.entity for node in nodes), phrases)
    within = degree_filter(options, max((degrees.get(seed.id, 0) for seed in seeds), default=0))
    kept = {
        node.entity.id: ContextEntity(node.entity, degrees[node.entity.id], round(similar[node.entity.id], 4))
        for node in nodes
        if within(degrees.get(node.entity.id, 0))
    }
    return Contexts(tuple(choose_contexts(forest_paths(forest), kept)[: options.ec_max_contexts]), keywords, edges)


def _keywords(
    reader: Reader, options: TraversalOptions, names: QuestionNames
) -> tuple[tuple[str, ...], Sequence[Entity]]:
    """The keywords, and the entities that are called like those which are not from the names in the question."""
    if options.ec_keyword_provider == "passthru":
        return (reader.question.text,), ()
    if options.ec_keyword_provider == "llm":
        keywords = model_keywords(reader, options.max_keywords)
        return keywords, entities_named(reader, keywords)
    return names.keywords[: options.max_keywords], ()


def _seeds(
    names: QuestionNames, by_keyword: Sequence[Entity], nearest: Sequence[Content], phrases: Sequence[str]
) -> list[Named]:
    """What question and keywords name and the nearest passages mention: the ranks of all channels, fused."""
    known = {one.id: Named(one.id, one.name, one.label) for one in (*names.entities(), *by_keyword)}
    mentioned = [entity for content in nearest for entity in content.mentions]
    known.update((entity.id, entity) for entity in mentioned)
    similar = _similarities(known.values(), phrases)
    alike = sorted(known, key=lambda one: (-similar[one], known[one].name, one))
    channels = {
        **names.channels(),
        "keywords": [one.id for one in by_keyword],
        "passages": list(dict.fromkeys(entity.id for entity in mentioned)),
        "alike": alike,
    }
    scores = fuse(channels)
    return [known[one] for one in sorted(known, key=lambda one: (-scores[one], known[one].name, one))]


def _similarities(entities: Iterable[Named], phrases: Sequence[str]) -> dict[str, float]:
    texts = {entity.id: f"{entity.name} ({entity.label})".lower() for entity in entities}
    scores = tfidf_scores(list(texts.values()), phrases)
    return {key: scores.get(text, 0.0) for key, text in texts.items()}


def _grow(
    reader: Reader,
    options: TraversalOptions,
    seeds: Sequence[Named],
    phrases: Sequence[str],
    edges: dict[str, tuple[NearEdge, ...]],
) -> list[_Node]:
    """A forest in which each entity stands once, grown level by level from all seeds together."""
    forest = [_Node(seed, []) for seed in seeds]
    claimed = {seed.id for seed in seeds}
    level = forest
    for depth in range(options.ec_max_depth, 1, -1):
        found = reader.view.neighbourhoods([node.entity.id for node in level], _EDGES, reader.scope)
        edges.update((entity, near.edges) for entity, near in found.items())
        similar = _similarities({edge.other for near in found.values() for edge in near.edges}, phrases)
        following: list[_Node] = []
        for node in level:
            near = found[node.entity.id].edges if node.entity.id in found else ()
            for other in _best_neighbours(near, similar, claimed)[: depth + 2]:
                claimed.add(other.id)
                node.children.append(_Node(other, []))
            following += node.children
        level = following
    return forest


def _best_neighbours(edges: Sequence[NearEdge], similar: Mapping[str, float], claimed: set[str]) -> list[Named]:
    """Unclaimed neighbours: those like the question first, then those with more edges to the entity."""
    counts: dict[Named, int] = {}
    for edge in edges:
        if edge.other.id not in claimed:
            counts[edge.other] = counts.get(edge.other, 0) + 1
    return sorted(counts, key=lambda one: (-similar[one.id] - math.log1p(counts[one]) / 10, one.name, one.id))


def _all(forest: Iterable[_Node]) -> Iterable[_Node]:
    for node in forest:
        yield node
        yield from _all(node.children)


def degree_filter(options: TraversalOptions, baseline: int) -> Callable[[int], bool]:
    """Holds for degrees that are not far from the baseline, both bounds included."""
    low, high = options.ec_min_score_factor * baseline, options.ec_max_score_factor * baseline
    return lambda degree: low <= degree <= high


def forest_paths(forest: Sequence[_Node]) -> list[list[Named]]:
    """Every way from a root to a leaf."""

    def ways(node: _Node) -> Iterable[list[Named]]:
        if not node.children:
            yield [node.entity]
        for child in node.children:
            yield from ([node.entity, *way] for way in ways(child))

    return [way for root in forest for way in ways(root)]


def choose_contexts(
    paths: Sequence[Sequence[Named]], kept: Mapping[str, ContextEntity]
) -> list[tuple[ContextEntity, ...]]:
    """Paths without what was filtered out: no two alike, none that begins another; the roots take turns.

    Within a root those that are most like the question come first.
    """
    filtered = [tuple(kept[entity.id] for entity in path if entity.id in kept) for path in paths]
    distinct = [path for path in dict.fromkeys(filtered) if path]
    whole = [path for path in distinct if not any(path == other[: len(path)] for other in distinct if other != path)]
    roots: dict[str, list[tuple[ContextEntity, ...]]] = {}
    for path in whole:
        roots.setdefault(path[0].entity.id, []).append(path)
    ranked = [sorted(own, key=lambda path: -_mean(path)) for own in roots.values()]
    return [path for turn in zip_longest(*ranked) for path in turn if path is not None]


def _mean(path: Sequence[ContextEntity]) -> float:
    return sum(one.similarity for one in path) / len(path)
