"""Finding evidence: the time of the default traversal and of the guided walk, among a hundred thousand passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count

import numpy as np

from backend.explorer import Explorer
from backend.identity import stable_id
from backend.loading.jobs import run_job
from backend.loading.vectors import Known, VectorWriter
from backend.questions import Question
from backend.vectors.base import Vector
from benchmarks.build import say
from benchmarks.graphs import DATASET, Graph
from benchmarks.measure import Timings, processor_ms, quietest, settle, timed
from benchmarks.stores import Opened, names_of
from benchmarks.table import Comparison, Table

STRATEGIES = ("traversal", "guided-walk")
_EACH, _WARMING = 40, 10
_PER_QUESTION = 10
# Neither strategy looks into the index of topics.
_KINDS = ("entity", "chunk", "statement")
_rounds = count()


def questions(graph: Graph, number: int, each: int = _EACH) -> list[str]:
    """Questions with one name, with two, with a hub's, and with none; another list for each number."""
    rng = np.random.default_rng((graph.shape.seed, 50, number))
    words = graph.vocabulary.words
    names = [graph.names[n] for n in rng.integers(0, graph.shape.entities, 3 * each).tolist()]
    told = [[words[n] for n in row] for row in rng.integers(0, 2_000, (4 * each, 3)).tolist()]
    hubs = [graph.names[n % graph.shape.hubs] for n in range(each // 4)]
    return [
        *(f"When was the {' '.join(said[:2])} of {name}?" for name, said in zip(names[:each], told, strict=False)),
        *(
            f"Which {said[0]} had both {one} and {other}?"
            for one, other, said in zip(names[each : 2 * each], names[2 * each :], told[each:], strict=False)
        ),
        *(f"Who has the {' '.join(said)} of {name}?" for name, said in zip(hubs, told[2 * each :], strict=False)),
        *(f"What became of the {' '.join(said)}?" for said in told[3 * each : 3 * each + each // 2]),
    ]


def bench_ask(stores: Sequence[Opened], rounds: int) -> Table:
    """The evidence for questions that nobody has asked before, with the encoding of each."""
    stores = [opened for opened in stores if not opened.kind.vectors_served]
    keys = ("passages", "strategy", "questions", "queries")
    table = Comparison("Evidence, warm", keys, ("median ms", "p95 ms", "processor ms"), names_of(stores))
    for opened in stores:
        place_all_vectors(opened)
        for strategy in STRATEGIES:
            say(f"ask, {opened.kind.name}, {opened.graph.passages:,} passages, {strategy} …")
            measured = partial(_measured, opened.explorer, opened.graph, strategy)
            times, processor, queries = quietest(measured, rounds, by=lambda one: one[0].p95)
            table.add(
                opened.kind.name,
                (f"{opened.graph.passages:,}", strategy, len(times.wall), queries),
                times.median,
                times.p95,
                processor,
            )
            say(f"  {times}, processor {processor:.1f} ms")
    table.notes.append("Of the processor's time all threads are counted; the encoder and Chroma use both cores.")
    return table.table()


def _measured(explorer: Explorer, graph: Graph, strategy: str) -> tuple[Timings, float, float]:
    """Times, processor time of one question, and queries of the graph for one."""
    for text in questions(graph, 1_000 + next(_rounds), _WARMING):
        explorer.retrieve(Question(text, strategy))
    settle()
    calls = [partial(explorer.retrieve, Question(text, strategy)) for text in questions(graph, next(_rounds))]
    before, reads = processor_ms(), explorer.store.reads
    times = timed(calls)
    return times, (processor_ms() - before) / len(calls), (explorer.store.reads - reads) / len(calls)


def place_all_vectors(opened: Opened) -> None:
    """Gives every name, passage and statement a pseudo-random vector, where they have none.

    Some passages lie around questions, so that their nearest are a group of their own, as they are in real text.
    """
    explorer, graph = opened.explorer, opened.graph
    asked = [text for number in range(2 * len(STRATEGIES)) for text in questions(graph, number)]
    vectors = explorer.encoder().encode(asked)
    rng = np.random.default_rng((graph.shape.seed, 51))
    places = rng.permutation(graph.current_passages)[: _PER_QUESTION * len(asked)].tolist()
    planted = {
        stable_id("passage", DATASET, f"p{place}"): vectors[n // _PER_QUESTION] for n, place in enumerate(places)
    }

    def known(_: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        drawn = np.stack([_drawn(one) for one in ids])
        for row, one in enumerate(ids):
            if one in planted:
                # As long as the noise, so that the cosine to the question is about 0.7.
                drawn[row] += planted[one] * drawn.shape[1] ** 0.5
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return dict(zip(ids, drawn, strict=True))

    def _drawn(one: str) -> Vector:
        return np.random.default_rng(int(one[:8], 16)).standard_normal(vectors.shape[1], dtype=np.float32)

    there = {collection.kind for collection in explorer.catalog().vector_collections}
    for kind in _KINDS:
        if kind not in there:
            _place(explorer, kind, known)


def _place(explorer: Explorer, kind: str, known: Known) -> None:
    """A job for each kind, so that a build that is broken off goes on where it was."""
    say(f"writing vectors: {kind} …")
    with run_job(explorer.store.jobs, "index", DATASET) as (job, ticker), explorer.store.writer(job.id) as writer:
        VectorWriter(
            writer,
            explorer.catalog().vector_collections,
            index=explorer.index_store,
            encoder=explorer.encoder,
            job_id=job.id,
            kinds=(kind,),
        ).encode_missing(ticker, known=known)
        writer.commit(None)
