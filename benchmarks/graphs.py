"""Synthetic graphs: the shape of one, and its rows, made of a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from backend.identity import stable_id
from backend.models import Entity
from backend.scope import instant
from backend.stores.rows import NewMention, NewPassage, NewRelation, NewVersion
from benchmarks.names import Vocabulary

Numbers = NDArray[np.int64]
DATASET = "bench"
# Raised when the same shape gives other rows than before, so that no stored graph is taken for a new one.
_GENERATION = 1
_SUPERSEDED_SHARE = 0.02
_TYPES = 40
_NONE = -1


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a synthetic graph. The first `hubs` entities have `hub_relations` relations each."""

    entities: int
    relations: int
    hub_relations: int
    labels: int = 5
    hubs: int = 5
    collections: int = 10
    passages_per_document: int = 5
    seed: int = 7
    sentences: bool = False  # every mention has a sentence of its own, else a passage is one

    @property
    def name(self) -> str:
        """A folder name that tells this graph from every other."""
        # What has come later leaves the names of the graphs that are without it.
        fields = {key: value for key, value in asdict(self).items() if value is not False}
        digest = blake2b(repr((_GENERATION, fields)).encode(), digest_size=4).hexdigest()
        return f"{short(self.entities)}-{short(self.relations)}-{self.labels}-labels-{digest}"


def short(number: int) -> str:
    """100000 as 100k."""
    for unit, size in (("m", 1_000_000), ("k", 1_000)):
        if number >= size:
            return f"{number / size:g}{unit}"
    return str(number)


