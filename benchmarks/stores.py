"""The stores that the benchmarks read: which sizes there are, and those of one run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from backend.explorer import Explorer, open_explorer
from benchmarks.build import Built, built, prepared
from benchmarks.graphs import Graph, Shape, short
from benchmarks.servers import Kind, Servers, memory_of
from tests.servers.neo4j import Missing

SIZES = {
    "10k": Shape(entities=10_000, relations=100_000, hub_relations=10_000),
    "100k": Shape(entities=100_000, relations=1_000_000, hub_relations=100_000),
    "1m": Shape(entities=1_000_000, relations=2_000_000, hub_relations=100_000),
}
# As dense as what language models and annotators extract; the graphs that are walked have ten relations to an entity.
EXTRACTED = Shape(entities=10_000, relations=20_000, hub_relations=500)
# A hundred thousand passages of sentences, as dense.
ASKED = Shape(entities=100_000, relations=200_000, hub_relations=10_000, sentences=True)
MANY_LABELS = Shape(entities=100_000, relations=200_000, hub_relations=10_000, labels=300)


@dataclass(frozen=True, slots=True)
class Opened:
    """A built store with an explorer on it."""

    kind: Kind
    built: Built
    explorer: Explorer

    @property
    def graph(self) -> Graph:
        return self.built.graph

    @property
    def size(self) -> str:
        return short(self.graph.shape.entities)


class Shelf:
    """The stores of one run by shape and kind, each opened by whoever asks for it first; they end with the stack."""

    def __init__(self, stack: ExitStack, kinds: Sequence[Kind]) -> None:
        self._stack = stack
        self._kinds = kinds
        self._servers = Servers(stack)
        self._opened: dict[tuple[Kind, Shape], Opened | None] = {}

    def stores(self, shapes: Sequence[Shape]) -> list[Opened]:
        """Those that can be had of these shapes, kind by kind; what is left out is printed with the reason."""
        found = [self._one(kind, shape) for kind in self._kinds for shape in shapes]
        return [opened for opened in found if opened is not None]

    def _one(self, kind: Kind, shape: Shape) -> Opened | None:
        if (kind, shape) not in self._opened:
            try:
                self._opened[kind, shape] = self._open(kind, shape)
            except Missing as missing:
                print(f"Left out: {kind.name} with {short(shape.entities)} entities: {missing}.\n", flush=True)
                self._opened[kind, shape] = None
        return self._opened[kind, shape]

    def _open(self, kind: Kind, shape: Shape) -> Opened:
        folder = prepared(shape, kind)
        settings = self._servers.settings(kind, folder)
        explorer = open_explorer(settings)
        self._stack.callback(explorer.close)
        memory = f", {memory_of(self._servers.neo4j(folder / 'neo4j'))}" if kind.graph_served else ""
        print(f"{kind.name}, {short(shape.entities)} entities: {explorer.store.version()}{memory}.\n", flush=True)
        return Opened(kind, built(shape, explorer.store, folder), explorer)


def names_of(stores: Sequence[Opened]) -> list[str]:
    """The kinds of these stores, each once."""
    return list(dict.fromkeys(opened.kind.name for opened in stores))
