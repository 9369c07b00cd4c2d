"""Permalinks: what is written is read back as it was, and what cannot be read is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import Malformed
from backend.models import Condition, Mode, Scope
from backend.questions import STRATEGIES
from backend.scope import OPERATORS
from components import address
from components.address import AskView, ExploreView, SearchView

texts = st.text(min_size=1, max_size=12)
names = st.lists(texts, max_size=3).map(tuple)
conditions = st.builds(
    Condition, texts, st.sampled_from([name for name in OPERATORS if name not in ("in", "exists")]), st.tuples(texts)
) | st.builds(Condition, texts, st.just("in"), st.lists(texts, min_size=1, max_size=3).map(tuple))
scopes = st.builds(Scope, names, names, st.lists(conditions, max_size=2).map(tuple), st.none() | texts)
numbers = st.integers(1, 50_000)
selections = st.none() | texts


results = st.sampled_from(["entities", "passages"])


@given(st.builds(SearchView, st.just("") | texts, results, names, st.sampled_from(Mode), numbers, selections, scopes))
def test_search_is_read_back_as_it_was(view: SearchView) -> None:
    assert address.read_search(address.search_params(view)) == view


@given(
    st.builds(
        ExploreView,
        st.just("") | texts,
        numbers,
        names,
        numbers,
        numbers,
        numbers,
        st.sampled_from(["graph", "table"]),
        selections,
        selections,
        scopes,
    )
)
def test_exploration_is_read_back_as_it_was(view: ExploreView) -> None:
    assert address.read_explore(address.explore_params(view)) == view


@given(st.builds(AskView, st.just("") | texts, st.sampled_from(STRATEGIES), scopes))
def test_question_is_read_back_as_it_was(view: AskView) -> None:
    assert address.read_ask(address.ask_params(view)) == view


def test_address_says_only_what_differs_from_the_ordinary() -> None:
    assert address.search_params(SearchView("ida")) == {"q": ["ida"]}
    assert address.explore_params(ExploreView("x", depth=2)) == {"entity": ["x"], "depth": ["2"]}


def test_conditions_are_readable_where_that_is_exact() -> None:
    scope = Scope(conditions=(Condition("pages", ">=", ("3",)), Condition("a = b", "=", ("c",))))
    assert address.scope_params(scope) == {"where": ["pages >= 3", '["a = b", "=", "c"]']}


@pytest.mark.parametrize("text", ["-1", "1.5", "²", "1" * 10, " "])
def test_a_bound_that_is_no_number_is_malformed(text: str) -> None:
    with pytest.raises(Malformed, match="is not a number"):
        address.read_explore({"nodes": [text]})


def test_an_unknown_view_is_malformed_and_names_the_known_ones() -> None:
    with pytest.raises(Malformed, match="graph, table"):
        address.read_explore({"view": ["globe"]})
