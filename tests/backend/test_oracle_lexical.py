"""The lexical graph of random worlds reads the same from a Neo4j as from SQLite, to the last field."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.identity import stable_id
from backend.models import Condition, Scope
from tests.bundles import Rows, write_bundle
from tests.lexical import lexical_differences, stored_ids
from tests.servers.neo4j import Neo4j
from tests.worlds import (
    DATASETS,
    MEMORY,
    NAMES,
    ON_A_SERVER,
    TERMS,
    TEXTS,
    World,
    check,
    loads,
    new_explorer,
    opened,
    scopes,
)

pytestmark = pytest.mark.neo4j

WORDS = (*TERMS, "l", "Bergamo Adam 東京", "Letter Berg Zoe")
# Of every load, those that do not commit too, and one that is nowhere.
ENTITIES = [stable_id("entity", dataset, f"e{number}") for dataset in DATASETS for number in range(13)]


@settings(max_examples=ON_A_SERVER)
@given(world=loads(), data=st.data())
def test_random_worlds_read_the_same(neo4j_server: Neo4j, world: World, data: st.DataObject) -> None:
    address = neo4j_server.address
    with opened(world) as (embedded, truth), opened(world, address) as (server, _):
        for scope in [Scope(), *(data.draw(scopes(truth)) for _ in range(3))]:
            found = compared(embedded, server, scope)
            if found:
                break
    check(world, scope, found, partial(compared_again, address))


def compared_again(address: str, world: World, scope: Scope) -> list[str]:
    with opened(world) as (embedded, _), opened(world, address) as (server, _):
        return compared(embedded, server, scope)


def compared(embedded: Explorer, server: Explorer, scope: Scope) -> list[str]:
    asked = replace(stored_ids(embedded), entities=[*ENTITIES, *ENTITIES[:2]], named=NAMES, begun=WORDS)
    return [*lexical_differences(embedded, server, asked, scope)]


# What a bundle says itself, which the worlds leave to be derived.
PASSAGES = ("d0p0", "d0p1", "d1p0")


def _some(*values: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=3, unique=True)


@st.composite
def given_bundles(draw: st.DrawFn) -> dict[str, Rows]:
    entity, passage = st.sampled_from(("e0", "e1", "e2")), st.sampled_from(PASSAGES)
    topics: Rows = [
        {"id": f"t{n}", "document_id": f"d{n % 2}", "title": f"Topic {n}", "passage_ids": draw(_some(*PASSAGES))}
        for n in range(draw(st.integers(0, 3)))
    ]
    statements: Rows = [
        {"id": f"s{n}", "topic_id": f"t{draw(st.integers(0, 2))}", "passage_id": draw(passage), "text": f"Text {n}."}
        for n in range(draw(st.integers(0, 6)))
    ]
    facts: Rows = []
    for n in range(draw(st.integers(0, 6))):
        end = {"object_id": draw(entity)} if draw(st.booleans()) else {"complement": draw(st.sampled_from("ab"))}
        stated = draw(_some("s0", "s1", "s2", "s3"))
        predicate = draw(st.sampled_from(("was", "saw")))
        facts.append(
            {"id": f"f{n}", "subject_id": draw(entity), "predicate": predicate, "statement_ids": stated, **end}
        )
    return {
        "documents": [{"id": "d0", "title": "Letter"}, {"id": "d1", "title": "Report", "collection": "reports"}],
        "passages": [{"id": one, "document_id": one[:2], "text": draw(st.sampled_from(TEXTS))} for one in PASSAGES],
        "entities": [{"id": f"e{n}", "name": NAMES[n]} for n in range(3)],
        "mentions": [{"entity_id": draw(entity), "passage_id": draw(passage)} for _ in range(draw(st.integers(0, 4)))],
        "topics": topics,
        "statements": statements,
        "facts": facts,
    }


@settings(max_examples=ON_A_SERVER)
@given(bundles=st.lists(given_bundles(), min_size=1, max_size=2))
def test_what_bundles_say_reads_the_same(neo4j_server: Neo4j, bundles: list[dict[str, Rows]]) -> None:
    with TemporaryDirectory(dir=MEMORY) as name:
        both = new_explorer(Path(name, "sqlite")), new_explorer(Path(name, "neo4j"), neo4j_server.address)
        for explorer in both:
            for number, bundle in enumerate(bundles):
                explorer.load([write_bundle(Path(name, f"{number}"), **bundle)], dataset="alpha")
        for scope in (Scope(), Scope(conditions=(Condition("title", "=", ("Letter",)),))):
            assert compared(*both, scope) == [], bundles
        for explorer in both:
            explorer.close()
