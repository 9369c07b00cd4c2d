"""The guided walk: a random walk with restart from the names in a question, whose steps the question conditions.

From a name over the passages and facts of its entity, through the sentence of each passage that the question is about,
to other entities and their passages. Residues are pushed from the seeds (Andersen, Chung and Lang, "Local graph
partitioning using PageRank vectors", FOCS 2006) in a few rounds with bounded frontiers, never over the whole graph.
The constants were chosen on three public question sets together, one value for all, in the middle of a flat region.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.models import Cut, Entity
from backend.ranking import fuse
from backend.retrieval.names import QuestionNames, names_in
from backend.retrieval.reader import Found, Reader
from backend.stores.fulltext import bare
from backend.stores.lexical import Content, NearEdge, Occurrences
from backend.vectors.base import Vector
from backend.words import words

# Seeds: an entity weighs 1 / (its passages) x exp(best similarity of these with the question / SEED_TEMPERATURE).
SEED_TEMPERATURE = 0.2
# A name that a question writes small, where it writes others with capitals, is a word first of all.
SMALL_NAME = 0.1
# The part of the restart that goes to the passages nearest to the question; all of it without any name.
NEAREST_SHARE, NEAREST = 0.075, 20
DAMPING = 0.85
# From an entity to its passages: those of a document that is titled like it count this often.
TITLE_WEIGHT = 10.0
# From a passage to an entity: exp(similarity of the sentence that mentions it with the question, in which what it says
# beside names counts twice / SENTENCE_TEMPERATURE).
SENTENCE_TEMPERATURE = 0.15
# From an entity over its facts: at most this share, times how clearly the relation types prefer some of them; among
# facts exp(similarity of the relation type with what the question says beside names / TYPE_TEMPERATURE).
FACT_SHARE, TYPE_TEMPERATURE = 0.5, 0.05
# From a fact to its passages; the rest goes to its other end.
SUPPORT_SHARE = 0.7
# A passage ranks by log(its visits) + SIMILARITY x the mean of its similarities with the question and with what that
# says beside names: the whole question mostly likes passages that repeat its names; those of a second hop do not.
SIMILARITY = 4.5

# Bounds: rounds, entities and passages that are pushed in one, passages and facts that are read of an entity, entities
# of one name, types that are compared, and passages that are ranked in the end.
ROUNDS, ENTITIES, PASSAGES, EACH, EACH_NAME, TYPES, RANKED = 3, 30, 20, 100, 30, 256, 200
# Passages whose nearest sentence is read: those that are evidence or told of, and that a cross-encoder may put first.
READ = 20
_NO_VISITS = 1e-9


class Came(NamedTuple):
    """Where the largest part of what arrived somewhere came from: kind and id of the node, and the step in words."""

    kind: str
    id: str
    way: str


@dataclass(slots=True)
class _Mass:
    """What is still to be pushed from nodes of one kind, what has arrived at them, and from where most of it came."""

    residue: dict[str, float] = field(default_factory=dict)
    arrived: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    came: dict[str, tuple[float, Came]] = field(default_factory=dict)

    def arrive(self, node: str, amount: float, came: Came) -> None:
        self.residue[node] = self.residue.get(node, 0.0) + amount
        self.arrived[node] += amount
        if node not in self.came or amount > self.came[node][0]:
            self.came[node] = (amount, came)

    def take(self, most: int) -> list[tuple[str, float]]:
        """The nodes with most to push, and what they have; the rest waits."""
        first = sorted(self.residue, key=lambda node: (-self.residue[node], node))[:most]
        return [(node, self.residue.pop(node)) for node in first]


def guided_walk(reader: Reader) -> Sequence[Found]:
    """Every passage that the walk reaches, best first, each with the way to it."""
    reader.require("chunk")
    return _Walk(reader).run()


class _Walk:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._each = EACH * reader.question.reach
        self._entities, self._passages = _Mass(), _Mass()
        self._names: dict[str, str] = {}
        self._aliases: dict[str, tuple[str, ...]] = {}  # of the entities that the question names
        self._occurrences: dict[str, Occurrences] = {}
        self._edges: dict[str, tuple[NearEdge, ...]] = {}
        self._similar: dict[str, float] = {}  # of passages
        self._sentences: dict[tuple[str, int], float] = {}
        self._type_similar: dict[str, float] = {}

    def run(self) -> list[Found]:
        reader = self._reader
        names = names_in(reader)
        rest = names.rest or reader.question.text
        question, self._rest = reader.encode([reader.question.text, rest])
        self._question = question
        self._leaving = question + self._rest
        self._leaving /= float(self._leaving @ self._leaving) ** 0.5
        with reader.step("passages near to the question") as note:
            (near,) = reader.nearest_passages([question], NEAREST)
            self._similar.update(near.scores)
            note(len(near.scores))
        with reader.step("entities to begin from") as note:
            note(self._begin(names, list(near.scores)[:NEAREST]))
        for number in range(1, ROUNDS + 1):
            with reader.step(f"round {number} of the walk") as note:
                self._push_entities()
                if number < ROUNDS:  # what lies in passages at the end is counted where it lies
                    self._push_passages()
                note(len(self._passages.arrived))
        with reader.step("passages in their order") as note:
            found = self._ranked()
            note(len(found))
        if reader.open_reranker is None:
            return found
        with reader.step("the first of them read by the cross-encoder") as note:
            found = self._reranked(found)
            note(min(READ, len(found)))
        return found

    # --- the beginning -----------------------------------------------------------------------------------------------

    def _begin(self, names: QuestionNames, nearest: Sequence[str]) -> int:
        seeds = self._seeds(names)
        total = sum(seeds.values())
        share = NEAREST_SHARE if total else 1.0
        for entity, weight in sorted(seeds.items()):
            came = Came("question", "", f"the question names {self._names[entity]}")
            self._entities.arrive(entity, (1 - share) * weight / total, came)
        similar = {passage_id: max(self._similar[passage_id], 0.0) for passage_id in nearest}
        whole = sum(similar.values()) or 1.0
        for passage_id, similarity in similar.items():
            came = Came("question", "", "like the question in meaning")
            self._passages.arrive(passage_id, share * similarity / whole, came)
        return len(seeds)

    def _seeds(self, names: QuestionNames) -> dict[str, float]:
        """The entities that the question names, weighed; without any name those near to it in meaning."""
        has_proper = any(name.is_proper for name in names.names)
        groups = [
            (
                [entity for entity, _ in name.entities[:EACH_NAME]],
                1.0 if name.is_proper or not has_proper else SMALL_NAME,
            )
            for name in names.names
        ] or [(list(names.near[:5]), 1.0)]
        self._know(entity for group, _ in groups for entity in group)
        self._read_occurrences([entity.id for group, _ in groups for entity in group])
        self._compare({one.passage_id for found in self._occurrences.values() for one in found.passages[:NEAREST]})
        seeds: dict[str, float] = defaultdict(float)
        for group, factor in groups:
            for entity in group:
                occurrences = self._occurrences[entity.id]
                found = occurrences.passages
                if found or occurrences.more:  # what is mentioned everywhere leads somewhere by its facts alone
                    best = max((self._similar.get(one.passage_id, 0.0) for one in found[:NEAREST]), default=0.0)
                    weight = factor / len(group) / (len(found) or self._each)
                    seeds[entity.id] += weight * math.exp(best / SEED_TEMPERATURE)
        return seeds

    # --- steps -------------------------------------------------------------------------------------------------------

    def _push_entities(self) -> None:
        """From the entities with most to push over their facts and to their passages."""
        front = self._entities.take(ENTITIES)
        ids = [entity for entity, _ in front]
        self._read_occurrences(ids)
        self._read_edges(ids)
        for entity, residue in front:
            amount = DAMPING * residue
            facts, share = self._facts(entity)
            for edge, part in facts:
                self._push_fact(entity, edge, amount * share * part)
            names = {_form(name) for name in (self._names[entity], *self._aliases.get(entity, ()))}
            titled = [
                (one, TITLE_WEIGHT if _form(one.title) in names else 1.0) for one in self._occurrences[entity].passages
            ]
            total = sum(weight for _, weight in titled)
            for one, weight in titled:
                came = Came("entity", entity, f"{self._names[entity]} is mentioned here")
                self._passages.arrive(one.passage_id, amount * (1 - share) * weight / total, came)

    def _push_fact(self, entity: str, edge: NearEdge, amount: float) -> None:
        self._names.setdefault(edge.other.id, edge.other.name)
        ends = (self._names[entity], edge.other.name)
        fact = f" {edge.type} ".join(ends if edge.is_outgoing else reversed(ends))
        stated = SUPPORT_SHARE if edge.passage_ids else 0.0
        for passage_id in edge.passage_ids:
            came = Came("entity", entity, f"{fact}, stated here")
            self._passages.arrive(passage_id, amount * stated / len(edge.passage_ids), came)
        self._entities.arrive(edge.other.id, amount * (1 - stated), Came("entity", entity, fact))

    def _facts(self, entity: str) -> tuple[list[tuple[NearEdge, float]], float]:
        """The facts of an entity with the part that each gets, and the share of what leaves over facts.

        The share grows with how far the parts are from equal: one minus their entropy over the greatest possible.
        """
        edges = self._edges.get(entity, ())
        if len(edges) < 2:
            return [], 0.0
        top = max(self._type_similar.get(edge.type, 0.0) for edge in edges)
        weights = [math.exp((self._type_similar.get(edge.type, 0.0) - top) / TYPE_TEMPERATURE) for edge in edges]
        parts = [weight / sum(weights) for weight in weights]
        entropy = -sum(part * math.log(part) for part in parts if part > 0)
        share = FACT_SHARE * max(0.0, 1 - entropy / math.log(len(edges)))
        return list(zip(edges, parts, strict=True)), share

    def _push_passages(self) -> None:
        """From the passages with most to push through their sentences to the entities that these mention."""
        front = self._passages.take(PASSAGES)
        contents = self._reader.contents([passage_id for passage_id, _ in front])
        self._read_sentences(contents.values())
        for passage_id, residue in front:
            content = contents[passage_id]
            weighed = [
                (entity, math.exp(self._nearest_sentence(content, places)[0] / SENTENCE_TEMPERATURE))
                for entity, places in content.mentions.items()
            ]
            total = sum(weight for _, weight in weighed)
            for entity, weight in weighed:
                self._names.setdefault(entity.id, entity.name)
                came = Came("passage", passage_id, f"{content.passage.document.title!r} mentions {entity.name}")
                self._entities.arrive(entity.id, DAMPING * residue * weight / total, came)

    # --- the order ---------------------------------------------------------------------------------------------------

    def _ranked(self) -> list[Found]:
        arrived = self._passages.arrived
        ranked = RANKED * self._reader.question.reach
        kept = sorted(arrived, key=lambda passage_id: (-arrived[passage_id], passage_id))[:ranked]
        if len(arrived) > ranked:
            self._reader.note(Cut("candidate", ranked, missing=len(arrived) - ranked))
        stored = self._reader.vectors_of("chunk", sorted(kept))
        scores = {
            passage_id: math.log(arrived[passage_id] + _NO_VISITS) + SIMILARITY * self._likeness(stored.get(passage_id))
            for passage_id in kept
        }
        ordered = sorted(kept, key=lambda passage_id: (-round(scores[passage_id], 6), passage_id))
        first = self._reader.contents(ordered[: max(READ, self._reader.question.limit)])
        self._read_sentences(first.values())
        return [self._found(passage_id, scores[passage_id], first.get(passage_id)) for passage_id in ordered]

    def _reranked(self, found: Sequence[Found]) -> list[Found]:
        """The passages in an order in which that of a cross-encoder counts as much as the walk's own."""
        contents = self._reader.contents(one.passage_id for one in found[:READ])
        texts = {
            one.passage_id: _best_of(contents[one.passage_id], one.places)
            for one in found[:READ]
            if one.passage_id in contents
        }
        scores = self._reader.reranker().scores(self._reader.question.text, list(texts.values()))
        near = dict(zip(texts, scores, strict=True))
        lists = {
            "walk": [one.passage_id for one in found],
            "cross-encoder": sorted(near, key=lambda passage_id: (-near[passage_id], passage_id)),
        }
        fused = fuse(lists)
        order = sorted(found, key=lambda one: -fused[one.passage_id])
        return [
            one._replace(score=fused[one.passage_id], why=(*one.why, *_places(one.passage_id, lists))) for one in order
        ]

    def _likeness(self, vector: Vector | None) -> float:
        if vector is None:
            return 0.0
        return (_similarity(self._question, vector) + _similarity(self._rest, vector)) / 2

    def _found(self, passage_id: str, score: float, content: Content | None) -> Found:
        if content is None:
            return Found(passage_id, score, (), ())
        _, place = self._nearest_sentence(content, range(len(content.statements)))
        return Found(passage_id, score, (place,), self._way(passage_id))

    def _way(self, passage_id: str) -> tuple[str, ...]:
        """The steps that led to a passage, from the question on."""
        steps: list[str] = []
        kind, node = "passage", passage_id
        while kind != "question" and len(steps) < 2 * ROUNDS:
            _, came = (self._passages if kind == "passage" else self._entities).came[node]
            steps.append(came.way)
            kind, node = came.kind, came.id
        return tuple(reversed(steps))

    # --- reading -----------------------------------------------------------------------------------------------------

    def _know(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            self._names[entity.id], self._aliases[entity.id] = entity.name, entity.aliases

    def _read_occurrences(self, entity_ids: Sequence[str]) -> None:
        new = [one for one in dict.fromkeys(entity_ids) if one not in self._occurrences]
        if new:
            self._occurrences.update(self._reader.view.occurrences(new, self._each, self._reader.scope))
            if any(self._occurrences[one].more for one in new):
                self._reader.note(Cut("candidate", self._each))

    def _read_edges(self, entity_ids: Sequence[str]) -> None:
        """Reads the facts of entities, and compares their types, each once, with what the question says."""
        new = [one for one in entity_ids if one not in self._edges]
        if new:
            found = self._reader.view.neighbourhoods(new, self._each, self._reader.scope)
            self._edges.update((entity, near.edges) for entity, near in found.items())
            if any(near.more for near in found.values()):
                self._reader.note(Cut("candidate", self._each))
        counts = Counter(edge.type for one in new for edge in self._edges.get(one, ()))
        new_types = (name for name in counts if name not in self._type_similar)
        types = sorted(new_types, key=lambda name: (-counts[name], name))[:TYPES]
        for name, vector in zip(types, self._reader.encode([_readable(name) for name in types]), strict=True):
            self._type_similar[name] = _similarity(self._rest, vector)

    def _read_sentences(self, contents: Iterable[Content]) -> None:
        new = [one for one in contents if (one.passage.id, 0) not in self._sentences]
        self._sentences.update(self._reader.similarities(new, self._leaving))

    def _compare(self, passage_ids: Iterable[str]) -> None:
        """How near passages are to the question, as far as that is not known yet."""
        new = sorted(one for one in passage_ids if one not in self._similar)
        for passage_id, vector in self._reader.vectors_of("chunk", new).items():
            self._similar[passage_id] = _similarity(self._question, vector)

    def _nearest_sentence(self, content: Content, places: Sequence[int]) -> tuple[float, int]:
        """The similarity and the place of the nearest of these sentences; without places, of all of the passage."""
        passage_id = content.passage.id
        places = places or range(len(content.statements))
        known = [
            (self._sentences[passage_id, place], -place) for place in places if (passage_id, place) in self._sentences
        ]
        if not known:
            return self._similar.get(passage_id, 0.0), 0
        similarity, place = max(known)
        return similarity, -place


def _best_of(content: Content, places: Sequence[int]) -> str:
    """The nearest sentence of a passage behind the title that it speaks of; without sentences the whole passage."""
    text = content.passage.text
    if content.statements and places:
        text = content.statements[places[0]].of(text)
    return f"{content.passage.document.title}: {text}"


def _places(passage_id: str, lists: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Where a passage stands in each list, where a cross-encoder has read it."""
    if passage_id not in lists["cross-encoder"]:
        return ()
    return (", ".join(f"{name} (place {ids.index(passage_id) + 1})" for name, ids in lists.items()),)


def _form(name: str) -> str:
    return " ".join(word.text for word in words(bare(name)))


def _readable(relation_type: str) -> str:
    return relation_type.replace("_", " ").lower()


def _similarity(one: Vector, other: Vector) -> float:
    return round(float(one @ other), 6)
