"""Loading a bundle, with and without encoding and vectors, and the rates of the encoder and of the vector store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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
from benchmarks.build import FOLDER, say
from benchmarks.bundles import bundle, rows_of
from benchmarks.graphs import Graph, Shape, short
from benchmarks.measure import timed
from benchmarks.servers import Kind, Servers
from benchmarks.stores import EXTRACTED, Opened, names_of
from benchmarks.table import Comparison, Table
from benchmarks.vectors import place_vectors
from tests.servers.neo4j import Missing

_NAMES, _PASSAGES, _QUERIES = 1_200, 120, 100
_KEYS = ("entities", "relations", "rows", "encoder")


class GivenVectors:
    """An Encoder that costs nothing: pseudo-random vectors."""

    name, dimension = "given", 384

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dimension), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 for text in texts]


class NoIndex:
    """An Index that keeps nothing."""

    max_results = 1_000

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None: ...

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None: ...

    def seal(self, collection: str) -> None: ...

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        return []

    def nearest_each(
        self, collection: str, vectors: Vectors, *, limit: int, labels: Sequence[str] = ()
    ) -> list[list[Neighbour]]:
        return [[] for _ in vectors]

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

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)


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


def bench_load(kinds: Sequence[Kind], shapes: Sequence[Shape]) -> list[Table]:
    """Loads bundles, small ones with everything and all of them without encoding and vectors."""
    shape, *_ = shapes
    names = [kind.name for kind in kinds]
    table = Comparison("Load", _KEYS, ("rows/s", "encoding / vectors / rest s"), names)
    phases = Comparison("Phases of a load without vectors", ("entities", "phase"), ("s",), names)
    for kind in kinds:
        try:
            with _loader(kind) as loader:
                _load(loader, (EXTRACTED, shape), shapes, table, phases)
        except Missing as missing:
            table.notes.append(f"Left out: {kind.name}: {missing}.")
    table.notes.append("Rest: everything but encoding and the insertion of vectors.")
    return [table.table(), phases.table()]


def _load(
    loader: _Loader, complete: Sequence[Shape], bare: Sequence[Shape], table: Comparison, phases: Comparison
) -> None:
    for shape in complete:
        _add(loader.load(shape, encoding=True), table)
    # To a load without vectors it is all the same where they would be.
    for shape in () if loader.kind.vectors_served else bare:
        loaded = loader.load(shape, encoding=False)
        _add(loaded, table)
        for phase, spent in loaded.clock.spent.items():
            if spent >= 0.005 * loaded.took:
                phases.add(loader.kind.name, (short(shape.entities), phase), spent)


def bench_rates(stores: Sequence[Opened]) -> list[Table]:
    """What the encoder does in a second, what the store's writer does, and what the vector store does."""
    encoding = Table("Encoding", ("what", "rows", "s", "a second"))
    with TemporaryDirectory() as folder:
        encoder = open_explorer(Settings(home=Path(folder))).encoder()
    encoder.encode(["warm"])
    names, texts = _texts(Graph(Shape(entities=5_000, relations=1_000, hub_relations=100)))
    for what, batch in (("names", names), ("passages", texts)):
        began = perf_counter()
        encoder.encode(batch)
        spent = perf_counter() - began
        encoding.add(what, len(batch), spent, round(len(batch) / spent))
    queries = timed(partial(encoder.encode, [f"{name}?"]) for name in names[:_QUERIES])  # none was encoded before
    encoding.notes.append(f"One query is encoded in {queries.median:.1f} ms (median; p95 {queries.p95:.1f} ms).")
    writing = Comparison("Writing", ("entities", "what", "rows"), ("s", "a second"), names_of(stores))
    for opened in stores:
        for phase in (*opened.built.phases, place_vectors(opened)):
            key = (opened.size, phase.kind, phase.rows)
            writing.add(opened.kind.name, key, phase.seconds, round(phase.rows / max(phase.seconds, 0.001)))
    return [encoding, writing.table()]


def _texts(graph: Graph) -> tuple[list[str], list[str]]:
    passages, _ = next(graph.passages_with_mentions(_PASSAGES))
    return graph.names[:_NAMES], [passage.text for passage in passages]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One load and where its time went."""

    kind: Kind
    shape: Shape
    rows: int
    encoder: str
    took: float
    encoding: float
    insertion: float
    clock: PhaseClock


@dataclass(slots=True)
class _Loader:
    """Loads bundles, each into empty stores of a kind; their servers are the same for all, and warm."""

    kind: Kind
    servers: Servers
    folder: Path
    loads: int = 0

    def load(self, shape: Shape, *, encoding: bool) -> _Loaded:
        """Loads the bundle of a shape, with or without the encoder and the vector store."""
        folder = bundle(shape)
        say(f"loading, {self.kind.name}, {shape.name}{'' if encoding else ', without vectors'} …")
        explorer = open_explorer(self._empty())
        if encoding:
            explorer.warm()
        encoder = TimedEncoder(explorer.encoder() if encoding else GivenVectors())
        index = TimedIndex(explorer.index_store() if encoding else NoIndex())
        request, clock = LoadRequest(folder, "bench"), PhaseClock()
        began = perf_counter()
        kinds = explorer.settings.vector_kinds
        load(explorer.store, request, index=lambda: index, encoder=lambda: encoder, kinds=kinds, listener=clock)
        took = perf_counter() - began
        clock.end()
        explorer.close()
        name = "bundled" if encoding else "none"
        return _Loaded(self.kind, shape, rows_of(folder), name, took, encoder.spent, index.spent, clock)

    def _empty(self) -> Settings:
        self.loads += 1
        data = self.folder / "neo4j"
        if self.kind.graph_served:
            self.servers.neo4j(data).empty()
        return self.servers.settings(self.kind, self.folder / f"home-{self.loads}", graph=data)


@contextmanager
def _loader(kind: Kind) -> Iterator[_Loader]:
    with TemporaryDirectory(dir=FOLDER) as folder, ExitStack() as stack:
        loader = _Loader(kind, Servers(stack), Path(folder))
        if kind.graph_served:
            loader.load(EXTRACTED, encoding=False)  # a Java that has just started is slow
        yield loader


def _add(loaded: _Loaded, table: Comparison) -> None:
    shape = loaded.shape
    key = (short(shape.entities), short(shape.relations), loaded.rows, loaded.encoder)
    rest = loaded.took - loaded.encoding - loaded.insertion
    parts = f"{loaded.encoding:.0f} / {loaded.insertion:.0f} / {rest:.0f}"
    table.add(loaded.kind.name, key, round(loaded.rows / loaded.took), parts)
