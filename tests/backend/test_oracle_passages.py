"""Passage searches in random worlds find what the oracle finds, to the last field."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.models import Mode, PassageQuery
from tests.encoders import LettersEncoder
from tests.model import Truth
from tests.model_passages import search_passages
from tests.servers.neo4j import Neo4j
from tests.worlds import ON_A_SERVER, World, check, differences, loads, opened, outcome, passage_queries

ENCODER = LettersEncoder()


@pytest.mark.parametrize("mode", Mode)
@settings(max_examples=60)
@given(world=loads(), data=st.data())
def test_passage_searches_are_those_of_the_oracle(mode: Mode, world: World, data: st.DataObject) -> None:
    compare_searches(mode, world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=ON_A_SERVER)
@given(world=loads(), data=st.data())
def test_passage_searches_on_neo4j_are_those_of_the_oracle(
    neo4j_server: Neo4j, world: World, data: st.DataObject
) -> None:
    compare_searches(Mode.HYBRID, world, data, neo4j_server.address)


def compare_searches(mode: Mode, world: World, data: st.DataObject, store_place: str) -> None:
    with opened(world, store_place) as (explorer, truth):
        for _ in range(8):
            query = data.draw(passage_queries(truth, mode))
            found = search_differences(explorer, truth, query)
            if found:
                break
    check(world, query, found, partial(search_again, store_place))


def search_differences(explorer: Explorer, truth: Truth, query: PassageQuery) -> list[str]:
    return differences(outcome(explorer.passages, query), outcome(search_passages, truth, query, ENCODER))


def search_again(store_place: str, world: World, query: PassageQuery) -> list[str]:
    with opened(world, store_place) as (explorer, truth):
        return search_differences(explorer, truth, query)
