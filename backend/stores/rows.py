"""Rows as a writer takes them, and as everything of a dataset can be read to be written elsewhere.

The statements of a passage are part of its row. Where the bundle has none they are the sentences of its text, of which
those count in which an entity is mentioned; a statement is named by its place among them, from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from backend.communities.values import CommunityOrigin, Report
from backend.models import Entity, Json


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """The latest version of a document as a load compares with it."""

    document_id: str
    version: int
    content: str
    version_key: str
    title: str
    ended: bool


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A document version to write; without a title readers see its source id.

    `version_key` tells this version's rows from those of every other version. `declared_from` is the row's own
    `valid_from`; `valid_from` the instant from which the version counts, None for the beginning; `ended` the instant at
    which the document was retired while this version was its latest.
    """

    document_id: str
    source_id: str
    version_key: str
    content: str
    title: str | None
    collection: str
    date: str | None
    author: str | None
    url: str | None
    declared_from: str | None
    valid_from: int | None
    metadata: Mapping[str, Json]
    ended: int | None = None

    def with_title(self, *, is_given: bool) -> NewVersion:
        """Itself, without the title where its source id was stored for want of one.

        `is_given` says whether any condition on `title` may hold: for the title, or for metadata of that name.
        """
        is_source_id = self.title == self.source_id and not (is_given and "title" not in self.metadata)
        return replace(self, title=None) if is_source_id else self


@dataclass(frozen=True, slots=True)
class NewStatement:
    """A statement of a passage: a sentence of its text, or with a text of its own and a topic what a bundle says.

    `start` and `end` are its place in the passage's text, where that is known.
    """

    start: int | None
    end: int | None
    text: str | None = None
    topic_id: str | None = None
    source_id: str = ""
    details: str = ""
    position: int = 0

    @property
    def is_given(self) -> bool:
        """Whether a bundle has it; otherwise it is a sentence."""
        return self.text is not None

    def of(self, passage: str) -> str:
        """Its text, given that of its passage."""
        return passage[self.start : self.end] if self.text is None else self.text

    def row(self) -> list[Json]:
        """How it is stored."""
        own: list[Json] = [self.text, self.topic_id, self.source_id, self.details, self.position]
        return [self.start, self.end, *(own if self.is_given else ())]


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A theme within the version with `version_key`, and passages of it; `derived` where the bundle has no topics."""

    id: str
    source_id: str
    version_key: str
    title: str
    derived: bool
    passage_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewComplement:
    """A fact whose object is a plain text, as one passage states it; `statements` are places in that passage."""

    id: str
    subject_id: str
    predicate: str
    complement: str
    passage_id: str
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage of the version with `version_key`, and its statements in their order."""

    id: str
    source_id: str
    version_key: str
    position: int
    text: str
    heading: str | None
    start: int | None
    end: int | None
    metadata: Mapping[str, Json]
    statements: tuple[NewStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class NewMention:
    """An entity occurs in a passage, in the statements at these places; both ends are committed or of the same job.

    `alike` numbers the rows of one load that are the same, from 0, where the passage is of an earlier one.
    """

    entity_id: str
    passage_id: str
    surface: str | None
    start: int | None
    end: int | None
    statements: tuple[int, ...] = ()
    alike: int = 0


@dataclass(frozen=True, slots=True)
class Support:
    """Passages that state a relation, with the ends and the type that they state of it."""

    source: str
    target: str
    type: str
    passage_ids: tuple[str, ...]
    statements: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # by passage, where a bundle names them


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation; one that is committed already is updated in place and keeps the support of its other versions.

    `unstated` is True where its row names no passage at all; `passage_ids` are those of new support, `statements` the
    places of statements in them where a bundle names these; `former` is what supported it while it had other ends or
    another type. `is_fact` where it is one of a bundle's facts.
    """

    id: str
    source_id: str
    source: str
    target: str
    type: str
    unstated: bool
    passage_ids: tuple[str, ...]
    description: str | None = None
    weight: float | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    statements: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    former: tuple[Support, ...] = ()
    is_fact: bool = False

    @property
    def support(self) -> tuple[Support, ...]:
        """All of it, the former first."""
        return (*self.former, Support(self.source, self.target, self.type, self.passage_ids, self.statements))


@dataclass(frozen=True, slots=True)
class NewCommunity:
    """A community; `parent` and `member_ids` are ids of communities and entities, committed or of the same job."""

    id: str
    source_id: str
    level: int
    parent: str | None
    title: str
    origin: CommunityOrigin
    member_ids: tuple[str, ...]
    report: Report | None = None
    stale: bool = False
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewClaim:
    """A claim about a subject; one that is committed already is updated in place and keeps its other passages.

    `unstated` is True where its row names no passage at all.
    """

    id: str
    source_id: str
    subject_id: str
    object_id: str | None
    type: str | None
    status: str | None
    start_date: str | None
    end_date: str | None
    description: str
    unstated: bool
    passage_ids: tuple[str, ...]
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity as it is stored; `vectors` is the collection that holds its vector."""

    entity: Entity
    retired: bool
    vectors: str | None


def read_statements(rows: Iterable[Sequence[Any]]) -> tuple[NewStatement, ...]:
    """The statements that were stored as these rows."""
    return tuple(NewStatement(*row) for row in rows)


def stored_relation(fields: Mapping[str, Any], own: tuple[str, ...], support: Iterable[Sequence[Any]]) -> NewRelation:
    """The relation with these fields; `own` are ends and type, `support` rows of ends, type, passage, statements."""
    stated: dict[tuple[str, ...], dict[str, Sequence[int] | None]] = {own: {}}
    for source, target, name, passage, statements in support:
        stated.setdefault((source, target, name), {})[passage] = statements
    mine, *former = (_support(ends, one) for ends, one in stated.items())
    return NewRelation(
        source=mine.source,
        target=mine.target,
        type=mine.type,
        passage_ids=mine.passage_ids,
        statements=mine.statements,
        former=tuple(former),
        **fields,
    )


def _support(ends: tuple[str, ...], stated: Mapping[str, Sequence[int] | None]) -> Support:
    source, target, name = ends
    named = {passage: tuple(places) for passage, places in stated.items() if places is not None}
    return Support(source, target, name, tuple(stated), named)


class DatasetRows(Protocol):
    """Everything that is committed of a dataset, in every version, as a writer takes it."""

    def row_ids(self, kind: str, dataset: str) -> list[str]:
        """The ids of a kind: `document`, `entity` (in the order in which they were stored), `relation` or `claim`."""

    def row_counts(self) -> dict[str, dict[str, int]]:
        """Per dataset how many rows it has, by kind; what is retired or superseded counts."""

    def entity_rows(self, ids: Sequence[str]) -> list[StoredEntity]:
        """Those with these ids, in their order."""

    def version_rows(self, document_ids: Sequence[str]) -> list[NewVersion]:
        """Those of a document in the order of their numbers."""

    def passage_rows(self, document_ids: Sequence[str]) -> list[NewPassage]: ...

    def topic_rows(self, document_ids: Sequence[str]) -> list[NewTopic]: ...

    def mention_rows(self, document_ids: Sequence[str]) -> list[NewMention]: ...

    def complement_rows(self, document_ids: Sequence[str]) -> list[NewComplement]: ...

    def relation_rows(self, ids: Sequence[str]) -> list[NewRelation]: ...

    def claim_rows(self, ids: Sequence[str]) -> list[NewClaim]: ...

    def community_rows(self, dataset: str) -> list[NewCommunity]:
        """The whole hierarchy of a dataset, in order of level and id."""
