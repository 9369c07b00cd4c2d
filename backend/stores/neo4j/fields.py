"""What is stored of each row: the properties of nodes and relationships."""

from __future__ import annotations

from backend.models import Entity
from backend.scope import document_values
from backend.stores.fulltext import name_text, names_of, whole_forms
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.rows import as_json
from backend.stores.neo4j.schema import text_key, text_order
from backend.stores.reports import stored_report
from backend.stores.rows import (
    NewClaim,
    NewCommunity,
    NewComplement,
    NewMention,
    NewPassage,
    NewRelation,
    NewTopic,
    NewVersion,
    Support,
)
from backend.stores.validity import BEGINNING, ENDLESS
from backend.words import token_text


def entity_fields(row: Entity) -> Row:
    """The fields of an entity that another load may change, with what is made of them for the index of names."""
    return {
        "label": row.label,
        "name": row.name,
        "aliases": list(row.aliases),
        "description": row.description,
        "metadata": as_json(row.metadata),
        "label_token": text_key(row.label),
        "names": name_text(row),
        "name_keys": " ".join(sorted({text_key(form) for name in names_of(row) for form in whole_forms(name)})),
    }


def new_entity_fields(dataset: str, row: Entity, number: int) -> Row:
    """The fields of an entity that stay."""
    return {
        "id": row.id,
        "source_id": row.source_id,
        "source_key": text_key(dataset, row.source_id),
        "dataset": dataset,
        "number": number,
        "known": False,
        "supported": False,
    }


def version_fields(dataset: str, row: NewVersion, number: int) -> Row:
    """A version whose validity and counts are not known yet."""
    fields = {"collection": row.collection, "date": row.date, "author": row.author, "url": row.url}
    values = list(document_values({"title": row.title, **fields}, row.metadata))
    title = row.title or row.source_id
    return {
        **fields,
        "id": row.document_id,
        "key": row.version_key,
        "number": number,
        "dataset": dataset,
        "source_id": row.source_id,
        "source_key": text_key(dataset, row.source_id),
        "title": title,
        "title_order": text_order(title),
        "words": token_text(row.title or ""),
        "content": row.content,
        "declared_from": row.declared_from,
        "metadata": as_json(row.metadata),
        "begins": BEGINNING if row.valid_from is None else row.valid_from,
        "ended": row.ended,
        "valid_from": BEGINNING,
        "valid_to": ENDLESS,
        "value_keys": [key for key, _ in values],
        "value_kinds": [value.kind for _, value in values],
        "value_numbers": [float(value.number or 0) if value.kind == "number" else 0.0 for _, value in values],
        "value_instants": [value.number if value.kind == "date" else 0 for _, value in values],
        "value_texts": [value.text for _, value in values],
        "value_orders": [text_order(value.text) for _, value in values],
    }


def passage_fields(dataset: str, row: NewPassage) -> Row:
    return {
        "id": row.id,
        "source_id": row.source_id,
        "source_key": text_key(dataset, row.source_id),
        "version": row.version_key,
        "position": row.position,
        "start": row.start,
        "end": row.end,
        "heading": row.heading,
        "text": row.text,
        "words": token_text(row.text),
        "heading_words": token_text(row.heading or ""),
        "metadata": as_json(row.metadata),
        "statements": [as_json(statement.row()) for statement in row.statements],
    }


def topic_fields(row: NewTopic) -> Row:
    return {"id": row.id, "source_id": row.source_id, "title": row.title, "derived": row.derived}


def mention_fields(row: NewMention) -> Row:
    return {"start": row.start, "end": row.end, "surface": row.surface, "statements": list(row.statements)}


def complement_fields(dataset: str, row: NewComplement) -> Row:
    return {
        "id": row.id,
        "dataset": dataset,
        "predicate": row.predicate,
        "text": row.complement,
        "statements": list(row.statements),
    }


def relation_fields(row: NewRelation, edge: str) -> Row:
    """The fields of a relation that another load may change."""
    return {
        "source_id": row.source_id,
        "edge": edge,
        "type": row.type,
        "unstated": row.unstated,
        "description": row.description,
        "weight": row.weight,
        "metadata": as_json(row.metadata),
    }


def edge_fields(edge: str, row: Support) -> Row:
    return {"id": edge, "source": row.source, "target": row.target, "type": row.type, "type_key": text_key(row.type)}


def claim_fields(row: NewClaim) -> Row:
    """The fields of a claim that another load may change."""
    return {
        "source_id": row.source_id,
        "subject_id": row.subject_id,
        "object_id": row.object_id,
        "type": row.type,
        "status": row.status,
        "start_date": row.start_date,
        "end_date": row.end_date,
        "description": row.description,
        "unstated": row.unstated,
        "metadata": as_json(row.metadata),
    }


def community_fields(dataset: str, row: NewCommunity) -> Row:
    """A community; of its report what people look for is beside the whole of it."""
    fields: Row = {
        "id": row.id,
        "source_id": row.source_id,
        "dataset": dataset,
        "level": row.level,
        "parent": row.parent,
        "title": row.title,
        "origin": str(row.origin),
        "stale": row.stale,
        "metadata": as_json(row.metadata),
        "cited": [],
    }
    if row.report is None:
        return fields
    return fields | {
        "report": stored_report(row.report),
        "report_origin": str(row.report.origin),
        "report_title": row.report.title,
        "summary": row.report.summary,
        "rank": row.report.rank,
        "cited": list(row.report.cited),
    }


def community_key(community: str, since: int) -> str:
    """What tells a community from the one of the same id that it replaces."""
    return f"{community} {since}"
