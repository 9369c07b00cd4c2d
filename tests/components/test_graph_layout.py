"""Places of nodes: the same every time, stable when nodes are added, apart from each other, and fast enough to use."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from math import hypot
from pathlib import Path

import pytest

from backend.models import WalkResult
from components.graph.layout import Point, positions
from components.graph.names import display, width
from tests.e2e.graph_playground import invented, within

ASPECT = 1.15
SHAPES = {
    "two": invented(2),
    "small": invented(15, neighbours=9),
    "walk": invented(100),
    "hub": invented(101, neighbours=100),
    "many": invented(400, edges=700),
}


def laid_out(walk: WalkResult, previous: dict[str, Point] | None = None) -> dict[str, Point]:
    return positions(walk.nodes, walk.edges, walk.start.id, ASPECT, previous or {})


@pytest.mark.parametrize("walk", SHAPES.values(), ids=SHAPES)
def test_every_node_has_a_place_of_its_own_around_the_start(walk: WalkResult) -> None:
    places = laid_out(walk)
    assert set(places) == {node.id for node in walk.nodes}
    assert places[walk.start.id] == (0.0, 0.0)
    assert len(set(places.values())) == len(walk.nodes)
    assert all(abs(x) < 20_000 and abs(y) < 20_000 for x, y in places.values())


@pytest.mark.parametrize("walk", SHAPES.values(), ids=SHAPES)
def test_the_same_walk_has_the_same_places(walk: WalkResult) -> None:
    assert laid_out(walk) == laid_out(walk)


def test_places_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from tests.components.test_graph_layout import SHAPES, laid_out\n"
        "print([sorted(laid_out(walk).items()) for walk in SHAPES.values()])"
    )
    root = Path(__file__).parents[2]
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_one_node_and_none() -> None:
    alone = invented(1)
    assert laid_out(alone) == {alone.start.id: (0.0, 0.0)}
    assert positions((), (), "x", ASPECT) == {}


def test_nodes_stay_where_they_are_when_others_are_added() -> None:
    whole = invented(60)
    places = laid_out(within(whole, 12))
    for more in (25, 60):
        grown = laid_out(within(whole, more), places)
        assert {node: grown[node] for node in places} == places
        assert len(set(grown.values())) == more
        places = grown


def test_nodes_that_are_added_stand_by_the_node_they_hang_on() -> None:
    whole = invented(40, neighbours=12)
    before = laid_out(within(whole, 20))
    after = laid_out(whole, before)
    spread = max(hypot(*place) for place in after.values())
    for node in whole.nodes[20:]:
        near = [
            edge.source if edge.target == node.id else edge.target
            for edge in whole.edges
            if node.id in (edge.source, edge.target)
        ]
        away = min(hypot(after[node.id][0] - after[other][0], after[node.id][1] - after[other][1]) for other in near)
        assert away < spread


@pytest.mark.parametrize("walk", [invented(15, neighbours=9), invented(40), invented(100)], ids=["15", "40", "100"])
def test_nodes_and_names_are_apart(walk: WalkResult) -> None:
    places = laid_out(walk)
    widest = 104 if len(walk.nodes) > 60 else 1_000  # in a crowd the browser cuts names at about this width
    boxes = [(*places[node.id], min(width(display(node.name)), widest) / 2 + 2) for node in walk.nodes]
    overlaps = sum(
        abs(x - u) < half + width_ and abs(y - v) < 30  # a node, and its name below it
        for row, (x, y, half) in enumerate(boxes)
        for u, v, width_ in boxes[:row]
    )
    assert overlaps <= len(boxes) // 50


@pytest.mark.parametrize("aspect", [0.8, 1.15, 1.8])
@pytest.mark.parametrize("walk", [SHAPES["walk"], SHAPES["hub"], SHAPES["many"]], ids=["walk", "hub", "many"])
def test_the_pane_is_used(walk: WalkResult, aspect: float) -> None:
    places = positions(walk.nodes, walk.edges, walk.start.id, aspect)
    across, down = (max(side) - min(side) for side in zip(*places.values(), strict=True))
    assert aspect * 0.65 < across / down < aspect * 1.5


def test_a_hub_has_rings_and_not_one_circle() -> None:
    places = laid_out(SHAPES["hub"])
    far = sorted(hypot(x, y * ASPECT) for x, y in places.values())[1:]
    assert far[0] > 40  # room for the start's own name
    assert far[-1] > 3 * far[0]
    assert max(after - before for before, after in pairwise(far)) < far[-1] / 4
