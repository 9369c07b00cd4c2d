"""The rows of a synthetic graph as a bundle, for the real loader."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.build import FOLDER, make_folder, say
from benchmarks.graphs import Graph, Shape

_BATCH = 2_000


def bundle(shape: Shape) -> Path:
    """The folder of a bundle with the rows of a shape (superseded versions left out), written unless it is there."""
    folder = FOLDER / f"bundle-{shape.name}"
    if not (folder / "relations.jsonl").exists():
        say(f"writing {folder.name} …")
        make_folder(folder)
        _write(Graph(shape), folder)
    return folder


def rows_of(folder: Path) -> int:
    """How many rows a bundle has."""
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("*.jsonl"))


def _write(graph: Graph, folder: Path) -> None:
    entities = {entity_id: f"e{n}" for n, entity_id in enumerate(graph.entity_ids)}
    documents = (version for version in graph.versions() if version.version_key.endswith("-new"))
    _lines(
        folder / "entities.jsonl",
        ({"id": e.source_id, "name": e.name, "type": e.label, "aliases": e.aliases} for e in graph.entities()),
    )
    _lines(
        folder / "documents.jsonl",
        ({"id": d.source_id, "title": d.title, "collection": d.collection, **d.metadata} for d in documents),
    )
    passages: dict[str, str] = {}
    with (folder / "passages.jsonl").open("wb") as texts, (folder / "mentions.jsonl").open("wb") as mentions:
        for new_passages, new_mentions in graph.passages_with_mentions(_BATCH):
            for p in new_passages:
                if p.version_key.endswith("-new"):
                    passages[p.id] = p.source_id
                    document = p.version_key.partition("-")[0]
                    texts.write(_line({"id": p.source_id, "document_id": document, "text": p.text}))
            for m in new_mentions:
                if m.passage_id in passages:
                    place = {"entity_id": entities[m.entity_id], "passage_id": passages[m.passage_id]}
                    mentions.write(_line({**place, "start": m.start, "end": m.end, "surface": m.surface}))
    _lines(
        folder / "relations.jsonl",
        (
            {
                "id": r.source_id,
                "source": entities[r.source],
                "target": entities[r.target],
                "type": r.type,
                "passage_ids": [passages[p] for p in r.passage_ids if p in passages],
            }
            for r in graph.relations()
        ),
    )


def _lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    with file.open("wb") as stream:
        stream.writelines(_line(row) for row in rows)


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
