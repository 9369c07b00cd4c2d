"""The hierarchy as the page has it: a forest out of whatever an index brought, and a picture without gaps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.communities.values import CommunityHead, CommunityOrigin
from components.communities.forest import grown
from components.communities.picture import Box, squarified

ROOM = Box(3.0, 5.0, 644.0, 560.0)


def head(name: str, level: int = 0, parent: str | None = None, size: int = 2, dataset: str = "d") -> CommunityHead:
    origin = CommunityOrigin.IMPORTED
    return CommunityHead(name, name, dataset, level, parent, name, origin, None, True, False, size, None)


def test_largest_come_first_at_the_top_and_within() -> None:
    forest = grown([head("a"), head("b", size=9), head("c", 1, "b"), head("d", 1, "b", 5), head("e", dataset="x")])
    assert forest.tops == {"d": ("b", "a"), "x": ("e",)}
    assert forest.within == {"b": ("d", "c")}
    assert forest.path("d") == ("b", "d")
    assert (forest.size("dataset:d"), forest.below("dataset:x")) == (11, ("e",))


@pytest.mark.parametrize(
    "heads",
    [
        [head("a", 0, "a")],
        [head("a", 1, "b"), head("b", 1, "a")],
        [head("a", 1, "gone")],
    ],
    ids=["its own parent", "each other's parent", "parent out of scope"],
)
def test_every_community_can_be_reached_whatever_parents_it_names(heads: Sequence[CommunityHead]) -> None:
    forest = grown(heads)
    reached = [one for top in forest.tops["d"] for one in (top, *forest.below(top))]
    assert sorted(reached) == [one.id for one in heads]
    assert all(forest.path(one)[-1] == one for one in reached)


@given(st.lists(st.floats(1.0, 500.0), min_size=1, max_size=40))
def test_fields_fill_the_room_each_as_large_as_it_should_be(sizes: list[float]) -> None:
    sizes = sorted(sizes, reverse=True)
    boxes = squarified(sizes, ROOM)
    area = ROOM.width * ROOM.height
    assert [box.width * box.height for box in boxes] == pytest.approx([area * size / sum(sizes) for size in sizes])
    for number, box in enumerate(boxes):
        assert box.x >= ROOM.x - 0.01
        assert box.x + box.width <= ROOM.x + ROOM.width + 0.01
        assert box.y >= ROOM.y - 0.01
        assert box.y + box.height <= ROOM.y + ROOM.height + 0.01
        for other in boxes[:number]:
            across = min(box.x + box.width, other.x + other.width) - max(box.x, other.x)
            down = min(box.y + box.height, other.y + other.height) - max(box.y, other.y)
            assert across < 0.01 or down < 0.01


def test_no_sizes_have_no_fields() -> None:
    assert squarified([], ROOM) == []
