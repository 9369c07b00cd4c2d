"""The four retrievers: each finds start points and the statements that these lead to, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import NamedTuple

from backend import statements
from backend.models import Cut
from backend.passages import RankedPassages
from backend.questions import Named
from backend.retrieval.names import names_in
from backend.retrieval.reader import Reader
from backend.retrieval.traversal.beam import Beam
from backend.retrieval.traversal.contexts import Contexts, build_contexts
from backend.retrieval.traversal.model import sub_questions
from backend.retrieval.traversal.options import TraversalOptions
from backend.retrieval.traversal.tfidf import tfidf_scores
from backend.statements import Key
from backend.stores.lexical import Content, NearEdge, Topic

# Passages of the same topics that are read beside those where the retrievers begin, the nearest to these first.
_SAME_TOPIC = 100
# Passages nearest to the question whose entities are seeds of the contexts.
_SEED_PASSAGES = 3


class Reached(NamedTuple):
    """A statement, where the way to it began, and its steps in words."""

    key: Key
    start: str
    path: tuple[str, ...]


@dataclass(slots=True)
class Traversal:
    """One search: what its retrievers share, so that nothing is read twice."""

    reader: Reader
    options: TraversalOptions
    retrievers: Sequence[str]
    contexts: Contexts = field(default_factory=lambda: Contexts((), (), {}))
    near: RankedPassages = field(default_factory=RankedPassages)
    near_parts: dict[str, RankedPassages] = field(default_factory=dict)  # by the questions within the question
    starts: dict[str, list[Start]] = field(default_factory=dict)

    def run(self) -> dict[str, list[Reached]]:
        """Per retriever its ranked statements."""
        self._prepare()
        for name in self.retrievers:
            with self.reader.step(f"{name}: where to begin") as note:
                self.starts[name] = _RETRIEVERS[name](self)
                note(len(self.starts[name]))
        with self.reader.step("passages of the same topics") as note:
            begun = [start for own in self.starts.values() for start in own]
            self.reader.contents(start.passage_id for start in begun)
            note(len(self.reader.contents(self._same_topics(begun))))
        return {name: self._statements(own) for name, own in self.starts.items()}

    def _prepare(self) -> None:
        reader = self.reader
        if {"ChunkBasedSearch", "EntityNetworkSearch", "EntityBasedSearch"}.isdisjoint(self.retrievers):
            return  # a beam over topics begins without contexts
        reader.require("chunk")
        parts = sub_questions(reader, self.options.max_subqueries) if self.options.derive_subqueries else ()
        vectors = reader.encode([reader.question.text, *parts])
        with reader.step("passages near to the question") as note:
            self.near, *others = reader.nearest_passages(vectors, self.looked_at)
            self.near_parts = dict(zip(parts, others, strict=True))
            note(len(self.near.scores))
        first = reader.contents([*self.question_starts(), *islice(self.near.scores, _SEED_PASSAGES)])
        nearest = [first[one] for one in islice(self.near.scores, _SEED_PASSAGES) if one in first]
        self.contexts = build_contexts(reader, self.options, names_in(reader), nearest)

    @property
    def looked_at(self) -> int:
        """How many visible passages the choice from many sources is made among."""
        return self.options.vss_top_k * max(1, self.options.vss_diversity_factor)

    def question_starts(self) -> dict[str, str]:
        """The passages near to the question and to those within it, from many sources, each with what it is near to."""
        lists = {
            "the question": self.near,
            **{f"the question {part!r}": near for part, near in self.near_parts.items()},
        }
        return in_turns({name: self.diverse(ranked) for name, ranked in lists.items()})

    def diverse(self, ranked: RankedPassages) -> list[str]:
        """The first of a list, from many sources."""
        return diverse(ranked, self.options.vss_top_k, self.options.vss_diversity_factor)

    def _same_topics(self, starts: Sequence[Start]) -> list[str]:
        """Further passages of the topics of the start passages, those next to them first, as many as are read."""
        contents = self.reader.contents(start.passage_id for start in starts)
        own = [list(_around(content)) for content in contents.values()]
        found = list(dict.fromkeys(one for turn in zip_longest(*own) for one in turn if one and one not in contents))
        most = _SAME_TOPIC * self.reader.question.reach
        if len(found) > most:
            self.reader.note(Cut("candidate", most, missing=len(found) - most))
        return found[:most]

    def _statements(self, starts: Sequence[Start]) -> list[Reached]:
        """The statements that each start leads to, its own passage's first, then those of the same topic."""
        found: dict[Key, Reached] = {}
        for start in starts:
            reached = self._from(start)
            for one in reached[: self.options.intermediate_limit]:
                found.setdefault(one.key, one)
        return list(found.values())

    def _from(self, start: Start) -> list[Reached]:
        content = self.reader.contents([start.passage_id]).get(start.passage_id)
        if content is None:
            return []
        chosen = start.places or statements.places(content)
        own = [Reached(Key(start.passage_id, place), start.name, start.path) for place in chosen]
        if start.places:
            return own
        known = self.reader.known(_around(content))
        return own + [
            Reached(key, start.name, (*start.path, f"same topic {_topic_title(other, key)!r}"))
            for other in known
            for key in statements.keys(other)
        ]


class Start(NamedTuple):
    """Where a retriever begins: a passage, or places in it, what that is in words, and how it got there."""

    passage_id: str
    name: str
    path: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


# --- start points ----------------------------------------------------------------------------------------------------


def chunk_based(search: Traversal) -> list[Start]:
    """Passages near to the question."""
    return [Start(one, name, ("similar passage",)) for one, name in search.question_starts().items()]


