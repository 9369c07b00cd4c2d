"""What somebody may do to a store behind the back of the application."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from backend.stores.neo4j.schema import FULL_TEXT
from tests.servers.neo4j import Neo4j


def drop_names(store_place: str, home: Path) -> None:
    """Drops the full-text index of names."""
    if store_place == "sqlite":
        _change_file(home, "DROP TABLE entity_words")
    else:
        _change_server(store_place, f"DROP INDEX {FULL_TEXT}")


def replace_names(store_place: str, home: Path) -> None:
    """Puts another index, of descriptions, in the place of the full-text index of names."""
    drop_names(store_place, home)
    if store_place == "sqlite":
        _change_file(home, "CREATE VIRTUAL TABLE entity_words USING fts5 (description)")
    else:
        _change_server(store_place, f"CREATE FULLTEXT INDEX {FULL_TEXT} FOR (n:Entity) ON EACH [n.description]")


def break_names(address: str) -> None:
    """Puts an index that cannot be built, for want of what splits long names, in the place of that of names."""
    drop_names(address, Path())
    _change_server(
        address,
        f"CREATE FULLTEXT INDEX {FULL_TEXT} FOR (n:Entity) ON EACH [n.names, n.name_keys, n.label_token] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}",
    )
    with Neo4j(address).driver() as driver:
        while driver.execute_query("SHOW INDEXES YIELD state WHERE state = 'POPULATING'").records:
            pass


def _change_file(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "graph.sqlite")) as connection:
        connection.execute(statement)


def _change_server(address: str, statement: str) -> None:
    with Neo4j(address).driver() as driver:
        driver.execute_query(statement)  # type: ignore[arg-type]
