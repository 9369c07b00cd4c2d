"""The values that Attest speaks in: requests, results and the rows that a load writes.

All are frozen. A request is hashable and, with the store's data version, the key of a cache. Ids are canonical
lowercase UUID strings; offsets are code points with the end exclusive; times are ISO 8601 texts in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Span: TypeAlias = tuple[int, int]


class Mode(StrEnum):
    """How entity search looks for names."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"


class Status(StrEnum):
    """Whether a visible passage mentions the entity; `unsupported`: one in scope does, none of them is current."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"


class EdgeKind(StrEnum):
    """`assertion`: a visible passage states it. `path`: its relations have no passage at all."""

    ASSERTION = "assertion"
    PATH = "path"


# --- scope -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a document's metadata; `values` has several entries for `in` and none for `exists`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents count; empty means every current one. `as_of` is an ISO date (its last instant) or instant."""

    collections: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    as_of: str | None = None


EVERYTHING = Scope()


# --- requests --------------------------------------------------------------------------------------------------------

MAX_LIMIT = 500
MAX_NODES, MAX_EDGES, MAX_CANDIDATES = 2_000, 6_000, 50_000


@dataclass(frozen=True, slots=True)
class EntityQuery:
    """A search for entities by name and by meaning; no labels means all of them."""

    text: str
    labels: tuple[str, ...] = ()
    mode: Mode = Mode.HYBRID
    limit: int = 10
    support_limit: int = 3
    scope: Scope = EVERYTHING


@dataclass(frozen=True, slots=True)
class WalkQuery:
    """A bounded walk along the relations of one entity; no relation types means all of them."""

    entity_id: str
    depth: int = 1
    relation_types: tuple[str, ...] = ()
    max_nodes: int = 100
    max_edges: int = 300
    max_candidates: int = 2_000
    support_limit: int = 3
    scope: Scope = EVERYTHING


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A search for passages by their words and by meaning."""

    text: str
    mode: Mode = Mode.HYBRID
    limit: int = 10
    scope: Scope = EVERYTHING


# --- what results are made of ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a document; `version` counts from 1 in the order of loading."""

    id: str
    source_id: str
    dataset: str
    title: str
    collection: str
    version: int
    date: str | None = None
    author: str | None = None
    url: str | None = None
    valid_from: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one document version, whole; `mentions` are the places of the entities that it was read for."""

    id: str
    source_id: str
    dataset: str
    text: str
    document: Document
    position: int
    heading: str | None = None
    start: int | None = None
    end: int | None = None
    mentions: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing with its own fields; they come with the entity wherever it is visible."""

    id: str
    source_id: str
    dataset: str
    name: str
    label: str
    aliases: tuple[str, ...] = ()
    description: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """Visible passages, and the documents they are in."""

    passages: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """A bound that cut a result: its value, the step (walks only) and how much is known to be missing.

    `missing` is None where more is stored and nobody counted it; `read` says how many candidates were read.
    """

    bound: str
    value: int
    step: int | None = None
    missing: int | None = None
    read: int | None = None
    labels: tuple[str, ...] = ()


# --- entity search ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """The place of a hit in one ranked list, from 1 and after visibility, with the raw score of that list."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """The name or alias that the lexical search matched; `exact` when it is the whole of it."""

    text: str
    kind: str  # "name" or "alias"
    exact: bool


@dataclass(frozen=True, slots=True)
class EntityHit:
    """One entity found, why it was found, and the passages that mention it."""

    id: str
    source_id: str
    dataset: str
    name: str
    label: str
    aliases: tuple[str, ...]
    description: str | None
    score: float
    status: Status
    channels: Mapping[str, ChannelScore]
    matched: Match | None
    counts: Counts
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """How much of what was found has this label; at least so much unless `exact`."""

    label: str
    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class EntityResult:
    """The hits of an entity search, best first."""

    query: EntityQuery
    hits: tuple[EntityHit, ...]
    facets: tuple[Facet, ...]
    truncated_by: tuple[str, ...]
    cuts: tuple[Cut, ...]
    timings_ms: Mapping[str, float]


# --- passage search --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassageHit:
    """One passage found, with its place in each ranked list."""

    passage: Passage
    score: float
    channels: Mapping[str, ChannelScore]


@dataclass(frozen=True, slots=True)
class PassageResult:
    """The passages that answer a search, best first."""

    query: PassageQuery
    hits: tuple[PassageHit, ...]
    truncated_by: tuple[str, ...]
    cuts: tuple[Cut, ...]
    timings_ms: Mapping[str, float]


