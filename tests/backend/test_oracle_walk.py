"""Walks over random worlds, and all that is shown beside them, are those of the oracle, to the last field."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.models import Scope, WalkQuery
from backend.scope import resolve
from tests import model
from tests.model import Seen, Truth
from tests.servers.neo4j import Neo4j
from tests.worlds import ON_A_SERVER, World, check, differences, loads, opened, outcome, scopes, walk_queries


@settings(max_examples=200)
@given(world=loads(), data=st.data())
def test_walks_are_those_of_the_oracle(world: World, data: st.DataObject) -> None:
    compare_walks(world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=ON_A_SERVER)
@given(world=loads(), data=st.data())
def test_walks_on_neo4j_are_those_of_the_oracle(neo4j_server: Neo4j, world: World, data: st.DataObject) -> None:
    compare_walks(world, data, neo4j_server.address)


def compare_walks(world: World, data: st.DataObject, store_place: str) -> None:
    with opened(world, store_place) as (explorer, truth):
        for _ in range(6):
            query = data.draw(walk_queries(truth))
            found = walk_differences(explorer, truth, query)
            if found:
                break
    check(world, query, found, partial(walk_again, store_place))


def walk_differences(explorer: Explorer, truth: Truth, query: WalkQuery) -> list[str]:
    return differences(outcome(explorer.walk, query), outcome(model.walk, truth, query))


def walk_again(store_place: str, world: World, query: WalkQuery) -> list[str]:
    with opened(world, store_place) as (explorer, truth):
        return walk_differences(explorer, truth, query)


@settings(max_examples=60)
@given(world=loads(), data=st.data())
def test_what_stands_beside_a_walk_is_that_of_the_oracle(world: World, data: st.DataObject) -> None:
    compare_beside(world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=ON_A_SERVER // 2)
@given(world=loads(), data=st.data())
def test_what_stands_beside_a_walk_on_neo4j_is_that_of_the_oracle(
    neo4j_server: Neo4j, world: World, data: st.DataObject
) -> None:
    compare_beside(world, data, neo4j_server.address)


def compare_beside(world: World, data: st.DataObject, store_place: str) -> None:
    with opened(world, store_place) as (explorer, truth):
        scope = data.draw(scopes(truth))
        found = [*beside_differences(explorer, truth, scope)]
    check(world, scope, found, partial(beside_again, store_place))


def beside_differences(explorer: Explorer, truth: Truth, scope: Scope) -> Iterator[str]:
    """Counts, entities, evidence and documents as the scope sees them, and the names that requests may use."""
    if isinstance(seen := outcome(Seen, truth, scope), str):
        yield from differences(outcome(explorer.check, scope), seen, "check")
        return
    catalog = explorer.catalog()
    for names in ("labels", "relation_types", "collections"):
        yield from differences(getattr(catalog, names), tuple(sorted(getattr(truth, names))), names)
    resolved = resolve(scope)
    datasets = explorer.store.read(lambda view: view.dataset_counts(resolved))
    yield from differences(datasets, model.dataset_counts(truth, scope), "dataset_counts")
    collections = explorer.store.read(lambda view: view.collection_counts(resolved))
    yield from differences(collections, model.collection_counts(truth, scope), "collection_counts")
    yield from differences(explorer.scope_size(scope), seen.size(), "scope_size")
    for document in truth.documents:
        got, expected = outcome(explorer.document, document, scope), outcome(seen.document_view, document)
        yield from differences(got, expected, "document")
    for limit in (1, 50):
        for edge in seen.edges:
            got = explorer.edge_evidence(edge.id, scope, limit)
            yield from differences(got, seen.edge_evidence(edge.id, limit), "edge_evidence")
    for entity in truth.entities:
        yield from differences(outcome(explorer.entity, entity, scope), outcome(seen.entity, entity), "entity")
        types = explorer.relation_types(entity, scope)
        yield from differences(types, seen.relation_types(entity) if entity in seen.entities else (), "relation_types")
        got = explorer.entity_evidence(entity, scope, 2)
        yield from differences(got, seen.support_of_entity(entity, "", 2), "entity_evidence")
        for other in truth.entities:
            got, both = explorer.mentioning_both(entity, other, scope, 2), seen.mentioning_both(entity, other, 2)
            yield from differences(got, both, "mentioning_both")


def beside_again(store_place: str, world: World, scope: Scope) -> list[str]:
    with opened(world, store_place) as (explorer, truth):
        return [*beside_differences(explorer, truth, scope)]


@given(world=loads(), data=st.data())
def test_oracle_itself_does_not_see_what_is_out_of_scope(world: World, data: st.DataObject) -> None:
    """2.1: removing what is out of scope changes no byte of a result, unless a bound is named in it."""
    truth = Truth(world)
    query = replace(data.draw(walk_queries(truth)), relation_types=())
    expected = outcome(model.walk, truth, query)
    if isinstance(expected, str) or "candidate" in expected.truncated_by:
        return
    if not all(node.hidden_relations.exact for node in expected.nodes):
        return
    left = deepcopy(truth)
    kept = {document.id for document in Seen(truth, query.scope).documents}
    left.documents = {key: document for key, document in left.documents.items() if key in kept}
    supported = {key for passage in left.passages() for key in passage.relations}
    left.relations = {key: r for key, r in left.relations.items() if r.unstated or key in supported}
    # All that is left is in scope, so the scope's filters need not be asked again.
    unfiltered = replace(query, scope=Scope(as_of=query.scope.as_of))
    assert replace(outcome(model.walk, left, unfiltered), query=query) == expected
