"""How communities are scored against a question: the formulas of the retrieval guide, each a function.

The guide's own listing of `scoreCommunity` adds half of the summed similarities between the question and the names of
entities to that of the summary. This contradicts its section 3.5, which scores by three signals of which one is
structure; 3.5 holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from backend.communities.values import RRF, CommunityQuery, Signal
from backend.ranking import reciprocal_rank

SEMANTIC, OVERLAP, STRUCTURE = "semantic", "overlap", "structure"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A community that may answer, with its raw signals.

    `semantic` is the cosine similarity of question and report, None where the report has no vector; `structure` is the
    StructuralScore.
    """

    id: str
    level: int
    parent: str | None
    size: int
    semantic: float | None
    overlap: float
    structure: float
    density: float


class Ranked(NamedTuple):
    """A candidate with its three signals, as they were ranked, and the score that they give."""

    candidate: Candidate
    signals: Mapping[str, Signal]
    score: float


# --- signals ---------------------------------------------------------------------------------------------------------


def edge_weights(edges: Iterable[tuple[str, str, float]]) -> dict[tuple[str, str], float]:
    """weight(u, v) = Σ count(r) over r ∈ R(u, v), the relations of both directions (4.1); keys are sorted pairs.

    The pairs come in their order. Edges of an entity to itself count nowhere.
    """
    weights: dict[tuple[str, str], float] = {}
    # In one order, since the sum of floats depends on it.
    for u, v, weight in sorted((min(u, v), max(u, v), weight) for u, v, weight in edges if u != v):
        weights[u, v] = weights.get((u, v), 0.0) + weight
    return weights


def entity_overlap(asked: Collection[str], members: Collection[str], size: int) -> float:
    """EntityOverlap(q, C) = |E_q ∩ E_C| / |E_q ∪ E_C| (4.2); 0 where both are empty.

    Of the `size` members of C those must be at hand that are in E_q.
    """
    e_q = set(asked)
    shared = len(e_q & set(members))
    either = len(e_q) + size - shared
    return shared / either if either else 0.0


