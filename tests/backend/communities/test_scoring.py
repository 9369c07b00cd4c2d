"""The formulas of community scoring, against their definitions spelled out in loops."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.communities.scoring import (
    Candidate,
    Ranked,
    density,
    edge_weights,
    entity_overlap,
    pulls,
    ranked,
    rrf,
    structural_score,
    weighted_sum,
    without_relatives,
)
from backend.communities.values import WEIGHTED, CommunityQuery, Signal

IDS = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(IDS, IDS, st.sampled_from([0.1, 0.2, 0.7, 1.0, 3.0])), max_size=25)
GROUPS = st.frozensets(IDS)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.sampled_from("pqrstuvw"),
        level=st.integers(0, 2),
        parent=st.none(),
        size=st.integers(1, 9),
        semantic=st.none() | st.sampled_from([-0.1, 0.0, 0.3, 0.5]),
        overlap=st.sampled_from([0.0, 0.25, 0.5]),
        structure=st.sampled_from([0.0, 1.0, 2.0, 4.0]),
        density=st.sampled_from([0.1, 0.9]),
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)


def candidate(name: str, **fields: object) -> Candidate:
    given: dict[str, object] = {"level": 0, "parent": None, "size": 4, "density": 0.5}
    given |= {"semantic": None, "overlap": 0.0, "structure": 0.0, **fields}
    return Candidate(name, **given)  # type: ignore[arg-type]


# --- signals ---------------------------------------------------------------------------------------------------------


@given(EDGES)
def test_the_weight_of_two_entities_is_the_sum_of_both_directions(edges: list[tuple[str, str, float]]) -> None:
    weights = edge_weights(edges)
    for u in "abcdef":
        for v in "abcdef":
            if u < v:
                expected = sum(weight for a, b, weight in edges if {a, b} == {u, v})
                assert weights.get((u, v), 0.0) == pytest.approx(expected)
    assert all(u < v for u, v in weights)
    assert list(weights) == sorted(weights)
    assert edge_weights(reversed(edges)) == weights


@given(EDGES, GROUPS, GROUPS)
def test_the_structural_score_adds_the_weights_of_all_pairs(
    edges: list[tuple[str, str, float]], asked: frozenset[str], members: frozenset[str]
) -> None:
    def weight(e: str, v: str) -> float:
        return sum(w for a, b, w in edges if (a, b) in ((e, v), (v, e)) and a != b)

    expected = sum(weight(e, v) for e in asked for v in members)
    assert structural_score(pulls(asked, edge_weights(edges)), members) == pytest.approx(expected)


@given(GROUPS, GROUPS)
def test_the_overlap_is_that_of_jaccard(asked: frozenset[str], members: frozenset[str]) -> None:
    both = [one for one in "abcdef" if one in asked and one in members]
    either = [one for one in "abcdef" if one in asked or one in members]
    assert entity_overlap(asked, members, len(members)) == (len(both) / len(either) if either else 0.0)
    assert entity_overlap(asked, both, len(members)) == entity_overlap(asked, members, len(members))


def test_density_is_the_share_of_joined_pairs() -> None:
    assert [density(3, 3), density(3, 4), density(0, 2), density(0, 1), density(0, 0)] == [1.0, 0.5, 0.0, 0.0, 0.0]


# --- scores ----------------------------------------------------------------------------------------------------------


def test_both_scores_follow_their_formulas() -> None:
    assert weighted_sum(0.8, 0.5, 0.25, alpha=0.5, beta=0.3, gamma=0.2) == pytest.approx(0.6)
    assert rrf([1, 2, 3]) == pytest.approx(1 / 61 + 1 / 62 + 1 / 63)
    assert rrf([1, None, None]) == pytest.approx(1 / 61)
    assert rrf([None]) == 0


def test_size_alone_does_not_win_by_structure() -> None:
    large = candidate("large", size=100, structure=10.0)
    small = candidate("small", size=4, structure=4.0)
    found = {one.candidate.id: one.signals["structure"] for one in ranked([large, small], CommunityQuery("q"))}
    assert found == {"small": Signal(4.0, 1), "large": Signal(10.0, 2)}


def test_equal_structure_goes_to_the_denser() -> None:
    found = ranked(
        [candidate("a", structure=2.0, density=0.1), candidate("b", structure=2.0, density=0.9)], CommunityQuery("q")
    )
    assert [(one.candidate.id, one.signals["structure"].rank) for one in found] == [("b", 1), ("a", 2)]


def test_the_weighted_sum_divides_structure_by_the_largest() -> None:
    query = CommunityQuery("q", score=WEIGHTED, alpha=0.5, beta=0.3, gamma=0.2)
    found = ranked(
        [
            candidate("a", semantic=0.5, overlap=0.5, structure=10.0),
            candidate("b", semantic=None, overlap=0.0, structure=5.0),
            candidate("c", semantic=0.9),
        ],
        query,
    )
    assert [(one.candidate.id, one.score) for one in found] == [("a", 0.6), ("c", 0.45), ("b", 0.1)]


@given(CANDIDATES)
def test_ranks_count_what_is_better_and_their_reciprocals_add_up(candidates: list[Candidate]) -> None:
    def keys(one: Candidate) -> dict[str, tuple[float, float] | None]:
        return {
            "semantic": None if one.semantic is None else (one.semantic, 0),
            "overlap": (one.overlap, 0) if one.overlap > 0 else None,
            "structure": (round(one.structure / sqrt(one.size), 6), one.density) if one.structure > 0 else None,
        }

    expected = []
    for one in candidates:
        ranks = {}
        for signal, own in keys(one).items():
            others = [keys(other)[signal] for other in candidates]
            ranks[signal] = None if own is None else 1 + sum(other is not None and other > own for other in others)
        values = {"semantic": one.semantic, "overlap": one.overlap, "structure": one.structure}
        score = sum(1 / (60 + rank) for rank in ranks.values() if rank)
        expected.append(Ranked(one, {name: Signal(values[name], ranks[name]) for name in ranks}, round(score, 6)))
    expected.sort(key=lambda one: (-one.score, one.candidate.level, one.candidate.id))
    assert ranked(candidates, CommunityQuery("q")) == expected
    assert ranked(candidates[::-1], CommunityQuery("q")) == expected


# --- relatives -------------------------------------------------------------------------------------------------------


def scored(*rows: tuple[str, int, float]) -> list[Ranked]:
    found = [Ranked(candidate(name, level=level), {}, score) for name, level, score in rows]
    return sorted(found, key=lambda one: (-one.score, one.candidate.level, one.candidate.id))


def ids(found: list[Ranked]) -> str:
    return "".join(one.candidate.id for one in found)


TREE = {"r": None, "a": "r", "b": "r", "c": "a", "d": "a", "e": "b"}


def test_of_a_branch_the_first_is_kept_and_the_others_are_counted() -> None:
    kept, left_out = without_relatives(scored(("a", 1, 0.9), ("c", 2, 0.8), ("r", 0, 0.7), ("e", 2, 0.6)), TREE)
    assert (ids(kept), ids(left_out)) == ("ae", "cr")


def test_among_equal_scores_the_deeper_is_kept() -> None:
    kept, left_out = without_relatives(scored(("r", 0, 0.5), ("a", 1, 0.5), ("c", 2, 0.5), ("d", 2, 0.5)), TREE)
    assert (ids(kept), ids(left_out)) == ("cd", "ra")


def test_an_ancestor_that_is_no_candidate_still_relates() -> None:
    kept, left_out = without_relatives(scored(("r", 0, 0.9), ("c", 2, 0.8)), TREE)
    assert (ids(kept), ids(left_out)) == ("r", "c")


def test_a_circle_of_parents_ends() -> None:
    kept, left_out = without_relatives(
        scored(("a", 1, 0.9), ("b", 2, 0.8), ("c", 3, 0.7)), {"a": "b", "b": "a", "c": "c"}
    )
    assert (ids(kept), ids(left_out)) == ("ac", "b")


@given(st.permutations("rabcde"), st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=6, max_size=6))
def test_no_two_that_are_kept_are_related(names: list[str], scores: list[float]) -> None:
    levels = {"r": 0, "a": 1, "b": 1, "c": 2, "d": 2, "e": 2}
    found = scored(*((name, levels[name], score) for name, score in zip(names, scores, strict=True)))

    def related(one: str, other: str) -> bool:
        return one in _line(other) or other in _line(one)

    taken: list[str] = []
    for one in sorted(found, key=lambda one: (-one.score, -one.candidate.level, one.candidate.id)):
        if not any(related(one.candidate.id, other) for other in taken):
            taken.append(one.candidate.id)
    kept, left_out = without_relatives(found, TREE)
    assert kept == [one for one in found if one.candidate.id in taken]
    assert left_out == [one for one in found if one.candidate.id not in taken]


def _line(name: str) -> list[str]:
    parent = TREE[name]
    return [name] if parent is None else [name, *_line(parent)]
