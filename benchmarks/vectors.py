"""Vectors of a synthetic graph: seeded and pseudo-random, with neighbours planted around entities and around queries.

The encoder would need hours for a million names, so only queries are really encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import orjson

from backend.explorer import Explorer
from backend.loading.jobs import run_job
from backend.models import VectorCollection
from backend.vectors.base import Vectors
from benchmarks.build import Phase, batched, say
from benchmarks.graphs import DATASET, Graph
from benchmarks.queries import mixed_queries
from benchmarks.stores import Opened

_BATCH = 5_000
# Entities with numbers next to each other are about one thing.
_GROUP = 8
_PER_QUERY = 10


def place_vectors(opened: Opened) -> Phase:
    """Writes the vectors of a graph into the vector store, unless they are there, and how long that took."""
    place = opened.explorer.settings.vectors_place
    noted = opened.built.folder / f"{place.name if isinstance(place, Path) else 'vectors-served'}.json"
    if not noted.exists():
        phase = _place(opened.graph, opened.explorer)
        noted.write_bytes(orjson.dumps({"kind": phase.kind, "rows": phase.rows, "seconds": phase.seconds}))
    return Phase(**orjson.loads(noted.read_bytes()))


def entity_vectors(graph: Graph, queries: Vectors) -> Iterator[Vectors]:
    """The vectors of all entities in batches: each group around a point of its own, some around the queries."""
    rng = np.random.default_rng((graph.shape.seed, 40))
    size, dimension = graph.shape.entities, queries.shape[1]
    planted = dict(zip(rng.permutation(size)[: len(queries) * _PER_QUERY].tolist(), np.arange(size), strict=False))
    centre = np.empty((0, dimension), dtype=np.float32)
    for numbers in batched(range(size), _BATCH):
        count = len(numbers)
        centre = rng.standard_normal((count // _GROUP + 1, dimension), dtype=np.float32)
        vectors = np.repeat(centre, _GROUP, axis=0)[:count] + rng.standard_normal((count, dimension), dtype=np.float32)
        for place, number in enumerate(numbers):
            if number in planted:
                # As long as the noise, so that the cosine to the query is about 0.7.
                vectors[place] = queries[planted[number] % len(queries)] * dimension**0.5 + vectors[place] / 2**0.5
        yield vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _place(graph: Graph, explorer: Explorer) -> Phase:
    """A graph that two kinds of vector stores share has the name of its collection already from the first of them."""
    for collection in explorer.catalog().vector_collections:
        return _write(graph, explorer, collection.name)
    with run_job(explorer.store.jobs, "index", DATASET) as (job, _), explorer.store.writer(job.id) as writer:
        phase = _write(graph, explorer, f"entity-{job.id}")
        collection = VectorCollection(f"entity-{job.id}", "entity", job.id, phase.rows, explorer.encoder().name)
        writer.place_vectors(collection, graph.entity_ids)
        writer.commit(None)
    return phase


def _write(graph: Graph, explorer: Explorer, name: str) -> Phase:
    encoder, index = explorer.encoder(), explorer.index_store()
    queries = encoder.encode([asked.text for asked in mixed_queries(graph)])
    ids, labels = graph.entity_ids, [f"Kind {label}" for label in graph.labels.tolist()]
    spent, done = 0.0, 0
    index.create(name, kind="entity", encoder=encoder.name, dimension=encoder.dimension)
    for vectors in entity_vectors(graph, queries):
        part = slice(done, done + len(vectors))
        began = perf_counter()
        index.add(name, ids[part], labels[part], vectors)
        spent += perf_counter() - began
        done += len(vectors)
        if done % (10 * _BATCH) == 0:
            say(f"  vectors: {done:,} of {len(ids):,}, {done / spent:,.0f} a second")
    began = perf_counter()
    index.seal(name)
    return Phase("vectors", done, spent + perf_counter() - began)