def pulls(asked: Collection[str], weights: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Per entity v the inner sum of 4.3, Σ weight(e, v) over e ∈ E_q; those that it is 0 for are not there."""
    e_q = set(asked)
    found: dict[str, list[float]] = {}
    for (u, v), weight in weights.items():
        if u in e_q:
            found.setdefault(v, []).append(weight)
        if v in e_q:
            found.setdefault(u, []).append(weight)
    return {v: fsum(found[v]) for v in sorted(found)}


def structural_score(pulled: Mapping[str, float], members: Collection[str]) -> float:
    """StructuralScore(q, C) = Σ_{e ∈ E_q} Σ_{v ∈ E_C} weight(e, v) (4.3), given the inner sums as `pulls` has them."""
    return fsum(pulled[v] for v in set(members) if v in pulled)


def density(pairs: int, size: int) -> float:
    """2 |E| / (|V| (|V| − 1)), the share of the pairs of members that an edge joins; 0 below two members."""
    return 2 * pairs / (size * (size - 1)) if size > 1 else 0.0


# --- scores ----------------------------------------------------------------------------------------------------------


def weighted_sum(
    semantic: float, overlap: float, structure: float, *, alpha: float, beta: float, gamma: float
) -> float:
    """Score(q, C) = α · Sim(q, Summary(C)) + β · EntityOverlap(q, C) + γ · StructuralScore(q, C) (3.5, option 1).

    `structure` is divided by the largest StructuralScore among the candidates, so that all three are at most 1.
    """
    return alpha * semantic + beta * overlap + gamma * structure


def rrf(ranks: Iterable[int | None]) -> float:
    """Score_RRF(C) = Σ 1 / (k + rank) over the signals, k = 60 (3.5, option 2, and 4.4); no rank adds nothing."""
    return sum(reciprocal_rank(rank) for rank in ranks if rank is not None)


def ranked(candidates: Sequence[Candidate], query: CommunityQuery) -> list[Ranked]:
    """The candidates with signals and scores: best first, then level, then id.

    A signal ranks what it says something of: a similarity that is known, an overlap or structure above 0. The rank is 1
    and the number of candidates with a greater value, so that equals share one. Structure is ranked by
    StructuralScore / √|E_C|, so that size alone does not win, then by density.
    """
    signals = _signals(candidates)
    largest = max((own[STRUCTURE].value or 0.0 for own in signals), default=0.0)
    found = [
        Ranked(one, own, _rounded(_score(own, largest, query))) for one, own in zip(candidates, signals, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.score, one.candidate.level, one.candidate.id))


def without_relatives(
    found: Sequence[Ranked], parent_of: Mapping[str, str | None]
) -> tuple[list[Ranked], list[Ranked]]:
    """What is kept and what is left out, both in ranked order.

    Left out is whose ancestor or descendant was taken already; among equal scores the deeper is taken first.
    `parent_of` also has the ancestors that are no candidates.
    """
    taken: set[str] = set()
    above_taken: set[str] = set()
    for one in sorted(found, key=lambda one: (-one.score, -one.candidate.level, one.candidate.id)):
        above = _ancestors(one.candidate.id, parent_of)
        if one.candidate.id not in above_taken and taken.isdisjoint(above):
            taken.add(one.candidate.id)
            above_taken |= above
    kept = [one for one in found if one.candidate.id in taken]
    return kept, [one for one in found if one.candidate.id not in taken]


def _signals(candidates: Sequence[Candidate]) -> list[dict[str, Signal]]:
    semantic = _ranks(candidates, lambda one: None if one.semantic is None else (_rounded(one.semantic), 0.0))
    overlap = _ranks(candidates, lambda one: (_rounded(one.overlap), 0.0) if one.overlap > 0 else None)
    structure = _ranks(candidates, _structure_key)
    return [
        {
            SEMANTIC: Signal(None if one.semantic is None else _rounded(one.semantic), semantic.get(one.id)),
            OVERLAP: Signal(_rounded(one.overlap), overlap.get(one.id)),
            STRUCTURE: Signal(_rounded(one.structure), structure.get(one.id)),
        }
        for one in candidates
    ]


def _structure_key(one: Candidate) -> tuple[float, float] | None:
    return (_rounded(one.structure / sqrt(one.size)), _rounded(one.density)) if one.structure > 0 else None


def _rounded(value: float) -> float:
    """What two stores add up in different orders is still equal."""
    return round(value, 6)


def _ranks(candidates: Sequence[Candidate], key: Callable[[Candidate], tuple[float, float] | None]) -> dict[str, int]:
    keys = {one.id: value for one in candidates if (value := key(one)) is not None}
    first: dict[tuple[float, float], int] = {}
    for place, value in enumerate(sorted(keys.values(), reverse=True), start=1):
        first.setdefault(value, place)
    return {one: first[value] for one, value in keys.items()}


def _score(signals: Mapping[str, Signal], largest: float, query: CommunityQuery) -> float:
    if query.score == RRF:
        return rrf(signal.rank for signal in signals.values())
    values = {name: signal.value or 0.0 for name, signal in signals.items()}
    structure = values[STRUCTURE] / largest if largest > 0 else 0.0
    return weighted_sum(
        values[SEMANTIC], values[OVERLAP], structure, alpha=query.alpha, beta=query.beta, gamma=query.gamma
    )


def _ancestors(community: str, parent_of: Mapping[str, str | None]) -> set[str]:
    """All above it; an imported hierarchy may run in a circle, which ends this like a root does."""
    above: set[str] = set()
    parent = parent_of.get(community)
    while parent is not None and parent not in above and parent != community:
        above.add(parent)
        parent = parent_of.get(parent)
    return above
