"""The working folder of nano-graphrag and LightRAG: a graph as GraphML, and stores of keys and values as JSON."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError

import orjson
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from backend.errors import Malformed
from backend.loading.bundle import MAX_ROW_BYTES
from backend.loading.files import DAMAGE, damaged, readable
from backend.loading.formats.cells import Cells, plain
from backend.loading.formats.index import Notes, Unit
from backend.loading.formats.limits import MAX_GRAPH_BYTES
from backend.loading.formats.matching import unquoted
from backend.loading.formats.places import Place
from backend.loading.rows import EntityRow, PassageRow, RelationRow, Row, mend

SEPARATOR = "<SEP>"
_GRAPH = "graph_chunk_entity_relation.graphml"
_STORE = re.compile(r"kv_store_(\w+)\.json", re.ASCII)
_HEAD = 2**16  # bytes in which the attributes of a graph are declared
_ATTRIBUTE = re.compile(rb"attr\.name\s*=\s*[\"'](\w+)[\"']")


class Node(NamedTuple):
    """A node with its place among the nodes, from 1."""

    row: int
    id: str
    cells: Cells


class Edge(NamedTuple):
    """An edge with its place among the edges, from 1; its ends are ids of nodes."""

    row: int
    source: str
    target: str
    cells: Cells


class Stored(NamedTuple):
    """A row of a store with its place among the rows, from 1."""

    row: int
    cells: Cells


@dataclass(frozen=True)
class GraphFolder:
    """The files of such a folder; `attributes` are those that its graph declares."""

    place: Place
    folder: PurePosixPath
    stores: Mapping[str, PurePosixPath]
    attributes: frozenset[str]

    def graph(self, notes: Notes) -> tuple[list[Node], list[Edge]]:
        """All nodes and edges; raises Malformed where the graph is damaged, too large or means harm."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        for of in (EntityRow, RelationRow):
            notes.set_file(of, _GRAPH)
        try:
            with self.place.open(self.folder / _GRAPH, MAX_GRAPH_BYTES) as stream:
                for element, names in _elements(stream):
                    values = {names[key]: text for key, text in _data(element) if key in names}
                    if element.tag.endswith("}node") or element.tag == "node":
                        self._add_node(nodes, element, values, notes)
                    else:
                        self._add_edge(edges, element, values, notes)
        except DefusedXmlException as error:
            hint = "A graph needs no document type and no entities of its own; write the file without."
            raise Malformed(f"{_GRAPH} declares a document type.", hint=hint) from error
        except (ParseError, LookupError, *DAMAGE) as error:
            raise damaged(_GRAPH, error) from error
        return nodes, edges

    def store(self, name: str, of: type[Row], notes: Notes) -> dict[str, Stored]:
        """The rows of a store by key, in the order of the file; what is no object is left out, and noted."""
        file = self.stores.get(name)
        if file is None:
            return {}
        shown, issues = readable(file.name), notes.issues(of)
        try:
            content, repairs = mend(self.place.read(file))
            stored = orjson.loads(content)
            if type(stored) is not dict:
                raise damaged(shown, ValueError("it is no object"))
        except orjson.JSONDecodeError as error:
            issues.left_out("unreadable_table", shown, None, str(error))
            return {}
        except Malformed as error:
            issues.left_out("unreadable_table", shown, None, error.message)
            return {}
        for repair in repairs:
            issues.repaired(repair, shown, None)
        found: dict[str, Stored] = {}
        for row, (key, value) in enumerate(stored.items(), start=1):
            if type(value) is dict:
                found[key] = Stored(row, Cells({name: plain(cell)[0] for name, cell in value.items()}))
            else:
                issues.left_out("not_an_object", shown, row, f"{key!r}"[:200])
        return found

    def rows(self, name: str, of: type[Row], notes: Notes) -> dict[str, Stored]:
        """What `store` gives of the store that a kind is in, which notes name as its file and count as read."""
        if file := self.stores.get(name):
            notes.set_file(of, readable(file.name))
        found = self.store(name, of, notes)
        notes.read[of.kind] += len(found)
        return found

    def units(self, notes: Notes) -> list[Unit]:
        """The text units; one without text is left out, and noted."""
        stored = self.rows("text_chunks", PassageRow, notes)
        made = (_unit(row, key, cells, notes) for key, (row, cells) in stored.items())
        return [unit for unit in made if unit is not None]

    def _add_node(self, nodes: list[Node], element: Element, values: dict[str, str], notes: Notes) -> None:
        notes.read[EntityRow.kind] += 1
        row, node = notes.read[EntityRow.kind], element.get("id", "")
        issues = notes.issues(EntityRow)
        if not node or node.isspace():
            issues.left_out("missing_field", _GRAPH, row, "no `id`")
        elif sum(map(len, values.values())) > MAX_ROW_BYTES:
            issues.left_out("too_long", _GRAPH, row, f"over {MAX_ROW_BYTES >> 20} MiB")
        else:
            nodes.append(Node(row, node, Cells(values)))

    def _add_edge(self, edges: list[Edge], element: Element, values: dict[str, str], notes: Notes) -> None:
        notes.read[RelationRow.kind] += 1
        row, source, target = notes.read[RelationRow.kind], element.get("source", ""), element.get("target", "")
        issues = notes.issues(RelationRow)
        if not source.strip() or not target.strip():
            issues.left_out("missing_field", _GRAPH, row, "no `source` or no `target`")
        elif sum(map(len, values.values())) > MAX_ROW_BYTES:
            issues.left_out("too_long", _GRAPH, row, f"over {MAX_ROW_BYTES >> 20} MiB")
        else:
            edges.append(Edge(row, source, target, Cells(values)))


