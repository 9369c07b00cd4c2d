"""What a Neo4j holds is what its users expect, and no name from data can be mistaken for one of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stores.neo4j import schema
from backend.stores.neo4j.schema import (
    INDEXES,
    MAX_TYPES,
    OWN_LABELS,
    OWN_TYPES,
    RELATED,
    label_token,
    text_key,
    text_order,
    type_token,
)
from tests.model import Load
from tests.servers.neo4j import Neo4j
from tests.worlds import new_explorer, run

ROOT = Path(__file__).parents[2]
NAMES = st.text(min_size=1, max_size=300) | st.sampled_from(sorted(OWN_LABELS | OWN_TYPES)).map(lambda n: f"_{n}")
HOSTILE = [
    "Chunk",
    "_Chunk",
    "AttestStore",
    "a`b",
    "x`) DETACH DELETE (n",
    "\\u0060",
    "has part",
    "HAS_PART",
    "東京",
    "`",
]


@given(one=NAMES, other=NAMES)
def test_two_names_never_share_a_token(one: str, other: str) -> None:
    assert (label_token(one) == label_token(other)) == (one == other)
    assert (type_token(one, is_early=True) == type_token(other, is_early=True)) == (one == other)


@given(name=NAMES | st.sampled_from(sorted(OWN_LABELS | OWN_TYPES)))
def test_no_token_is_one_of_ours(name: str) -> None:
    assert label_token(name) not in OWN_LABELS
    assert type_token(name, is_early=True) not in OWN_TYPES
    assert type_token(name, is_early=False) == RELATED
    assert len(label_token(name)) < 250


@given(one=st.text(), other=st.text())
def test_order_of_texts_is_that_of_their_code_points(one: str, other: str) -> None:
    assert (text_order(one) < text_order(other)) == (one < other)
    assert (text_key(one) == text_key(other)) == (one == other)


def test_relation_types_are_few_enough_for_a_server() -> None:
    assert MAX_TYPES + len(OWN_TYPES) < 30_000
    assert len({index.name for index in (*INDEXES, schema.NAMES, schema.PASSAGES)}) == len(INDEXES) + 2


@pytest.mark.neo4j
def test_labels_and_types_from_data_are_kept_as_they_are(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    entities = [{"id": f"e{n}", "name": f"Name {n}", "type": name} for n, name in enumerate(HOSTILE)]
    relations = [
        {"source": f"e{n}", "target": f"e{n + 1}", "type": name, "passage_ids": ["p"]}
        for n, name in enumerate(HOSTILE[:-1])
    ]
    mentions = [{"entity_id": row["id"], "passage_id": "p"} for row in entities]
    passage = {"id": "p", "document_id": "d", "text": "Names."}
    run(explorer, Load("odd", [{"id": "d"}], [passage], entities, mentions, relations), tmp_path)
    assert explorer.catalog().labels == tuple(sorted(HOSTILE))
    assert explorer.catalog().relation_types == tuple(sorted(HOSTILE[:-1]))
    with neo4j_server.driver() as driver:
        found = driver.execute_query("MATCH (n:Entity) RETURN n.label AS label, labels(n) AS labels").records
        assert {row["label"]: set(row["labels"]) - {"Entity"} for row in found} == {
            name: {label_token(name)} for name in HOSTILE
        }
        found = driver.execute_query("MATCH (:Entity)-[r]->(:Entity) RETURN r.type AS name, type(r) AS type").records
        assert {row["name"]: row["type"] for row in found} == {
            name: type_token(name, is_early=True) for name in HOSTILE[:-1]
        }
    explorer.close()


@pytest.mark.neo4j
def test_queries_of_the_readme_find_something_in_the_demo(neo4j_server: Neo4j, tmp_path: Path) -> None:
    explorer = new_explorer(tmp_path, neo4j_server.address)
    explorer.load([ROOT / "demo" / "first"], dataset="demo")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    queries = re.findall(r"    // [^\n]+\n((?:    [^\n]+\n)+)", readme)
    assert len(queries) == 3
    with neo4j_server.driver() as driver:
        for query in queries:
            assert driver.execute_query(query.strip().removesuffix(";")).records, query
    explorer.close()
