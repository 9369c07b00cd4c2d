"""What the backend asks of a graph store: a few small primitives that an embedded or a server database can offer.

Walking, ranking, evidence and explanation are written once, above these. Every reading primitive takes the scope
and applies it inside its query; what it returns never holds anything hidden, except where a bound says so.
One call of a primitive is one query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from backend.models import (
    Catalog,
    CollectionCounts,
    Counts,
    DatasetCounts,
    DocumentView,
    Entity,
    EntityView,
    Evidence,
    Hidden,
    Job,
    JobState,
    LoadReport,
    Passage,
    Progress,
    RelationType,
    Status,
    VectorCollection,
)
from backend.scope import ResolvedScope
from backend.stores.communities import CommunityRows
from backend.stores.encoded import VectorText
from backend.stores.lexical import LexicalRows
from backend.stores.rows import (
    CurrentVersion,
    DatasetRows,
    NewClaim,
    NewCommunity,
    NewComplement,
    NewMention,
    NewPassage,
    NewRelation,
    NewStatement,
    NewTopic,
    NewVersion,
)
from backend.words import Word

T = TypeVar("T")

# --- rows that reading returns ---------------------------------------------------------------------------------------


class Proposed(NamedTuple):
    """What is scored of an entity that the full-text index proposes."""

    id: str
    label: str
    name: str
    aliases: Sequence[str]


@dataclass(frozen=True, slots=True)
class Proposals:
    """What the full-text index proposes, without any order, and the labels that had more to propose.

    There are thousands, of which a search keeps a few. `overflowed` names the labels of which more than the asked
    number match, or might.
    """

    proposed: tuple[Proposed, ...]
    overflowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassageProposals:
    """Visible passages that the full-text index proposes: by id the words that each has, and the length of its text.

    The words are bits, the first word's lowest. `overflowed` where there may be more that have one of the words.
    """

    found: Mapping[str, tuple[int, int]]
    overflowed: bool


class Near(NamedTuple):
    """A vector near to what was asked: whose it is, the collection it is in, and its place; equal ones share one."""

    id: str
    collection: str
    place: int


class Candidate(NamedTuple):
    """An entity with a passage in scope, and the place of its vector."""

    id: str
    label: str
    name: str
    place: int


class Supported(NamedTuple):
    """An entity with a passage in scope, and the visible passages that mention it."""

    entity: Entity
    evidence: Evidence


class End(NamedTuple):
    """One end of a stored edge; status as the scope sees it."""

    id: str
    source_id: str
    dataset: str
    name: str
    label: str
    status: Status


class StoredEdge(NamedTuple):
    """A folded edge as the scope sees it: `stated` and `unstated` relations, counts of its visible support.

    A step of a walk makes thousands of these, which is why they and their ends are tuples.
    """

    id: str
    source: End
    target: End
    type: str
    stated: int
    unstated: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class EdgeRead:
    """Edges that were read around some entities: those that the scope keeps, in no order; `read` counts all."""

    edges: tuple[StoredEdge, ...]
    read: int
    more: bool


@dataclass(frozen=True, slots=True)
class HiddenEdges:
    """What is not shown around each entity, and how many distinct edges that is around those asked for (at least)."""

    around: Mapping[str, Hidden]
    distinct: int


# --- protocols -------------------------------------------------------------------------------------------------------


class GraphView(DatasetRows, LexicalRows, CommunityRows, Protocol):
    """A consistent reading of what is committed; a load that commits meanwhile is not seen."""

    @property
    def data_version(self) -> str:
        """That of the catalog; it costs no query."""

    def catalog(self) -> Catalog:
        """The names that requests may use and the state of the indexes."""

    def opening(self, names: Mapping[str, Sequence[str]]) -> tuple[Catalog, tuple[tuple[str, str], ...]]:
        """What `catalog` and `unknown_names` say, at the cost of `catalog`."""

    def unknown_names(self, names: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        """Kind and name of what no committed row has; kinds: collection, document (ids), label, relation type."""

    def scope_size(self, scope: ResolvedScope) -> tuple[int, int]:
        """Documents in scope, and documents that are current at the scope's time."""

    def propose(
        self, words: Sequence[Word], folded: str, labels: Sequence[str], scope: ResolvedScope, limit: int
    ) -> Proposals:
        """Entities in scope whose name or alias has a word of the query, up to `limit` per label.

        The last word also matches the beginning of a word, an unspaced word any run of characters, and `folded`
        the whole name or alias; those that are the whole name come first under the limit. Empty labels mean all.
        """

    def candidates(
        self, near: Sequence[Near], labels: Sequence[str], limit: int, scope: ResolvedScope
    ) -> list[Candidate]:
        """Those of the entities that a passage in scope mentions, in any version, in no order.

        Of each label come the `limit` first in place, and whoever shares the place of the last of them; a vector in
        another collection than its entity's own does not count. Empty labels mean all.
        """

    def support(
        self, entity_ids: Sequence[str], words: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> dict[str, Supported]:
        """Those of the entities that a passage in scope mentions, in any version, each with its visible passages.

        Of the passages come up to `limit`: most distinct words first, then mentions, title, position, id.
        """

    def propose_passages(self, words: Sequence[Word], scope: ResolvedScope, limit: int) -> PassageProposals:
        """Up to `limit` visible passages that have a word of the query in text, heading or title, rare words first."""

    def visible_passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, str]:
        """Those of the passages that the scope sees, each with the id of its document."""

    def few_passages(self, limit: int, scope: ResolvedScope) -> dict[str, str | None] | None:
        """Every visible passage with the collection of its vector, where there are at most `limit`, else None."""

    def passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Passage]:
        """Those of the passages that the scope sees, whole, with every mention in them."""

    def start(
        self, entity_id: str, names: Mapping[str, Sequence[str]], scope: ResolvedScope
    ) -> tuple[EntityView | None, tuple[tuple[str, str], ...]]:
        """What `entity` and `unknown_names` say, in one query."""

    def entity(self, entity_id: str, scope: ResolvedScope) -> EntityView | None:
        """The entity as the scope sees it; None when no passage in scope mentions it."""

    def edges_around(
        self, entity_ids: Sequence[str], relation_types: Sequence[str], limit: int, scope: ResolvedScope
    ) -> EdgeRead:
        """The first `limit` distinct edges that touch the entities, in the order of their stored support.

        Stored support: documents, passages (most first), edge id. No types means all.
        """

    def edge(self, edge_id: str, scope: ResolvedScope) -> StoredEdge | None:
        """The edge as the scope sees it; None when the scope drops it or hides an end."""

    def edge_support(self, edge_ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Evidence]:
        """Per edge the visible passages that state it: those that mention both ends first, then title, position, id."""

    def hidden_edges(
        self,
        entity_ids: Sequence[str],
        relation_types: Sequence[str],
        shown: Sequence[str],
        limit: int,
        scope: ResolvedScope,
        *,
        among: Sequence[str],
    ) -> HiddenEdges:
        """Per entity how many of its first `limit` edges in stored order the scope keeps and `shown` lacks."""

    def relation_types(self, entity_id: str, limit: int, scope: ResolvedScope) -> tuple[RelationType, ...]:
        """The types among the entity's first `limit` edges in stored order, with the edges that the scope keeps."""

    def mentioning_both(self, first: str, second: str, limit: int, scope: ResolvedScope) -> Evidence:
        """The visible passages that mention both entities, by title, position, id."""

    def passage(self, passage_id: str) -> Passage | None:
        """A committed passage of any version, with every mention in it."""

    def document(self, document_id: str, version: int | None, scope: ResolvedScope) -> DocumentView | None:
        """A version of a committed document with its passages; without a number the one current in the scope."""

    def stored_entity(self, entity_id: str) -> Entity | None:
        """A committed entity, whatever mentions it."""

    def find(self, dataset: str, source_id: str) -> dict[str, str]:
        """The ids that a source id has in a dataset, by kind: `entity`, `passage` (current version), `document`."""

    def dataset_counts(self, scope: ResolvedScope) -> tuple[DatasetCounts, ...]:
        """Every dataset by name with what the scope sees of it."""

    def collection_counts(self, scope: ResolvedScope) -> tuple[CollectionCounts, ...]:
        """Every collection by name with what the scope sees of it."""


