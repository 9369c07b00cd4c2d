"""Deleting what no commit shows, or will ever show."""

from __future__ import annotations

from collections.abc import Sequence

from backend.stores.neo4j.driver import Server
from backend.stores.neo4j.schema import (
    ABOUT,
    CHUNK,
    COMPLEMENT_IN,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    HAS_TOPIC,
    MENTIONED_IN,
    RELATION,
    STATED_IN,
    TOPIC,
    in_order,
)

_ROWS = 5_000  # in one transaction


def sweep(server: Server, commit: int, removed: Sequence[str] = ()) -> None:
    """Deletes what no commit will ever show: rows of a job that did not commit, and what a commit has removed.

    Row by row and never by what hangs on a row, of which a hub has a hundred thousand: a transaction is as small as it
    says, and none looks for what it has itself deleted, which an index answers more slowly each time.
    """
    dead = "n.since > $commit"
    hint, present = in_order("source")
    ends = f"MATCH (:{ENTITY} {{id: n.source}})-[t {{id: n.id}}]->(:{ENTITY} {{id: n.target}})"
    for rows, deleted in (
        *((f"MATCH ()-[n:{kind}]->() WHERE {dead}", "n") for kind in (MENTIONED_IN, STATED_IN, ABOUT, COMPLEMENT_IN)),
        (f"MATCH (n:{EDGE}) WHERE {dead} {ends}", "t"),
        (f"MATCH (n:{EDGE}) WHERE {dead}", "n"),
        # Of a removed dataset edges have no mark of their own: its entities lead to them.
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (x:{EDGE}) {hint} WHERE x.source = n.id AND {present}", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (n)-[t]->(n) MATCH (x:{EDGE} {{id: t.id}})", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (n)-[t]->()", "t"),
        (f"MATCH (n:{DOCUMENT}) WHERE {dead} MATCH (n)-[:{HAS_PART}]->(p:{CHUNK})", "p"),
        (f"MATCH (n:{DOCUMENT}) WHERE {dead} MATCH (n)-[:{HAS_TOPIC}]->(t:{TOPIC})", "t"),
        (f"MATCH (n:{RELATION}) WHERE {dead} OR n.dataset IN $removed", "n"),
        *((f"MATCH (n:{label}) WHERE {dead}", "n") for label in (CHUNK, TOPIC, ENTITY, DOCUMENT)),
    ):
        server.run_alone(
            f"{rows} CALL ({deleted}) {{ DETACH DELETE {deleted} }} IN TRANSACTIONS OF {_ROWS} ROWS",
            {"commit": commit, "removed": list(removed)},
        )
