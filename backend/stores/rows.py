"""Rows as a writer takes them, and as everything of a dataset can be read to be written elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from backend.models import Entity, Json


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """The latest version of a document as a load compares with it."""

    document_id: str
    version: int
    content: str
    version_key: str
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
class NewPassage:
    """A passage of the version with `version_key`."""

    id: str
    source_id: str
    version_key: str
    position: int
    text: str
    heading: str | None
    start: int | None
    end: int | None
    metadata: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class NewMention:
    """An entity occurs in a passage; both are committed already or written by the same job."""

    entity_id: str
    passage_id: str
    surface: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Support:
    """Passages that state a relation, with the ends and the type that they state of it."""

    source: str
    target: str
    type: str
    passage_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation; one that is committed already is updated in place and keeps the support of its other versions.

    `unstated` is True where its row names no passage at all; `passage_ids` are those of new support; `former` is what
    supported it while it had other ends or another type.
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
    former: tuple[Support, ...] = ()

    @property
    def support(self) -> tuple[Support, ...]:
        """All of it, the former first."""
        return (*self.former, Support(self.source, self.target, self.type, self.passage_ids))


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity as it is stored; `vectors` is the collection that holds its vector."""

    entity: Entity
    retired: bool
    vectors: str | None


def stored_relation(fields: Mapping[str, Any], own: tuple[str, ...], support: Iterable[Sequence[str]]) -> NewRelation:
    """The relation with these fields; `own` are its ends and type, `support` rows of ends, type and passage."""
    passages: dict[tuple[str, ...], list[str]] = {own: []}
    for *ends, passage in support:
        passages.setdefault(tuple(ends), []).append(passage)
    stated = tuple(passages.pop(own))
    former = tuple(Support(source, target, name, tuple(ids)) for (source, target, name), ids in passages.items())
    source, target, name = own
    return NewRelation(source=source, target=target, type=name, passage_ids=stated, former=former, **fields)


class DatasetRows(Protocol):
    """Everything that is committed of a dataset, in every version, as a writer takes it."""

    def row_ids(self, kind: str, dataset: str) -> list[str]:
        """The ids of a kind: `document`, `entity` (in the order in which they were stored) or `relation`."""

    def row_counts(self) -> dict[str, dict[str, int]]:
        """Per dataset how many rows it has, by kind; what is retired or superseded counts."""

    def entity_rows(self, ids: Sequence[str]) -> list[StoredEntity]:
        """Those with these ids, in their order."""

    def version_rows(self, document_ids: Sequence[str]) -> list[NewVersion]:
        """Those of a document in the order of their numbers."""

    def passage_rows(self, document_ids: Sequence[str]) -> list[NewPassage]: ...

    def mention_rows(self, document_ids: Sequence[str]) -> list[NewMention]: ...

    def relation_rows(self, ids: Sequence[str]) -> list[NewRelation]: ...
