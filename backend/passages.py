"""Passage search: by words and by meaning, visible passages only.

A call costs at most six queries of the graph store and two reads of each collection of passage vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from backend.errors import IndexNotReady, Malformed
from backend.models import (
    MAX_LIMIT,
    Catalog,
    ChannelScore,
    Cut,
    IndexState,
    Mode,
    PassageHit,
    PassageQuery,
    PassageResult,
)
from backend.names import asked_names, check_within, refuse_unknown
from backend.ranking import fuse
from backend.scope import ResolvedScope, resolve
from backend.stopwatch import Stopwatch
from backend.stores.base import GraphView, PassageProposals
from backend.stores.fulltext import asked_words
from backend.stores.readiness import not_ready
from backend.vectors.base import Encoder, Index, Vector, Vectors
from backend.words import words

# As for entities: what the full-text index proposes, and what one read of the vectors returns.
CANDIDATE_LIMIT = 1_000
_FEWEST_NEAREST = 250
# Where the nearest of all passages are mostly hidden, this many visible ones are compared one by one.
FEW = 2_000
_NEEDED = {Mode.HYBRID: ("passages", "chunk"), Mode.LEXICAL: ("passages",), Mode.SEMANTIC: ("chunk",)}


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """One ranked list: visible passages, best first, with their scores, and what may have cut it.

    `documents` has the document of each passage, where it was asked for.
    """

    scores: dict[str, float] = field(default_factory=dict)
    cut: Cut | None = None
    documents: Mapping[str, str] = field(default_factory=dict)

    def at(self, passage_id: str) -> ChannelScore | None:
        """The place of a passage in the list."""
        if passage_id not in self.scores:
            return None
        return ChannelScore(list(self.scores).index(passage_id) + 1, round(self.scores[passage_id], 6))


def search_passages(
    view: GraphView, query: PassageQuery, *, index: Callable[[], Index], encoder: Callable[[], Encoder]
) -> PassageResult:
    """The passages that answer the query, best first; index and encoder are asked for only where the mode needs them.

    Raises Malformed, and IndexNotReady naming the index and the remedy.
    """
    watch = Stopwatch()
    _check(query)
    with watch.step("scope"):
        scope = resolve(query.scope)
        catalog, unknown = view.opening(asked_names(query.scope))
        refuse_unknown(view, unknown)
        for name in _NEEDED[query.mode]:
            require_index(catalog, name, encoder)
    channels: dict[str, RankedPassages] = {}
    if query.mode is not Mode.SEMANTIC:
        with watch.step("lexical"):
            channels["lexical"] = by_words(view, query.text, scope)
    if query.mode is not Mode.LEXICAL:
        with watch.step("semantic"):
            vectors = encoder().encode([query.text])
            (channels["semantic"],) = by_meaning(view, vectors, scope, catalog, index(), wanted=query.limit)
    with watch.step("passages"):
        hits = _hits(view, query, scope, channels)
    cuts = tuple(channel.cut for channel in channels.values() if channel.cut is not None)
    return PassageResult(query, hits, tuple(cut.bound for cut in cuts), cuts, watch.timings_ms)


def _check(query: PassageQuery) -> None:
    if not query.text.strip():
        raise Malformed("The search text is blank.", hint="Give a few words, or a question.")
    check_within("limit", query.limit, MAX_LIMIT)


def require_index(catalog: Catalog, name: str, encoder: Callable[[], Encoder]) -> None:
    """Raises IndexNotReady unless the index without a label is online, and of this encoder."""
    for status in catalog.indexes:
        if not status.label and status.index == name and status.state is not IndexState.ONLINE:
            raise not_ready("", name, status.state, percent=status.percent, detail=status.detail)
    for collection in catalog.vector_collections:
        if collection.kind == name and collection.encoder != encoder().name:
            detail = f"made with {collection.encoder}, the encoder is {encoder().name}"
            raise not_ready("", name, IndexState.OTHER_ENCODER, detail=detail)


# --- the two channels ------------------------------------------------------------------------------------------------


def by_words(view: GraphView, text: str, scope: ResolvedScope, limit: int = CANDIDATE_LIMIT) -> RankedPassages:
    """The passages that have words of the text, by the weight of those that they have, shorter ones first."""
    asked = words(text)
    proposals = view.propose_passages(asked, scope, limit) if asked else PassageProposals({}, False)
    weights = _weights(proposals, len(asked_words(asked)))
    total = sum(weights) or 1.0
    scored = [
        (round(sum(weight for n, weight in enumerate(weights) if matched >> n & 1) / total, 6), length, passage_id)
        for passage_id, (matched, length) in proposals.found.items()
        if matched
    ]
    scored.sort(key=lambda one: (-one[0], one[1], one[2]))
    cut = Cut("candidate", limit) if proposals.overflowed else None
    return RankedPassages({passage_id: score for score, _, passage_id in scored}, cut)


def _weights(proposals: PassageProposals, count: int) -> list[float]:
    """How much each word tells among the proposed passages, none of which is hidden: the rarer, the more.

    The logarithm of how many times over they outnumber those that have the word: inverse document frequency (Spärck
    Jones 1972), one added so that a word that all have still counts.
    """
    having = [sum(matched >> n & 1 for matched, _ in proposals.found.values()) for n in range(count)]
    return [math.log(1 + len(proposals.found) / number) if number else 0.0 for number in having]


def by_meaning(
    view: GraphView, vectors: Vectors, scope: ResolvedScope, catalog: Catalog, index: Index, *, wanted: int
) -> list[RankedPassages]:
    """For each vector the visible passages that are nearest to it, whatever their distance.

    One search of each collection and one query, for all vectors together; another one where they were mostly hidden.
    """
    # Many vectors share what is read for one, so that several are found in hardly more time.
    limit = min(max(CANDIDATE_LIMIT // len(vectors), _FEWEST_NEAREST), index.max_results)
    nearest = [_ordered(found)[:limit] for found in _nearest(catalog, index, vectors, limit, scope.collections)]
    asked = list(dict.fromkeys(passage_id for found in nearest for passage_id, _ in found))
    visible = view.visible_passages(asked, scope) if asked else {}
    lists = [
        RankedPassages({passage_id: score for passage_id, score in found if passage_id in visible}, documents=visible)
        for found in nearest
    ]
    starved = [
        len(found) >= limit and len(ranked.scores) < wanted for found, ranked in zip(nearest, lists, strict=True)
    ]
    if not any(starved):
        return lists
    few = view.few_passages(FEW, scope)
    if few is None:
        return [replace(ranked, cut=Cut("semantic", limit)) for ranked in lists]
    documents = view.visible_passages(list(few), scope)
    return [RankedPassages(_compare(index, vector, few), documents=documents) for vector in vectors]


def _nearest(
    catalog: Catalog, index: Index, vectors: Vectors, limit: int, labels: Sequence[str]
) -> list[dict[str, float]]:
    """Per vector the similarities of the nearest passages, from every collection."""
    found: list[dict[str, float]] = [{} for _ in vectors]
    for collection in catalog.vector_collections:
        if collection.kind == "chunk":
            try:
                each = index.nearest_each(collection.name, vectors, limit=limit, labels=labels)
            except IndexNotReady as error:
                detail = "its vectors are not in the vector store"
                raise not_ready("", "chunk", IndexState.MISSING, detail=detail) from error
            for own, neighbours in zip(found, each, strict=True):
                own.update((one.id, one.score) for one in neighbours)
    return found


def _ordered(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _compare(index: Index, vector: Vector, placed: Mapping[str, str | None]) -> dict[str, float]:
    """The similarity of each passage, best first; `placed` says in which collection its vector is."""
    scores: dict[str, float] = {}
    for name in {name for name in placed.values() if name is not None}:
        stored = index.read(name, [passage_id for passage_id, one in placed.items() if one == name])
        scores.update({passage_id: round(float(vector @ row), 6) for passage_id, row in stored.items()})
    return dict(_ordered(scores))


# --- the result ------------------------------------------------------------------------------------------------------


def _hits(
    view: GraphView, query: PassageQuery, scope: ResolvedScope, channels: Mapping[str, RankedPassages]
) -> tuple[PassageHit, ...]:
    kept = {name: list(channel.scores)[: 2 * query.limit] for name, channel in channels.items()}
    # Each list has an order of its own for what is alike; of fused ties the one that the first list has is first.
    order = list(dict.fromkeys(passage_id for ids in kept.values() for passage_id in ids))
    scores = fuse(kept) if len(channels) > 1 else next(iter(channels.values())).scores
    ranked = [(passage_id, scores[passage_id]) for passage_id in sorted(order, key=lambda one: -scores[one])]
    ranked = ranked[: query.limit]
    passages = view.passages([passage_id for passage_id, _ in ranked], scope) if ranked else {}
    hits = [
        PassageHit(passages[passage_id], round(score, 6), _channels(passage_id, kept, channels))
        for passage_id, score in ranked
    ]
    return tuple(hits)


def _channels(
    passage_id: str, kept: Mapping[str, Sequence[str]], channels: Mapping[str, RankedPassages]
) -> dict[str, ChannelScore]:
    found = {name: channels[name].at(passage_id) for name, ids in kept.items() if passage_id in ids}
    return {name: at for name, at in found.items() if at is not None}