def entity_network(search: Traversal) -> list[Start]:
    """Passages near to the transcriptions of the contexts: what is unlike the question and yet belongs to it."""
    reader = search.reader
    texts = search.contexts.transcriptions()
    lists = reader.nearest_passages(reader.encode(texts), search.looked_at)
    found = in_turns({text: search.diverse(ranked) for text, ranked in zip(texts, lists, strict=True)})
    return [Start(one, text, ("similar to these entities",)) for one, text in found.items()]


def entity_based(search: Traversal) -> list[Start]:
    """Passages of the facts that connect the entities of the contexts, then of those around each of them."""
    entities = search.contexts.entities()
    edges = _edges(search, entities)
    phrases = [search.reader.question.text, *search.contexts.keywords]
    inside = {entity.id for entity in entities}
    facts = {edge.id: (entity, edge) for entity in entities for edge in reversed(edges.get(entity.id, ()))}
    similar = tfidf_scores([_fact(*one) for one in facts.values()], phrases)
    ranked = sorted(
        facts.values(), key=lambda one: (one[1].other.id not in inside, -similar.get(_fact(*one), 0.0), one[1].id)
    )
    starts: dict[str, Start] = {}
    for entity, edge in ranked[: search.options.intermediate_limit]:
        for passage_id in edge.passage_ids:
            starts.setdefault(f"{passage_id} {edge.id}", Start(passage_id, entity.name, (_fact(entity, edge),)))
    return _placed(search, starts)


def _edges(search: Traversal, entities: Sequence[Named]) -> dict[str, tuple[NearEdge, ...]]:
    new = [entity.id for entity in entities if entity.id not in search.contexts.edges]
    found = search.reader.view.neighbourhoods(new, _SAME_TOPIC, search.reader.scope) if new else {}
    return {**search.contexts.edges, **{entity: near.edges for entity, near in found.items()}}


def _placed(search: Traversal, starts: Mapping[str, Start]) -> list[Start]:
    """The starts with the statements that support the fact, and those right before and after them."""
    contents = search.reader.contents(start.passage_id for start in starts.values())
    placed = []
    for key, start in starts.items():
        content = contents.get(start.passage_id)
        fact = next((one for one in content.facts if one.id == key.split(" ")[1]), None) if content else None
        if content is not None and fact is not None:
            counting, stating = statements.places(content), list(statements.fact_places(content, fact))
            beside = [
                counting[n + step]
                for n, place in enumerate(counting)
                for step in (-1, 1)
                if place in stating and 0 <= n + step < len(counting)
            ]
            placed.append(start._replace(places=tuple(dict.fromkeys([*stating, *beside]))))
    return placed


def _fact(entity: Named, edge: NearEdge) -> str:
    ends = (entity.name, edge.other.name) if edge.is_outgoing else (edge.other.name, entity.name)
    return f"{ends[0]} {edge.type} {ends[1]}"


def topic_beam(search: Traversal) -> list[Start]:
    """The passages of the topics that a beam visits, each with the statements that belong to the topic."""
    reader = search.reader
    visits = Beam(reader, search.options).topics()
    contents = reader.contents(dict.fromkeys(one for visit in visits for one in visit.topic.passage_ids))
    starts: list[Start] = []
    for visit in visits:
        alone = () if len(visit.path) > 1 or not _is_alone(visit.topic, contents) else ("it is alone in its document",)
        for passage_id in visit.topic.passage_ids:
            if content := contents.get(passage_id):
                places = [one for one in statements.places(content) if statements.topic(content, one) == visit.topic]
                if places:
                    starts.append(Start(passage_id, "the question", (*visit.path, *alone), tuple(places)))
    return starts


def _is_alone(topic: Topic, contents: Mapping[str, Content]) -> bool:
    """Whether no passage of the topic has a neighbour: then a beam cannot leave it but by shared entities."""
    return len(topic.passage_ids) == 1 and all(
        contents[one].passage.position == 0 and len(contents[one].topics) == 1
        for one in topic.passage_ids
        if one in contents
    )


_RETRIEVERS: dict[str, Callable[[Traversal], list[Start]]] = {
    "ChunkBasedSearch": chunk_based,
    "EntityNetworkSearch": entity_network,
    "EntityBasedSearch": entity_based,
    "TopicBeamSearch": topic_beam,
}


# --- parts -----------------------------------------------------------------------------------------------------------


def in_turns(lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The passages of several lists, from each in turn, each once, with the name of the list that gave it first."""
    named = [[(one, name) for one in ids] for name, ids in lists.items()]
    found: dict[str, str] = {}
    for one, name in (pair for turn in zip_longest(*named) for pair in turn if pair is not None):
        found.setdefault(one, name)
    return found


def diverse(ranked: RankedPassages, wanted: int, factor: int) -> list[str]:
    """The first `wanted`, in turns from the sources of the first `wanted * factor`, in the order of these sources."""
    if factor < 1:
        return list(islice(ranked.scores, wanted))
    by_source: dict[str, list[str]] = {}
    for passage_id in islice(ranked.scores, wanted * factor):
        by_source.setdefault(ranked.documents[passage_id], []).append(passage_id)
    turns = (one for turn in zip_longest(*by_source.values()) for one in turn if one is not None)
    return list(islice(turns, wanted))


def _around(content: Content) -> Iterable[str]:
    """The other passages of the same topics, the nearest in reading order first."""
    found: list[str] = []
    for topic in content.topics:
        here = topic.passage_ids.index(content.passage.id)
        found += sorted(topic.passage_ids, key=lambda one: (abs(topic.passage_ids.index(one) - here), one))
    return [one for one in dict.fromkeys(found) if one != content.passage.id]


def _topic_title(content: Content, key: Key) -> str:
    topic = statements.topic(content, key.place)
    return topic.title if topic else content.passage.document.title
