"""Entity searches in random worlds find what the oracle finds, to the last field."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.models import Mode
from tests import model
from tests.encoders import LettersEncoder
from tests.worlds import World, differences, entity_queries, loads, opened, outcome

SEARCHES_PER_WORLD = 6
ENCODER = LettersEncoder()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(world=loads(), data=st.data())
def test_searches_are_those_of_the_oracle(world: World, data: st.DataObject) -> None:
    with opened(world) as (explorer, truth):
        for _ in range(SEARCHES_PER_WORLD):
            query = data.draw(entity_queries(truth, list(Mode)))
            expected = outcome(lambda query=query: model.search(truth, query, ENCODER))
            assert not differences(outcome(lambda query=query: explorer.search(query)), expected), query
