"""The Explore page, as a visitor reads it."""

from __future__ import annotations

import json

import pytest

from backend.explorer import Explorer
from backend.identity import stable_id
from tests.pages.conftest import HOSTILE, Visitor
from tests.world import edge, entity

PETREL = "petrel"


def graph(visitor: Visitor) -> str:
    """The data of the graph, as it is sent to the browser."""
    return json.dumps(
        [json.loads(element.proto.json) for element in visitor.app.get("bidi_component")], ensure_ascii=False
    )


def test_without_an_entity_the_page_leads_to_search(world: Explorer, visitor: Visitor) -> None:
    assert "Nothing to explore yet." in visitor.open("explore").words


def test_walk_says_what_it_shows(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL))
    assert "Petrel Vessel · 3 passages in 3 documents" in visitor.words
    assert "4 entities, 3 relations. At least 4 relations lie beyond 1 step." in visitor.words
    assert "Tomás Oliveira" in graph(visitor)


def test_start_is_selected_first(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL))
    assert "Skerry Line owns the <mark>Petrel</mark>, which calls at 神戸港." in visitor.markup


def test_link_selects_a_relation_and_marks_both_ends(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL), edge=edge("line", "OWNS", PETREL))
    assert "Skerry Line OWNS → Petrel" in visitor.words
    assert "stated2 passages in 2 documents" in visitor.words
    assert "<mark>Skerry Line</mark> owns the <mark>Petrel</mark>" in visitor.markup


def test_relation_that_no_passage_states_says_so(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("light"), edge=edge("light", "NEAR", "kobe"))
    assert "no passage states it" in visitor.words
    assert "No passage states this relation." in visitor.words
    assert "No passage in scope mentions both." in visitor.words


def test_passages_that_mention_both_are_offered_as_no_source(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("line"), edge=edge("line", "OWNS", PETREL))
    visitor.choose("pane-edge", "Both mention")
    assert "Not all of them state the relation." in visitor.words


def test_unsupported_end_is_said_in_words(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("line"), node=entity("salvage"))
    assert "no current passage mentions it" in visitor.words
    assert "Walk from here" not in visitor.buttons


def test_steps_types_and_view_are_in_the_address(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL)).choose("walk-depth", 2)
    visitor.choose("walk-types", ["OWNS"])
    visitor.choose("walk-shown", "table")
    assert visitor.address == {"entity": entity(PETREL), "depth": "2", "type": "OWNS", "view": "table"}


def test_relation_types_come_with_their_counts(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("line"))
    assert visitor.app.get_by_key("walk-types").options == ["OWNS · 2", "MERGED_INTO · 1"]


def test_second_step_brings_its_relation_types(world: Explorer, visitor: Visitor) -> None:
    types = visitor.open("explore", entity=entity("line")).app.get_by_key("walk-types")
    assert types.placeholder == "All 2 relation types"
    types = visitor.choose("walk-depth", 2).app.get_by_key("walk-types")
    assert types.options == ["OWNS · 2", "MERGED_INTO · 1", "CALLS_AT · in step 2", "COMMANDS · in step 2"]
    assert types.placeholder == "All 4 relation types"
    visitor.choose("walk-types", ["CALLS_AT"])
    assert "1 entity, 0 relations. No relation of this type touches the start." in visitor.words
    visitor.choose("walk-types", ["OWNS", "CALLS_AT"])
    assert "4 entities, 3 relations." in visitor.words
    assert len(visitor.app.get_by_key("walk-types").options) == 4


def test_relation_types_are_not_counted_where_a_bound_cut(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("line"), depth="2", nodes="2")
    assert visitor.app.get_by_key("walk-types").placeholder == "All relation types"


def test_table_is_the_same_walk(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL), view="table", edge=edge("tomas", "COMMANDS", PETREL))
    rows = visitor.app.dataframe[0].value
    assert list(rows.columns) == ["Source", "Relation", "Target", "Stated", "Passages", "Documents"]
    assert ["Tomás Oliveira", "COMMANDS", "Petrel", "stated", 2, 2] in rows.values.tolist()
    visitor.choose("table-what", "Entities")
    assert "Skerry Line" in list(visitor.app.dataframe[0].value["Entity"])


