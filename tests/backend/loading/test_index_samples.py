"""Real outputs of GraphRAG and nano-graphrag: what is kept, repaired and left out is what the raw files say."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from backend import data_citations
from backend.explorer import Explorer
from backend.models import LoadReport
from tests.worlds import new_explorer

pytestmark = pytest.mark.shared

GRAPHRAG = {
    "dulce_v0_1": "Microsoft GraphRAG 0.x",
    "verbs_v1_2": "Microsoft GraphRAG 0.5–1.x",
    "dulce_v2": "Microsoft GraphRAG 2.x",
    "verbs_v2_7": "Microsoft GraphRAG 2.x",
    "dulce_v3": "Microsoft GraphRAG 3.x",
    "verbs_v3": "Microsoft GraphRAG 3.x",
}
Rows = list[dict[str, Any]]


@pytest.fixture
def explorer(folder: Path) -> Iterator[Explorer]:
    with closing(new_explorer(folder / "store")) as explorer:
        yield explorer


def table(folder: Path, name: str) -> Rows:
    for file in (folder / f"{name}.parquet", folder / f"create_final_{name}.parquet"):
        if file.exists():
            rows: Rows = pq.read_table(file).to_pylist()
            return rows
    return []


def counted(report: LoadReport) -> dict[str, int]:
    return {issue.kind: issue.count for issue in report.issues}


def key(name: str) -> str:
    """A name without what spellings differ in: width, blanks, hyphens, case."""
    plain = re.sub(r"[\u2010-\u2015\u2212]", "-", unicodedata.normalize("NFKC", name))
    return " ".join(plain.replace("-", " ").split()).upper()


def is_named(name: str | None) -> bool:
    return bool(name) and str(name).strip("*").strip().upper() != "NONE"


@pytest.mark.parametrize("name", GRAPHRAG)
def test_every_row_of_a_graphrag_index_is_accounted_for(
    name: str, explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / name
    entities, relationships = table(folder, "entities"), table(folder, "relationships")
    claims, units, reports = (
        table(folder, "covariates"),
        table(folder, "text_units"),
        table(folder, "community_reports"),
    )
    titles = {row.get("title") or row["name"] for row in entities}
    keys = {key(title) for title in titles}
    kept_claims = [row for row in claims if row["type"]]
    relations = {row["id"] for row in relationships}
    ends = [end for row in relationships for end in (row["source"], row["target"])]
    named = [*ends, *(row["subject_id"] for row in kept_claims)]
    placeholders = {key(one) for one in named if one not in titles and key(one) not in keys}

    (report,) = explorer.load([folder])

    found, issues = report.kept, counted(report)
    assert report.format.startswith(GRAPHRAG[name])
    assert found["passages"] == len(units)
    assert found["entities"] == len(titles) + len(placeholders)
    assert found["relations"] == len(relations)
    assert found["claims"] == len(kept_claims)
    assert found["reports"] == len(reports)
    assert issues.get("used_id", 0) == len(relationships) - len(relations)
    assert issues.get("claim_debris", 0) == len(claims) - len(kept_claims)
    assert issues.get("placeholder", 0) == len(placeholders)
    assert found["communities"] == len(table(folder, "communities") or reports) + issues.get("unclustered", 0)


@pytest.mark.parametrize("name", ["dulce_v2", "verbs_v2_7", "dulce_v3", "verbs_v3", "verbs_v1_2"])
def test_members_are_those_of_the_files_and_the_rest_is_unclustered(
    name: str, explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / name
    titles = {row["id"]: row["title"] for row in table(folder, "entities")}
    communities = table(folder, "communities")
    if "entity_ids" in communities[0]:
        expected = sorted(sorted(titles[one] for one in row["entity_ids"] if one in titles) for row in communities)
    else:  # the table of nodes says it, one row for each entity and level
        nodes = table(folder, "nodes")
        numbers = {row["community"] for row in nodes if row["community"] >= 0}
        expected = sorted(sorted({row["title"] for row in nodes if row["community"] == n}) for n in numbers)

    explorer.load([folder], dataset="sample")

    rows = explorer.store.read(lambda view: view.community_rows("sample"))
    ids = explorer.store.read(lambda view: view.row_ids("entity", "sample"))
    names = {row.entity.id: row.entity.name for row in explorer.store.read(lambda view: view.entity_rows(ids))}
    clustered = [row for row in rows if row.source_id != next(r.source_id for r in rows if "nclustered" in r.title)]
    assert sorted(sorted(names[one] for one in row.member_ids) for row in clustered) == expected
    (rest,) = [row for row in rows if row not in clustered]
    assert {names[one] for one in rest.member_ids} == set(names.values()) - {one for own in expected for one in own}


@pytest.mark.parametrize("name", GRAPHRAG)
def test_citations_lead_to_what_has_their_number_in_the_files(
    name: str, explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / name
    entities = {str(row["human_readable_id"]): row.get("title") or row["name"] for row in table(folder, "entities")}
    relations = {str(row["human_readable_id"]): row for row in table(folder, "relationships")}
    numbers = {"entity": set(entities), "relation": set(relations)}
    cited = lost = 0

    explorer.load([folder], dataset="sample")

    for row in explorer.store.read(lambda view: view.community_rows("sample")):
        for one in row.report.citations if row.report else ():
            if one.kind in numbers:
                cited += 1
                lost += one.id is None
                assert (one.id is not None) == (one.number in numbers[one.kind])
            if one.kind == "entity" and one.id is not None:
                assert explorer.store.read(lambda view, i=one.id: view.stored_entity(i)).name == entities[one.number]  # type: ignore[misc,union-attr]
    texts = [row["full_content"] for row in table(folder, "community_reports")]
    assert cited > 0
    assert lost == sum(
        len({(c.kind, c.number) for c in data_citations.find(text) if c.number not in numbers.get(c.kind, {c.number})})
        for text in texts
    )


@pytest.mark.parametrize("name", ["dulce_v2", "verbs_v3", "verbs_v1_2"])
def test_passages_stand_where_their_document_has_them(
    name: str, explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / name
    texts = {row["title"]: row["text"] for row in table(folder, "documents")}

    explorer.load([folder], dataset="sample")

    documents = explorer.store.read(lambda view: view.row_ids("document", "sample"))
    passages = [passage for one in documents for passage in explorer.document(one).passages]
    assert len(passages) == len(table(folder, "text_units"))
    for passage in passages:
        assert texts[passage.document.title][passage.start : passage.end] == passage.text


def test_tables_as_csv_say_the_same_as_parquet(
    explorer: Explorer, folder: Path, shared_data: Callable[[str], Path]
) -> None:
    sample = shared_data("index-samples") / "verbs_v3"
    written = folder / "csv"
    written.mkdir()
    for name in ("entities", "relationships", "text_units", "covariates"):
        (written / f"{name}.csv").write_bytes((sample / f"{name}.csv").read_bytes())
    for name in ("communities", "community_reports", "documents"):
        (written / f"{name}.parquet").write_bytes((sample / f"{name}.parquet").read_bytes())

    (of_csv,) = explorer.load([written], dataset="csv")
    (of_parquet,) = explorer.load([sample], dataset="parquet")

    assert of_csv.kept == of_parquet.kept
    (one, other) = explorer.status().datasets
    assert {**vars_of(one), "name": ""} == {**vars_of(other), "name": ""}


def vars_of(counts: Any) -> dict[str, Any]:
    return {field: getattr(counts, field) for field in counts.__dataclass_fields__}


def test_every_node_edge_and_report_of_a_nano_graphrag_store_is_kept(
    explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / "nano_dickens"
    graph = ElementTree.parse(folder / "graph_chunk_entity_relation.graphml")
    nodes, edges = graph.findall(".//{*}node"), graph.findall(".//{*}edge")
    chunks = json.loads((folder / "kv_store_text_chunks.json").read_bytes())
    reports = json.loads((folder / "kv_store_community_reports.json").read_bytes())

    (report,) = explorer.load([folder], dataset="sample")

    assert report.format.startswith("nano-graphrag")
    assert (report.kept["entities"], report.kept["relations"]) == (len(nodes), len(edges))
    assert (report.kept["passages"], report.kept["reports"]) == (len(chunks), len(reports))
    assert report.kept["communities"] == len(reports) + 1  # and those without a cluster
    ids = explorer.store.read(lambda view: view.row_ids("entity", "sample"))
    names = {row.entity.name for row in explorer.store.read(lambda view: view.entity_rows(ids))}
    assert names == {re.sub(r'^"(.+)"$', r"\1", node.attrib["id"]) for node in nodes}


@pytest.mark.parametrize("name", [*GRAPHRAG, "nano_dickens"])
def test_a_second_load_of_the_same_index_changes_nothing(
    name: str, explorer: Explorer, shared_data: Callable[[str], Path]
) -> None:
    folder = shared_data("index-samples") / name
    explorer.load([folder], dataset="sample")
    before = explorer.store.read(lambda view: view.community_rows("sample"))
    counts = explorer.store.read(lambda view: view.row_counts())
    (again,) = explorer.load([folder], dataset="sample")
    assert set(again.changes) == {"documents unchanged"}
    assert explorer.store.read(lambda view: view.community_rows("sample")) == before
    assert explorer.store.read(lambda view: view.row_counts()) == counts
