"""What pyvis is given and gives back: kinds of edge, hidden relations, unsupported nodes, and hostile names as data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from backend.models import Counts, EdgeKind, Hidden, Status, WalkEdge, WalkResult
from components.graph.layout import positions
from components.graph.names import LONG, NAMELESS, SHORT, display
from components.graph.network import drawing, network, summary
from components.graph.styles import DARK_PALETTE, PALETTE, SHAPES, label_styles
from tests.e2e.graph_playground import HOSTILE, hostile, invented


def drawn(walk: WalkResult, labels: tuple[str, ...] = ()) -> dict[str, Any]:
    return drawing(walk, positions(walk.nodes, walk.edges, walk.start.id, 1.15), labels)


def edge_of(walk: WalkResult, **changes: Any) -> dict[str, Any]:
    edge = replace(walk.edges[0], **changes)
    [only] = drawn(replace(walk, edges=(edge,)))["edges"]
    return dict(only)


@pytest.fixture
def walk() -> WalkResult:
    return invented(6, neighbours=5)


def test_pyvis_builds_it_directed_without_physics_and_without_titles(walk: WalkResult) -> None:
    net = network(walk, positions(walk.nodes, walk.edges, walk.start.id, 1.15))
    assert net.directed
    assert not any("title" in item for item in [*net.nodes, *net.edges])
    picture = drawn(walk)
    assert picture["options"]["physics"] == {"enabled": False}
    assert [node["id"] for node in picture["nodes"]] == [node.id for node in walk.nodes]
    assert [edge["id"] for edge in picture["edges"]] == [edge.id for edge in walk.edges]


def test_nodes_stand_at_their_places(walk: WalkResult) -> None:
    places = positions(walk.nodes, walk.edges, walk.start.id, 1.15)
    assert {node["id"]: (node["x"], node["y"]) for node in drawn(walk)["nodes"]} == places


def test_an_assertion_is_solid_with_its_count_and_wider_with_more_documents(walk: WalkResult) -> None:
    few, many = (
        edge_of(walk, kind=EdgeKind.ASSERTION, counts=Counts(passages=1_204, documents=documents))
        for documents in (1, 90)
    )
    assert few["label"] == "1,204"
    assert few["arrows"] == "to"
    assert "dashes" not in few
    assert few["width"] < many["width"] <= 5
    assert (few["passages"], few["documents"]) == (1_204, 1)


def test_a_path_is_dashed_thinner_and_without_a_count(walk: WalkResult) -> None:
    path = edge_of(walk, kind=EdgeKind.PATH, counts=Counts())
    stated = edge_of(walk, kind=EdgeKind.ASSERTION, counts=Counts(1, 1))
    assert path["dashes"] == [4, 4]
    assert path["width"] < stated["width"]
    assert "label" not in path
    assert path["arrows"]["to"]["enabled"]


def test_relations_of_one_pair_are_bent_apart(walk: WalkResult) -> None:
    first = walk.edges[0]
    turned = {"source": first.target, "target": first.source}
    edges = tuple(
        replace(first, id=f"{number}", type=f"type {number}", **(turned if number % 2 else {})) for number in range(5)
    )
    bends = [_side(edge, first) for edge in drawn(replace(walk, edges=edges))["edges"]]
    assert len(set(bends)) == 5
    assert all(abs(bend) <= 0.6 for bend in bends)


def _side(edge: dict[str, Any], first: WalkEdge) -> float:
    """How far an edge is bent to the left of the first edge's direction."""
    smooth = edge.get("smooth")
    if smooth is None:
        return 0.0
    sign = 1 if smooth["type"] == "curvedCW" else -1
    return float(smooth["roundness"]) * (sign if edge["from"] == first.source else -sign)


def test_a_single_relation_is_straight(walk: WalkResult) -> None:
    assert "smooth" not in edge_of(walk)


@pytest.mark.parametrize(
    ("hidden", "suffix"),
    [(Hidden(38, True), "+38"), (Hidden(2_000, False), "+2,000…"), (Hidden(0, True), None)],
)
def test_hidden_relations_stand_behind_the_name(walk: WalkResult, hidden: Hidden, suffix: str | None) -> None:
    node = replace(walk.nodes[1], hidden_relations=hidden)
    there = drawn(replace(walk, nodes=(walk.nodes[0], node, *walk.nodes[2:])))["nodes"][1]
    assert there.get("suffix") == suffix
    assert there.get("atLeast", False) is not hidden.exact


