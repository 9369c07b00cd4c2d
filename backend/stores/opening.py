"""Which graph store the settings name: the only place that knows that there are several."""

from __future__ import annotations

from backend.settings import SQLITE, Settings
from backend.stores.base import GraphStore


def open_store(settings: Settings) -> GraphStore:
    """Opens the graph store of the settings; a server is asked when something is read."""
    if settings.graph == SQLITE:
        from backend.stores.sqlite.store import SqliteStore

        return SqliteStore(settings.home)
    from backend.stores.neo4j.driver import Address
    from backend.stores.neo4j.store import Neo4jStore

    address = Address(settings.graph, settings.neo4j_user, settings.neo4j_password, settings.neo4j_database)
    return Neo4jStore(address)