class GraphWriter(Protocol):
    """What one job writes; nothing of it is visible before `commit`, and all of it after."""

    def known(self, kind: str, ids: Sequence[str]) -> set[str]:
        """Those of the ids (of kind `entity` or `relation`) that are committed."""

    def current_versions(self, dataset: str) -> dict[str, CurrentVersion]:
        """The latest version of every document of a dataset, by source id."""

    def version_keys(self, document_ids: Sequence[str]) -> dict[str, set[str]]:
        """Every version key that the documents have had."""

    def current_passages(self, dataset: str, source_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Id, text and document (source id) of these passages in the latest version of their documents."""

    def passage_texts(self, passage_ids: Sequence[str]) -> dict[str, tuple[str, tuple[NewStatement, ...]]]:
        """Text and statements of passages, committed or of this job."""

    def entity_names(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Name and aliases of entities, committed or of this job."""

    def vector_texts(self, kind: str, *, missing_only: bool) -> Iterable[VectorText]:
        """The texts to encode of everything of a kind, or only of what has no vector, in order of the owner's id."""

    def put_entities(self, dataset: str, rows: Sequence[Entity], *, retired: Container[str] = ()) -> None:
        """Adds entities, or changes them in place; those whose id is in `retired` come as a dataset has let them go."""

    def put_versions(self, dataset: str, rows: Sequence[NewVersion]) -> None: ...

    def put_passages(self, dataset: str, rows: Sequence[NewPassage]) -> None: ...

    def put_statements(self, rows: Sequence[tuple[str, NewStatement]]) -> None:
        """Adds statements that a bundle has to passages of this job, named by their ids, after those put before."""

    def put_topics(self, rows: Sequence[NewTopic]) -> None:
        """Adds topics, and passages to topics that are there."""

    def put_mentions(self, rows: Sequence[NewMention]) -> None: ...

    def put_complements(self, dataset: str, rows: Sequence[NewComplement]) -> None: ...

    def put_relations(self, dataset: str, rows: Sequence[NewRelation]) -> None: ...

    def put_claims(self, dataset: str, rows: Sequence[NewClaim]) -> None:
        """Adds claims, or changes them in place."""

    def put_communities(self, dataset: str, rows: Sequence[NewCommunity]) -> None:
        """The hierarchy of a dataset, whole and once in a job: the communities that it had are no more.

        A commit that changes anything of a dataset and not its communities marks these as stale.
        """

    def retire(self, dataset: str, *, kept: Mapping[str, set[str]]) -> dict[str, int]:
        """Ends what the dataset has and `kept` (ids by kind: document, entity, relation, claim) lacks; counts by kind.

        Its communities end where no hierarchy was put in the same job.
        """

    def remove(self, *, dataset: str | None = None, document_id: str | None = None) -> dict[str, int]:
        """Removes a dataset or a document with everything that only they held; counts by kind."""

    def place_vectors(self, collection: VectorCollection, owners: Collection[str]) -> None:
        """Says that the vectors of these rows are in a collection from the commit on."""

    def placed_vectors(self, collection: VectorCollection) -> Iterable[VectorText]:
        """Everything whose vector is in a collection, with the text it is made of, in order of the owner's id."""

    def forget_vectors(self, collection: VectorCollection, owners: Collection[str] | None = None) -> None:
        """Says that a collection, or the vectors of some rows in it, are not there any more."""

    def rebuild_full_text(self) -> list[str]:
        """Makes the full-text indexes anew where they are lost; what was done, in words."""

    def commit(self, report: LoadReport | None) -> None:
        """Makes everything visible at once, with the job's end."""


class JobBoard(Protocol):
    """The jobs of a store: one writer at a time, by a lease with a heartbeat."""

    def open(self, kind: str, dataset: str | None) -> Job:
        """A new waiting job of this process."""

    def acquire(self, job_id: str) -> Job | None:
        """Takes the lease and returns None, or the job that holds it; a dead holder loses it and is killed."""

    def beat(self, job_id: str, progress: Progress) -> bool:
        """Notes progress and that the job is alive; False when it was asked to stop."""

    def close(self, job_id: str, state: JobState, *, error: str | None = None) -> None:
        """Ends a job that did not commit, and gives back the lease."""

    def request_stop(self, job_id: str) -> Job:
        """Asks a job to stop; raises Malformed when it is not running."""

    def job(self, job_id: str) -> Job:
        """The job with this id; raises Unavailable when there is none."""

    def jobs(self) -> tuple[Job, ...]:
        """Every job, newest first."""


class GraphStore(Protocol):
    """A graph store: readings, and one writer at a time."""

    @property
    def jobs(self) -> JobBoard: ...

    @property
    def reads(self) -> int:
        """How many queries reading has cost so far; tests assert differences."""

    def read(self, action: Callable[[GraphView], T]) -> T:
        """What the action makes of one consistent reading; it may be run again when a load commits meanwhile."""

    @property
    def identity(self) -> str:
        """What tells this store from every other; the vectors of its entities carry it too."""

    def writer(self, job_id: str) -> AbstractContextManager[GraphWriter]:
        """A writer whose work is dropped unless it commits."""

    @property
    def place(self) -> str:
        """Where it is, for people: a folder, or an address without its password."""

    def version(self) -> str:
        """Name and version of the database, for people."""

    def close(self) -> None: ...
