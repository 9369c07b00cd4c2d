"""Entity searches in random worlds find what the oracle finds, to the last field."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.models import EntityQuery, Mode
from tests import model
from tests.encoders import LettersEncoder
from tests.model import Truth
from tests.worlds import World, check, differences, entity_queries, loads, opened, outcome

ENCODER = LettersEncoder()


@pytest.mark.parametrize("mode", Mode)
@settings(max_examples=100)
@given(world=loads(), data=st.data())
def test_searches_are_those_of_the_oracle(mode: Mode, world: World, data: st.DataObject) -> None:
    with opened(world) as (explorer, truth):
        for _ in range(6):
            query = data.draw(entity_queries(truth, mode))
            found = search_differences(explorer, truth, query)
            if found:
                break
    check(world, query, found, search_again)


def search_differences(explorer: Explorer, truth: Truth, query: EntityQuery) -> list[str]:
    return differences(outcome(explorer.search, query), outcome(model.search, truth, query, ENCODER))


def search_again(world: World, query: EntityQuery) -> list[str]:
    with opened(world) as (explorer, truth):
        return search_differences(explorer, truth, query)
