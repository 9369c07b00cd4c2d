"""Deleting what no commit shows, or will ever show."""

from __future__ import annotations

from collections.abc import Sequence

from backend.stores.neo4j.driver import Parameters, Server
from backend.stores.neo4j.schema import (
    ABOUT,
    CHUNK,
    CLAIM,
    CLAIMED_IN,
    COMMUNITY,
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
_DEAD = "n.since > $commit"


def sweep(server: Server, commit: int, removed: Sequence[str] = ()) -> None:
    """Deletes what no commit will ever show: rows of a job that did not commit, and what a commit has removed.

    Row by row and never by what hangs on a row, of which a hub has a hundred thousand: a transaction is as small as it
    says, and none looks for what it has itself deleted, which an index answers more slowly each time.
    """
    sweep_communities(server, commit)
    hint, present = in_order("source")
    ends = f"MATCH (:{ENTITY} {{id: n.source}})-[t {{id: n.id}}]->(:{ENTITY} {{id: n.target}})"
    for rows, deleted in (
        *(
            (f"MATCH ()-[n:{kind}]->() WHERE {_DEAD}", "n")
            for kind in (MENTIONED_IN, STATED_IN, ABOUT, COMPLEMENT_IN, CLAIMED_IN)
        ),
        (f"MATCH (n:{EDGE}) WHERE {_DEAD} {ends}", "t"),
        (f"MATCH (n:{EDGE}) WHERE {_DEAD}", "n"),
        # Of a removed dataset edges have no mark of their own: its entities lead to them.
        (f"MATCH (n:{ENTITY}) WHERE {_DEAD} MATCH (x:{EDGE}) {hint} WHERE x.source = n.id AND {present}", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {_DEAD} MATCH (n)-[t]->(n) MATCH (x:{EDGE} {{id: t.id}})", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {_DEAD} MATCH (n)-[t]->()", "t"),
        (f"MATCH (n:{DOCUMENT}) WHERE {_DEAD} MATCH (n)-[:{HAS_PART}]->(p:{CHUNK})", "p"),
        (f"MATCH (n:{DOCUMENT}) WHERE {_DEAD} MATCH (n)-[:{HAS_TOPIC}]->(t:{TOPIC})", "t"),
        (f"MATCH (n:{RELATION}) WHERE {_DEAD} OR n.dataset IN $removed", "n"),
        *((f"MATCH (n:{label}) WHERE {_DEAD}", "n") for label in (CLAIM, CHUNK, TOPIC, ENTITY, DOCUMENT)),
    ):
        _delete(server, rows, deleted, {"commit": commit, "removed": list(removed)})


def sweep_communities(server: Server, commit: int) -> None:
    """Deletes the communities that no commit shows any more, or ever will."""
    for rows, deleted in (
        (f"MATCH (n:{COMMUNITY}) WHERE {_DEAD} MATCH (n)-[t]-()", "t"),
        (f"MATCH (n:{COMMUNITY}) WHERE {_DEAD}", "n"),
    ):
        _delete(server, rows, deleted, {"commit": commit})


def _delete(server: Server, rows: str, deleted: str, parameters: Parameters) -> None:
    server.run_alone(
        f"{rows} CALL ({deleted}) {{ DETACH DELETE {deleted} }} IN TRANSACTIONS OF {_ROWS} ROWS", parameters
    )
