"""The output of Microsoft GraphRAG, of any release: what it is is told by its columns, table by table.

The tables may lie anywhere below the path: the folder that has the most of them is taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from backend.errors import Malformed
from backend.loading.files import readable
from backend.loading.formats.graphrag_tables import Files, read_index
from backend.loading.formats.places import Place
from backend.loading.formats.source import IndexSource
from backend.loading.formats.tables import columns_of

_FILE = re.compile(
    r"(?:create_final_)?"
    r"(?P<table>documents|text_units|entities|nodes|relationships|communities|community_reports|covariates)"
    r"\.(?P<ending>parquet|csv)|create_base_(?P<base>text_units)\.parquet",
    re.IGNORECASE,
)
_KINDS = {
    "documents": "documents",
    "text_units": "passages",
    "entities": "entities",
    "relationships": "relations",
    "covariates": "claims",
    "communities": "communities",
    "community_reports": "reports",
}
# Folders of an incremental run: what they have is merged into the one beside them.
_PARTS_OF_A_RUN = {"update_output", "delta", "previous"}


def recognise(place: Place) -> IndexSource | None:
    """The index below a path; None where there are no such tables.

    Raises Malformed where there are some, and none of entities or relationships.
    """
    folders = _folders(place)
    found = {folder: files for folder, files in folders.items() if {"entities", "relationships"} & files.keys()}
    if not found:
        return None
    folder = min(found, key=lambda one: _preference(one, found[one]))
    tables = found[folder]
    for table, wanted in (("entities", ("title", "name")), ("relationships", ("source",))):
        _require(place, table, tables, wanted)
    kinds = tuple(dict.fromkeys(kind for table, kind in _KINDS.items() if table in tables or kind == "documents"))
    sentence = _sentence(place, folder, tables, len(found))
    has_units = "text_units" in tables
    more = ("mentions",) if has_units else ()
    return IndexSource(place.name, sentence, (*kinds, *more), partial(read_index, place, tables))


def _folders(place: Place) -> Mapping[PurePosixPath, dict[str, list[PurePosixPath]]]:
    """The files of each table by folder, first those to be read first."""
    folders: dict[PurePosixPath, dict[str, list[PurePosixPath]]] = defaultdict(lambda: defaultdict(list))
    for file in place.files:
        if match := _FILE.fullmatch(file.name):
            folders[file.parent][(match["table"] or match["base"]).lower()].append(file)
    for tables in folders.values():
        for files in tables.values():
            files.sort(key=lambda file: (file.name.startswith("create_base"), file.suffix.lower() == ".csv", file.name))
    return {folder: dict(tables) for folder, tables in folders.items()}


def _preference(folder: PurePosixPath, tables: Files) -> tuple[int, bool, int, list[int]]:
    """Most tables first, then no part of an incremental run, then the nearest, then the last by name, the latest."""
    is_part = bool(_PARTS_OF_A_RUN & set(folder.parts))
    return -len(tables), is_part, len(folder.parts), [-ord(character) for character in str(folder)]


def _require(place: Place, table: str, tables: Files, wanted: Sequence[str]) -> None:
    hint = "An index of GraphRAG has both entities and relationships."
    if table not in tables:
        other = readable(next(iter(tables.values()))[0].name)
        raise Malformed(f"{place.name} has {other}, but no table of {table}.", hint=hint)
    columns = [columns_of(place, file) for file in tables[table]]
    if all(own and not own & set(wanted) for own in columns):
        names = " or ".join(f"`{column}`" for column in wanted)
        raise Malformed(f"{readable(tables[table][0].name)} has no column {names}.", hint=hint)


def _sentence(place: Place, folder: PurePosixPath, tables: Files, folders: int) -> str:
    """What was recognised and by which sign."""
    release, sign = _release(place, tables)
    endings = sorted({file.suffix.lower() for files in tables.values() for file in files[:1]}, reverse=True)
    shown = " and ".join("CSV" if ending == ".csv" else "parquet" for ending in endings)
    where = "" if folder == PurePosixPath(".") else f"; its tables are in {readable(str(folder))}"
    where += f", one of {folders} folders with tables" if folders > 1 else ""
    return f"Microsoft GraphRAG {release} ({shown}): {sign}{where}"


def _release(place: Place, tables: Files) -> tuple[str, str]:
    """The releases that write these columns, and the sign."""
    entities = _columns(place, tables, "entities")
    units = _columns(place, tables, "text_units")
    if "name" in entities and "title" not in entities:
        return "0.x", "entities have `name` instead of `title`"
    if "nodes" in tables:
        return "0.5–1.x", "there are nodes beside entities with a `title`"
    if "document_id" in units:
        return "3.x", "text_units has `document_id`"
    if "document_ids" in units:
        return "2.x", "text_units has `document_ids`"
    return "of an unknown release", "there are entities with a `title` and relationships"


def _columns(place: Place, tables: Files, table: str) -> frozenset[str]:
    readable_ones = (columns for file in tables.get(table, ()) if (columns := columns_of(place, file)))
    return next(readable_ones, frozenset())
