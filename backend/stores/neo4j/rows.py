"""From what queries return to values: the expressions to return, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from backend.models import Counts, Document, Entity, Evidence, Json, Passage, Span
from backend.stores.neo4j.schema import ENTITY, MENTIONED_IN
from backend.stores.neo4j.visibility import written
from backend.stores.rows import NewStatement, read_statements

# Evidence in its last order: document title by code point, position, id. (`v` is the version, `p` the passage.)
READING_ORDER = "v.title_order, p.position, p.id"
# Every mention in a passage `p`.
ALL_SPANS = f"[(n:{ENTITY})-[m:{MENTIONED_IN}]->(p) WHERE {written('m')} | [m.start, m.end]]"


def entity_list(entity: str) -> str:
    """An entity as a list, which is half the size of a map."""
    fields = ("id", "source_id", "dataset", "name", "label", "aliases", "description", "metadata")
    return f"[{', '.join(f'{entity}.{field}' for field in fields)}]"


def document_list(version: str) -> str:
    """A document version as a list."""
    fields = ("id", "source_id", "dataset", "title", "collection", "number", "date", "author", "url", "declared_from")
    return f"[{', '.join(f'{version}.{field}' for field in (*fields, 'metadata'))}]"


def passage_list(passage: str, version: str, spans: str) -> str:
    """A passage as a list, with its document and its mentions, a list of [start, end] pairs."""
    fields = ("id", "source_id", "text", "position", "heading", "start", "end")
    return f"[{', '.join(f'{passage}.{field}' for field in fields)}, {document_list(version)}, {spans}]"


def entity_fields(row: Sequence[Any]) -> dict[str, Any]:
    entity_id, source_id, dataset, name, label, aliases, description, metadata = row
    return {
        "id": entity_id,
        "source_id": source_id,
        "dataset": dataset,
        "name": name,
        "label": label,
        "aliases": tuple(aliases),
        "description": description,
        "metadata": read_metadata(metadata),
    }


def result_entity(row: Sequence[Any]) -> Entity:
    return Entity(**entity_fields(row))


def document_fields(row: Sequence[Any]) -> dict[str, Any]:
    document_id, source_id, dataset, title, collection, number, date, author, url, declared_from, metadata = row
    return {
        "id": document_id,
        "source_id": source_id,
        "dataset": dataset,
        "title": title,
        "collection": collection,
        "version": number,
        "date": date,
        "author": author,
        "url": url,
        "valid_from": declared_from,
        "metadata": read_metadata(metadata),
    }


def result_passage(row: Sequence[Any]) -> Passage:
    passage_id, source_id, text, position, heading, start, end, document, spans = row
    described = Document(**document_fields(document))
    return Passage(
        id=passage_id,
        source_id=source_id,
        dataset=described.dataset,
        text=text,
        document=described,
        position=position,
        heading=heading,
        start=start,
        end=end,
        mentions=_spans(spans),
    )


def result_evidence(row: dict[str, Any]) -> Evidence:
    """Of a row with `first`, its passages in order, and the counts `passages` and `documents` of all there are."""
    return Evidence(tuple(map(result_passage, row["first"])), Counts(row["passages"], row["documents"]))


def as_json(value: Any) -> str:
    """How metadata, and a statement, is stored: the server keeps no maps, and no lists of different things."""
    return orjson.dumps(value).decode()


def read_metadata(text: str) -> dict[str, Json]:
    """What `as_json` has made of metadata."""
    found: dict[str, Json] = orjson.loads(text) if text != "{}" else {}
    return found


def stored_statements(texts: Sequence[str]) -> tuple[NewStatement, ...]:
    """The statements that were stored as these texts."""
    return read_statements(map(orjson.loads, texts))


def _spans(pairs: Sequence[Sequence[int | None]]) -> tuple[Span, ...]:
    return tuple(sorted({(start, end) for start, end in pairs if start is not None and end is not None}))
