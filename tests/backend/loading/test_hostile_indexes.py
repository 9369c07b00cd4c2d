"""Folders of other tools that are broken, hostile or odd end in a clear error or a counted repair."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.errors import Malformed
from backend.explorer import Explorer
from backend.models import LoadReport
from tests.worlds import new_explorer

ENTITIES = {
    "id": ["u1", "u2", "u3"],
    "human_readable_id": [0, 1, 2],
    "title": ["ADA", "BERG", "ALONE"],
    "type": ["PERSON", None, ""],
    "description": ["Keeps a light.", "", None],
    "text_unit_ids": [["t1", "t1"], ["t1"], ["t2"]],
}
RELATIONSHIPS = {
    "id": ["r1", "r2"],
    "human_readable_id": [0, 1],
    "source": ["ADA", "ADA"],
    "target": ["BERG", "NOBODY"],
    "description": ["They met.", "Unknown."],
    "weight": [2.0, 1.0],
    "text_unit_ids": [["t1"], ["t1"]],
}
UNITS = {
    "id": ["t1", "t2"],
    "text": ["ADA met BERG.", "ALONE slept."],
    "document_id": ["d1", "d1"],
    "entity_ids": [["u1", "u2"], None],
}


@pytest.fixture
def explorer(folder: Path) -> Iterator[Explorer]:
    with closing(new_explorer(folder / "store")) as explorer:
        yield explorer


def write(folder: Path, **tables: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


def index(folder: Path, **changed: Any) -> Path:
    tables = {"entities": ENTITIES, "relationships": RELATIONSHIPS, "text_units": UNITS, **changed}
    return write(folder, **{name: columns for name, columns in tables.items() if columns is not None})


def load(explorer: Explorer, path: Path) -> LoadReport:
    (report,) = explorer.load([path], dataset="index")
    return report


def issues(report: LoadReport) -> dict[str, int]:
    return {issue.kind: issue.count for issue in report.issues}


def test_a_folder_is_searched_for_its_tables(explorer: Explorer, folder: Path) -> None:
    index(folder / "root" / "output" / "artifacts")
    report = load(explorer, folder / "root")
    assert report.format.startswith("Microsoft GraphRAG 3.x (parquet): text_units has `document_id`")
    assert "output/artifacts" in report.format
    assert (report.kept["entities"], report.kept["relations"], report.kept["passages"]) == (4, 2, 2)


def test_an_archive_of_an_index_is_opened_like_its_folder(explorer: Explorer, folder: Path) -> None:
    path = index(folder / "index")
    with zipfile.ZipFile(folder / "index.zip", "w") as archive:
        for file in path.iterdir():
            archive.write(file, f"index/{file.name}")
    assert load(explorer, folder / "index.zip").kept == load(explorer, path).kept


def test_a_missing_end_gets_a_placeholder_that_its_passages_mention(explorer: Explorer, folder: Path) -> None:
    report = load(explorer, index(folder / "index"))
    assert issues(report)["placeholder"] == 1
    found = explorer.show_source("index", "NOBODY").entity
    assert found is not None
    assert (found.name, found.counts.passages) == ("NOBODY", 1)


def test_a_relation_without_a_type_is_related_and_keeps_its_weight(explorer: Explorer, folder: Path) -> None:
    load(explorer, index(folder / "index"))
    ids = explorer.store.read(lambda view: view.row_ids("relation", "index"))
    rows = explorer.store.read(lambda view: view.relation_rows(ids))
    assert {(row.type, row.weight, row.description) for row in rows} == {
        ("RELATED", 2.0, "They met."),
        ("RELATED", 1.0, "Unknown."),
    }


def test_a_second_run_of_the_indexer_supersedes_the_first(explorer: Explorer, folder: Path) -> None:
    load(explorer, index(folder / "index"))
    before = explorer.store.read(lambda view: sorted(view.row_ids("entity", "index")))
    again = {**ENTITIES, "id": ["v1", "v2", "v3"], "description": ["Kept a light.", "", None]}
    units = {**UNITS, "entity_ids": [["v1", "v2"], None]}
    load(explorer, index(folder / "again", entities=again, text_units=units))
    assert explorer.store.read(lambda view: sorted(view.row_ids("entity", "index"))) == before
    found = explorer.show_source("index", "ADA").entity
    assert found is not None
    assert found.description == "Kept a light."


def test_cells_of_other_types_are_counted_and_cost_no_row(explorer: Explorer, folder: Path) -> None:
    odd = {**ENTITIES, "text_unit_ids": [["t1"], ["t9"], None], "description": ["x" * 5_000_000, "", None]}
    report = load(explorer, index(folder / "index", entities=odd))
    assert report.kept["entities"] == 4
    assert issues(report)["unknown_ids"] >= 1


def test_columns_that_are_all_null_are_no_error(explorer: Explorer, folder: Path) -> None:
    units = {**UNITS, "entity_ids": pa.nulls(2), "covariate_ids": pa.array([[], []], pa.list_(pa.null()))}
    assert load(explorer, index(folder / "index", text_units=units)).kept["passages"] == 2


def test_a_damaged_table_that_can_be_done_without_is_named(explorer: Explorer, folder: Path) -> None:
    path = index(folder / "index")
    (path / "community_reports.parquet").write_bytes(b"PAR1 not really")
    report = load(explorer, path)
    (issue,) = [one for one in report.issues if one.kind == "unreadable_table"]
    assert "community_reports.parquet" in issue.examples[0]
    assert report.kept["entities"] == 4


def test_a_fault_of_the_communities_is_found_in_their_own_table(explorer: Explorer, folder: Path) -> None:
    listed = {"id": ["c"], "community": [0], "level": [0], "title": ["C"], "entity_ids": [["u1", "gone"]]}
    nodes = {"title": ["ADA"], "community": [0], "level": [0]}
    report = load(explorer, index(folder / "index", communities=listed, nodes=nodes))
    (unknown,) = [issue for issue in report.issues if issue.kind == "unknown_ids"]
    assert [example.split(":")[0] for example in unknown.examples] == ["communities.parquet"]


def test_members_of_the_nodes_are_noted_in_the_table_of_the_nodes(explorer: Explorer, folder: Path) -> None:
    listed = {"id": ["c"], "community": [0], "level": [0], "title": ["C"]}
    nodes = {"title": ["BERG", "ADA", "ALONE"], "community": [0, 0, 1], "level": [0, 0, 0]}
    report = load(explorer, index(folder / "index", communities=listed, nodes=nodes))
    (noted,) = [issue for issue in report.issues if issue.kind == "members_from_nodes"]
    assert noted.examples == ("nodes.parquet:1: community 0", "nodes.parquet:3: community 1")


# JSON in a cell has its own escapes, of what no store takes as text.
WRITTEN = r'{"summary": "C\ud800", "findings": [{"summary": "D\u0000", "explanation": "E."}]}'


@pytest.mark.parametrize("findings", [None, r'[{"summary": "D\u0000", "explanation": "E."}]'])
def test_what_json_in_a_cell_cannot_hold_is_mended_and_noted(
    explorer: Explorer, folder: Path, findings: str | None
) -> None:
    listed = {"id": ["c"], "community": [0], "level": [0], "title": ["C"], "entity_ids": [["u1"]]}
    reports = {"id": ["r"], "community": [0], "full_content_json": [WRITTEN], "findings": [findings]}
    documents = {"id": ["d1"], "title": ["one"], "raw_data": [r'{"note": "F\u0000"}']}
    path = index(folder / "index", communities=listed, community_reports=reports, documents=documents)
    report = load(explorer, path)
    places = {issue.kind: [one.split(": ")[0] for one in issue.examples] for issue in report.issues}
    assert places["nul"] == ["documents.parquet:1", "community_reports.parquet:1"]
    assert places["lone_surrogate"] == ["community_reports.parquet:1"]
    entity = explorer.show_source("index", "ADA").entity
    assert entity is not None
    (head,) = explorer.communities_of(entity.id)
    found = explorer.community(head.id).report
    assert found is not None
    assert (head.title, found.summary, found.findings[0].summary) == ("C", "C\ufffd", "D\ufffd")


def test_json_in_a_cell_that_cannot_be_read_is_noted(explorer: Explorer, folder: Path) -> None:
    listed = {"id": ["c"], "community": [0], "level": [0], "title": ["C"], "entity_ids": [["u1"]]}
    reports = {"id": ["r"], "community": [0], "title": ["T"], "full_content_json": ['{"title": "cut o']}
    report = load(explorer, index(folder / "index", communities=listed, community_reports=reports))
    (noted,) = [issue for issue in report.issues if issue.kind == "odd_cells"]
    assert noted.examples == ("community_reports.parquet:1: `full_content_json`",)


@pytest.mark.parametrize("name", ["entities", "relationships"])
def test_without_a_table_that_is_needed_nothing_is_loaded(explorer: Explorer, folder: Path, name: str) -> None:
    path = index(folder / "index")
    whole = (path / f"{name}.parquet").read_bytes()
    (path / f"{name}.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Malformed, match=name):
        load(explorer, path)
    assert explorer.status().datasets == ()


def test_a_folder_of_nothing_known_says_what_can_be_loaded(explorer: Explorer, folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(Malformed, match="nothing that can be loaded") as error:
        load(explorer, folder / "empty")
    assert "GraphRAG" in error.value.hint


GRAPH = """<?xml version="1.0" encoding="utf-8"?>{doctype}
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="entity_type" attr.type="string"/>
<key id="d1" for="node" attr.name="description" attr.type="string"/>
<key id="d2" for="node" attr.name="source_id" attr.type="string"/>
<key id="d3" for="edge" attr.name="weight" attr.type="double"/>
<key id="d4" for="edge" attr.name="source_id" attr.type="string"/>
<graph edgedefault="undirected">
<node id="&quot;ADA&quot;"><data key="d0">"PERSON"</data><data key="d1">{text}&lt;SEP&gt;Again.</data>
<data key="d2">c1</data></node>
<node id="&quot;BERG&quot;"><data key="d0">UNKNOWN</data><data key="d2">c1</data></node>
<edge source="&quot;ADA&quot;" target="&quot;BERG&quot;"><data key="d3">3.0</data><data key="d4">c1</data></edge>
</graph></graphml>"""


def light_rag(folder: Path, *, doctype: str = "", text: str = "Keeps a light.") -> Path:
    folder.mkdir(parents=True)
    graph = GRAPH.format(doctype=doctype, text=text)
    (folder / "graph_chunk_entity_relation.graphml").write_text(graph, encoding="utf-8")
    chunk = {"tokens": 4, "content": "ADA met BERG.", "chunk_order_index": 0, "full_doc_id": "doc-1"}
    for name, value in {
        "text_chunks": {"c1": chunk},
        "full_docs": {"doc-1": {"content": "ADA met BERG.", "file_path": "letters/one.txt"}},
        "doc_status": {"doc-1": {"status": "processed", "file_path": "letters/one.txt", "chunks_count": 1}},
    }.items():
        (folder / f"kv_store_{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def test_a_light_rag_folder_is_loaded_without_communities(explorer: Explorer, folder: Path) -> None:
    report = load(explorer, light_rag(folder / "graph"))
    assert report.format.startswith("LightRAG")
    assert (report.kept["entities"], report.kept["relations"], report.kept["passages"]) == (2, 1, 1)
    found = explorer.show_source("index", "ADA").entity
    assert found is not None
    assert (found.name, found.label) == ("ADA", "PERSON")
    assert found.description is not None
    assert "<SEP>" not in found.description


def test_rows_of_a_store_are_counted_with_those_that_are_no_objects(explorer: Explorer, folder: Path) -> None:
    path = light_rag(folder / "graph")
    stores = {"text_chunks": {"c0": 7, "c1": {"content": "ADA met BERG."}, "c2": {"content": ""}}, "full_docs": {}}
    for name, value in stores.items():
        (path / f"kv_store_{name}.json").write_text(json.dumps(value), encoding="utf-8")
    report = load(explorer, path)
    examples = {issue.kind: issue.examples for issue in report.issues}
    assert examples["not_an_object"] == ("kv_store_text_chunks.json:1: 'c0'",)
    assert examples["missing_field"] == ("kv_store_text_chunks.json:3: no `content`",)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://localhost:1/x.dtd">',
    ],
)
def test_a_graph_that_defines_entities_is_refused(explorer: Explorer, folder: Path, doctype: str) -> None:
    with pytest.raises(Malformed, match="graphml"):
        load(explorer, light_rag(folder / "graph", doctype=doctype, text="&a;" if "ENTITY" in doctype else "x"))
    assert explorer.status().datasets == ()


def test_a_graph_that_is_cut_off_is_refused_by_name(explorer: Explorer, folder: Path) -> None:
    path = light_rag(folder / "graph")
    graph = path / "graph_chunk_entity_relation.graphml"
    graph.write_text(graph.read_text(encoding="utf-8")[:700], encoding="utf-8")
    with pytest.raises(Malformed, match="graphml"):
        load(explorer, path)
