"""What retrieval reads of the lexical graph: passages with their statements, topics and facts, and what leads to them.

A statement is a place in its passage. Everything is as the scope sees it: passages that are visible, entities that a
passage in scope mentions, and edges that the scope keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

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
    """Visible passages that mention an entity, in order of id; of `more` than were asked for, those stored first."""

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
    """The edges that the scope keeps among an entity's first ones in stored order; `more` where it has further ones."""

    edges: tuple[NearEdge, ...]
    more: bool


MAX_DEGREE = 1_000
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
