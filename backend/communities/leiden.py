"""Communities of a graph by hierarchical Leiden: the only file that imports its implementation.

Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", Scientific Reports 9,
2019; clusters that are too large are clustered again, by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import inf

from backend.communities.scoring import edge_weights

# Clusters of so many members are split once more, if they can be. GraphRAG's default: a report about ten entities can
# still name each of them.
MAX_CLUSTER_SIZE = 10
# The defaults of the implementation: modularity as it was defined, and next to none but the best moves.
RESOLUTION, RANDOMNESS = 1.0, 0.001
SEED = 20_190_326


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of a hierarchy: level 0 is the coarsest, `parent` the place of the one that it was split from."""

    level: int
    parent: int | None
    members: tuple[str, ...]


def hierarchy(edges: Iterable[tuple[str, str, float]], *, seed: int = SEED) -> tuple[Cluster, ...]:
    """The clusters of entities by edges (id, id, weight), in order of level and members; members in order of id.

    Relations of both directions add up, as `edge_weights` has it; a sum that is not positive and finite joins nothing.
    The clusters of level 0 have no entity in common, nor have those that one was split into, which together have all of
    its members. A cluster that was not split is not repeated on the next level; an entity without edges is in none.
    """
    import graspologic_native

    # The result depends on the order of the edges, and these come in that of their pairs.
    weights = {pair: weight for pair, weight in edge_weights(edges).items() if 0 < weight < inf}
    if not weights:
        return ()
    largest = max(weights.values())  # only how they compare counts, and their sum must not be infinite
    found = graspologic_native.hierarchical_leiden(
        edges=[(u, v, weight / largest) for (u, v), weight in weights.items()],
        max_cluster_size=MAX_CLUSTER_SIZE,
        resolution=RESOLUTION,
        randomness=RANDOMNESS,
        seed=seed,
    )
    levels: dict[int, int] = {}
    parents: dict[int, int | None] = {}
    members: dict[int, list[str]] = defaultdict(list)
    for one in found:
        levels[one.cluster], parents[one.cluster] = one.level, one.parent_cluster
        members[one.cluster].append(one.node)
    sorted_members = {number: tuple(sorted(own)) for number, own in members.items()}
    order = sorted(levels, key=lambda number: (levels[number], sorted_members[number]))
    places: dict[int | None, int] = {number: place for place, number in enumerate(order)}
    return tuple(Cluster(levels[number], places.get(parents[number]), sorted_members[number]) for number in order)


def community_key(level: int, members: Sequence[str]) -> str:
    """What a built community is told by: its level and a digest of the ids of its members, in whatever order."""
    digest = sha256("\n".join(sorted(members)).encode()).hexdigest()[:32]
    return f"{level}-{digest}"
