"""Building the store of a synthetic graph, once: it is kept in `.bench/` and used again by the next run."""

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
from backend.stores.base import GraphWriter
from backend.stores.sqlite import schema
from backend.stores.sqlite.store import SqliteStore
from benchmarks.graphs import DATASET, Graph, Shape

T = TypeVar("T")
# The graphs are large: another folder may have more room.
FOLDER = Path(os.environ.get("BENCH_FOLDER", Path(__file__).parent.parent / ".bench"))
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


def built(shape: Shape) -> Built:
    """The store of a graph, built now unless it is there already."""
    folder = FOLDER / f"{shape.name}-{_schema_digest()}"
    if not (folder / "built.json").exists():
        _build(shape, folder)
    phases = orjson.loads((folder / "built.json").read_bytes())
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


def _build(shape: Shape, folder: Path) -> None:
    say(f"building {folder.name} …")
    make_folder(folder)
    store = SqliteStore(folder)
    phases: list[Phase] = []
    with run_job(store.jobs, "load", DATASET) as (job, _), store.writer(job.id) as writer:
        _write(Graph(shape), writer, phases)
        with _phase(phases, "commit", shape.entities + shape.relations):
            writer.commit(None)
    store.close()
    written = [{"kind": phase.kind, "rows": phase.rows, "seconds": phase.seconds} for phase in phases]
    (folder / "built.json").write_bytes(orjson.dumps(written))


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


def _schema_digest() -> str:
    return blake2b(f"{schema.TABLES}{schema.FULL_TEXT}".encode(), digest_size=4).hexdigest()
