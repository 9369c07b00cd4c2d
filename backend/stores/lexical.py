"""What retrieval reads of the lexical graph: passages with their statements, topics and facts, and what leads to them.

A statement is a place in its passage. Everything is as the scope sees it: passages that are visible, entities that a
passage in scope mentions, and edges that the scope keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from backend.models import Entity, Passage
from backend.questions import Named
from backend.scope import ResolvedScope
from backend.stores.rows import NewStatement
from backend.words import Word


class StatedFact(NamedTuple):
    """A fact between two entities as one passage states it; `statements` are places, None where no bundle says which.

    `id` is that of its edge.
    """

    id: str
    subject: Named
    predicate: str
    object: Named
    statements: tuple[int, ...] | None


class StatedComplement(NamedTuple):
    """A fact whose object is a plain text, as one passage states it."""

    id: str
    subject: Named
    predicate: str
    complement: str
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A theme of one document version with the passages that it is in, in reading order."""

    id: str
    source_id: str
    title: str
    derived: bool
    passage_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """A visible passage with all that stands in it.

    `statements` are all that are stored; of sentences those count that `mentions` (places by entity) names. The vectors
    of the passage, and those of its statements, are in the collections named here.
    """

    passage: Passage
    statements: tuple[NewStatement, ...]
    topics: tuple[Topic, ...]
    mentions: Mapping[Named, tuple[int, ...]]
    facts: tuple[StatedFact, ...]
    complements: tuple[StatedComplement, ...]
    vectors: str | None
    statement_vectors: str | None


class Occurrence(NamedTuple):
    """A visible passage that mentions an entity, with its document's title and the places of the statements."""

    passage_id: str
    title: str
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The visible passages that mention an entity, in order of id; none where they are `more` than were asked for."""

    passages: tuple[Occurrence, ...]
    more: bool


class NearEdge(NamedTuple):
    """An edge at an entity: its other end, and of the visible passages that state it the first ones in order of id."""

    id: str
    type: str
    is_outgoing: bool
    other: Named
    passage_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The edges that the scope keeps among an entity's first ones in stored order; `more` where it has further ones.

    They come in order of id.
    """

    edges: tuple[NearEdge, ...]
    more: bool


MAX_DEGREE = 1_000
# Mentions of one entity in one passage are rarely more than this, and further ones would only cost.
MENTIONS_EACH = 4
# Passages that are named for an edge at an entity.
EDGE_PASSAGES = 5


class LexicalRows(Protocol):
    """One call is one query."""

    def contents(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Content]:
        """Those of the passages that the scope sees, with all that stands in them."""

    def named(
        self, names: Sequence[str], entity_ids: Sequence[str], begun: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> list[Entity]:
        """The entities in scope with one of these folded texts for a whole name, or one of these ids; in order of id.

        A whole name is the name or an alias, also without what it has in brackets at its end. Beside them up to `limit`
        that have a word with the first letters of one of the `begun` ones, those of rare beginnings first.
        """

    def occurrences(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Occurrences]:
        """Where each entity is mentioned, in at most `limit` visible passages."""

    def neighbourhoods(self, entity_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Neighbourhood]:
        """Per entity its first `limit` edges in stored order: documents, passages (most first), edge id."""

    def degrees(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, int]:
        """Per entity how many edges the scope keeps, among its first `MAX_DEGREE` in stored order."""

    def topics_near(
        self, topic_ids: Sequence[str], ways: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, dict[str, list[str]]]:
        """Per topic, and per way, up to `limit` topics that it leads to, in order of id.

        Ways: `passage`, topics of its passages; `adjacent`, those of the passages right before and after these;
        `entity`, those whose passages mention entities that its own do, those with most such entities first.
        """

    def topics(self, topic_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Topic]:
        """Those of the topics whose document version is current in the scope."""


def mentioned(rows: Iterable[Sequence[Any]]) -> dict[Named, tuple[int, ...]]:
    """The entities in their order with their places, of rows of id, name, label and the places of one mention."""
    found: dict[Named, set[int]] = {}
    for *entity, places in rows:
        found.setdefault(Named(*entity), set()).update(places)
    return {entity: tuple(sorted(found[entity])) for entity in sorted(found)}


def stated_facts(rows: Iterable[Sequence[Any]]) -> tuple[StatedFact, ...]:
    """The facts in order of their ids, of rows of edge, subject, predicate, object and places of one relation."""
    stated: dict[str, tuple[Any, ...]] = {}
    gathered: dict[str, list[Sequence[int] | None]] = {}
    for edge, *fields, places in rows:
        stated[edge] = tuple(fields)
        gathered.setdefault(edge, []).append(places)
    return tuple(_fact(edge, stated[edge], gathered[edge]) for edge in sorted(stated))


def _fact(edge: str, fields: Sequence[Any], places: Sequence[Sequence[int] | None]) -> StatedFact:
    named = [one for one in places if one is not None]
    all_places = tuple(sorted({place for one in named for place in one})) if named else None
    return StatedFact(edge, Named(*fields[:3]), fields[3], Named(*fields[4:]), all_places)


def stated_complements(rows: Iterable[Sequence[Any]]) -> tuple[StatedComplement, ...]:
    """The complements in order of their ids, of rows of id, subject, predicate, text and places."""
    return tuple(
        sorted(
            StatedComplement(fact, Named(*subject), predicate, text, tuple(places))
            for fact, *subject, predicate, text, places in rows
        )
    )


def occurring(rows: Sequence[Sequence[Any]], limit: int) -> Occurrences:
    """The passages of rows of passage, title and the places of one mention; none where they are more than the limit."""
    titles: dict[str, str] = {}
    places: dict[str, set[int]] = {}
    for passage_id, title, statements in rows:
        titles[passage_id] = title
        places.setdefault(passage_id, set()).update(statements)
    # Which ones would come first is each store's own matter, and the two must answer alike.
    if len(titles) > limit or len(rows) >= MENTIONS_EACH * (limit + 1):
        return Occurrences((), more=True)
    found = (Occurrence(one, titles[one], tuple(sorted(places[one]))) for one in sorted(titles))
    return Occurrences(tuple(found), more=False)
