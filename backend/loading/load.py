"""Loading a source: a job that reads it twice, writes what is new, and commits graph and vectors at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from backend.loading.formats import recognise
from backend.loading.formats.base import RowStream, Source
from backend.loading.hierarchy import new_community
from backend.loading.issues import Issues
from backend.loading.jobs import Listener, Ticker, run_job
from backend.loading.placing import placed
from backend.loading.plan import BATCH, Plan, Planner, batched
from backend.loading.rows import (
    ClaimRow,
    CommunityRow,
    DocumentRow,
    EntityRow,
    FactRow,
    MentionRow,
    PassageRow,
    RelationRow,
    ReportRow,
    Row,
    StatementRow,
    TopicRow,
)
from backend.loading.vectors import VectorWriter
from backend.models import Entity, JobState, LoadReport
from backend.stores.base import GraphStore, GraphWriter, JobBoard
from backend.stores.rows import NewMention, NewRelation
from backend.vectors.base import Encoder, Index

R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What to load and as what; without a dataset it is the name of the folder or file."""

    path: Path
    dataset: str | None = None
    collection: str | None = None
    replace: bool = False


def load(
    store: GraphStore,
    request: LoadRequest,
    *,
    index: Callable[[], Index],
    encoder: Callable[[], Encoder],
    kinds: Sequence[str],
    listener: Listener | None = None,
) -> LoadReport:
    """Loads one path as a job and returns its report; `kinds` are the vectors that the store is to have.

    Raises Malformed for a path with nothing that can be loaded whole, IndexNotReady when the store's vectors are of
    another encoder, and Stopped; in each case nothing has changed.
    """
    source = recognise(request.path)
    dataset = request.dataset or source.name
    with run_job(store.jobs, "load", dataset, listener) as (job, ticker), store.writer(job.id) as writer:
        collections = store.read(lambda view: view.catalog()).vector_collections
        vectors = VectorWriter(writer, collections, index=index, encoder=encoder, job_id=job.id, kinds=kinds)
        vectors.check_encoder()
        vectors.sweep()
        _undo_killed(store.jobs, dataset)
        keeps_edges = "reports" in source.kinds
        plan = Plan(dataset, request.collection or dataset, request.replace, _now(), keeps_edges=keeps_edges)
        ticker(f"recognised {source.format}")
        loading = _Loading(source, plan, writer, ticker)
        loading.read()
        loading.write()
        ticker("checking vectors")
        mended = vectors.forget_lost()
        encoded = vectors.encode_missing(ticker)
        report = loading.report([*mended, *(encoded if mended else ())])
        ticker("committing")
        writer.commit(report)
    return report


def _undo_killed(jobs: JobBoard, dataset: str) -> None:
    """A killed load of the dataset is made good by this one."""
    for job in jobs.jobs():
        if job.state is JobState.KILLED and job.dataset == dataset:
            jobs.close(job.id, JobState.UNDONE)


