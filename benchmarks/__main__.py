"""`python -m benchmarks`: builds what it needs, measures, and prints the tables as they come."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from benchmarks.asking import bench_ask
from benchmarks.communities import bench_communities, bench_leiden
from benchmarks.graphs import Shape
from benchmarks.importing import bench_import
from benchmarks.loading import bench_load, bench_rates
from benchmarks.machine import machine
from benchmarks.measure import busyness, memory_mb
from benchmarks.painting import bench_first_page, bench_paint
from benchmarks.searching import bench_labels, bench_search
from benchmarks.servers import KINDS, Kind
from benchmarks.starting import bench_commands
from benchmarks.stores import ASKED, EXTRACTED, MANY_LABELS, SIZES, Opened, Shelf
from benchmarks.table import Table
from benchmarks.vectors import place_vectors
from benchmarks.walking import bench_walk

# Larger graphs keep to lexical search unless asked: inserting a million vectors takes hours.
_MOST_VECTORS = 100_000


def main() -> None:
    arguments = _arguments()
    print(f"{machine()}\n\nAt the start: {busyness()}.\n", flush=True)
    with ExitStack() as stack:
        shelf = Shelf(stack, arguments.stores)
        for name, part in _parts(shelf, arguments).items():
            if name in arguments.only:
                for table in part():
                    print(table.markdown(), flush=True)
                print(f"Memory of this process after `{name}`: {memory_mb():,.0f} MB.\n", flush=True)
    print(f"At the end: {busyness()}.", flush=True)


_NAMES = ("load", "rates", "search", "labels", "ask", "walk", "communities", "commands", "page", "paint")


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks", description="Measures the bars of the design.")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["10k", "100k"], help="entities")
    parser.add_argument(
        "--stores",
        type=_kinds,
        default="sqlite,sqlite+chroma-server,neo4j",
        help=f"with commas between them: {', '.join(KINDS)}; a server is started unless ATTEST_TEST_NEO4J names one",
    )
    parser.add_argument("--only", nargs="+", choices=_NAMES, default=_NAMES, metavar="NAME", help=", ".join(_NAMES))
    parser.add_argument("--rounds", type=int, default=1, help="how often to measure; the quietest round is shown")
    parser.add_argument("--most-vectors", type=int, default=_MOST_VECTORS, help="larger graphs get no vectors")
    return parser.parse_args()


def _kinds(names: str) -> list[Kind]:
    return [KINDS[name] for name in names.split(",")]


def _parts(shelf: Shelf, arguments: Namespace) -> dict[str, Callable[[], Iterable[Table]]]:
    """The benchmarks by name; pages are measured on the largest graph with vectors in the first kind of store."""
    shapes = [SIZES[size] for size in arguments.sizes]
    small = [shape for shape in shapes if shape.entities <= arguments.most_vectors]
    rounds = arguments.rounds

    def with_vectors(shapes: Sequence[Shape]) -> list[Opened]:
        stores = shelf.stores(shapes)
        for opened in stores:
            if opened.graph.shape.entities <= arguments.most_vectors:
                place_vectors(opened)
        return stores

    def shown() -> list[Opened]:
        return with_vectors((small or shapes)[-1:])[:1]

    return {
        "load": lambda: bench_load(arguments.stores, small),
        "rates": lambda: bench_rates(shelf.stores(small)),
        "search": lambda: bench_search(with_vectors(shapes), rounds),
        "labels": lambda: [bench_labels(with_vectors([MANY_LABELS]), rounds)],
        "ask": lambda: [bench_ask(shelf.stores([ASKED]), rounds)],
        "walk": lambda: [bench_walk(shelf.stores(shapes), rounds)],
        "communities": lambda: [
            bench_import(EXTRACTED),
            bench_leiden(shapes),
            *bench_communities(with_vectors(small), rounds),
        ],
        "commands": lambda: [bench_commands(shelf.stores(shapes))],
        "page": lambda: map(bench_first_page, shown()),
        "paint": lambda: map(bench_paint, shown()),
    }


if __name__ == "__main__":
    main()
