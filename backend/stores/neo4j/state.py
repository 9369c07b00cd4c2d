"""The one node that says which commit is the last; a database without it holds no graph of this product."""

from __future__ import annotations

from collections.abc import Sequence

from backend.errors import StoreUnreachable
from backend.stores.neo4j import statements
from backend.stores.neo4j.driver import Row, Server


def read_state(server: Server) -> Row:
    """What the node says; raises StoreUnreachable where it is gone."""
    with server.reading() as reading:
        return required(reading.peek(statements.STATE), server)


def required(rows: Sequence[Row], server: Server) -> Row:
    """The first of the rows that come from the node, or from what it leads to; raises StoreUnreachable without any."""
    if rows:
        return rows[0]
    raise StoreUnreachable(
        f"The database at {server.address} holds no graph of Attest any more.",
        hint="Somebody has emptied it. Start Attest again to begin a new graph there, and load the data again.",
        address=str(server.address),
    )


def require_same(state: Row, identity: str | None, server: Server) -> Row:
    """The state of the graph that was opened; raises StoreUnreachable where it is another's."""
    if identity in (None, state["identity"]):
        return state
    raise StoreUnreachable(
        f"The database at {server.address} holds another graph than when it was opened.",
        hint="Start Attest again to see that one.",
        address=str(server.address),
    )
