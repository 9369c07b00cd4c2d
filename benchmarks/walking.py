"""Walks of one and two steps: from ordinary entities, from hubs, and from entities next to hubs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from backend.errors import Unavailable
from backend.explorer import Explorer
from backend.models import WalkQuery
from benchmarks.build import say
from benchmarks.graphs import Graph, short
from benchmarks.measure import quietest, settle, timed
from benchmarks.stores import Opened, names_of
from benchmarks.table import Comparison, Table

_STARTS = 100
_HUB_ROUNDS = 20


def starts(graph: Graph) -> dict[str, list[str]]:
    """Ids to walk from, by what is around them."""
    rng = np.random.default_rng((graph.shape.seed, 30))
    degrees, near = graph.degrees(), graph.near_hubs()
    hubs = np.arange(graph.shape.hubs)
    ordinary = np.flatnonzero(~near & (degrees > 0))
    beside = np.flatnonzero(near & (np.arange(len(near)) >= graph.shape.hubs))
    chosen = {
        "ordinary": rng.choice(ordinary, _STARTS),
        "beside a hub": rng.choice(beside, _STARTS),
        "hub": np.tile(hubs, _HUB_ROUNDS),
    }
    return {kind: [graph.entity_ids[n] for n in numbers.tolist()] for kind, numbers in chosen.items()}


def bench_walk(stores: Sequence[Opened], rounds: int) -> Table:
    """Walks by size, start and depth, which where the vectors are is all the same to."""
    stores = [opened for opened in stores if not opened.kind.vectors_served]
    keys = ("relations", "start", "depth", "walks", "nodes", "edges")
    table = Comparison("Walk with the default bounds, warm", keys, ("median ms", "p95 ms"), names_of(stores))
    for opened in stores:
        for kind, ids in starts(opened.graph).items():
            there = [entity_id for entity_id in ids if _exists(opened.explorer, entity_id)]
            for depth in (1, 2):
                say(f"walk, {opened.kind.name}, {opened.size} entities, {kind}, depth {depth} …")
                calls = [partial(opened.explorer.walk, WalkQuery(entity_id, depth=depth)) for entity_id in there]
                walks = [call() for call in calls]  # warm, and what they reach
                settle()
                times = quietest(partial(timed, calls), rounds, by=lambda timings: timings.p95)
                nodes = sum(len(walk.nodes) for walk in walks) / len(walks)
                edges = sum(len(walk.edges) for walk in walks) / len(walks)
                key = (short(opened.graph.shape.relations), kind, depth, len(walks), nodes, edges)
                table.add(opened.kind.name, key, times.median, times.p95)
                say(f"  {times}")
    table.notes.append(_hubs(stores))
    return table.table()


def _hubs(stores: Sequence[Opened]) -> str:
    shapes = dict.fromkeys(opened.graph.shape for opened in stores)
    sizes = "; ".join(f"{short(shape.relations)}: {shape.hubs} hubs of {shape.hub_relations:,}" for shape in shapes)
    return f"Relations of the hubs: {sizes}."


def _exists(explorer: Explorer, entity_id: str) -> bool:
    try:
        explorer.walk(WalkQuery(entity_id, support_limit=0))
    except Unavailable:
        return False
    return True