def test_walk_from_another_entity_and_back(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL), node=entity("line")).click("Walk from here")
    assert visitor.address == {"entity": entity("line")}
    assert "Skerry Line Company" in visitor.words
    visitor.click("Back")
    assert visitor.address == {"entity": entity(PETREL), "node": entity("line")}
    visitor.click("Forward")
    assert visitor.address == {"entity": entity("line")}
    visitor.click("Petrel")  # in the trail
    assert visitor.address["entity"] == entity(PETREL)


def test_bound_that_cut_is_named_and_can_be_moved(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL), nodes="2")
    assert "2 entities, 1 of 3 relations. Cut by the node bound: weakest left out." in visitor.words
    visitor.click("Show 4")
    assert visitor.address["nodes"] == "4"
    assert "Cut by" not in visitor.words


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        ({"nodes": "2"}, "2 entities, 1 of at least 5 relations."),  # what the two that were cut lead to is not known
        ({"nodes": "5"}, "5 entities, 4 of 7 relations."),
        ({"edges": "2"}, "3 entities, 2 of at least 3 relations."),
        ({"edges": "3"}, "4 entities, 3 of at least 7 relations."),  # the second step was not taken
        ({"candidates": "1"}, "2 entities, 1 relation."),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join((*value, *value.values())),
)
def test_total_is_only_called_one_when_all_was_counted(
    world: Explorer, visitor: Visitor, params: dict[str, str], shown: str
) -> None:
    assert shown in visitor.open("explore", entity=entity(PETREL), depth="2", **params).words


def test_wide_walk_can_be_narrowed(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity("line"), depth="2", nodes="50")
    assert not [label for label in visitor.buttons if label.startswith("Narrow")]  # six entities are few
    visitor.open("explore", entity=entity("line"), depth="2", edges="2")
    assert "Cut by the edge bound" in visitor.words
    assert visitor.click("Show 4 relations").address["edges"] == "4"


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"entity": "petrel"}, "'petrel' is not an entity id"),
        (
            {"entity": stable_id("entity", "elsewhere", "x")},
            f"an entity with the id {stable_id('entity', 'elsewhere', 'x')}. Look it up under Search.",
        ),
        (
            {"entity": entity("salvage")},
            "No current passage mentions Old Salvage: those that did were superseded. Look at an earlier date",
        ),
        ({"depth": "9"}, "depth 9"),
        ({"nodes": "0"}, "0"),
        ({"type": "MARRIED_TO"}, "There is no relation type 'MARRIED_TO'"),
        ({"view": "globe"}, "view=globe in the address is not known"),
        ({"edge": stable_id("edge", "none")}, "is not among what is shown. Take 2 steps, or select something else."),
        ({"edge": stable_id("edge", "none"), "nodes": "2"}, "is not among what is shown. Raise the bound"),
        (
            {"edge": stable_id("edge", "none"), "entity": entity("salvage"), "as_of": "2021-06-01", "depth": "2"},
            "Select",
        ),
        (
            {"entity": entity("kobe"), "collection": "letters"},
            f"No passage in scope mentions an entity with the id {entity('kobe')}. Widen the scope",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_link_that_does_not_resolve_says_so(
    world: Explorer, visitor: Visitor, params: dict[str, str], sentence: str
) -> None:
    visitor.open("explore", **({"entity": entity("light")} | params))
    assert sentence in visitor.errors + visitor.words
    assert "`" not in visitor.errors


def test_broken_link_can_be_left(world: Explorer, visitor: Visitor) -> None:
    visitor.open("explore", entity=entity(PETREL), collection="attic")
    assert "There is no collection 'attic'" in visitor.errors
    assert "Petrel Vessel" in visitor.click("Everything in scope").words


def test_hostile_texts_are_shown_as_text(hostile: Explorer, visitor: Visitor) -> None:
    start = stable_id("entity", HOSTILE, "a")
    visitor.open("explore", entity=start, view="table")
    assert "<img" not in visitor.markup
    visitor.click("In context").click("Whole document")
    assert "<img" not in visitor.markup
    assert "javascript:alert(1)" in visitor.words
    assert not [label for label in visitor.buttons if ":red[" in label or "![" in label]
