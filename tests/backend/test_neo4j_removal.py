"""Removing from a Neo4j deletes everything of what is removed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.identity import stable_id
from backend.models import PassageQuery, Progress
from backend.stores.neo4j.writer import Neo4jWriter
from tests.bundles import Rows, fleet, write_bundle
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


def told(document: str) -> dict[str, Rows]:
    """A document with everything that a bundle may say of its passages, and an entity that only it mentions."""
    passages = [f"{document}-{n}" for n in range(3)]
    return {
        "documents": [{"id": document, "title": "Of ships"}],
        "passages": [{"id": one, "document_id": document, "text": "The Petrel is a ship."} for one in passages],
        "topics": [{"id": f"{document}-t", "document_id": document, "title": "Ships", "passage_ids": passages[1:]}],
        "statements": [
            {"id": f"s-{one}", "topic_id": f"{document}-t", "passage_id": one, "text": "The Petrel is a ship."}
            for one in passages
        ],
        "entities": [{"id": "petrel", "name": "Petrel"}, {"id": document, "name": document}],
        "mentions": [{"entity_id": end, "passage_id": one} for end in ("petrel", document) for one in passages],
        "facts": [
            {"id": "is", "subject_id": "petrel", "predicate": "IS", "complement": "a ship"}
            | {"statement_ids": [f"s-{one}" for one in passages]},
            {"id": f"f-{document}", "subject_id": document, "predicate": "IS", "complement": "told"}
            | {"statement_ids": [f"s-{passages[0]}"]},
            {"id": f"g-{document}", "subject_id": document, "predicate": "NAMES", "object_id": "petrel"}
            | {"statement_ids": [f"s-{passages[0]}"]},
        ],
    }


def test_removed_document_leaves_no_topic_and_no_fact(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    explorer.load([write_bundle(tmp_path / "first", **told("first"))], dataset="told")
    before = contents(neo4j_server)
    assert ("['Topic']", 1) in before
    assert ("COMPLEMENT_IN", 4) in before
    assert ("ABOUT", 2) in before
    explorer.load([write_bundle(tmp_path / "second", **told("second"))], dataset="told")
    (counts,) = explorer.status().datasets
    assert (counts.topics, counts.statements, counts.facts) == (2, 6, 5)
    explorer.remove(document_id=stable_id("document", "told", "second"))
    assert contents(neo4j_server) == before
    (counts,) = explorer.status().datasets
    assert (counts.topics, counts.statements, counts.facts) == (1, 3, 3)
    explorer.remove(dataset="told")
    assert contents(neo4j_server) == []
    explorer.close()


class Killed(Exception):
    """What ends a load where it is."""


def test_load_that_is_killed_leaves_nothing_seen_and_the_next_job_sweeps_it(
    neo4j_server: Neo4j, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    explorer.load([write_bundle(tmp_path / "first", **told("first"))], dataset="told")
    before = contents(neo4j_server)
    seen = explorer.status().datasets, explorer.passages(PassageQuery("petrel")).hits

    def kill(progress: Progress) -> None:
        if progress.phase == "committing":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Neo4jWriter, "give_up", lambda writer: None)
        with pytest.raises(Killed):
            explorer.load([write_bundle(tmp_path / "second", **told("second"))], dataset="told", listener=kill)
    assert contents(neo4j_server) != before
    assert (explorer.status().datasets, explorer.passages(PassageQuery("petrel")).hits) == seen
    explorer.build_indexes()
    assert contents(neo4j_server) == before
    explorer.close()
