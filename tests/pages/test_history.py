"""Back, forward and the trail."""

from __future__ import annotations

from dataclasses import replace

from components.address import ExploreView
from components.history import History

A, B, C = ExploreView("a"), ExploreView("b"), ExploreView("c")


def visits(*views: ExploreView) -> History:
    history = History()
    for view in views:
        history = history.visited(view)
    return history


def test_a_visit_is_a_step_and_drops_what_was_ahead() -> None:
    history = visits(A, B, C).at(0).visited(replace(B, depth=2))
    assert history.views == (A, replace(B, depth=2))
    assert history.position == 1


def test_a_selection_is_no_step() -> None:
    history = visits(A, replace(A, edge="e"))
    assert history.views == (replace(A, edge="e"),)


def test_coming_to_a_neighbour_moves_and_keeps_the_rest() -> None:
    history = visits(A, B, C).visited(B)
    assert (history.views, history.position) == ((A, B, C), 1)
    assert history.visited(C).position == 2


def test_trail_has_each_entity_once_where_it_was_left() -> None:
    history = visits(A, replace(A, depth=2), B, replace(B, types=("t",)), C)
    assert history.trail() == (1, 3, 4)


def test_positions_stay_within_the_views() -> None:
    assert visits(A, B).at(7).shown == B
    assert visits(A, B).at(-7).shown == A


def test_old_views_are_forgotten() -> None:
    history = visits(*(ExploreView(str(number)) for number in range(150)))
    assert len(history.views) == 100
    assert history.shown == ExploreView("149")
