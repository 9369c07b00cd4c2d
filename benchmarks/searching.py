"""Entity search: by mode and scope at each size, by kind of query, and with very many labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count

from backend.explorer import Explorer
from backend.models import EVERYTHING, Condition, EntityQuery, Mode, Scope
from benchmarks.build import say
from benchmarks.graphs import Graph, short
from benchmarks.measure import Timings, settle, timed
from benchmarks.queries import mixed_queries
from benchmarks.stores import Opened
from benchmarks.table import Table

_WARMING = 15
_rounds = count()
SCOPES = {
    "none": EVERYTHING,
    "one collection of ten": Scope(collections=("collection 3",)),
    "year >= 2015": Scope(conditions=(Condition("year", ">=", ("2015",)),)),
}


def search_times(explorer: Explorer, graph: Graph, mode: Mode, scope: Scope) -> dict[str, Timings]:
    """The times of warm searches by kind of query: others of the same kinds are asked first.

    The encoder keeps what it has encoded, so each round asks what nobody has asked before.
    """
    for asked in mixed_queries(graph, next(_rounds), _WARMING):
        explorer.search(EntityQuery(asked.text, mode=mode, scope=scope))
    settle()
    found: dict[str, Timings] = {}
    for asked in mixed_queries(graph, next(_rounds)):
        query = EntityQuery(asked.text, mode=mode, scope=scope)
        found.setdefault(asked.kind, Timings()).extend(timed([partial(explorer.search, query)]))
    return found


def bench_search(stores: Sequence[Opened]) -> list[Table]:
    """Search by size, mode and scope; only by name where a graph has no vectors."""
    table = Table("Entity search, warm", ("entities", "mode", "scope", "queries", "median ms", "p95 ms", "cpu p95 ms"))
    kinds = Table("Lexical search by kind of query, no scope", ("entities", "query", "queries", "median ms", "p95 ms"))
    medians: dict[Mode, list[float]] = {}
    for opened in stores:
        for mode in _modes(opened.explorer):
            for name, scope in SCOPES.items():
                say(f"search, {opened.size} entities, {mode}, scope {name} …")
                by_kind = search_times(opened.explorer, opened.graph, mode, scope)
                times = together(by_kind)
                table.add(opened.size, mode, name, len(times.wall), times.median, times.p95, times.processor_p95)
                if scope == EVERYTHING:
                    medians.setdefault(mode, []).append(times.median)
                if mode is Mode.LEXICAL and scope == EVERYTHING:
                    for kind, own in by_kind.items():
                        kinds.add(opened.size, kind, len(own.wall), own.median, own.p95)
    table.notes.append("With a meaning to search for, the query's encoding is part of the time.")
    table.notes.append(_growth(stores, medians))
    return [table, kinds]


def bench_labels(opened: Opened) -> Table:
    """Search in a graph with hundreds of labels."""
    shape = opened.graph.shape
    table = Table(f"Entity search with {shape.labels} labels", ("entities", "mode", "queries", "median ms", "p95 ms"))
    for mode in _modes(opened.explorer):
        times = together(search_times(opened.explorer, opened.graph, mode, EVERYTHING))
        table.add(short(shape.entities), mode, len(times.wall), times.median, times.p95)
    return table


def together(by_kind: dict[str, Timings]) -> Timings:
    """All timings as one."""
    whole = Timings()
    for timings in by_kind.values():
        whole.extend(timings)
    return whole


def _modes(explorer: Explorer) -> tuple[Mode, ...]:
    return tuple(Mode) if explorer.catalog().vector_collections else (Mode.LEXICAL,)


def _growth(stores: Sequence[Opened], medians: dict[Mode, list[float]]) -> str:
    """How much longer the largest graph takes than the smallest; the stores come in the order of their size."""
    grown = ", ".join(
        f"{mode} {stores[len(values) - 1].size} {values[-1] / values[0]:.1f}×" for mode, values in medians.items()
    )
    return f"Medians without a scope, against {stores[0].size} entities: {grown}."
