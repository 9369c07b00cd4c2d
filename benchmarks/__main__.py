"""`python -m benchmarks`: builds what it needs, measures, and prints the tables as they come."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from benchmarks.loading import bench_load, bench_rates
from benchmarks.machine import machine
from benchmarks.measure import busyness, memory_mb
from benchmarks.painting import bench_first_page, bench_paint
from benchmarks.searching import bench_labels, bench_search
from benchmarks.starting import bench_commands
from benchmarks.stores import MANY_LABELS, SIZES, Opened, opened
from benchmarks.table import Table
from benchmarks.vectors import place_vectors
from benchmarks.walking import bench_walk

# Larger graphs keep to lexical search unless asked: inserting a million vectors takes hours.
_MOST_VECTORS = 100_000


def main() -> None:
    arguments = _arguments()
    print(f"{machine()}\n\nAt the start: {busyness()}.\n", flush=True)
    with ExitStack() as stack:
        stores = [stack.enter_context(opened(SIZES[size])) for size in arguments.sizes]
        for name, part in _parts(stack, stores, most_vectors=arguments.most_vectors).items():
            if name in arguments.only:
                for table in part():
                    print(table.markdown(), flush=True)
                print(f"Memory of this process after `{name}`: {memory_mb():,.0f} MB.\n", flush=True)
    print(f"At the end: {busyness()}.", flush=True)


_NAMES = ("load", "rates", "search", "labels", "walk", "commands", "page", "paint")


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks", description="Measures the bars of the design.")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["10k", "100k"], help="entities")
    parser.add_argument("--only", nargs="+", choices=_NAMES, default=_NAMES, metavar="NAME", help=", ".join(_NAMES))
    parser.add_argument("--most-vectors", type=int, default=_MOST_VECTORS, help="larger graphs get no vectors")
    return parser.parse_args()


def _parts(
    stack: ExitStack, stores: Sequence[Opened], *, most_vectors: int
) -> dict[str, Callable[[], Iterable[Table]]]:
    """The benchmarks by name; pages are measured on the largest graph that has vectors."""
    small = [store for store in stores if store.graph.shape.entities <= most_vectors]
    shown = (small or stores)[-1]

    def search() -> list[Table]:
        for store in small:
            place_vectors(store.built, store.explorer)
        return bench_search(stores)

    def labels() -> list[Table]:
        store = stack.enter_context(opened(MANY_LABELS))
        place_vectors(store.built, store.explorer)
        return [bench_labels(store)]

    return {
        "load": lambda: bench_load([store.graph.shape for store in small]),
        "rates": lambda: bench_rates([(s.built, place_vectors(s.built, s.explorer)) for s in small]),
        "search": search,
        "labels": labels,
        "walk": lambda: [bench_walk(stores)],
        "commands": lambda: [bench_commands(stores[-1])],
        "page": lambda: [bench_first_page(shown)],
        "paint": lambda: [bench_paint(shown)],
    }


if __name__ == "__main__":
    main()
