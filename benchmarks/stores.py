"""The stores that the benchmarks read: which sizes there are, and one of them opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backend.explorer import Explorer, open_explorer
from backend.settings import Settings
from benchmarks.build import Built, built
from benchmarks.graphs import Graph, Shape, short

SIZES = {
    "10k": Shape(entities=10_000, relations=100_000, hub_relations=10_000),
    "100k": Shape(entities=100_000, relations=1_000_000, hub_relations=100_000),
    "1m": Shape(entities=1_000_000, relations=2_000_000, hub_relations=100_000),
}
MANY_LABELS = Shape(entities=100_000, relations=200_000, hub_relations=10_000, labels=300)


@dataclass(frozen=True, slots=True)
class Opened:
    """A built store with an explorer on it."""

    built: Built
    explorer: Explorer

    @property
    def graph(self) -> Graph:
        return self.built.graph

    @property
    def size(self) -> str:
        return short(self.graph.shape.entities)


@contextmanager
def opened(shape: Shape) -> Iterator[Opened]:
    """An explorer on the store of a shape, which is built where it is not there yet."""
    stored = built(shape)
    explorer = open_explorer(Settings(home=stored.folder))
    try:
        yield Opened(stored, explorer)
    finally:
        explorer.close()