def test_an_unsupported_node_is_hollow_and_in_the_legend(walk: WalkResult) -> None:
    supported = replace(walk, nodes=tuple(replace(node, status=Status.SUPPORTED) for node in walk.nodes))
    assert not any("hollow" in node for node in drawn(supported)["nodes"])
    assert drawn(supported)["legend"]["unsupported"] is False
    one = replace(supported.nodes[2], status=Status.UNSUPPORTED)
    picture = drawn(replace(supported, nodes=(*supported.nodes[:2], one, *supported.nodes[3:])))
    assert [node["id"] for node in picture["nodes"] if node.get("hollow")] == [one.id]
    assert picture["legend"]["unsupported"] is True


def test_labels_have_a_colour_and_a_shape_each() -> None:
    looks = label_styles([f"label {number}" for number in range(35)])
    assert len({(look.colour, look.shape) for look in looks.values()}) == 35
    five = list(looks.values())[:5]
    assert len({look.colour for look in five}) == len({look.shape for look in five}) == 5
    assert PALETTE[0] == "#0072B2"
    assert {look.shape for look in looks.values()} == set(SHAPES)


def test_known_labels_look_the_same_in_every_walk(walk: WalkResult) -> None:
    known = ("Payment", "Port", "Vessel", "Person", "Company", "Court")
    for shown in (walk, replace(walk, nodes=walk.nodes[:1], edges=())):
        looks = {entry["name"]: entry["color"] for entry in drawn(shown, known)["legend"]["labels"]}
        assert looks["Company"] == PALETTE[4]
        assert "Court" not in looks


def test_the_sentence_says_what_is_shown_and_what_cut_it(walk: WalkResult) -> None:
    stated = sum(edge.kind is EdgeKind.ASSERTION for edge in walk.edges)
    text = summary(replace(walk, truncated_by=("node", "edge")))
    assert text.startswith("Graph: Meridian Freight, 6 entities, ")
    assert f"{stated} stated relations and {len(walk.edges) - stated} that no passage states" in text
    assert text.endswith("cut by the node and the edge bound")


def test_hostile_names_are_short_plain_data() -> None:
    picture = drawn(hostile())
    text = json.dumps(picture, ensure_ascii=False)
    assert len(text) < 40_000
    assert not {"\x00", "\x1b", "\u202e", "\u202d", "\u2066", "\u200f", "\n"} & set(text)
    assert [node["label"] for node in picture["nodes"]][1:] == [display(name) for name in HOSTILE]
    assert all(len(node.get("name", "")) <= LONG + 1 for node in picture["nodes"])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Meridian Freight", "Meridian Freight"),
        ("  Meridian \n\t Freight ", "Meridian Freight"),
        ("Sable Maritime Holdings Limited", "Sable Maritime Holdings Lim…"),
        ("\u202eexe.png", "exe.png"),
        ("a\x00b\x7fc", "abc"),
        ("", NAMELESS),
        ("\u200f\u2066\u2069", NAMELESS),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("日本語" * 10, "日本語日本語日本語日本語日…"),
        ("e" + "\u0301" * 20, "e" + "\u0301" * 3),
        ("\ud800x", "x"),
    ],
)
def test_names_are_shown_on_one_short_line(name: str, shown: str) -> None:
    assert display(name) == shown


def test_a_name_of_100_kilobytes_is_cut() -> None:
    assert display("x" * 100_000) == "x" * (SHORT - 1) + "…"


@pytest.mark.parametrize(
    ("colour", "background", "least"),
    [
        *((colour, "#ffffff", 3.0) for colour in PALETTE),
        *((colour, "#12181b", 4.5) for colour in DARK_PALETTE),
    ],
)
def test_labels_can_be_made_out_on_their_background(colour: str, background: str, least: float) -> None:
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= least


def luminance(colour: str) -> float:
    """As WCAG defines it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
