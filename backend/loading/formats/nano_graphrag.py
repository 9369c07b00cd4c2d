"""The working folder of nano-graphrag: names in quotes, and communities as clusters of the nodes."""

from __future__ import annotations

from functools import partial

import orjson

from backend.loading.files import readable
from backend.loading.formats.cells import Cells, json_object
from backend.loading.formats.graph_folder import Edge, GraphFolder, Node, description, find_folder, label, parts
from backend.loading.formats.graphrag_tables import finding_of
from backend.loading.formats.index import Community, Document, Entity, Index, Metadata, Notes, Relation, Report, Unit
from backend.loading.formats.matching import unquoted
from backend.loading.formats.memberships import Memberships
from backend.loading.formats.places import Place
from backend.loading.formats.source import IndexSource
from backend.loading.rows import CommunityRow, DocumentRow, EntityRow, PassageRow, RelationRow, ReportRow, Row


def recognise(place: Place) -> IndexSource | None:
    """The graph below a path; None where there is none."""
    folder = find_folder(place)
    if folder is None:
        return None
    sign = "a GraphML graph with stores of keys and values"
    if "community_reports" in folder.stores:
        sign = "there is kv_store_community_reports.json beside a GraphML graph"
    elif "clusters" in folder.attributes:
        sign = "the nodes of its GraphML graph have `clusters`"
    kinds = ("documents", "passages", "entities", "mentions", "relations", "communities", "reports")
    return IndexSource(place.name, f"nano-graphrag (GraphML): {sign}", kinds, partial(_read, folder))


def _read(folder: GraphFolder) -> Index:
    notes = Notes()
    nodes, edges = folder.graph(notes)
    documents = documents_of(folder, notes)
    units = units_of(folder, notes)
    groups = Memberships()
    entities = [_entity(node, groups, notes) for node in nodes]
    reports = _reports(folder, groups, notes)
    titles = {node.id: unquoted(node.id) for node in nodes}
    notes.set_file(CommunityRow, notes.file(EntityRow))
    notes.read[CommunityRow.kind] += len(groups.levels)
    return Index(
        documents=[_document(row, key, cells) for row, (key, cells) in enumerate(documents.items(), start=1)],
        units=[
            unit for row, (key, cells) in enumerate(units.items(), start=1) if (unit := unit_of(row, key, cells, notes))
        ],
        entities=entities,
        relations=[_relation(edge, titles, notes) for edge in edges],
        communities=[_community(number, groups) for number in sorted(groups.levels)],
        reports=reports,
        notes=notes,
        cites_short_ids=False,  # in its prompts things have the number of their line there
    )


def documents_of(folder: GraphFolder, notes: Notes) -> dict[str, Cells]:
    """The store of whole documents."""
    return _stored(folder, "full_docs", DocumentRow, notes)


def units_of(folder: GraphFolder, notes: Notes) -> dict[str, Cells]:
    """The store of text units."""
    return _stored(folder, "text_chunks", PassageRow, notes)


def _stored(folder: GraphFolder, name: str, of: type[Row], notes: Notes) -> dict[str, Cells]:
    if file := folder.stores.get(name):
        notes.set_file(of, readable(file.name))
    found = folder.store(name, of, notes)
    notes.read[of.kind] += len(found)
    return found


def unit_of(row: int, key: str, cells: Cells, notes: Notes) -> Unit | None:
    """A text unit; None for one without text, which is noted."""
    text, document, order = cells.text("content"), cells.text("full_doc_id"), cells.whole("chunk_order_index")
    if text is None or not key.strip():
        notes.issues(PassageRow).left_out("missing_field", notes.file(PassageRow), row, "no `content`")
        return None
    notes.unread(PassageRow, row, cells)
    heading = cells.text("heading") if isinstance(cells.peek("heading"), str) else None
    cells.drop("_id", "llm_cache_list", "sidecar", "heading", "create_time", "update_time")
    metadata = {"row": row - 1} | cells.rest()
    return Unit(row, key, text, () if document is None else (document,), (), order, heading, metadata)


def _document(row: int, key: str, cells: Cells) -> Document:
    return Document(row, key, cells.text("title", "file_path"), cells.text("content"))


def _entity(node: Node, groups: Memberships, notes: Notes) -> Entity:
    cells = node.cells
    for number, level in _clusters(cells, node.row, notes):
        groups.add(number, level, (node.id,), node.row)
    kind, types = label(cells)
    text, units = description(cells), parts(cells.text("source_id"))
    notes.unread(EntityRow, node.row, cells)
    metadata = types | cells.rest()
    return Entity(node.row, node.id, unquoted(node.id), str(node.row - 1), kind, text, units, metadata)


def _clusters(cells: Cells, row: int, notes: Notes) -> list[tuple[int, int]]:
    """Number and level of each community of a node."""
    text = cells.text("clusters")
    try:
        listed = orjson.loads(text) if text else []
    except orjson.JSONDecodeError:
        listed = None
    found = []
    for one in listed if isinstance(listed, list) else [None]:
        own = Cells(one) if isinstance(one, dict) else Cells({})
        number, level = own.whole("cluster"), own.whole("level")
        if number is None or level is None or level < 0:
            notes.issues(EntityRow).repaired("odd_cells", notes.file(EntityRow), row, "`clusters`")
            continue
        found.append((number, level))
    return found


def _relation(edge: Edge, titles: dict[str, str], notes: Notes) -> Relation:
    cells = edge.cells
    ends = tuple(titles.get(end, unquoted(end)) for end in (edge.source, edge.target))
    text, weight, units = description(cells), cells.number("weight"), parts(cells.text("source_id"))
    notes.unread(RelationRow, edge.row, cells)
    return Relation(edge.row, None, str(edge.row - 1), ends[0], ends[1], text, weight, units, cells.rest())


def _community(number: int, groups: Memberships) -> Community:
    own = (number, groups.levels[number], groups.parent(number), f"Cluster {number}", tuple(groups.members[number]))
    return Community(groups.rows[number], *own)


def _reports(folder: GraphFolder, groups: Memberships, notes: Notes) -> list[Report]:
    """The reports; what they say of the levels and nodes of their clusters is added to what the nodes say."""
    found = []
    for row, (key, cells) in enumerate(_stored(folder, "community_reports", ReportRow, notes).items(), start=1):
        level, nodes = cells.whole("level"), cells.ids("nodes")
        try:
            number = int(key)
        except ValueError:
            notes.issues(ReportRow).left_out("wrong_type", notes.file(ReportRow), row, f"cluster {key!r}"[:200])
            continue
        groups.add(number, max(level or 0, 0), nodes, row)
        found.append(_report(row, number, cells, notes))
    return found


def _report(row: int, number: int, cells: Cells, notes: Notes) -> Report:
    written = Cells(json_object(cells.raw("report_json")))
    findings = written.raw("findings")
    items = findings if isinstance(findings, list) else []
    if findings is not None and not isinstance(findings, list):
        notes.issues(ReportRow).repaired("unread_findings", notes.file(ReportRow), row)
    text, occurrence = cells.text("report_string"), cells.number("occurrence")
    own = (written.text("title"), written.text("summary"))
    rank = written.number("rating")
    metadata: Metadata = {
        name: value
        for name, value in (("occurrence", occurrence), ("rating_explanation", written.text("rating_explanation")))
        if value is not None
    }
    notes.unread(ReportRow, row, cells)
    made = tuple(finding_of(item) for item in items if isinstance(item, str | dict))
    return Report(row, number, None, None, *own, made, rank, text, metadata)
