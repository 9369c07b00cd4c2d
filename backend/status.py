"""What a store holds and in what state its parts are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backend.models import EVERYTHING, Catalog, CollectionCounts, DatasetCounts, IndexStatus, Job, VectorCollection
from backend.scope import resolve
from backend.settings import Settings
from backend.stores.base import GraphStore, GraphView
from backend.vectors.base import Index


@dataclass(frozen=True, slots=True)
class VectorCheck:
    """What the graph store says of a collection of vectors, and what the vector store has of it."""

    collection: str
    recorded: int
    stored: int | None
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Committed data only; `vectors` is the graph store's record, `check` what the vector store says of it."""

    datasets: tuple[DatasetCounts, ...]
    collections: tuple[CollectionCounts, ...]
    indexes: tuple[IndexStatus, ...]
    vectors: tuple[VectorCollection, ...]
    jobs: tuple[Job, ...]
    stores: dict[str, str]
    encoder: str
    data_version: str
    check: tuple[VectorCheck, ...] | None = None

    def with_check(self, check: tuple[VectorCheck, ...]) -> StatusReport:
        return replace(self, check=check)


def read_status(store: GraphStore, settings: Settings) -> StatusReport:
    """The status as the graph store records it; no vector store and no encoder is opened."""
    # Not within the reading: visitors that each hold a connection and wait for a second would wait for each other.
    jobs = store.jobs.jobs()
    stores = {"graph": f"{store.version()}, {store.place}", "vectors": str(settings.vectors_place)}
    return store.read(lambda view: _report(view, jobs, stores, settings))


def _report(view: GraphView, jobs: tuple[Job, ...], stores: dict[str, str], settings: Settings) -> StatusReport:
    scope = resolve(EVERYTHING)
    catalog = view.catalog()
    encoders = {collection.encoder for collection in catalog.vector_collections}
    return StatusReport(
        datasets=view.dataset_counts(scope),
        collections=view.collection_counts(scope),
        indexes=catalog.indexes,
        vectors=catalog.vector_collections,
        jobs=jobs,
        stores=stores,
        encoder=", ".join(sorted(encoders)) or settings.encoder or "not used yet",
        data_version=catalog.data_version,
    )


def check_vectors(catalog: Catalog, index: Index) -> tuple[VectorCheck, ...]:
    """Every recorded collection with its size in the vector store, and every one that nothing records."""
    sizes = index.collections()
    checks = [
        VectorCheck(collection.name, collection.count, sizes.get(collection.name), _remedy(collection, sizes))
        for collection in catalog.vector_collections
    ]
    recorded = {collection.name for collection in catalog.vector_collections}
    left_over = [
        VectorCheck(name, 0, size, "the next load removes it") for name, size in sizes.items() if name not in recorded
    ]
    return tuple(checks + sorted(left_over, key=lambda check: check.collection))


def _remedy(collection: VectorCollection, sizes: dict[str, int]) -> str:
    return "" if sizes.get(collection.name) == collection.count else "attest index"
