"""The working folder of LightRAG, old and new: names as they were written, and no communities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from backend.loading.formats.cells import Cells
from backend.loading.formats.graph_folder import (
    SEPARATOR,
    Edge,
    GraphFolder,
    Node,
    Stored,
    description,
    find_folder,
    label,
    parts,
)
from backend.loading.formats.index import Document, Entity, Index, Metadata, Notes, Relation, Unit
from backend.loading.formats.matching import unquoted
from backend.loading.formats.places import Place
from backend.loading.formats.source import IndexSource
from backend.loading.rows import DocumentRow, EntityRow, RelationRow

_STORES = ("doc_status", "full_entities", "full_relations", "entity_chunks", "relation_chunks")
_ATTRIBUTES = ("keywords", "entity_id", "file_path")
_NO_PATHS = {"unknown_source", "no-file-path", "custom_kg"}


def recognise(place: Place) -> IndexSource | None:
    """The graph below a path; None where there is none, or nothing that only LightRAG writes."""
    folder = find_folder(place)
    if folder is None:
        return None
    stores = [f"kv_store_{name}.json" for name in _STORES if name in folder.stores]
    attributes = [name for name in _ATTRIBUTES if name in folder.attributes]
    if not stores and not attributes:
        return None
    sign = f"there is {stores[0]}" if stores else f"its GraphML graph has `{attributes[0]}`"
    kinds = ("documents", "passages", "entities", "mentions", "relations")
    return IndexSource(place.name, f"LightRAG (GraphML): {sign}", kinds, partial(_read, folder))


def _read(folder: GraphFolder) -> Index:
    notes = Notes()
    nodes, edges = folder.graph(notes)
    stored, units = folder.rows("full_docs", DocumentRow, notes), folder.units(notes)
    documents = _documents(stored, folder.store("doc_status", DocumentRow, notes), units, notes)
    entity_units = _chunks(folder.store("entity_chunks", EntityRow, notes))
    relation_units = _chunks(folder.store("relation_chunks", RelationRow, notes))
    titles = {node.id: unquoted(node.id) for node in nodes}
    return Index(
        documents=documents,
        units=units,
        entities=[_entity(node, entity_units, notes) for node in nodes],
        relations=[_relation(edge, titles, relation_units, notes) for edge in edges],
        notes=notes,
    )


def _documents(
    stored: Mapping[str, Stored], states: Mapping[str, Stored], units: list[Unit], notes: Notes
) -> list[Document]:
    """The documents of all stores, by their path; a state without content or text units is left out."""
    paths = {
        document: _path(unit.metadata.get("file_path")) for unit in reversed(units) for document in unit.document_ids
    }
    found: list[Document] = []
    after = max((row for row, _ in stored.values()), default=0)  # the last row of the file that issues name
    for key in dict.fromkeys([*stored, *states, *paths]):
        row, whole = stored.get(key) or Stored(after := after + 1, Cells({}))
        state = states[key].cells if key in states else Cells({})
        path = _path(state.text("file_path")) or _path(whole.text("file_path")) or paths.get(key)
        text = whole.text("content")
        if key not in stored:
            notes.read[DocumentRow.kind] += 1
        if key not in paths and text is None:
            detail = f"{key!r}, {state.text('status') or 'of an unknown state'}"
            notes.issues(DocumentRow).left_out("unprocessed", notes.file(DocumentRow), row, detail[:200])
            continue
        if key not in stored and key not in states:
            detail = f"document {key!r}"
            notes.issues(DocumentRow).repaired("made_document", notes.file(DocumentRow), row, detail[:200])
        found.append(Document(row, key, path, text, state.text("created_at"), _state(state)))
    return found


def _state(cells: Cells) -> Metadata:
    """What the state of a document says beside its content."""
    cells.drop("content", "content_summary", "content_length", "chunks_list", "content_hash", "_id")
    return cells.rest()


def _path(value: object) -> str | None:
    path = value.strip() if isinstance(value, str) else ""
    return path if path and path not in _NO_PATHS else None


def _chunks(stored: Mapping[str, Stored]) -> dict[str, tuple[str, ...]]:
    """All text units of each thing; a node or edge has at most a few hundred of them."""
    return {key: cells.ids("chunk_ids") for key, (_, cells) in stored.items()}


def _entity(node: Node, units: Mapping[str, tuple[str, ...]], notes: Notes) -> Entity:
    cells = node.cells
    kind, types = label(cells)
    text, own = description(cells), parts(cells.text("source_id"))
    metadata = types | _beside(cells)
    notes.unread(EntityRow, node.row, cells)
    ids = tuple(dict.fromkeys(units.get(node.id) or own))
    return Entity(node.row, node.id, unquoted(node.id), str(node.row - 1), kind, text, ids, metadata)


def _relation(edge: Edge, titles: Mapping[str, str], units: Mapping[str, tuple[str, ...]], notes: Notes) -> Relation:
    cells = edge.cells
    source, target = (titles.get(end, unquoted(end)) for end in (edge.source, edge.target))
    text, weight, own = description(cells), cells.number("weight"), parts(cells.text("source_id"))
    metadata = _beside(cells)
    notes.unread(RelationRow, edge.row, cells)
    ids = tuple(dict.fromkeys(units.get(SEPARATOR.join(sorted((edge.source, edge.target)))) or own))
    return Relation(edge.row, None, str(edge.row - 1), source, target, text, weight, ids, metadata)


def _beside(cells: Cells) -> Metadata:
    """What a node or edge has beside the common things."""
    paths = parts(cells.text("file_path"))
    cells.drop("entity_id", "truncate")
    return cells.rest() | ({"file_path": list(paths)} if paths else {})
