"""Nothing hidden leaks: a question within a scope is answered as if the rest had never been loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.models import Scope
from backend.questions import STRATEGIES, Question, Retrieval
from tests.bundles import write_bundle
from tests.model import Load, Row
from tests.servers.neo4j import Neo4j
from tests.worlds import MEMORY, NAMES, ON_A_SERVER, loads, new_explorer, run

CHOSEN = tuple(name for name in STRATEGIES if name != "automatic")


def one_load(world: Iterable[Any]) -> Load:
    """The first load of a world, whole, with a collection for each document."""
    load = next(step for step in world if isinstance(step, Load))
    documents = [{**row, "collection": row.get("collection") or "bare"} for row in load.documents]
    for row in documents:
        row.pop("valid_from", None)
    return replace(load, documents=documents, committed=True, replace=False, collection=None)


def narrowed(load: Load, collection: str) -> Load:
    """The load without everything that a scope of this collection hides."""
    documents = [row for row in load.documents if row["collection"] == collection]
    kept = {row["id"] for row in documents}
    passages = [row for row in load.passages if row["document_id"] in kept]
    seen = {row["id"] for row in passages}
    mentions = [row for row in load.mentions if row["passage_id"] in seen]
    # What else of its passages a relation names stays, so that documents have the same content and passages their ids.
    relations = [relation for relation in load.relations if not _is_hidden(relation, load, seen)]
    return replace(load, documents=documents, passages=passages, mentions=mentions, relations=relations)


def _is_hidden(relation: Row, load: Load, seen: set[str]) -> bool:
    """Whether passages state it and none of them is seen, which is not the same as having none."""
    there = {row["id"] for row in load.passages if row["document_id"] in {d["id"] for d in load.documents}}
    stated = there & set(relation.get("passage_ids", ()))
    return bool(stated) and not stated & seen


def told(found: Retrieval) -> Any:
    """All that a result says but its times and the scope that was asked for."""
    return replace(found, question=Question(""), timings_ms={}, steps=())


def compare(world: Iterable[Any], data: st.DataObject, store_place: str) -> None:
    load = one_load(world)
    collections = sorted({row["collection"] for row in load.documents})
    if not collections:
        return
    collection = data.draw(st.sampled_from(collections))
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        with (
            closing(_opened(load, folder / "whole", store_place)) as whole,
            closing(_opened(narrowed(load, collection), folder / "part", "sqlite")) as part,
        ):
            for _ in range(4):
                strategy = data.draw(st.sampled_from(CHOSEN))
                words = data.draw(
                    st.lists(st.sampled_from((*NAMES, "met", "left", "who", "nothing")), min_size=1, max_size=4)
                )
                options = ("max_search_results=none",) if strategy in ("traversal", "entities", "topics") else ()
                question = Question(" ".join(words), strategy, options=options, limit=100)
                scoped = replace(question, scope=Scope(collections=(collection,)))
                assert told(whole.retrieve(scoped)) == told(part.retrieve(question)), (strategy, words, collection)


def _opened(load: Load, folder: Path, store_place: str) -> Explorer:
    folder.mkdir()
    explorer = new_explorer(folder / "home", store_place)
    run(explorer, load, folder)
    # Groups that are given: which ones are found depends on all that is loaded.
    ids = [row["id"] for row in load.entities]
    halves = {"c0": ids, "c1": ids[: len(ids) // 2], "c2": ids[len(ids) // 2 :]}
    groups = [
        {"id": key, "level": int(key != "c0"), "entity_ids": own, **({"parent": "c0"} if key != "c0" else {})}
        for key, own in halves.items()
    ]
    explorer.load([write_bundle(folder / "groups", communities=groups)], dataset=load.dataset)
    return explorer


@settings(max_examples=100)
@given(world=loads(), data=st.data())
def test_a_scope_is_as_if_the_rest_had_never_been_loaded(world: Any, data: st.DataObject) -> None:
    compare(world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=ON_A_SERVER)
@given(world=loads(), data=st.data())
def test_a_scope_on_neo4j_is_as_if_the_rest_had_never_been_loaded(
    neo4j_server: Neo4j, world: Any, data: st.DataObject
) -> None:
    compare(world, data, neo4j_server.address)
