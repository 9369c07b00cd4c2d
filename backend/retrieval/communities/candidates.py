"""Which communities may answer a question, and the three signals of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

from backend.communities.reading import (
    MOST_COMMUNITIES,
    edge_weights,
    has_stored_report,
    made_of_visible,
    report_vectors,
)
from backend.communities.scoring import Candidate, density, entity_overlap, pulls, structural_score
from backend.communities.scoring import edge_weights as summed
from backend.communities.values import CommunityHead, Report
from backend.models import Cut
from backend.retrieval.reader import Reader

# Edges that are read around the entities of the question, communities whose signals are computed, and of those that tie
# in structure how many are looked into, and how large these are at most: what is larger is never dense.
EDGES, CANDIDATES, TIED, DENSE = 2_000, 200, 40, 200
# Reports that are made anew where the scope does not see the stored ones; a community without has no similarity.
MADE = 50


@dataclass(slots=True)
class Pool:
    """The candidate communities by id, what is known of each, and the reports that had to be made anew."""

    heads: dict[str, CommunityHead] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    made: dict[str, Report] = field(default_factory=dict)


def around(reader: Reader, asked: Sequence[str], level: int | None) -> Pool:
    """The communities of E_q and of its neighbours, C_q = {c : E_c ∩ (E_q ∪ N(E_q)) ≠ ∅} (guide, 3.3 and 3.4)."""
    view, scope = reader.view, reader.scope
    with reader.step("one step along the relations") as note:
        read = view.edges_around(asked, (), EDGES, scope)
        if read.more:
            reader.note(Cut("edge", EDGES, read=read.read))
        weights = edge_weights(view, read.edges, scope)
        pairs = summed((edge.source.id, edge.target.id, weights[edge.id]) for edge in read.edges)
        reached = sorted({end for pair in pairs for end in pair} - set(asked))
        note(len(reached))
    with reader.step("their communities") as note:
        of = view.communities_of([*asked, *reached], scope)
        members: dict[str, list[str]] = defaultdict(list)
        for entity, communities in of.items():
            for community in communities:
                members[community].append(entity)
        found = view.communities(sorted(members), len(members), scope) if members else []
        heads = {head.id: head for head in found if level in (None, head.level)}
        pulled = pulls(asked, pairs)
        candidates = [_candidate(head, members[head.id], asked, pulled) for head in heads.values()]
        candidates = _bounded(reader, candidates)
        note(len(candidates))
    pool = Pool(heads, candidates)
    _tell_ties_apart(reader, pool)
    _compare(reader, pool)
    return pool


def near(reader: Reader, level: int) -> Pool:
    """The communities of one level whose reports are nearest to a question without a name."""
    with reader.step(f"communities of level {level}") as note:
        every = reader.view.communities(None, MOST_COMMUNITIES, reader.scope, level=level)
        heads = {head.id: head for head in every}
        largest = sorted(heads.values(), key=lambda one: (-one.size, one.id))
        candidates = [Candidate(one.id, one.level, one.parent, one.size, None, 0.0, 0.0, 0.0) for one in largest]
        note(len(candidates))
    pool = Pool(heads, candidates)
    _compare(reader, pool)
    pool.candidates = _bounded(reader, pool.candidates)
    return pool


def _candidate(
    head: CommunityHead, members: Sequence[str], asked: Sequence[str], pulled: Mapping[str, float]
) -> Candidate:
    """A community with what is known of its members: those that are not at hand count only by their number."""
    overlap = entity_overlap(asked, members, head.size)
    return Candidate(head.id, head.level, head.parent, head.size, None, overlap, structural_score(pulled, members), 0.0)


def _bounded(reader: Reader, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the entities of the question pull most at, or that are nearest."""
    best = sorted(candidates, key=_pull)
    if len(best) > CANDIDATES:
        reader.note(Cut("candidate", CANDIDATES, missing=len(best) - CANDIDATES))
    return best[:CANDIDATES]


def _pull(one: Candidate) -> tuple[float, float, float, int, str]:
    by_size = round(one.structure / sqrt(one.size or 1), 9)
    return (-by_size, -one.overlap, -(one.semantic or -1.0), -one.level, one.id)


def _tell_ties_apart(reader: Reader, pool: Pool) -> None:
    """Gives candidates that are equal in structure their density, so that the denser one ranks first."""
    keys = {one.id: _pull(one)[0] for one in pool.candidates if one.structure > 0 and one.size <= DENSE}
    shared = Counter(keys.values())
    tied = [one for one in keys if shared[keys[one]] > 1][:TIED]
    if not tied:
        return
    inside = reader.view.inside(tied, DENSE, reader.scope)
    pairs = {
        community: len({frozenset((edge.source.id, edge.target.id)) for edge in read.edges})
        for community, read in inside.items()
    }
    pool.candidates = [
        replace(one, density=density(pairs.get(one.id, 0), one.size)) if one.id in tied else one
        for one in pool.candidates
    ]


def _compare(reader: Reader, pool: Pool) -> None:
    """Gives each candidate the similarity of its report with the question."""
    with reader.step("their reports by meaning") as note:
        heads = [pool.heads[one.id] for one in pool.candidates]
        vectors = reader.read_vectors(
            (head.vectors, head.id) for head in heads if has_stored_report(head) and head.vectors is not None
        )
        lacking = [head.id for head in heads if not has_stored_report(head)]
        if len(lacking) > MADE:
            reader.note(Cut("report", MADE, missing=len(lacking) - MADE))
        made = made_of_visible(reader.view, lacking[:MADE], reader.scope)
        pool.made = made
        vectors |= report_vectors(reader.view, reader.open_index(), made, reader.scope) if made else {}
        question = reader.question_vector()
        pool.candidates = [
            replace(one, semantic=round(float(question @ vectors[one.id]), 6)) if one.id in vectors else one
            for one in pool.candidates
        ]
        note(len(vectors))
