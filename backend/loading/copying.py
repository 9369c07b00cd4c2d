"""Copying a store into another, each dataset as a job of its own: what has been copied stays when the rest fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from backend.errors import AttestError, Malformed
from backend.loading.jobs import Listener, Ticker, run_job
from backend.loading.plan import BATCH, batched
from backend.loading.vectors import VectorWriter
from backend.models import LoadReport, VectorCollection
from backend.stores.base import GraphStore, GraphWriter
from backend.stores.encoded import ENTITY
from backend.vectors.base import Encoder, Index, Vector

# Each is read with all its versions, passages and mentions.
_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Side:
    """A graph store with its vectors."""

    store: GraphStore
    index: Callable[[], Index]

    def catalogued(self) -> Sequence[VectorCollection]:
        """The collections in which the graph says that there are vectors."""
        return self.store.read(lambda view: view.catalog()).vector_collections

    def rows(self) -> dict[str, dict[str, int]]:
        """Per dataset its rows by kind."""
        return self.store.read(lambda view: view.row_counts())

    def versions(self, dataset: str) -> set[tuple[str, str]]:
        """Every document version: the document's id, and what tells the version from every other."""
        ids = self.store.read(lambda view: view.row_ids("document", dataset))
        return {key for page in batched(ids, _DOCUMENTS) for key in self._keys(page)}

    def _keys(self, document_ids: Sequence[str]) -> list[tuple[str, str]]:
        rows = self.store.read(lambda view: view.version_rows(document_ids))
        return [(row.document_id, row.version_key) for row in rows]


@dataclass(frozen=True, slots=True)
class DatasetCopy:
    """A dataset that both stores have, with its rows by kind; `copied` is False where it was there before."""

    dataset: str
    copied: bool
    rows: Mapping[str, int]


def copy(
    source: Side,
    target: Side,
    *,
    encoder: Callable[[], Encoder],
    kinds: Sequence[str],
    listener: Listener | None = None,
) -> list[DatasetCopy]:
    """Copies every dataset that the target lacks, with all versions, and compares the counts; loads wait meanwhile.

    Raises Malformed, before anything is copied, where the target has another dataset of the same name.
    """
    if source.store.identity == target.store.identity:
        raise Malformed(f"{target.store.place} is the store itself.", hint="Name another one.")
    # A job of the source too, so that nothing changes there while one page after the other is read.
    with run_job(source.store.jobs, "copy", None, listener) as (_, ticker):
        rows, there = source.rows(), target.rows()
        for dataset in rows.keys() & there.keys():
            _check_same(source, target, dataset, rows[dataset], there[dataset])
        for dataset in rows:
            if dataset not in there:
                _copy_dataset(source, target, dataset, rows[dataset], encoder, kinds, ticker)
        copied = target.rows()
    return [DatasetCopy(dataset, dataset not in there, copied[dataset]) for dataset in rows]


def _check_same(source: Side, target: Side, dataset: str, rows: Mapping[str, int], there: Mapping[str, int]) -> None:
    if rows != there or source.versions(dataset) != target.versions(dataset):
        raise Malformed(
            f"{target.store.place} has another dataset {dataset!r}: {_difference(rows, there)}.",
            hint="Remove one of the two with `attest remove --dataset`, and copy again. Nothing was copied.",
        )


def _difference(rows: Mapping[str, int], there: Mapping[str, int]) -> str:
    differing = [f"{there[kind]:,} {kind} there, {rows[kind]:,} here" for kind in rows if rows[kind] != there[kind]]
    return "; ".join(differing) or "its documents have other versions"