class _Loading:
    """The two passes over one source."""

    def __init__(self, source: Source, plan: Plan, writer: GraphWriter, ticker: Ticker) -> None:
        self._source = source
        self._plan = plan
        self._writer = writer
        self._ticker = ticker
        self._issues = Issues()
        self._read: dict[str, int] = {}
        self._kept: dict[str, int] = {}

    def read(self) -> None:
        """The first pass: judges every row and plans the versions."""
        plan = self._plan
        plan.committed = self._writer.current_versions(plan.dataset)
        planner = Planner(plan, self._writer, self._issues)
        self._judge(DocumentRow, planner.documents)
        self._judge(PassageRow, planner.passages)
        self._judge(TopicRow, planner.topics)
        self._judge(StatementRow, planner.statements)
        self._judge(EntityRow, planner.entities)
        self._judge(MentionRow, planner.mentions)
        self._judge(RelationRow, planner.relations)
        self._judge(FactRow, planner.facts)
        self._judge(ClaimRow, planner.claims)
        self._judge(CommunityRow, planner.communities)
        self._judge(ReportRow, planner.reports)
        self._versions = planner.decide_versions()

    def write(self) -> None:
        """The second pass: writes what is new or differs."""
        plan, writer = self._plan, self._writer
        for entities in self._batches(EntityRow):
            writer.put_entities(plan.dataset, [_entity(plan, row) for row in entities])
        writer.put_versions(plan.dataset, self._versions)
        for passages in self._batches(PassageRow):
            new = {row.id: passage for row in passages if (passage := plan.new_passage(row))}
            writer.put_passages(plan.dataset, list(new.values()))
            derived = [plan.derived_topic(row) for row in passages if row.id in new]
            writer.put_topics([topic for topic in derived if topic is not None])
        for topics in self._batches(TopicRow):
            writer.put_topics([topic for row in topics if (topic := plan.new_topic(row))])
        for statements in self._batches(StatementRow):
            writer.put_statements([statement for row in statements if (statement := plan.new_statement(row))])
        seen: Counter[NewMention] = Counter()
        for mentions in self._batches(MentionRow):
            new_mentions = [mention for row in mentions if (mention := plan.new_mention(row, seen))]
            writer.put_mentions(placed(new_mentions, writer))
        relations = self._write_relations() | self._write_facts()
        claims = self._write_claims()
        if plan.communities:
            self._write_communities()
        if plan.replace:
            kept = {
                "document": {plan.document_id(source_id) for source_id in plan.documents},
                "entity": {plan.entity_id(source_id) for source_id in plan.entities},
                "relation": relations,
                "claim": claims,
            }
            retired = writer.retire(plan.dataset, kept=kept)
            plan.changes.update({f"{kind} retired": count for kind, count in retired.items()})

    def report(self, mended: list[str]) -> LoadReport:
        return LoadReport(
            dataset=self._plan.dataset,
            read=self._read,
            kept=self._kept,
            changes=dict(sorted(self._plan.changes.items())),
            issues=self._issues.report(),
            mended=tuple(mended),
            format=self._source.format,
        )

    def _write_relations(self) -> set[str]:
        """Writes the relations and returns their ids, where these are needed."""
        seen: Counter[bytes] = Counter()
        ids: set[str] = set()
        for rows in self._batches(RelationRow):
            relations = [new for row in rows if (new := self._plan.new_relation(row, seen))]
            self._writer.put_relations(self._plan.dataset, relations)
            if self._plan.replace:
                ids.update(relation.id for relation in relations)
        return ids

    def _write_facts(self) -> set[str]:
        """Writes the facts and returns the ids of those that are relations."""
        ids: set[str] = set()
        for rows in self._batches(FactRow):
            facts = [new for row in rows if (new := self._plan.new_fact(row))]
            relations = [fact for fact in facts if isinstance(fact, NewRelation)]
            complements = [one for fact in facts if not isinstance(fact, NewRelation) for one in fact]
            self._writer.put_relations(self._plan.dataset, relations)
            self._writer.put_complements(self._plan.dataset, complements)
            ids.update(relation.id for relation in relations)
        return ids

    def _write_claims(self) -> set[str]:
        """Writes the claims and returns their ids."""
        ids: set[str] = set()
        for rows in self._batches(ClaimRow):
            claims = [new for row in rows if (new := self._plan.new_claim(row))]
            self._writer.put_claims(self._plan.dataset, claims)
            ids.update(claim.id for claim in claims)
        return ids

    def _write_communities(self) -> None:
        """Writes the hierarchy, whole: it is one thing, and each community has its report in it."""
        plan = self._plan
        reports = {row.community_id: row for rows in self._batches(ReportRow) for row in rows}
        communities = [row for rows in self._batches(CommunityRow) for row in rows]
        self._writer.put_communities(
            plan.dataset, [new_community(plan, row, reports.get(row.id)) for row in communities]
        )

    def _judge(self, of: type[R], planner: Callable[[Iterable[R], str], Iterator[R]]) -> None:
        rows = self._source.rows(of, self._issues)
        self._ticker(f"reading {of.kind}", 0, rows.size)
        kept = 0
        for kept, _ in enumerate(planner(rows, rows.file), start=1):
            if kept % BATCH == 0:
                self._ticker(f"reading {of.kind}", rows.position, rows.size)
        self._read[of.kind], self._kept[of.kind] = rows.read, kept

    def _batches(self, of: type[R]) -> Iterator[list[R]]:
        # The first pass has noted what is wrong with the rows.
        rows: RowStream[R] = self._source.rows(of, Issues())
        for batch in batched(rows, BATCH):
            self._ticker(f"writing {of.kind}", rows.position, rows.size)
            yield batch


def _entity(plan: Plan, row: EntityRow) -> Entity:
    return Entity(
        id=plan.entity_id(row.id),
        source_id=row.id,
        dataset=plan.dataset,
        name=row.name,
        label=row.label,
        aliases=row.aliases,
        description=row.description,
        metadata=row.metadata,
    )


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * 1_000_000)
