"""From rows of the database to values: the columns to select, and what is made of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import orjson

from backend.models import Counts, Document, Entity, Evidence, Passage, Span
from backend.stores.sqlite.driver import Row

DOCUMENT_COLUMNS = """d.uuid AS document_uuid, d.source_id AS document_source, ds.name AS document_dataset,
    v.title, v.collection, v.number AS version_number, v.date, v.author, v.url, v.declared_from,
    v.metadata AS document_metadata"""
PASSAGE_COLUMNS = f"""p.uuid AS passage_uuid, p.source_id AS passage_source, p.text, p.position, p.heading,
    p."start" AS passage_start, p."end" AS passage_end, {DOCUMENT_COLUMNS}"""
PASSAGE_JOINS = """JOIN version v ON v.id = p.version JOIN document d ON d.id = v.document
    JOIN dataset ds ON ds.id = d.dataset"""
PASSAGE_TABLES = f"passage p {PASSAGE_JOINS}"
ENTITY_COLUMNS = """e.uuid, e.source_id, ds.name AS dataset, e.name, l.name AS label, e.aliases, e.description,
    e.metadata"""
ENTITY_TABLES = "entity e JOIN label l ON l.id = e.label JOIN dataset ds ON ds.id = e.dataset"

# Every mention in a passage `p`.
ALL_SPANS = """(SELECT json_group_array(json_array(m."start", m."end")) FROM mention m WHERE m.passage = p.id)"""

# Evidence in its last order: document title by code point (SQLite's default), position, id.
READING_ORDER = "v.title, p.position, p.uuid"


def entity_fields(row: Row) -> dict[str, Any]:
    return {
        "id": row["uuid"],
        "source_id": row["source_id"],
        "dataset": row["dataset"],
        "name": row["name"],
        "label": row["label"],
        "aliases": tuple(read_json(row["aliases"])),
        "description": row["description"],
        "metadata": read_json(row["metadata"]),
    }


def document_fields(row: Row) -> dict[str, Any]:
    return {
        "id": row["document_uuid"],
        "source_id": row["document_source"],
        "dataset": row["document_dataset"],
        "title": row["title"],
        "collection": row["collection"],
        "version": row["version_number"],
        "date": row["date"],
        "author": row["author"],
        "url": row["url"],
        "valid_from": row["declared_from"],
        "metadata": read_json(row["document_metadata"]),
    }


def result_entity(row: Row) -> Entity:
    return Entity(**entity_fields(row))


def result_passage(row: Row, mentions: str | None) -> Passage:
    """`mentions` is a JSON list of [start, end] pairs, some of them null."""
    return Passage(
        id=row["passage_uuid"],
        source_id=row["passage_source"],
        dataset=row["document_dataset"],
        text=row["text"],
        document=Document(**document_fields(row)),
        position=row["position"],
        heading=row["heading"],
        start=row["passage_start"],
        end=row["passage_end"],
        mentions=_spans(mentions),
    )


def result_evidence(rows: Iterable[Row], key: str) -> dict[str, Evidence]:
    """Rows in their order, with columns `key`, `passages`, `documents` and `spans`, gathered by the key."""
    gathered: dict[str, list[Passage]] = defaultdict(list)
    counts: dict[str, Counts] = {}
    for row in rows:
        counts[row[key]] = Counts(row["passages"], row["documents"])
        if row["passage_uuid"] is not None:
            gathered[row[key]].append(result_passage(row, row["spans"]))
    return {name: Evidence(tuple(gathered[name]), count) for name, count in counts.items()}


def read_json(text: str) -> Any:
    # Most lists of aliases and most metadata are empty, and thousands are read for one search.
    return orjson.loads(text) if len(text) > 2 else [] if text == "[]" else {}


def as_json(value: Any) -> str:
    """How lists and metadata are stored."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _spans(mentions: str | None) -> tuple[Span, ...]:
    pairs = json.loads(mentions) if mentions else []
    return tuple(sorted({(start, end) for start, end in pairs if start is not None and end is not None}))