def _copy_dataset(
    source: Side,
    target: Side,
    dataset: str,
    rows: Mapping[str, int],
    encoder: Callable[[], Encoder],
    kinds: Sequence[str],
    listener: Ticker,
) -> None:
    """Copies a dataset as a job of the target; raises AttestError when the counts differ after its commit."""
    store = target.store
    with run_job(store.jobs, "copy", dataset, listener.hear) as (job, ticker), store.writer(job.id) as writer:
        vectors = VectorWriter(
            writer, target.catalogued(), index=target.index, encoder=encoder, job_id=job.id, kinds=kinds
        )
        vectors.check_encoder()
        vectors.sweep()
        copying = _Copying(source, writer, dataset)
        writer.put_versions(dataset, [])  # a dataset from which everything was removed is still one
        copying.each("entity", BATCH, copying.put_entities, ticker)
        copying.each("document", _DOCUMENTS, copying.put_documents, ticker)
        copying.each("relation", BATCH, copying.put_relations, ticker)
        copying.each("claim", BATCH, copying.put_claims, ticker)
        copying.put_communities()
        vectors.encode_missing(ticker, known=_Known(source, encoder, copying.vectors))
        ticker("committing")
        writer.commit(LoadReport(dataset, read=rows, kept=rows, changes={}, issues=()))
    written = target.rows().get(dataset) or dict.fromkeys(rows, 0)
    if written != rows:
        raise AttestError(
            f"The copy of {dataset!r} is not whole: {_difference(rows, written)}.",
            hint="Remove it from there with `attest remove --dataset`, and copy again.",
        )


class _Copying:
    """Reads a dataset page by page and hands it to a writer."""

    def __init__(self, source: Side, writer: GraphWriter, dataset: str) -> None:
        self._read = source.store.read
        self._writer = writer
        self._dataset = dataset
        self.vectors: dict[str, str] = {}  # collection of the source by entity

    def each(self, kind: str, size: int, put: Callable[[Sequence[str]], None], ticker: Ticker) -> None:
        """Puts everything of a kind, given as pages of ids."""
        ids = self._read(lambda view: view.row_ids(kind, self._dataset))
        for number, page in enumerate(batched(ids, size)):
            ticker(f"copying {kind}", number * size, len(ids))
            put(page)

    def put_entities(self, ids: Sequence[str]) -> None:
        rows = self._read(lambda view: view.entity_rows(ids))
        retired = {row.entity.id for row in rows if row.retired}
        self._writer.put_entities(self._dataset, [row.entity for row in rows], retired=retired)
        self.vectors.update((row.entity.id, row.vectors) for row in rows if row.vectors is not None)

    def put_documents(self, ids: Sequence[str]) -> None:
        """Their versions, with all passages and mentions."""
        self._writer.put_versions(self._dataset, self._read(lambda view: view.version_rows(ids)))
        for passages in batched(self._read(lambda view: view.passage_rows(ids)), BATCH):
            self._writer.put_passages(self._dataset, passages)
        self._writer.put_topics(self._read(lambda view: view.topic_rows(ids)))
        for mentions in batched(self._read(lambda view: view.mention_rows(ids)), BATCH):
            self._writer.put_mentions(mentions)
        self._writer.put_complements(self._dataset, self._read(lambda view: view.complement_rows(ids)))

    def put_claims(self, ids: Sequence[str]) -> None:
        self._writer.put_claims(self._dataset, self._read(lambda view: view.claim_rows(ids)))

    def put_communities(self) -> None:
        """The hierarchy of the dataset, if it has one."""
        if rows := self._read(lambda view: view.community_rows(self._dataset)):
            self._writer.put_communities(self._dataset, rows)

    def put_relations(self, ids: Sequence[str]) -> None:
        self._writer.put_relations(self._dataset, self._read(lambda view: view.relation_rows(ids)))


class _Known:
    """The vectors that the source has, if they are of this encoder."""

    def __init__(self, source: Side, encoder: Callable[[], Encoder], collections: Mapping[str, str]) -> None:
        self._index = source.index
        of_encoder = [one for one in source.catalogued() if one.encoder == encoder().name]
        there = source.index().collections().keys() if of_encoder else set()
        self._usable = [one for one in of_encoder if one.name in there]
        self._collections = collections

    def __call__(self, kind: str, ids: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        for collection in self._usable:
            if collection.kind == kind:
                wanted = [i for i in ids if i not in found and self._may_be_in(collection, i)]
                found |= self._index().read(collection.name, wanted)
        return found

    def _may_be_in(self, collection: VectorCollection, thing: str) -> bool:
        # An entity may have had another name, of which an older collection has the vector; texts of passages stay.
        return collection.kind != ENTITY or self._collections.get(thing) == collection.name
