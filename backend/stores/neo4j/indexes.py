"""The constraints and indexes of the database: whether they are as they should be, and making them so."""

from __future__ import annotations

from collections.abc import Sequence
from time import sleep

from backend.errors import IndexNotReady
from backend.models import IndexState
from backend.stores.neo4j.driver import Reading, Row, Server
from backend.stores.neo4j.schema import ENTITY, FULL_TEXT, FULL_TEXT_CONFIG, FULL_TEXT_PROPERTIES, INDEXES, NAMES, Index
from backend.stores.readiness import FullText

_PAUSE = 0.1
# A statement of its own: it cannot be part of another.
_FULL_TEXT_STATE = """SHOW INDEXES YIELD name, type, state, populationPercent, labelsOrTypes, properties, options
WHERE name = $index
RETURN type, state, populationPercent AS percent, labelsOrTypes AS labels, properties, options.indexConfig AS config"""
_POPULATING = "SHOW INDEXES YIELD name, state WHERE name IN $names AND state = 'POPULATING' RETURN name"
_OURS = ("FULLTEXT", [ENTITY], sorted(FULL_TEXT_PROPERTIES), FULL_TEXT_CONFIG)


def full_text(reading: Reading) -> FullText:
    """The state of the index that holds the names of all labels."""
    found = reading.read(_FULL_TEXT_STATE, {"index": FULL_TEXT})
    return _state(found[0]) if found else FullText(IndexState.MISSING)


def _state(index: Row) -> FullText:
    if index["state"] == "FAILED":
        return FullText(IndexState.FAILED)
    if (index["type"], index["labels"], sorted(index["properties"]), index["config"]) != _OURS:
        analyzer = index["config"].get("fulltext.analyzer")
        written = f", analyzed as {analyzer}" if analyzer else ""
        where = f"{', '.join(index['labels'])} ({', '.join(index['properties'])})"
        return FullText(IndexState.OTHER_DEFINITION, detail=f"it is a {index['type']} index on {where}{written}")
    if index["state"] == "POPULATING":
        return FullText(IndexState.POPULATING, round(index["percent"], 1))
    return FullText(IndexState.ONLINE)


def make_indexes(server: Server) -> None:
    """Creates the constraints and indexes that are not there, all but that of names, and waits for them."""
    with server.reading() as reading:
        there = {row["name"] for row in reading.peek("SHOW INDEXES YIELD name RETURN name")}
    _make(server, [index for index in INDEXES if index.name not in there])


def rebuild_names(server: Server) -> list[str]:
    """Makes the full-text index anew where it is missing, has failed or is another; what was done, in words."""
    with server.reading() as reading:
        before = full_text(reading)
    if before.state is IndexState.ONLINE:
        return []
    if before.state is not IndexState.POPULATING:
        server.run_alone(f"DROP INDEX {FULL_TEXT} IF EXISTS")
    _make(server, [NAMES])
    with server.reading() as reading:
        after = full_text(reading)
        (count,) = reading.peek(f"MATCH (n:{ENTITY}) WHERE n.id IS NOT NULL RETURN count(n) AS names")
    if after.state is not IndexState.ONLINE:
        raise IndexNotReady(
            f"The full-text index {FULL_TEXT} in {server.address} is {after.state} after it was made.",
            hint="The server's log says why, or another index has its properties: drop that. Then run `attest index`.",
            index="fulltext",
            state=str(after.state),
            remedy="attest index",
        )
    return [f"{count['names']} names put into the full-text index"]


def _make(server: Server, indexes: Sequence[Index]) -> None:
    for index in indexes:
        server.run_alone(index.statement)
    names = {"names": [index.name for index in indexes]}
    # Not by `db.awaitIndexes`, which fails when any index of the database, whoever's, has failed.
    while indexes and server.run_alone(_POPULATING, names):
        sleep(_PAUSE)
