"""What is said of a full-text index of passages that is lost or another, and that `attest index` builds it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import IndexNotReady
from backend.explorer import Explorer
from backend.models import IndexState, Mode, PassageQuery
from backend.stores.neo4j.schema import PASSAGE_FULL_TEXT
from tests.damage import drop_names
from tests.servers.neo4j import Neo4j
from tests.world import SECOND, SMALL_WORLD
from tests.worlds import apply, new_explorer, outcome, run

pytestmark = pytest.mark.neo4j

LEXICAL = PassageQuery("the petrel at dawn", mode=Mode.LEXICAL)
REBUILT = "8 passages put into the full-text index"


@pytest.fixture
def explorer(neo4j_server: Neo4j, tmp_path: Path) -> Iterator[Explorer]:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    for step in SMALL_WORLD:
        apply(explorer, step, tmp_path)
    yield explorer
    explorer.close()


def change(server: Neo4j, *changes: str) -> None:
    with server.driver() as driver:
        for statement in changes:
            driver.execute_query(statement)  # type: ignore[arg-type]


def refusal(explorer: Explorer) -> IndexNotReady:
    with pytest.raises(IndexNotReady) as raised:
        explorer.passages(LEXICAL)
    assert raised.value.details["index"] == "passages"
    assert raised.value.details["remedy"] == "attest index"
    return raised.value


def test_lost_index_of_passages_is_named_and_built_again(explorer: Explorer, neo4j_server: Neo4j) -> None:
    before = outcome(explorer.passages, LEXICAL)
    assert explorer.passages(LEXICAL).hits
    change(neo4j_server, f"DROP INDEX {PASSAGE_FULL_TEXT}")
    assert refusal(explorer).details["state"] == IndexState.MISSING
    assert explorer.build_indexes() == [REBUILT]
    assert outcome(explorer.passages, LEXICAL) == before
    assert explorer.build_indexes() == []


def test_other_index_under_its_name_is_told_apart_and_replaced(explorer: Explorer, neo4j_server: Neo4j) -> None:
    before = outcome(explorer.passages, LEXICAL)
    change(
        neo4j_server,
        f"DROP INDEX {PASSAGE_FULL_TEXT}",
        f"CREATE FULLTEXT INDEX {PASSAGE_FULL_TEXT} FOR (n:Chunk) ON EACH [n.text]",
        "CALL db.awaitIndexes()",
    )
    error = refusal(explorer)
    assert error.details["state"] == IndexState.OTHER_DEFINITION
    assert "Chunk (text)" in error.message
    drop_names(neo4j_server.address, Path())
    assert explorer.build_indexes() == ["8 names put into the full-text index", REBUILT]
    assert outcome(explorer.passages, LEXICAL) == before


def test_load_never_ends_with_a_lost_index_of_passages(explorer: Explorer, neo4j_server: Neo4j, tmp_path: Path) -> None:
    change(neo4j_server, f"DROP INDEX {PASSAGE_FULL_TEXT}")
    run(explorer, SECOND, tmp_path)
    assert explorer.passages(LEXICAL).hits
