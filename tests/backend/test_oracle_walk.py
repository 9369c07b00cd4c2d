"""Walks over random worlds are those of the oracle, to the last field."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import model
from tests.worlds import World, differences, loads, opened, outcome, walk_queries

WALKS_PER_WORLD = 6


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(world=loads(), data=st.data())
def test_walks_are_those_of_the_oracle(world: World, data: st.DataObject) -> None:
    with opened(world) as (explorer, truth):
        for _ in range(WALKS_PER_WORLD):
            query = data.draw(walk_queries(truth))
            expected = outcome(lambda query=query: model.walk(truth, query))
            assert not differences(outcome(lambda query=query: explorer.walk(query)), expected), query
