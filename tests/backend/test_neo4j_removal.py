"""Removing from a Neo4j deletes everything of what is removed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bundles import fleet, write_bundle
from tests.model import Load
from tests.servers.neo4j import Neo4j
from tests.world import SMALL_WORLD
from tests.worlds import apply, new_explorer, run

pytestmark = pytest.mark.neo4j

NODES = "MATCH (n) WHERE NOT n:AttestJob AND NOT n:AttestStore RETURN labels(n) AS kind, count(*) AS count"
RELATIONSHIPS = "MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS count"


def contents(server: Neo4j) -> list[tuple[str, int]]:
    """How many nodes and relationships of each kind the database has."""
    with server.driver() as driver:
        rows = [row for ask in (NODES, RELATIONSHIPS) for row in driver.execute_query(ask).records]
    return sorted((str(row["kind"]), row["count"]) for row in rows)


def test_removed_dataset_leaves_no_node_and_no_relationship(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    for step in SMALL_WORLD:
        apply(explorer, step, tmp_path)
    before = contents(neo4j_server)
    explorer.load([write_bundle(tmp_path / "fleet", **fleet(12))], dataset="fleet")
    odd = [
        {"id": "moves", "source": "port1", "target": "port2", "type": "T", "passage_ids": ["passage1"]},
        {"source": "port3", "target": "port3", "type": "T", "passage_ids": ["passage1"]},  # to itself
        {"source": "port4", "target": "port5", "type": "T"},  # a path
    ]
    run(explorer, Load("fleet", [], [], [], [], odd), tmp_path)
    # Its first edge has no relation any more, and a passage that states it.
    run(explorer, Load("fleet", [], [], [], [], [{**odd[0], "target": "port6"}]), tmp_path)
    assert explorer.remove(dataset="fleet") == {"documents": 12, "entities": 19, "relations": 15}
    assert contents(neo4j_server) == before
    explorer.close()
