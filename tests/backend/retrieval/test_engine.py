"""Traversal-based search from Python, as its documentation uses it."""

from __future__ import annotations

import json

import pytest

from backend.engine import TraversalEngine
from backend.errors import Malformed
from backend.explorer import Explorer


def test_nodes_have_their_text_as_json_and_everything_else_in_metadata(small_world: Explorer) -> None:
    nodes = TraversalEngine(small_world, max_search_results=2).retrieve("Who kept the light at Skerry?")
    assert 1 <= len(nodes) <= 2
    text = json.loads(nodes[0].text)
    assert text["source"]
    assert text.get("statements") or text["topics"]
    assert set(nodes[0].metadata) == {"result", "entity_contexts"}


def test_a_response_has_its_nodes_and_can_be_read_or_streamed(
    small_world: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = TraversalEngine(small_world, retrievers=["ChunkBasedSearch"])
    response = engine.query("Who kept the light at Skerry?")
    assert response.metadata["num_source_nodes"] == len(response.source_nodes) > 0
    read = response.response
    engine.query("Who kept the light at Skerry?").print_response_stream()
    assert capsys.readouterr().out.split() == read.split()


def test_an_option_that_is_unknown_is_malformed(small_world: Explorer) -> None:
    with pytest.raises(Malformed):
        TraversalEngine(small_world, vss_topk=3).retrieve("Who?")
