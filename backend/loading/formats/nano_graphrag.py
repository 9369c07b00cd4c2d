"""The working folder of nano-graphrag: names in quotes, and communities as clusters of the nodes."""

from __future__ import annotations

from functools import partial

from backend.loading.formats.cells import Cells
from backend.loading.formats.graph_folder import Edge, GraphFolder, Node, description, find_folder, label, parts
from backend.loading.formats.index import (
    Community,
    Document,
    Entity,
    Index,
    Metadata,
    Notes,
    Relation,
    Report,
    findings_of,
)
from backend.loading.formats.matching import unquoted
from backend.loading.formats.memberships import Memberships
from backend.loading.formats.places import Place
from backend.loading.formats.source import IndexSource
from backend.loading.rows import CommunityRow, DocumentRow, EntityRow, RelationRow, ReportRow


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
    documents = folder.rows("full_docs", DocumentRow, notes)
    units = folder.units(notes)
    groups = Memberships()
    entities = [_entity(node, groups, notes) for node in nodes]
    reports = _reports(folder, groups, notes)
    titles = {node.id: unquoted(node.id) for node in nodes}
    notes.set_file(CommunityRow, notes.file(EntityRow))
    notes.read[CommunityRow.kind] += len(groups.levels)
    return Index(
        documents=[_document(row, key, cells) for key, (row, cells) in documents.items()],
        units=units,
        entities=entities,
        relations=[_relation(edge, titles, notes) for edge in edges],
        communities=[_community(number, groups) for number in sorted(groups.levels)],
        reports=reports,
        notes=notes,
        cites_short_ids=False,  # in its prompts things have the number of their line there
    )


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
    listed = cells.json("clusters") or []
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
    for key, (row, cells) in folder.rows("community_reports", ReportRow, notes).items():
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
    written = Cells(cells.object("report_json"))
    findings = written.raw("findings")
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
    return Report(row, number, None, None, *own, findings_of(findings), rank, text, metadata)
