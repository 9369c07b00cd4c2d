"""Entity search: by name and by meaning, keeping the entities that a passage in scope mentions.

A call costs at most six queries of the graph store, whatever the number of labels, and at most two reads per
collection of vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.errors import IndexNotReady, Malformed
from backend.models import (
    MAX_LIMIT,
    Catalog,
    ChannelScore,
    Cut,
    EntityHit,
    EntityQuery,
    EntityResult,
    Facet,
    IndexState,
    Match,
    Mode,
    Status,
)
from backend.names import asked_names, check_within, refuse_unknown
from backend.ranking import NameScore, NameScorer, fuse
from backend.scope import ResolvedScope, resolve
from backend.stopwatch import Stopwatch
from backend.stores.base import GraphView, Near, Proposed, Supported
from backend.stores.readiness import not_ready
from backend.vectors.base import Encoder, Index, Neighbour, Vector

# Candidates that one label's full-text index proposes, and that one read of the vectors returns (design, 2.2).
CANDIDATE_LIMIT = 1_000


@dataclass(slots=True)
class _Channel:
    """One ranked list: entities in scope, best first, with raw scores, and what may have cut it."""

    ranked: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    matches: dict[str, Match] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by label, what facets count
    cut: Cut | None = None

    def keep(self, entity_id: str, name: str, score: float) -> None:
        """Adds an entity at the end of the ranks."""
        self.ranked.append(entity_id)
        self.names[entity_id] = name
        self.scores[entity_id] = score

    def at(self, entity_id: str) -> ChannelScore | None:
        if entity_id not in self.scores:
            return None
        return ChannelScore(self.ranked.index(entity_id) + 1, self.scores[entity_id])


def search(
    view: GraphView, query: EntityQuery, *, index: Callable[[], Index], encoder: Callable[[], Encoder]
) -> EntityResult:
    """The entities that answer the query, best first; index and encoder are asked for only where the mode needs them.

    Raises Malformed, and IndexNotReady naming label, index and remedy.
    """
    watch = Stopwatch()
    _check(query)
    with watch.step("scope"):
        scope = resolve(query.scope)
        catalog, unknown = view.opening(asked_names(query.scope, labels=query.labels))
        refuse_unknown(view, unknown)
        labels = tuple(sorted(set(query.labels))) or catalog.labels
        _check_ready(query, labels, catalog, encoder)
    channels: dict[str, _Channel] = {}
    scorer = NameScorer(query.text)
    with ThreadPoolExecutor(1) as beside:
        if query.mode is not Mode.LEXICAL:
            # The vectors are read while names are looked up: neither needs the other, nor, mostly, the interpreter.
            # Both are opened before, since two threads must not import NumPy at once.
            reader = _SemanticReader(view, query, scope, catalog, index(), labels)
            nearest = beside.submit(reader.nearest, encoder())
        if query.mode is not Mode.SEMANTIC:
            with watch.step("lexical"):
                channels["lexical"] = _lexical(view, query, scorer, scope)
        if query.mode is not Mode.LEXICAL:
            with watch.step("semantic"):
                channels["semantic"] = reader.channel(nearest.result())
    ranked = _ranked(query.mode, channels)
    hits = ranked[: query.limit]
    with watch.step("evidence"):
        found = view.support([entity_id for entity_id, _ in hits], scorer.words, query.support_limit, scope)
    cuts = tuple(channel.cut for channel in channels.values() if channel.cut is not None)
    return EntityResult(
        query=query,
        hits=tuple(_hit(found[entity_id], score, channels) for entity_id, score in hits),
        facets=_facets(channels, cuts, 2 * query.limit),
        truncated_by=tuple(cut.bound for cut in cuts),
        cuts=cuts,
        timings_ms=watch.timings_ms,
    )


# --- checks ----------------------------------------------------------------------------------------------------------


def _check(query: EntityQuery) -> None:
    if not query.text.strip():
        raise Malformed("The search text is blank.", hint="Give a name or a few words.")
    check_within("limit", query.limit, MAX_LIMIT)
    if query.support_limit < 0:
        raise Malformed(f"support limit {query.support_limit} is below 0.", hint="Choose 0 or more.")


def _check_ready(query: EntityQuery, labels: Sequence[str], catalog: Catalog, encoder: Callable[[], Encoder]) -> None:
    needed = {Mode.LEXICAL: {"fulltext"}, Mode.SEMANTIC: {"vector"}, Mode.HYBRID: {"fulltext", "vector"}}[query.mode]
    asked = set(labels)
    for status in catalog.indexes:
        if status.index in needed and status.label in asked and status.state is not IndexState.ONLINE:
            raise not_ready(status.label, status.index, status.state, percent=status.percent, detail=status.detail)
    if "vector" in needed:
        for collection in catalog.vector_collections:
            if collection.kind == "entity" and collection.encoder != encoder().name and labels:
                raise not_ready(
                    labels[0],
                    "vector",
                    IndexState.OTHER_ENCODER,
                    detail=f"made with {collection.encoder}, the encoder is {encoder().name}",
                )


# --- the two channels ------------------------------------------------------------------------------------------------


def _lexical(view: GraphView, query: EntityQuery, scorer: NameScorer, scope: ResolvedScope) -> _Channel:
    """What the index proposes, in the order of the scorer; twice the limit of each label is kept."""
    proposals = view.propose(scorer.words, scorer.folded, query.labels, scope, CANDIDATE_LIMIT)
    channel = _Channel()
    scored: dict[NameScore, list[Proposed]] = defaultdict(list)
    for one in proposals.proposed:
        score = scorer.score(one.name, one.aliases)
        if score is not None:
            scored[score].append(one)
            channel.found[one.label].append(one.id)
    room = dict.fromkeys(channel.found, 2 * query.limit)
    for score in sorted(scored, reverse=True):
        # Of thousands that have a word in common a few are kept; the others need no order.
        wanted = [one for one in scored[score] if room[one.label]]
        for one in sorted(wanted, key=lambda one: (one.name, one.id)):
            if room[one.label]:
                room[one.label] -= 1
                channel.keep(one.id, one.name, score.value)
                channel.matches[one.id] = scorer.match(one.name, one.aliases)
    if proposals.overflowed:
        channel.cut = Cut("candidate", CANDIDATE_LIMIT, labels=proposals.overflowed)
    return channel


class _Nearest(NamedTuple):
    """The vectors nearest to one, best first with their scores; `is_full` when there may be more."""

    vector: Vector
    near: Sequence[Near]
    scores: Sequence[float]
    is_full: bool


@dataclass(slots=True)
class _SemanticReader:
    """Reads the vectors nearest to a query, and a second time by label when what came first was mostly hidden."""

    view: GraphView
    query: EntityQuery
    scope: ResolvedScope
    catalog: Catalog
    index: Index
    labels: Sequence[str]

    def nearest(self, encoder: Encoder) -> _Nearest:
        """The first read, which asks nothing of the graph store."""
        return self._read(encoder.encode([self.query.text])[0], min(CANDIDATE_LIMIT, self.index.max_results), ())

    def channel(self, nearest: _Nearest) -> _Channel:
        """What the scope shows of the first read, or else of a second one."""
        channel, limit = self._channel(nearest), len(nearest.near)
        if nearest.is_full and len(channel.ranked) < self.query.limit:
            nearest = self._read(nearest.vector, self.index.max_results, self.labels)
            channel, limit = self._channel(nearest), self.index.max_results
        # A full read may have left out entities of a label that has room for more; others it cannot have changed.
        starved = tuple(label for label in self.labels if len(channel.found[label]) < 2 * self.query.limit)
        if nearest.is_full and starved:
            channel.cut = Cut("semantic", limit, labels=starved)
        return channel

    def _read(self, vector: Vector, limit: int, labels: Sequence[str]) -> _Nearest:
        read: list[tuple[float, str, str]] = []
        for collection in self.catalog.vector_collections:
            if collection.kind == "entity":
                neighbours = self._nearest(collection.name, vector, limit, labels)
                read.extend((neighbour.score, neighbour.id, collection.name) for neighbour in neighbours)
        read.sort(key=lambda item: (-item[0], item[1]))
        near: list[Near] = []
        place = 0
        for number, (score, entity_id, name) in enumerate(read[:limit]):
            place = place if score == read[place][0] else number
            near.append(Near(entity_id, name, place))
        return _Nearest(vector, near, [score for score, _, _ in read], is_full=len(read) >= limit)

    def _nearest(self, collection: str, vector: Vector, limit: int, labels: Sequence[str]) -> list[Neighbour]:
        try:
            return self.index.nearest(collection, vector, limit=limit, labels=labels)
        except IndexNotReady as error:
            detail = "its vectors are not in the vector store"
            raise not_ready(self.labels[0], "vector", IndexState.MISSING, detail=detail) from error

    def _channel(self, nearest: _Nearest) -> _Channel:
        kept = 2 * self.query.limit
        found = self.view.candidates(nearest.near, self.query.labels, kept, self.scope) if nearest.near else []
        found.sort(key=lambda one: (one.place, one.name, one.id))
        channel = _Channel()
        for one in found:
            if len(channel.found[one.label]) < kept:
                channel.keep(one.id, one.name, nearest.scores[one.place])
                channel.found[one.label].append(one.id)
        return channel


# --- the result ------------------------------------------------------------------------------------------------------


def _ranked(mode: Mode, channels: Mapping[str, _Channel]) -> list[tuple[str, float]]:
    if mode is not Mode.HYBRID:
        (channel,) = channels.values()
        return [(entity_id, channel.scores[entity_id]) for entity_id in channel.ranked]
    fused = fuse({name: channel.ranked for name, channel in channels.items()})
    names = {entity_id: name for channel in channels.values() for entity_id, name in channel.names.items()}
    return sorted(fused.items(), key=lambda pair: (-pair[1], names[pair[0]], pair[0]))


def _hit(found: Supported, score: float, channels: Mapping[str, _Channel]) -> EntityHit:
    entity, evidence = found
    lexical = channels.get("lexical")
    return EntityHit(
        id=entity.id,
        source_id=entity.source_id,
        dataset=entity.dataset,
        name=entity.name,
        label=entity.label,
        aliases=entity.aliases,
        description=entity.description,
        score=round(score, 6),
        status=Status.SUPPORTED if evidence.counts.passages else Status.UNSUPPORTED,
        channels={name: at for name, channel in channels.items() if (at := channel.at(entity.id)) is not None},
        matched=lexical.matches.get(entity.id) if lexical else None,
        counts=evidence.counts,
        passages=evidence.passages,
    )


def _facets(channels: Mapping[str, _Channel], cuts: Iterable[Cut], kept: int) -> tuple[Facet, ...]:
    """What was found per label: every name that matches and, as meaning has no end, the nearest that are kept of it."""
    found: dict[str, set[str]] = defaultdict(set)
    for channel in channels.values():
        for label, ids in channel.found.items():
            found[label].update(ids)
    cut = {label for one in cuts for label in one.labels}
    if "semantic" in channels:
        cut |= {label for label, ids in channels["semantic"].found.items() if len(ids) == kept}
    facets = (Facet(label, len(ids), label not in cut) for label, ids in found.items() if ids)
    return tuple(sorted(facets, key=lambda facet: (-facet.count, facet.label)))
