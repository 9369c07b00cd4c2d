"""The pages over a store whose index of names is lost while they run."""

from __future__ import annotations

from backend.explorer import Explorer
from tests.damage import drop_names
from tests.pages.conftest import Visitor
from tests.world import entity


def test_page_says_which_index_is_lost_and_answers_again_once_it_is_built(
    world: Explorer, visitor: Visitor, store_place: str
) -> None:
    drop_names(store_place, world.settings.home)
    visitor.open("search", q="petrel")
    assert "The fulltext index of label 'Company' is missing." in visitor.errors
    assert "“attest index” builds it" in visitor.errors
    assert "4 entities, 3 relations." in visitor.open("explore", entity=entity("petrel")).words
    world.build_indexes()
    assert "<mark>Petrel</mark>" in visitor.open("search", q="petrel").markup
    assert not visitor.errors
