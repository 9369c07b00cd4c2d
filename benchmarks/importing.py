"""Importing the output of another tool: how long its rows take from the files into a store, nothing encoded."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq

from backend.communities import leiden
from backend.explorer import open_explorer
from backend.loading.formats import recognise
from backend.loading.issues import Issues
from backend.loading.load import LoadRequest, load
from backend.loading.rows import EntityRow
from backend.settings import Settings
from benchmarks.build import FOLDER, make_folder, say
from benchmarks.graphs import Graph, Shape, short
from benchmarks.loading import GivenVectors, NoIndex
from benchmarks.table import Table

_BATCH = 2_000


def bench_import(shape: Shape) -> Table:
    """A GraphRAG index of a shape, with communities and reports: reading it, and loading it whole."""
    folder = _index(shape)
    table = Table("Importing a GraphRAG index, nothing encoded", ("entities", "rows", "part", "s", "s per 10,000 rows"))
    say(f"importing {folder.name} …")
    began = perf_counter()
    read = sum(1 for _ in recognise(folder).rows(EntityRow, Issues()))
    reading = perf_counter() - began
    assert read >= shape.entities
    encoder, index = GivenVectors(), NoIndex()
    with TemporaryDirectory(dir=FOLDER) as home:
        explorer = open_explorer(Settings(home=Path(home)))
        began = perf_counter()
        report = load(
            explorer.store, LoadRequest(folder, "import"), index=lambda: index, encoder=lambda: encoder, kinds=()
        )
        loading = perf_counter() - began
        explorer.close()
    rows = sum(report.kept.values())
    for part, seconds in (("reading the tables", reading), ("the whole load", loading)):
        table.add(short(shape.entities), rows, part, seconds, seconds * 10_000 / rows)
    return table


def _index(shape: Shape) -> Path:
    """The folder of an index with the rows of a shape, written unless it is there."""
    folder = FOLDER / f"graphrag-{shape.name}"
    if not (folder / "community_reports.parquet").exists():
        say(f"writing {folder.name} …")
        make_folder(folder)
        _write(Graph(shape), folder)
    return folder


def _write(graph: Graph, folder: Path) -> None:
    titles = {entity.id: f"{entity.name} {n}" for n, entity in enumerate(graph.entities())}
    units: dict[str, tuple[str, str]] = {}
    mentioned: dict[str, list[str]] = defaultdict(list)
    for passages, mentions in graph.passages_with_mentions(_BATCH):
        for passage in passages:
            if passage.version_key.endswith("-new"):
                units[passage.id] = (passage.text, passage.version_key.partition("-")[0])
        for mention in mentions:
            if mention.passage_id in units:
                mentioned[mention.entity_id].append(mention.passage_id)
    relations = list(graph.relations())
    clusters = leiden.hierarchy(graph.pairs())
    documents = sorted({document for _, document in units.values()})
    numbers = range(len(clusters))
    tables: dict[str, dict[str, list[object]]] = {
        "entities": {
            "id": list(titles),
            "human_readable_id": list(range(len(titles))),
            "title": list(titles.values()),
            "type": ["THING"] * len(titles),
            "description": ["A thing."] * len(titles),
            "text_unit_ids": [mentioned[one] for one in titles],
        },
        "relationships": {
            "id": [one.id for one in relations],
            "human_readable_id": list(range(len(relations))),
            "source": [titles[one.source] for one in relations],
            "target": [titles[one.target] for one in relations],
            "description": [one.type for one in relations],
            "weight": [1.0] * len(relations),
            "text_unit_ids": [[p for p in one.passage_ids if p in units] for one in relations],
        },
        "text_units": {
            "id": list(units),
            "text": [text for text, _ in units.values()],
            "document_id": [document for _, document in units.values()],
        },
        "documents": {
            "id": list(documents),
            "title": [f"{one}.txt" for one in documents],
            "text": [""] * len(documents),
        },
        "communities": {
            "id": [f"c{n}" for n in numbers],
            "community": list(numbers),
            "level": [one.level for one in clusters],
            "parent": [-1 if one.parent is None else one.parent for one in clusters],
            "title": [f"Community {n}" for n in numbers],
            "entity_ids": [list(one.members) for one in clusters],
        },
        "community_reports": {
            "id": [f"r{n}" for n in numbers],
            "community": list(numbers),
            "title": [f"Group {n}" for n in numbers],
            "summary": [f"As is told [Data: Entities ({n}, {n + 1}); Relationships ({n})]." for n in numbers],
            "full_content": ["A group."] * len(clusters),
            "rank": [5.0] * len(clusters),
        },
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