def find_folder(place: Place) -> GraphFolder | None:
    """The folder of a graph below a path, of several the one with most stores, then the nearest."""
    stores: dict[PurePosixPath, dict[str, PurePosixPath]] = defaultdict(dict)
    graphs = [file.parent for file in place.files if file.name == _GRAPH]
    for file in place.files:
        if match := _STORE.fullmatch(file.name):
            stores[file.parent][match[1]] = file
    if not graphs:
        return None
    folder = min(graphs, key=lambda one: (-len(stores.get(one, ())), len(one.parts), str(one)))
    try:
        with place.open(folder / _GRAPH, MAX_GRAPH_BYTES) as stream:
            declared = {name.decode() for name in _ATTRIBUTE.findall(stream.read(_HEAD))}
    except DAMAGE as error:
        raise damaged(_GRAPH, error) from error
    return GraphFolder(place, folder, dict(stores.get(folder, {})), frozenset(declared))


def parts(text: str | None) -> tuple[str, ...]:
    """The parts of a text that was joined by the separator, each once and without quotes around it."""
    pieces = (unquoted(piece) for piece in (text or "").split(SEPARATOR))
    return tuple(dict.fromkeys(piece for piece in pieces if piece and not piece.isspace()))


def description(cells: Cells) -> str | None:
    """The description, its parts on lines of their own."""
    return "\n".join(parts(cells.text("description"))) or None


def label(cells: Cells) -> tuple[str | None, dict[str, Any]]:
    """The first of the types of an entity, None where it is unknown; all of them where there are more."""
    types = [unquoted(one) for one in unquoted(cells.text("entity_type") or "").split(",")]
    types = list(dict.fromkeys(one for one in types if one and not one.isspace() and one.upper() != "UNKNOWN"))
    return (types[0] if types else None), ({"types": types} if len(types) > 1 else {})


def _unit(row: int, key: str, cells: Cells, notes: Notes) -> Unit | None:
    text, document, order = cells.text("content"), cells.text("full_doc_id"), cells.whole("chunk_order_index")
    if text is None or not key.strip():
        notes.issues(PassageRow).left_out("missing_field", notes.file(PassageRow), row, "no `content`")
        return None
    notes.unread(PassageRow, row, cells)
    heading = cells.text("heading") if isinstance(cells.peek("heading"), str) else None
    cells.drop("_id", "llm_cache_list", "sidecar", "heading", "create_time", "update_time")
    metadata = {"row": row - 1} | cells.rest()
    return Unit(row, key, text, () if document is None else (document,), (), order, heading, metadata)


def _elements(stream: IO[bytes]) -> Iterator[tuple[Element, dict[str, str]]]:
    """Every node and edge when it is complete, with the names of the attributes by their keys."""
    names: dict[str, str] = {}
    graph: Element | None = None
    for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            graph = element if tag == "graph" else graph
        elif tag == "key":
            names[element.get("id", "")] = element.get("attr.name", "")
        elif tag in ("node", "edge"):
            yield element, names
            if graph is not None:
                graph.clear()


def _data(element: Element) -> Iterator[tuple[str, str]]:
    return ((child.get("key", ""), child.text or "") for child in element if child.tag.rpartition("}")[2] == "data")