# --- walk ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many edges of a node are not shown; a lower bound unless `exact`."""

    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class WalkNode:
    """An entity of a walk and the step that first reached it (0 for the start)."""

    id: str
    source_id: str
    dataset: str
    name: str
    label: str
    step: int
    status: Status
    hidden_relations: Hidden


@dataclass(frozen=True, slots=True)
class WalkEdge:
    """The relations with one source, type and target, folded; a path has no passages and no counts."""

    id: str
    source: str
    target: str
    type: str
    kind: EdgeKind
    weight: int
    counts: Counts
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk reached, in the order it was reached, and every bound that cut it."""

    query: WalkQuery
    start: EntityView
    nodes: tuple[WalkNode, ...]
    edges: tuple[WalkEdge, ...]
    truncated_by: tuple[str, ...]
    cuts: tuple[Cut, ...]
    timings_ms: Mapping[str, float]


# --- evidence --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """Passages in their order, and how many there are in all; `counts` may exceed what is listed."""

    passages: tuple[Passage, ...] = ()
    counts: Counts = Counts()


@dataclass(frozen=True, slots=True)
class DocumentView(Document):
    """One version of a document with all its passages in order."""

    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityView(Entity):
    """An entity in a scope: its own fields, whether it is supported, and the counts of its visible passages."""

    status: Status = Status.SUPPORTED
    counts: Counts = Counts()


@dataclass(frozen=True, slots=True)
class RelationType:
    """A relation type around one entity with its edges, counted among the first candidates unless `exact`."""

    name: str
    edges: int
    exact: bool


# --- what is stored --------------------------------------------------------------------------------------------------


class IndexState(StrEnum):
    """The state of one index of one label; a search needs `online`."""

    ONLINE = "online"
    POPULATING = "populating"
    MISSING = "missing"
    FAILED = "failed"
    OTHER_DEFINITION = "not as it should be"
    OTHER_ENCODER = "other encoder"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index of one label (`fulltext` or `vector`), or one that has no label; `percent` only while populating.

    Without a label are `passages`, the full text of passages, and the vectors of `chunk`, `topic`, `statement` and
    `report`.
    """

    label: str
    index: str
    state: IndexState
    percent: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class VectorCollection:
    """The vectors that one committed job wrote: its name in the vector store, kind of thing, size and encoder."""

    name: str
    kind: str
    job_id: str
    count: int
    encoder: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """What a committed store holds: the names that a request may use, and the state of its indexes.

    `data_version` changes with every commit and wherever the passing of a day changes what is current.
    """

    data_version: str
    labels: tuple[str, ...]
    relation_types: tuple[str, ...]
    collections: tuple[str, ...]
    metadata_keys: tuple[str, ...]
    indexes: tuple[IndexStatus, ...]
    vector_collections: tuple[VectorCollection, ...]


@dataclass(frozen=True, slots=True)
class DatasetCounts:
    """What an empty scope sees of a dataset."""

    name: str
    documents: int
    passages: int
    entities: int
    mentions: int
    relations: int
    topics: int = 0
    statements: int = 0
    facts: int = 0
    communities: int = 0
    reports: int = 0
    claims: int = 0


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """What an empty scope sees of a collection."""

    name: str
    documents: int
    passages: int


# --- jobs ------------------------------------------------------------------------------------------------------------


class JobState(StrEnum):
    """`killed` is a running job whose process is gone; what it wrote stays hidden until it is finished or undone."""

    WAITING = "waiting"
    RUNNING = "running"
    COMMITTED = "committed"
    FAILED = "failed"
    STOPPED = "stopped"
    KILLED = "killed"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a job is doing now: a phase in words, and how much of it is done where that is known."""

    phase: str
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """One kind of bad row: how many, and where the first of them are (`file:line`, and what is wrong there)."""

    kind: str
    repaired: bool
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load read, kept, changed and left out, by kind of row; `format` is what it was recognised as, and why."""

    dataset: str
    read: Mapping[str, int]
    kept: Mapping[str, int]
    changes: Mapping[str, int]
    issues: tuple[Issue, ...]
    mended: tuple[str, ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A load, removal or index build, and how it went."""

    id: str
    kind: str
    dataset: str | None
    state: JobState
    progress: Progress
    started: str
    finished: str | None
    pid: int
    host: str
    error: str | None = None
    report: LoadReport | None = None
