"""Communities: finding them, reporting on them, and asking them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from backend.communities import leiden
from backend.communities.values import CommunityQuery
from backend.loading.communities import put_hierarchies, put_reports
from backend.loading.jobs import run_job
from backend.loading.vectors import VectorWriter
from backend.models import Scope
from backend.vectors.base import Vector
from benchmarks.build import say
from benchmarks.graphs import DATASET, Graph, Shape, short
from benchmarks.measure import quietest, settle, timed
from benchmarks.stores import Opened, names_of
from benchmarks.table import Comparison, Table

_ASKED = 60
_NAMELESS = ("what is this all about", "who trades with whom", "how are these connected", "which ones belong together")


def bench_leiden(shapes: Sequence[Shape]) -> Table:
    """How long the clustering itself takes."""
    table = Table("Hierarchical Leiden", ("entities", "relations", "communities", "levels", "s"))
    for shape in shapes:
        say(f"Leiden, {short(shape.relations)} relations …")
        edges = list(Graph(shape).pairs())
        began = perf_counter()
        clusters = leiden.hierarchy(edges)
        spent = perf_counter() - began
        levels = 1 + max(cluster.level for cluster in clusters)
        table.add(short(shape.entities), short(shape.relations), len(clusters), levels, spent)
    return table


def bench_communities(stores: Sequence[Opened], rounds: int) -> list[Table]:
    """Building communities in a store that holds the graph, and questions to them."""
    columns = ("store", "entities", "communities", "finding s", "reporting s")
    building = Table("Communities built in the store, reports without encoding", columns)
    keys = ("entities", "communities", "question", "scope", "asked")
    asking = Comparison("Community retrieval, warm", keys, ("median ms", "p95 ms"), names_of(stores))
    for opened in stores:
        seconds = _build(opened)
        count = len(opened.explorer.hierarchy())
        if seconds is not None:
            building.add(opened.kind.name, opened.size, count, *seconds)
        for key, queries in _questions(opened.graph).items():
            say(f"communities, {opened.kind.name}, {opened.size} entities, {', '.join(key)} …")
            calls = [partial(opened.explorer.communities, query) for query in queries]
            for call in calls:
                call()
            settle()
            times = quietest(partial(timed, calls), rounds, by=lambda timings: timings.p95)
            asking.add(opened.kind.name, (opened.size, count, *key, len(calls)), times.median, times.p95)
            say(f"  {times}")
    return [building, asking.table()]


def _questions(graph: Graph) -> dict[tuple[str, str], list[CommunityQuery]]:
    rng = np.random.default_rng((graph.shape.seed, 60))
    names = [graph.names[n] for n in rng.integers(graph.shape.hubs, graph.shape.entities, _ASKED).tolist()]
    named = [f"What does {name} have to do with {other}?" for name, other in zip(names, reversed(names), strict=True)]
    hubs = graph.names[: graph.shape.hubs]
    narrow = Scope(collections=("collection 3",))
    return {
        ("two names", "everything"): [CommunityQuery(text) for text in named],
        ("a hub's name", "everything"): [CommunityQuery(f"What is {name}?") for name in hubs],
        ("no name", "everything"): [CommunityQuery(text) for text in _NAMELESS],
        ("two names", "a tenth"): [CommunityQuery(text, scope=narrow) for text in named],
    }


def _build(opened: Opened) -> tuple[float, float] | None:
    """Seconds for finding and for reporting; None where the communities are there already."""
    explorer = opened.explorer
    if explorer.hierarchy():
        return None
    store = explorer.store
    began = perf_counter()
    with run_job(store.jobs, "index", None) as (job, ticker), store.writer(job.id) as writer:
        put_hierarchies(store, writer, [DATASET], ticker)
        writer.commit(None)
    found = perf_counter()
    with run_job(store.jobs, "index", None) as (job, ticker), store.writer(job.id) as writer:
        put_reports(store, writer, [DATASET], explorer.index_store(), ticker)
        reported = perf_counter()
        vectors = VectorWriter(
            writer,
            explorer.catalog().vector_collections,
            index=explorer.index_store,
            encoder=explorer.encoder,
            job_id=job.id,
            kinds=("report",),
        )
        vectors.encode_missing(ticker, known=_pseudo_random(explorer.encoder().dimension))
        writer.commit(None)
    return found - began, reported - found


def _pseudo_random(dimension: int) -> Callable[[str, Iterable[str]], Mapping[str, Vector]]:
    """Vectors as a writer of vectors takes them: encoding thousands of reports would only measure the encoder."""
    rng = np.random.default_rng(61)

    def known(kind: str, ids: Iterable[str]) -> Mapping[str, Vector]:
        found: dict[str, Vector] = {}
        for one in ids:
            vector = rng.standard_normal(dimension, dtype=np.float32)
            found[one] = vector / np.linalg.norm(vector)
        return found

    return known
