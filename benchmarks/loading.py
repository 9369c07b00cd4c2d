"""Loading a bundle, with and without encoding and vectors, and the rates of the encoder and of the vector store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from backend.explorer import open_explorer
from backend.loading.load import LoadRequest, load
from backend.models import Progress
from backend.settings import Settings
from backend.vectors.base import Encoder, Index, Neighbour, Vector, Vectors
from benchmarks.build import FOLDER, Built, Phase, say
from benchmarks.bundles import bundle, rows_of
from benchmarks.graphs import Graph, Shape, short
from benchmarks.measure import timed
from benchmarks.table import Table

_NAMES, _PASSAGES, _QUERIES = 1_200, 120, 100
# As dense as what language models and annotators extract; the graphs that are walked have ten relations to an entity.
_EXTRACTED = Shape(entities=10_000, relations=20_000, hub_relations=500)
_COLUMNS = (
    "entities",
    "relations",
    "rows",
    "encoder",
    "vector store",
    "s",
    "rows/s",
    "encoding s",
    "insertion s",
    "rest s",
    "rest %",
)


class GivenVectors:
    """An Encoder that costs nothing: pseudo-random vectors."""

    name, dimension = "given", 384

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dimension), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


class NoIndex:
    """An Index that keeps nothing."""

    max_results = 1_000

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None: ...

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None: ...

    def seal(self, collection: str) -> None: ...

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        return []

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        return {}

    def ids(self, collection: str) -> Iterator[str]:
        return iter(())

    def collections(self) -> dict[str, int]:
        return {}

    def names(self) -> list[str]:
        return []

    def drop(self, collection: str) -> None: ...

    def close(self) -> None: ...

    def version(self) -> str:
        return "none"


class TimedEncoder:
    """An Encoder that notes how long encoding takes."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimension = encoder.name, encoder.dimension
        self.spent = 0.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        began = perf_counter()
        vectors = self._encoder.encode(texts)
        self.spent += perf_counter() - began
        return vectors


class TimedIndex(NoIndex):
    """The Index of a first load, which reads nothing from it, that notes how long insertion takes."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.spent = 0.0

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self._index.create(collection, kind=kind, encoder=encoder, dimension=dimension)

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        began = perf_counter()
        self._index.add(collection, ids, labels, vectors)
        self.spent += perf_counter() - began

    def seal(self, collection: str) -> None:
        began = perf_counter()
        self._index.seal(collection)
        self.spent += perf_counter() - began


class PhaseClock:
    """A listener that adds up how long a load is in each phase."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._phase, self._began = "starting", perf_counter()

    def __call__(self, progress: Progress) -> None:
        if progress.phase != self._phase:
            self.end()
            self._phase = progress.phase

    def end(self) -> None:
        """Ends the phase that is going on."""
        now = perf_counter()
        self.spent[self._phase] = self.spent.get(self._phase, 0.0) + now - self._began
        self._began = now


def bench_load(shapes: Sequence[Shape]) -> list[Table]:
    """Loads bundles with everything, the larger ones without encoding and vectors."""
    shape, *large = shapes
    table, phases = Table("Load", _COLUMNS), Table("Phases of a load without vectors", ("entities", "phase", "s", "%"))
    _load(_EXTRACTED, "bundled", "Chroma", table)
    _load(shape, "bundled", "Chroma", table)
    for other in (shape, *large):
        _add_phases(other, _load(other, "given vectors", "none", table), phases)
    table.notes.append("Rest: everything but encoding and the insertion of vectors.")
    return [table, phases]


def bench_rates(built: Sequence[tuple[Built, Phase]]) -> list[Table]:
    """What the encoder does in a second, what the store's writer does, and what the vector store does."""
    rates = Table("Rates", ("what", "rows", "s", "a second"))
    with TemporaryDirectory() as folder:
        encoder = open_explorer(Settings(home=Path(folder))).encoder()
    encoder.encode(["warm"])
    names, texts = _texts(Graph(Shape(entities=5_000, relations=1_000, hub_relations=100)))
    for what, batch in (("names encoded", names), ("passages encoded", texts)):
        began = perf_counter()
        encoder.encode(batch)
        spent = perf_counter() - began
        rates.add(what, len(batch), spent, round(len(batch) / spent))
    for stored, vectors in built:
        for phase in (*stored.phases, vectors):
            rates.add(_what(stored, phase), phase.rows, phase.seconds, round(phase.rows / max(phase.seconds, 0.001)))
    queries = timed(partial(encoder.encode, [f"{name}?"]) for name in names[:_QUERIES])  # none was encoded before
    rates.notes.append(f"One query is encoded in {queries.median:.1f} ms (median; p95 {queries.p95:.1f} ms).")
    return [rates]


def _what(stored: Built, phase: Phase) -> str:
    return f"{phase.kind} written, {short(stored.graph.shape.entities)} entities"


def _texts(graph: Graph) -> tuple[list[str], list[str]]:
    passages, _ = next(graph.passages_with_mentions(_PASSAGES))
    return graph.names[:_NAMES], [passage.text for passage in passages]


def _load(shape: Shape, encoder_name: str, vectors: str, table: Table) -> PhaseClock:
    folder = bundle(shape)
    say(f"loading {short(shape.entities)} entities, encoder: {encoder_name}, vector store: {vectors} …")
    with TemporaryDirectory(dir=FOLDER) as home:
        explorer = open_explorer(Settings(home=Path(home)))
        if encoder_name == "bundled":
            explorer.warm()
        encoder = TimedEncoder(explorer.encoder() if encoder_name == "bundled" else GivenVectors())
        index = TimedIndex(explorer.index_store() if vectors == "Chroma" else NoIndex())
        request, clock = LoadRequest(folder, "bench"), PhaseClock()
        began = perf_counter()
        load(explorer.store, request, index=lambda: index, encoder=lambda: encoder, listener=clock)
        took = perf_counter() - began
        clock.end()
        explorer.close()
    rows, rest = rows_of(folder), took - encoder.spent - index.spent
    counts = (short(shape.entities), short(shape.relations), rows, encoder_name, vectors, took, round(rows / took))
    table.add(*counts, encoder.spent, index.spent, rest, round(100 * rest / took))
    return clock


def _add_phases(shape: Shape, clock: PhaseClock, table: Table) -> None:
    whole = sum(clock.spent.values())
    for phase, spent in clock.spent.items():
        if spent >= 0.005 * whole:
            table.add(short(shape.entities), phase, spent, round(100 * spent / whole))
