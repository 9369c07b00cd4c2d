"""What a search says of an index that is lost, another or broken, and that `attest index` is all it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import IndexNotReady
from backend.explorer import Explorer
from backend.models import EntityQuery, IndexState, Mode, WalkQuery
from backend.stores.neo4j.driver import Parameters, Reading, Row
from backend.stores.neo4j.indexes import full_text
from backend.stores.neo4j.schema import ENTITY, FULL_TEXT_CONFIG, FULL_TEXT_PROPERTIES
from backend.stores.readiness import FullText, index_states
from tests.damage import break_names, drop_names, replace_names
from tests.model import Load
from tests.servers.neo4j import Neo4j
from tests.world import SECOND, entity
from tests.worlds import new_explorer, outcome, run

LEXICAL = EntityQuery("ida", mode=Mode.LEXICAL)
WALK = WalkQuery(entity("ida"), depth=2)
REBUILT = ["8 names put into the full-text index"]


def refusal(explorer: Explorer, query: EntityQuery = LEXICAL) -> IndexNotReady:
    with pytest.raises(IndexNotReady) as raised:
        explorer.search(query)
    assert raised.value.details["remedy"] == "attest index"
    assert raised.value.hint == "Run `attest index`."
    return raised.value


def test_lost_index_of_names_is_named_and_built_again_under_the_open_explorer(
    small_world: Explorer, store_place: str
) -> None:
    before = outcome(small_world.search, LEXICAL), outcome(small_world.walk, WALK)
    drop_names(store_place, small_world.settings.home)
    error = refusal(small_world, EntityQuery("ida", labels=("Vessel", "Person"), mode=Mode.LEXICAL))
    assert (error.details["label"], error.details["index"], error.details["state"]) == ("Person", "fulltext", "missing")
    assert "'Person' is missing" in error.message
    assert outcome(small_world.walk, WALK) == before[1]
    assert small_world.search(EntityQuery("ida berg", mode=Mode.SEMANTIC)).hits[0].name == "Ida Berg"
    assert small_world.build_indexes() == REBUILT
    assert (outcome(small_world.search, LEXICAL), outcome(small_world.walk, WALK)) == before
    assert small_world.build_indexes() == []


def test_other_index_under_its_name_is_told_apart_and_replaced(small_world: Explorer, store_place: str) -> None:
    before = outcome(small_world.search, LEXICAL)
    replace_names(store_place, small_world.settings.home)
    error = refusal(small_world)
    assert error.details["state"] == IndexState.OTHER_DEFINITION
    assert "description" in error.message
    assert small_world.build_indexes() == REBUILT
    assert outcome(small_world.search, LEXICAL) == before


def test_load_never_ends_with_a_lost_index_of_names(small_world: Explorer, store_place: str, folder: Path) -> None:
    drop_names(store_place, small_world.settings.home)
    run(small_world, SECOND, folder)
    assert small_world.search(LEXICAL).hits[0].name == "Ida Berg"


@pytest.mark.neo4j
def test_failed_index_of_names_is_told_and_built_again(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    name = "x" * 40_000  # longer than a term of the server's index can be
    run(explorer, Load("long", [], [], [{"id": "long", "name": name}], [], []), tmp_path)
    break_names(neo4j_server.address)
    assert refusal(explorer).details["state"] == "failed"
    assert explorer.build_indexes() == ["1 names put into the full-text index"]
    assert explorer.search(LEXICAL).hits == ()
    explorer.close()


class Told(Reading):
    """A reading of which the answer is known."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def read(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        return [self._row]


def test_index_of_names_that_is_being_built_says_how_far_it_is() -> None:
    ours = {"type": "FULLTEXT", "labels": [ENTITY], "properties": [*FULL_TEXT_PROPERTIES], "config": FULL_TEXT_CONFIG}
    told = full_text(Told({**ours, "state": "POPULATING", "percent": 41.666}))
    assert told == FullText(IndexState.POPULATING, 41.7)
    online = FullText(IndexState.ONLINE)
    kinds = {"chunk": (0, 0)}
    (status, *_) = index_states({"Person": (3, 0)}, told, passages=online, kinds=kinds, building=lambda: None)
    assert (status.label, status.state, status.percent) == ("Person", "populating", 41.7)
