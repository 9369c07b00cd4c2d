"""The constraints and indexes of the database: whether they are as they should be, and making them so."""

from __future__ import annotations

from collections.abc import Sequence
from time import sleep

from backend.errors import IndexNotReady
from backend.models import IndexState
from backend.stores.neo4j.driver import Reading, Row, Server
from backend.stores.neo4j.schema import FULL_TEXT_CONFIG, INDEXES, NAMES, PASSAGES, FullTextIndex, Index
from backend.stores.readiness import FullText

_PAUSE = 0.1
# A statement of its own: it cannot be part of another.
_FULL_TEXT_STATE = """SHOW INDEXES YIELD name, type, state, populationPercent, labelsOrTypes, properties, options
WHERE name IN $names
RETURN name, type, state, populationPercent AS percent, labelsOrTypes AS labels, properties,
    options.indexConfig AS config"""
_POPULATING = "SHOW INDEXES YIELD name, state WHERE name IN $names AND state = 'POPULATING' RETURN name"


def full_text(reading: Reading, index: FullTextIndex = NAMES) -> FullText:
    """The state of a full-text index: unless told otherwise of that which holds the names of all labels."""
    found = reading.read(_FULL_TEXT_STATE, {"names": [index.name]})
    return _state(found[0], index) if found else FullText(IndexState.MISSING)


def full_texts(reading: Reading) -> tuple[FullText, FullText]:
    """The states of the full-text indexes of names and of passages, in one query."""
    found = {row["name"]: row for row in reading.read(_FULL_TEXT_STATE, {"names": [NAMES.name, PASSAGES.name]})}
    names, passages = (
        _state(found[index.name], index) if index.name in found else FullText(IndexState.MISSING)
        for index in (NAMES, PASSAGES)
    )
    return names, passages


def _state(index: Row, ours: FullTextIndex) -> FullText:
    if index["state"] == "FAILED":
        return FullText(IndexState.FAILED)
    expected = ("FULLTEXT", [ours.label], sorted(ours.properties), FULL_TEXT_CONFIG)
    if (index["type"], index["labels"], sorted(index["properties"]), index["config"]) != expected:
        analyzer = index["config"].get("fulltext.analyzer")
        written = f", analyzed as {analyzer}" if analyzer else ""
        where = f"{', '.join(index['labels'])} ({', '.join(index['properties'])})"
        return FullText(IndexState.OTHER_DEFINITION, detail=f"it is a {index['type']} index on {where}{written}")
    if index["state"] == "POPULATING":
        return FullText(IndexState.POPULATING, round(index["percent"], 1))
    return FullText(IndexState.ONLINE)


def make_indexes(server: Server) -> None:
    """Creates the constraints and indexes that are not there, all but the full-text ones, and waits for them."""
    with server.reading() as reading:
        there = {row["name"] for row in reading.peek("SHOW INDEXES YIELD name RETURN name")}
    _make(server, [index for index in INDEXES if index.name not in there])


def rebuild_full_text(server: Server) -> list[str]:
    """Makes the full-text indexes anew that are missing, have failed or are others; what was done, in words."""
    with server.reading() as reading:
        before = full_texts(reading)
    done = []
    for index, kind, was in ((NAMES, "names", before[0]), (PASSAGES, "passages", before[1])):
        if was.state is not IndexState.ONLINE:
            done.append(f"{_rebuild(server, index, was.state)} {kind} put into the full-text index")
    return done


def _rebuild(server: Server, index: FullTextIndex, was: IndexState) -> int:
    """Makes a full-text index anew; how many nodes are in it."""
    if was is not IndexState.POPULATING:
        server.run_alone(f"DROP INDEX {index.name} IF EXISTS")
    _make(server, [index])
    with server.reading() as reading:
        after = full_text(reading, index)
        (row,) = reading.peek(f"MATCH (n:{index.label}) WHERE n.id IS NOT NULL RETURN count(n) AS nodes")
    if after.state is not IndexState.ONLINE:
        raise IndexNotReady(
            f"The full-text index {index.name} in {server.address} is {after.state} after it was made.",
            hint="The server's log says why, or another index has its properties: drop that. Then run `attest index`.",
            index="fulltext" if index == NAMES else "passages",
            state=str(after.state),
            remedy="attest index",
        )
    nodes: int = row["nodes"]
    return nodes


def _make(server: Server, indexes: Sequence[Index]) -> None:
    for index in indexes:
        server.run_alone(index.statement)
    names = {"names": [index.name for index in indexes]}
    # Not by `db.awaitIndexes`, which fails when any index of the database, whoever's, has failed.
    while indexes and server.run_alone(_POPULATING, names):
        sleep(_PAUSE)