class Graph:
    """The rows of a shape. Ids are those that the loader gives to a bundle of the same rows."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.documents = max(1, shape.entities // shape.passages_per_document)
        self.superseded = int(self.documents * _SUPERSEDED_SHARE)
        # Passages of current versions come first, then two of each superseded version.
        self.current_passages = self.documents * shape.passages_per_document
        self.passages = self.current_passages + 2 * self.superseded

    # --- entities ----------------------------------------------------------------------------------------------------

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.shape.seed)

    @cached_property
    def names(self) -> list[str]:
        return list(self.vocabulary.names(self._rng(2), self.shape.entities))

    @cached_property
    def labels(self) -> Numbers:
        weights = 1 / (np.arange(self.shape.labels) + 1)
        return self._rng(3).choice(self.shape.labels, self.shape.entities, p=weights / weights.sum())

    @cached_property
    def entity_ids(self) -> list[str]:
        return [stable_id("entity", DATASET, f"e{n}") for n in range(self.shape.entities)]

    def entities(self) -> Iterator[Entity]:
        """Every entity; a third have an alias, a tenth two."""
        rng = self._rng(4)
        counts = rng.choice((0, 1, 2), self.shape.entities, p=(0.6, 0.3, 0.1))
        aliases = self.vocabulary.names(rng, int(counts.sum()))
        for n, (name, label, count) in enumerate(zip(self.names, self.labels.tolist(), counts.tolist(), strict=True)):
            own = tuple(next(aliases) for _ in range(count))
            yield Entity(self.entity_ids[n], f"e{n}", DATASET, name, f"Kind {label}", own)

    # --- documents and passages --------------------------------------------------------------------------------------

    def versions(self) -> Iterator[NewVersion]:
        """Every document's version; the first documents have an earlier one too, whose passages come last."""
        for n in range(self.documents):
            if n < self.superseded:
                yield self._version(n, "old", None, None)
                yield self._version(n, "new", "2024-06-01", instant("2024-06-01"))
            else:
                yield self._version(n, "new", None, None)

    def passages_with_mentions(self, batch: int) -> Iterator[tuple[list[NewPassage], list[NewMention]]]:
        """Batches of passages, each with the mentions in them."""
        rng = self._rng(5)
        fragments = self.vocabulary.fragments(rng, 20_000)
        bounds = np.searchsorted(self._mentioned // self.shape.entities, np.arange(self.passages + 1))
        for start in range(0, self.passages, batch):
            passages, mentions = [], []
            for n in range(start, min(start + batch, self.passages)):
                entities = (self._mentioned[bounds[n] : bounds[n + 1]] % self.shape.entities).tolist()
                chosen = [fragments[pick] for pick in rng.integers(0, len(fragments), len(entities) + 2).tolist()]
                passage, own = self._passage(n, entities, chosen)
                passages.append(passage)
                mentions.extend(own)
            yield passages, mentions

    # --- relations ---------------------------------------------------------------------------------------------------

    def relations(self) -> Iterator[NewRelation]:
        """Every relation; one in ten has no passage, one in ten two, a few only a superseded one."""
        columns = (self._sources, self._targets, self._types, self._stated_in, self._also_in)
        for n, (source, target, kind, first, second) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            passages = tuple(self._passage_id(p) for p in dict.fromkeys((first, second)) if p != _NONE)
            yield NewRelation(
                id=stable_id("relation", DATASET, "id", f"r{n}"),
                source_id=f"r{n}",
                source=self.entity_ids[source],
                target=self.entity_ids[target],
                type=f"relation {kind}",
                unstated=not passages,
                passage_ids=passages,
            )

    def pairs(self) -> Iterator[tuple[str, str, float]]:
        """The ends of every relation, each with a weight of 1."""
        for source, target in zip(self._sources.tolist(), self._targets.tolist(), strict=True):
            yield self.entity_ids[source], self.entity_ids[target], 1.0

    def degrees(self) -> Numbers:
        """Relations of each entity."""
        ends = np.concatenate((self._sources, self._targets))
        return np.bincount(ends, minlength=self.shape.entities)

    def near_hubs(self) -> NDArray[np.bool_]:
        """Which entities are hubs or have a relation with one."""
        hubs = self.shape.hubs
        near = np.zeros(self.shape.entities, dtype=bool)
        near[self._targets[self._sources < hubs]] = True
        near[self._sources[self._targets < hubs]] = True
        near[:hubs] = True
        return near

    # --- how the numbers are drawn -----------------------------------------------------------------------------------

    @cached_property
    def _homes(self) -> Numbers:
        """Two passages of each entity that mention it, whatever its relations."""
        rng = self._rng(6)
        first = rng.permutation(self.shape.entities) % self.current_passages
        return np.stack((first, rng.integers(0, self.current_passages, self.shape.entities)))

    @cached_property
    def _ends(self) -> tuple[Numbers, Numbers]:
        """The near end and the other end of each relation: the hubs' first, with near ends in one half of the rest."""
        rng, shape = self._rng(7), self.shape
        of_hubs = np.repeat(np.arange(shape.hubs), shape.hub_relations)
        near = rng.integers(shape.entities // 2, shape.entities, len(of_hubs))
        rest = shape.relations - len(of_hubs)
        weights = (np.arange(shape.entities - shape.hubs) + 10.0) ** -0.6
        cumulated = np.cumsum(weights) / weights.sum()
        ranked = rng.permutation(np.arange(shape.hubs, shape.entities))
        drawn = ranked[np.searchsorted(cumulated, rng.random((2, rest)))]
        return np.concatenate((near, drawn[0])), np.concatenate((of_hubs, drawn[1]))

    @cached_property
    def _turned(self) -> NDArray[np.bool_]:
        return self._rng(8).random(self.shape.relations) < 0.5

    @cached_property
    def _sources(self) -> Numbers:
        return np.where(self._turned, self._ends[0], self._ends[1])

    @cached_property
    def _targets(self) -> Numbers:
        return np.where(self._turned, self._ends[1], self._ends[0])

    @cached_property
    def _types(self) -> Numbers:
        weights = 1 / (np.arange(_TYPES) + 1)
        return self._rng(9).choice(_TYPES, self.shape.relations, p=weights / weights.sum())

    @cached_property
    def _stated_in(self) -> Numbers:
        """The passage that states a relation: one that mentions its near end."""
        rng, count = self._rng(10), self.shape.relations
        stated = self._homes[rng.integers(0, 2, count), self._ends[0]]
        chance = rng.random(count)
        stated = np.where(chance < 0.1, _NONE, stated)
        old = rng.integers(self.current_passages, max(self.passages, self.current_passages + 1), count)
        return np.where((chance > 0.98) & (self.superseded > 0), old, stated)

    @cached_property
    def _also_in(self) -> Numbers:
        rng, count = self._rng(11), self.shape.relations
        other = self._homes[1, self._ends[0]]
        return np.where((rng.random(count) < 0.1) & (self._stated_in != _NONE), other, _NONE)

    @cached_property
    def _mentioned(self) -> Numbers:
        """Which entity is mentioned in which passage, as passage × entities + entity, in order."""
        rng, size = self._rng(12), self.shape.entities
        everyone = np.arange(size)
        pairs = [self._homes[0] * size + everyone, self._homes[1] * size + everyone]
        # Every third relation's other end is mentioned where it is stated.
        told = (self._stated_in != _NONE) & (rng.random(self.shape.relations) < 0.3)
        pairs.append(self._stated_in[told] * size + self._ends[1][told])
        old = np.repeat(np.arange(self.current_passages, self.passages), 3)
        pairs.append(old * size + rng.integers(0, size, len(old)))
        return np.unique(np.concatenate(pairs))

    # --- rows --------------------------------------------------------------------------------------------------------

    def _version(self, n: int, edition: str, declared: str | None, begins: int | None) -> NewVersion:
        return NewVersion(
            document_id=stable_id("document", DATASET, f"d{n}"),
            source_id=f"d{n}",
            version_key=f"d{n}-{edition}",
            content=f"d{n}-{edition}",
            title=f"Report {n * 7919 % self.documents}",
            collection=f"collection {n % self.shape.collections}",
            date=f"{2000 + n % 25}-03-01",
            author=None,
            url=None,
            declared_from=declared,
            valid_from=begins,
            metadata={"year": 2000 + n % 25, "source": f"agency {n % 7}"},
        )

    def _passage(self, n: int, entities: list[int], fragments: list[str]) -> tuple[NewPassage, list[NewMention]]:
        passage_id = self._passage_id(n)
        parts, mentions, at = [fragments[0]], [], len(fragments[0]) + 1
        for entity, fragment in zip(entities, fragments[1:], strict=False):
            name = self.names[entity]
            mentions.append(NewMention(self.entity_ids[entity], passage_id, name, at, at + len(name)))
            parts += (name, f"{fragment}." if self.shape.sentences else fragment)
            at += len(name) + len(parts[-1]) + 2
        version, position = self._place(n)
        text = " ".join(parts)
        return NewPassage(passage_id, f"p{n}", version, position, text, None, None, None, {}), mentions

    def _place(self, n: int) -> tuple[str, int]:
        if n < self.current_passages:
            document, position = divmod(n, self.shape.passages_per_document)
            return f"d{document}-new", position
        document, position = divmod(n - self.current_passages, 2)
        return f"d{document}-old", position

    def _passage_id(self, n: int) -> str:
        return stable_id("passage", DATASET, f"p{n}")

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng((self.shape.seed, purpose))
