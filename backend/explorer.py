"""The library's front door: everything that a page or a command does is one call here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from backend.answers.answering import Moment, stream_answer
from backend.answers.base import LanguageModel
from backend.answers.known_names import folded_names
from backend.answers.openai import open_model
from backend.communities.reading import (
    MOST_COMMUNITIES,
    CommunityView,
    has_stored_report,
    read_community,
    titles_of,
)
from backend.communities.values import CommunityHead, CommunityQuery, CommunityResult
from backend.errors import AttestError, IndexNotReady, Malformed, NotConfigured, Unavailable
from backend.evaluation import EvalQuestion, Evaluation, measure, scope_of, table
from backend.identity import is_canonical
from backend.loading.communities import ReportWriter, datasets_to_build, known_vectors, put_hierarchies, put_reports
from backend.loading.copying import DatasetCopy, Side, copy
from backend.loading.formats import recognise
from backend.loading.jobs import Listener, run_job
from backend.loading.load import LoadRequest, load
from backend.loading.vectors import VectorWriter
from backend.models import (
    EVERYTHING,
    Catalog,
    DocumentView,
    EntityQuery,
    EntityResult,
    EntityView,
    Evidence,
    Job,
    JobState,
    LoadReport,
    Passage,
    PassageQuery,
    PassageResult,
    Progress,
    RelationType,
    Scope,
    WalkQuery,
    WalkResult,
)
from backend.names import asked_names, check_names
from backend.passages import search_passages
from backend.questions import Answer, Named, Question, Retrieval
from backend.retrieval.communities.search import search_communities
from backend.retrieval.retrieve import retrieve
from backend.scope import ResolvedScope, resolve
from backend.search import search
from backend.settings import Settings
from backend.status import StatusReport, VectorCheck, check_vectors, read_status
from backend.stores.base import GraphStore, GraphView, GraphWriter, StoredEdge
from backend.stores.opening import open_store
from backend.vectors.base import Encoder, Index, Reranker
from backend.walks import absent, walk

T = TypeVar("T")
EVIDENCE_LIMIT = 50
# Edges of an entity that are looked at to list its relation types.
_TYPE_LIMIT = 2_000
# A search whose vectors a commit has dropped is asked again; commits do not follow one another for ever.
_ATTEMPTS = 4
_BY_SOURCE = "`attest show --dataset NAME SOURCE_ID` finds what a bundle calls by another id."


@dataclass(frozen=True, slots=True)
class Shown:
    """What `show` found: its kind, and the thing itself, whole."""

    kind: str
    entity: EntityView | None = None
    passage: Passage | None = None
    document: DocumentView | None = None


class Explorer:
    """A graph store, an index and an encoder; the last two are opened only when something needs them."""

    def __init__(
        self, store: GraphStore, *, index: Callable[[], Index], encoder: Callable[[], Encoder], settings: Settings
    ) -> None:
        self.store = store
        self.settings = settings
        self._open_index = index
        self._open_encoder = encoder
        self._lock = threading.RLock()
        self._warm = False

    @cached_property
    def _opened_index(self) -> Index:
        return self._open_index()

    @cached_property
    def _opened_encoder(self) -> Encoder:
        return self._open_encoder()

    @cached_property
    def _opened_reranker(self) -> Reranker:
        from backend.vectors.encoder import open_reranker

        assert self.settings.reranker is not None
        return open_reranker(self.settings.reranker)

    def index_store(self) -> Index:
        """The vector store, opened on the first call."""
        with self._lock:
            return self._opened_index

    def encoder(self) -> Encoder:
        """The encoder; its model is loaded by its first use."""
        with self._lock:
            return self._opened_encoder

    def reranker(self) -> Reranker:
        """The cross-encoder that the settings name; its model is loaded by its first use."""
        with self._lock:
            return self._opened_reranker

    @property
    def encoder_ready(self) -> bool:
        """Whether `warm` has ended, so that a semantic search answers at once."""
        return self._warm

    def warm(self) -> None:
        """Loads the models and opens the vector store; if that does not answer now, who searches is told.

        Raises NotConfigured for an encoder that cannot be loaded.
        """
        self.encoder().encode(["ready"])
        self._warm = True
        with suppress(AttestError):
            self.index_store().collections()
        if self.settings.reranker:
            with suppress(AttestError):
                self.reranker().scores("ready", ["ready"])

    def close(self) -> None:
        """Closes what was opened; the explorer is of no more use."""
        self.store.close()
        if "_opened_index" in self.__dict__:
            self._opened_index.close()

    # --- asking ------------------------------------------------------------------------------------------------------

    def catalog(self) -> Catalog:
        """The names that requests may use, the state of the indexes, and the data version."""
        return self.store.read(lambda view: view.catalog())

    def check(self, scope: Scope) -> ResolvedScope:
        """Raises Malformed for a scope that cannot be read or names what is not there."""
        return self.store.read(lambda view: _checked(view, scope))

    def scope_size(self, scope: Scope = EVERYTHING) -> tuple[int, int]:
        """Documents in scope, and documents that are current at the scope's time."""
        return self.store.read(lambda view: view.scope_size(_checked(view, scope)))

    def search(self, query: EntityQuery) -> EntityResult:
        """Entities by name and by meaning, best first."""
        return self._read_vectors(lambda view: search(view, query, index=self.index_store, encoder=self.encoder))

    def passages(self, query: PassageQuery) -> PassageResult:
        """Passages by their words and by meaning, best first."""
        return self._read_vectors(
            lambda view: search_passages(view, query, index=self.index_store, encoder=self.encoder)
        )

    def retrieve(self, question: Question) -> Retrieval:
        """The evidence for a question, best first."""
        reranker = self.reranker if self.settings.reranker else None
        return self._read_vectors(
            lambda view: retrieve(
                view, question, index=self.index_store, encoder=self.encoder, reranker=reranker, model=self._model
            )
        )

    def communities(self, query: CommunityQuery) -> CommunityResult:
        """The communities that answer a question, best first, with context and numbered evidence."""
        return self._read_vectors(
            lambda view: search_communities(
                view, query, index=self.index_store, encoder=self.encoder, model=self._model if query.rerank else None
            )
        )

    def answer(self, found: Retrieval) -> Generator[Moment]:
        """The answer from the evidence as it comes; without a model its best sentences, quoted."""
        return stream_answer(
            found.question.text,
            found.evidence,
            encoder=self.encoder(),
            model=self._model,
            names=self._names_of(found),
            context=found.context,
            tokens=self.settings.llm_tokens,
        )

    def _names_of(self, found: Retrieval) -> dict[str, list[str]]:
        """The folded names of the entities in the evidence, each with its folded aliases."""
        ids = [entity.id for entity in found.entities]
        scope = resolve(found.question.scope)
        entities = self.store.read(lambda view: view.named((), ids, (), 0, scope)) if ids else []
        return folded_names(entities)

    def ask(self, question: Question) -> tuple[Retrieval, Answer]:
        """Evidence and the whole answer."""
        found = self.retrieve(question)
        *_, last = self.answer(found)
        return found, last.answer

    def evaluate(
        self,
        questions: Sequence[EvalQuestion],
        *,
        dataset: str,
        strategy: str,
        cutoffs: Sequence[int],
        listener: Listener | None = None,
    ) -> Evaluation:
        """What a strategy finds for the questions of a dataset, and how that compares with their answers."""
        if not cutoffs or min(cutoffs) < 1:
            raise Malformed("A cutoff is below 1.", hint="Write --k 2,5,8.")
        scope = self.store.read(lambda view: scope_of(view, dataset))
        measured = []
        reads, limit = (lambda: self.store.reads), max(cutoffs)
        for one in measure(questions, self.retrieve, reads, strategy=strategy, limit=limit, scope=scope):
            measured.append(one)
            if listener is not None:
                listener(Progress("asking", len(measured), len(questions)))
        return Evaluation(dataset, strategy, tuple(measured), table(questions, measured, cutoffs))

    @cached_property
    def _model(self) -> LanguageModel | None:
        return open_model(self.settings)

    def _read_vectors(self, action: Callable[[GraphView], T]) -> T:
        """A reading that also reads vectors."""
        before = None

        def ask(view: GraphView) -> T:
            nonlocal before
            before = view.data_version
            return action(view)

        for _ in range(_ATTEMPTS):
            try:
                return self.store.read(ask)
            except IndexNotReady:
                # A merge or a removal may have dropped the collection that this reading began with.
                if before is None or self.catalog().data_version == before:
                    raise
        return self.store.read(ask)

    def walk(self, query: WalkQuery) -> WalkResult:
        """A bounded walk along the relations of an entity."""
        return self.store.read(lambda view: walk(view, query))

    # --- reading -----------------------------------------------------------------------------------------------------

    def entity(self, entity_id: str, scope: Scope = EVERYTHING) -> EntityView:
        """The entity as the scope sees it; raises Unavailable when no passage in scope mentions it."""
        found = self.store.read(lambda view: view.entity(_canonical(entity_id), _checked(view, scope)))
        if found is None:
            raise absent(entity_id, scope)
        return found

    def entity_evidence(self, entity_id: str, scope: Scope = EVERYTHING, limit: int = EVIDENCE_LIMIT) -> Evidence:
        """The visible passages that mention the entity: most mentions first, then title, position, id."""
        found = self.store.read(lambda view: view.support([_canonical(entity_id)], (), limit, _checked(view, scope)))
        return found[entity_id].evidence if entity_id in found else Evidence()

    def edge_evidence(self, edge_id: str, scope: Scope = EVERYTHING, limit: int = EVIDENCE_LIMIT) -> Evidence:
        """The visible passages that state the edge; none for a path."""
        found = self.store.read(lambda view: view.edge_support([_canonical(edge_id)], limit, _checked(view, scope)))
        return found.get(edge_id, Evidence())

    def mentioning_both(
        self, first: str, second: str, scope: Scope = EVERYTHING, limit: int = EVIDENCE_LIMIT
    ) -> Evidence:
        """The visible passages that mention both entities; not a direct source of any relation."""
        return self.store.read(
            lambda view: view.mentioning_both(_canonical(first), _canonical(second), limit, _checked(view, scope))
        )

    def edge(self, edge_id: str, scope: Scope = EVERYTHING) -> StoredEdge:
        """The edge as the scope sees it; raises Unavailable when the scope drops it or hides an end."""
        found = self.store.read(lambda view: view.edge(_canonical(edge_id), _checked(view, scope)))
        return _present(found, f"The relation {edge_id} is not in scope.", "Widen the scope.")

    def relation_types(self, entity_id: str, scope: Scope = EVERYTHING) -> tuple[RelationType, ...]:
        """The types of the entity's edges with their number, most first."""
        return self.store.read(
            lambda view: view.relation_types(_canonical(entity_id), _TYPE_LIMIT, _checked(view, scope))
        )

    def document(self, document_id: str, scope: Scope = EVERYTHING, version: int | None = None) -> DocumentView:
        """A document with its passages: the version current in the scope, or the one with this number."""
        found = self.store.read(lambda view: view.document(_canonical(document_id), version, _checked(view, scope)))
        return _present(found, f"The document {document_id} is not in scope.", "Widen the scope.")

    def mentioned(self, passage_id: str, scope: Scope = EVERYTHING) -> tuple[Named, ...]:
        """The entities that a passage mentions, by name; none where the scope does not see the passage."""
        found = self.store.read(lambda view: view.contents([_canonical(passage_id)], _checked(view, scope)))
        entities = (entity for content in found.values() for entity in content.mentions)
        return tuple(sorted(entities, key=lambda entity: (entity.name, entity.id)))

    def passage(self, passage_id: str) -> Passage:
        """A passage of any version, with every mention in it."""
        found = self.store.read(lambda view: view.passage(_canonical(passage_id)))
        return _present(found, f"There is no passage {passage_id}.", _BY_SOURCE)

    def visible_passages(self, passage_ids: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Passage, ...]:
        """Those of the passages that the scope sees, in the order asked for, with every mention in them."""
        ids = [_canonical(one) for one in passage_ids]
        found = self.store.read(lambda view: view.passages(ids, _checked(view, scope))) if ids else {}
        return tuple(found[one] for one in ids if one in found)

    def show(self, thing_id: str, scope: Scope = EVERYTHING) -> Shown:
        """Whatever has this id, whole: entities are looked up first, then passages, then documents."""

        def look(view: GraphView) -> Shown | None:
            resolved = _checked(view, scope)
            if entity := view.entity(_canonical(thing_id), resolved):
                return Shown("entity", entity=entity)
            if passage := view.passage(thing_id):
                return Shown("passage", passage=passage)
            if document := view.document(thing_id, None, resolved):
                return Shown("document", document=document)
            return None

        hint = _BY_SOURCE if scope == EVERYTHING else "Widen the scope."
        return _present(self.store.read(look), f"Nothing in scope has the id {thing_id}.", hint)

    def show_source(self, dataset: str, source_id: str, kind: str | None = None, scope: Scope = EVERYTHING) -> Shown:
        """The same for a source id of a dataset; a passage is that of the current version."""
        found = self.store.read(lambda view: view.find(dataset, source_id))
        for candidate in ("entity", "passage", "document"):
            if candidate in found and kind in (None, candidate):
                return self.show(found[candidate], scope)
        raise Unavailable(
            f"The dataset {dataset!r} has no {kind or 'row'} with the id {source_id!r}.",
            hint="`attest status` lists the datasets.",
        )

    # --- communities -------------------------------------------------------------------------------------------------

    def hierarchy(self, scope: Scope = EVERYTHING) -> tuple[CommunityHead, ...]:
        """Every community that the scope sees, in order of level and id; `titles` has what each is called."""
        return tuple(self.store.read(lambda view: view.communities(None, MOST_COMMUNITIES, _checked(view, scope))))

    def titles(self, heads: Sequence[CommunityHead], scope: Scope = EVERYTHING) -> dict[str, str]:
        """What communities are called, by id; where the scope does not see one whole, by its central members there."""
        return self.store.read(lambda view: titles_of(view, heads, _checked(view, scope)))

    def community(self, community_id: str, scope: Scope = EVERYTHING) -> CommunityView:
        """A community with all that is in it; raises Unavailable where the scope sees nothing of it."""
        return self.store.read(lambda view: read_community(view, _canonical(community_id), _checked(view, scope)))

    def ranks(self, heads: Sequence[CommunityHead], scope: Scope = EVERYTHING) -> dict[str, float]:
        """The importance that the writer of a community's report gave it, by id, where there is one."""
        ids = [head.id for head in heads if has_stored_report(head)]
        found = self.store.read(lambda view: view.reports(ids, _checked(view, scope))) if ids else {}
        return {one: report.rank for one, report in found.items() if report.rank is not None}

    def communities_of(self, entity_id: str, scope: Scope = EVERYTHING) -> tuple[CommunityHead, ...]:
        """The communities of an entity, the coarsest first."""

        def look(view: GraphView) -> tuple[CommunityHead, ...]:
            resolved = _checked(view, scope)
            ids = view.communities_of([_canonical(entity_id)], resolved).get(entity_id, ())
            return tuple(view.communities(ids, len(ids), resolved)) if ids else ()

        return self.store.read(look)

    # --- jobs --------------------------------------------------------------------------------------------------------

    def status(self, *, check: bool = False) -> StatusReport:
        """What is stored, the state of the indexes, jobs and versions; `check` compares vectors with the record."""
        report = read_status(self.store, self.settings)
        return report.with_check(self._check_vectors()) if check else report

    def _check_vectors(self) -> tuple[VectorCheck, ...]:
        return self.store.read(lambda view: check_vectors(view.catalog(), self.index_store()))

    def jobs(self) -> tuple[Job, ...]:
        """Every job, newest first."""
        return self.store.jobs.jobs()

    def load(
        self,
        paths: Sequence[Path],
        *,
        dataset: str | None = None,
        collection: str | None = None,
        replace: bool = False,
        listener: Listener | None = None,
    ) -> list[LoadReport]:
        """Loads each path as a job of its own, in order; one with nothing to load ends it before anything is loaded."""
        for path in paths:
            recognise(path)
        requests = [LoadRequest(path, dataset, collection, replace) for path in paths]
        return [
            load(
                self.store,
                request,
                index=self.index_store,
                encoder=self.encoder,
                kinds=self.settings.vector_kinds,
                listener=listener,
            )
            for request in requests
        ]

    def start_load(
        self, path: Path, *, dataset: str | None = None, collection: str | None = None, replace: bool = False
    ) -> int:
        """Starts a load in a process of its own, which outlives this one; its process id.

        Raises Malformed at once for a path with nothing to load, and NotConfigured where the store is read-only.
        """
        self._refuse_read_only("load with `attest load`")
        recognise(path)
        options = [f"--dataset={dataset}"] if dataset else []
        options += [f"--collection={collection}"] if collection else []
        options += ["--replace"] if replace else []
        return self._start("load", *options, "--", str(path))

    def start_communities(self, datasets: Sequence[str] = ()) -> int:
        """Starts `build_communities` in a process of its own, which outlives this one; its process id.

        Raises NotConfigured where the store is read-only.
        """
        self._refuse_read_only("build them with `attest index --communities`")
        return self._start("index", "--communities", *(f"--dataset={dataset}" for dataset in datasets))

    def _refuse_read_only(self, instead: str) -> None:
        if self.settings.read_only:
            raise NotConfigured("This store is read-only here.", hint=f"ATTEST_READ_ONLY is set; {instead}.")

    def _start(self, *arguments: str) -> int:
        """Runs one command over the same stores in a process of its own; its process id."""
        process = subprocess.Popen(
            [sys.executable, "-m", "backend.cli", *arguments],
            cwd=Path(__file__).parent.parent,
            env={**os.environ, **self.settings.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=process.wait, daemon=True).start()
        return process.pid

    def remove(
        self, *, dataset: str | None = None, document_id: str | None = None, listener: Listener | None = None
    ) -> dict[str, int]:
        """Removes a dataset or a document with everything that only they held; counts by kind."""
        if (dataset is None) == (document_id is None):
            raise Malformed("Say what to remove.", hint="Give either a dataset or a document.")
        if document_id is not None:
            _canonical(document_id)
        with (
            run_job(self.store.jobs, "remove", dataset, listener) as (job, ticker),
            self.store.writer(job.id) as writer,
        ):
            has_vectors = bool(self.catalog().vector_collections)
            if has_vectors:
                self.index_store()  # that it cannot be opened is better known before anything is gone
            ticker("removing")
            counts = writer.remove(dataset=dataset, document_id=document_id)
            writer.commit(None)
            if has_vectors:
                self._vector_writer(writer, job).sweep()  # a reader that holds what goes asks again
        return counts

    def build_indexes(self, *, listener: Listener | None = None) -> list[str]:
        """Builds what is missing or was made with another encoder; what was done, in words."""
        with run_job(self.store.jobs, "index", None, listener) as (job, ticker), self.store.writer(job.id) as writer:
            vectors = self._vector_writer(writer, job)
            vectors.sweep()
            done = [*writer.rebuild_full_text(), *vectors.forget_lost(), *vectors.forget_other_encoders()]
            encoded = vectors.encode_missing(ticker)
            writer.commit(None)
        return [*done, *encoded]

    def build_communities(
        self, datasets: Sequence[str] = (), *, written: bool = False, listener: Listener | None = None
    ) -> list[str]:
        """Gives these datasets communities and reports, or all whose index brought none; what was done, in words.

        Reports are quoted from passages, or `written` by the language model and checked against them. Raises
        Unavailable for an unknown dataset, and NotConfigured where there is no model to write.
        """
        model = self._report_writer() if written else None
        with run_job(self.store.jobs, "index", None, listener) as (job, ticker), self.store.writer(job.id) as writer:
            chosen = self.store.read(lambda view: datasets_to_build(view, datasets))
            done = put_hierarchies(self.store, writer, chosen, ticker)
            writer.commit(None)
        with run_job(self.store.jobs, "index", None, listener) as (job, ticker), self.store.writer(job.id) as writer:
            vectors, notes = put_reports(self.store, writer, chosen, self.index_store(), ticker, model=model)
            self._vector_writer(writer, job).encode_missing(ticker, known=known_vectors(vectors))
            writer.commit(None)
        return [*done, *notes]

    def _report_writer(self) -> ReportWriter:
        if self._model is None:
            raise NotConfigured(
                "There is no language model to write reports.",
                hint="Set ATTEST_LLM_URL and ATTEST_LLM_MODEL, or leave --written out: reports are quotations then.",
            )
        return ReportWriter(self._model, self.encoder(), self.settings.llm_tokens)

    def copy(self, target: Explorer, *, listener: Listener | None = None) -> list[DatasetCopy]:
        """Copies every dataset that the target's stores lack into them, with all versions and vectors."""
        here, there = (Side(one.store, one.index_store) for one in (self, target))
        return copy(here, there, encoder=self.encoder, kinds=self.settings.vector_kinds, listener=listener)

    def _vector_writer(self, writer: GraphWriter, job: Job) -> VectorWriter:
        collections = self.catalog().vector_collections
        return VectorWriter(
            writer,
            collections,
            index=self.index_store,
            encoder=self.encoder,
            job_id=job.id,
            kinds=self.settings.vector_kinds,
        )

    def stop(self, job_id: str) -> Job:
        """Asks a running job to stop; it does at its next step, and nothing of it is seen."""
        return self.store.jobs.request_stop(job_id)

    def undo(self, job_id: str) -> Job:
        """Gives up a killed job: what it wrote is gone, and its vectors go with the next job."""
        job = self.store.jobs.job(job_id)
        if job.state is not JobState.KILLED:
            raise Malformed(f"Job {job_id} is {job.state}, not killed.", hint="Only a killed job can be undone.")
        self.store.jobs.close(job_id, JobState.UNDONE)
        return self.store.jobs.job(job_id)


def open_explorer(settings: Settings) -> Explorer:
    """Opens the stores that the settings name; the vector store and the encoder wait until something needs them."""
    store = open_store(settings)

    def index() -> Index:
        from backend.vectors.chroma import open_chroma

        return open_chroma(settings.vectors_place, identity=store.identity, graph=store.place)

    def encoder() -> Encoder:
        from backend.vectors.encoder import open_encoder

        return open_encoder(settings.encoder)

    return Explorer(store, index=index, encoder=encoder, settings=settings)


def _checked(view: GraphView, scope: Scope) -> ResolvedScope:
    resolved = resolve(scope)
    check_names(view, asked_names(scope))
    return resolved


def _canonical(thing_id: str) -> str:
    if not is_canonical(thing_id):
        raise Malformed(f"{thing_id[:100]!r} is not an id.", hint="Ids are canonical lowercase UUIDs.")
    return thing_id


def _present(found: T | None, missing: str, hint: str) -> T:
    if found is None:
        raise Unavailable(missing, hint=hint)
    return found
