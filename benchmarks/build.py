"""Writing a synthetic graph into a store, once: it is kept in `.bench/` and used again by the next run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import orjson
from rich.console import Console

from backend.loading.jobs import run_job
from backend.stores.base import GraphStore, GraphWriter
from backend.stores.neo4j import schema as neo4j
from backend.stores.neo4j import statements
from backend.stores.sqlite import schema as sqlite
from benchmarks.graphs import DATASET, Graph, Shape
from benchmarks.servers import Kind, is_named

T = TypeVar("T")
# The graphs are large: another folder may have more room.
FOLDER = Path(os.environ.get("BENCH_FOLDER", Path(__file__).parent.parent / ".bench"))
_BUILT = "built.json"
_BATCH = 2_000
_console = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a build: what was written, how many rows, in how many seconds."""

    kind: str
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Built:
    """A stored graph and how long it took to write."""

    graph: Graph
    folder: Path
    phases: tuple[Phase, ...]


def prepared(shape: Shape, kind: Kind) -> Path:
    """The folder for a graph in a kind of store, emptied unless the whole graph is in it."""
    place = f"neo4j-{_digest(*_neo4j_schema())}" if kind.graph_served else f"sqlite-{_digest(*_sqlite_schema())}"
    folder = FOLDER / f"{shape.name}-{place}"
    if not (folder / _BUILT).exists() or (kind.graph_served and is_named()):
        make_folder(folder)
    return folder


def built(shape: Shape, store: GraphStore, folder: Path) -> Built:
    """The graph in a store, written now unless its folder says that it is there already."""
    if not (folder / _BUILT).exists():
        _build(shape, store, folder)
    phases = orjson.loads((folder / _BUILT).read_bytes())
    return Built(Graph(shape), folder, tuple(Phase(**phase) for phase in phases))


def say(text: str) -> None:
    """Tells whoever waits what is going on; apart from the tables, which are the output."""
    _console.print(f"[dim]{text}[/dim]", highlight=False)


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """The rows in lists of `size`, the last one shorter."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def make_folder(folder: Path) -> None:
    """An empty folder that git does not see."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (FOLDER / ".gitignore").write_text("*\n", encoding="utf-8")


def _build(shape: Shape, store: GraphStore, folder: Path) -> None:
    say(f"building {folder.name} …")
    phases: list[Phase] = []
    with run_job(store.jobs, "load", DATASET) as (job, _), store.writer(job.id) as writer:
        _write(Graph(shape), writer, phases)
        with _phase(phases, "commit", shape.entities + shape.relations):
            writer.commit(None)
    written = [{"kind": phase.kind, "rows": phase.rows, "seconds": phase.seconds} for phase in phases]
    (folder / _BUILT).write_bytes(orjson.dumps(written))


def _write(graph: Graph, writer: GraphWriter, phases: list[Phase]) -> None:
    _put(phases, "entities", graph.entities(), lambda rows: writer.put_entities(DATASET, rows))
    _put(phases, "versions", graph.versions(), lambda rows: writer.put_versions(DATASET, rows))
    _write_passages(graph, writer, phases)
    _put(phases, "relations", graph.relations(), lambda rows: writer.put_relations(DATASET, rows))


def _put(phases: list[Phase], kind: str, rows: Iterable[T], put: Callable[[list[T]], None]) -> None:
    count, spent = 0, 0.0
    for batch in batched(rows, _BATCH):
        began = perf_counter()
        put(batch)
        spent += perf_counter() - began
        count += len(batch)
    _note(phases, Phase(kind, count, spent))


def _write_passages(graph: Graph, writer: GraphWriter, phases: list[Phase]) -> None:
    counts, spent = [0, 0], [0.0, 0.0]
    for passages, mentions in graph.passages_with_mentions(_BATCH):
        began = perf_counter()
        writer.put_passages(DATASET, passages)
        between = perf_counter()
        writer.put_mentions(mentions)
        spent = [spent[0] + between - began, spent[1] + perf_counter() - between]
        counts = [counts[0] + len(passages), counts[1] + len(mentions)]
    _note(phases, Phase("passages", counts[0], spent[0]))
    _note(phases, Phase("mentions", counts[1], spent[1]))


@contextmanager
def _phase(phases: list[Phase], kind: str, rows: int) -> Iterator[None]:
    began = perf_counter()
    yield
    _note(phases, Phase(kind, rows, perf_counter() - began))


def _note(phases: list[Phase], phase: Phase) -> None:
    phases.append(phase)
    say(f"  {phase.kind}: {phase.rows:,} rows in {phase.seconds:.1f} s")


def _sqlite_schema() -> list[str]:
    return [str(sqlite.SCHEMA_VERSION), sqlite.TABLES, *sqlite.FULL_TEXT.values()]


def _neo4j_schema() -> list[str]:
    """Every statement that gives the graph its form in Neo4j."""
    created = [text for name, text in vars(statements).items() if name.startswith("CREATE_")]
    indexes = [index.statement for index in (*neo4j.INDEXES, neo4j.NAMES, neo4j.PASSAGES)]
    return [str(neo4j.SCHEMA_VERSION), *indexes, *created]


def _digest(*parts: str) -> str:
    return blake2b("".join(parts).encode(), digest_size=4).hexdigest()
