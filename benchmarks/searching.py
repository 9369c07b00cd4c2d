"""Entity search: by mode and scope at each size, by kind of query, and with very many labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count

from backend.explorer import Explorer
from backend.models import EVERYTHING, Condition, EntityQuery, Mode, Scope
from benchmarks.build import say
from benchmarks.graphs import Graph
from benchmarks.measure import Timings, quietest, settle, timed
from benchmarks.queries import mixed_queries
from benchmarks.stores import MANY_LABELS, Opened, names_of
from benchmarks.table import Comparison, Table

_WARMING = 15
_TIMES = ("median ms", "p95 ms")
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


def bench_search(stores: Sequence[Opened], rounds: int) -> list[Table]:
    """Search by size, mode and scope; only by name where a graph has no vectors."""
    names = names_of(stores)
    table = Comparison("Entity search, warm", ("entities", "mode", "scope", "queries"), _TIMES, names)
    kinds = Comparison("Lexical search by kind of query, no scope", ("entities", "query", "queries"), _TIMES, names)
    for opened in stores:
        for mode in _modes(opened.explorer):
            for name, scope in SCOPES.items():
                say(f"search, {opened.kind.name}, {opened.size} entities, {mode}, scope {name} …")
                by_kind = _quietest(opened, mode, scope, rounds)
                times = together(by_kind)
                key = (opened.size, mode, name, len(times.wall))
                table.add(opened.kind.name, key, times.median, times.p95)
                say(f"  {times}")
                if mode is Mode.LEXICAL and scope == EVERYTHING:
                    for kind, own in by_kind.items():
                        kinds.add(opened.kind.name, (opened.size, kind, len(own.wall)), own.median, own.p95)
    table.notes.append("With a meaning to search for, the query's encoding is part of the time.")
    return [table.table(), kinds.table()]


def bench_labels(stores: Sequence[Opened], rounds: int) -> Table:
    """Search in a graph with hundreds of labels."""
    keys = ("entities", "mode", "queries")
    table = Comparison(f"Entity search with {MANY_LABELS.labels} labels", keys, _TIMES, names_of(stores))
    for opened in stores:
        for mode in _modes(opened.explorer):
            times = together(_quietest(opened, mode, EVERYTHING, rounds))
            table.add(opened.kind.name, (opened.size, mode, len(times.wall)), times.median, times.p95)
    return table.table()


def _quietest(opened: Opened, mode: Mode, scope: Scope, rounds: int) -> dict[str, Timings]:
    search = partial(search_times, opened.explorer, opened.graph, mode, scope)
    return quietest(search, rounds, by=lambda by_kind: together(by_kind).p95)


def together(by_kind: dict[str, Timings]) -> Timings:
    """All timings as one."""
    whole = Timings()
    for timings in by_kind.values():
        whole.extend(timings)
    return whole


def _modes(explorer: Explorer) -> tuple[Mode, ...]:
    return tuple(Mode) if explorer.catalog().vector_collections else (Mode.LEXICAL,)
