"""Hierarchical communities: the same ones always, each a part of the one above."""

from __future__ import annotations

from itertools import combinations
from math import inf, nan
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.communities.leiden import MAX_CLUSTER_SIZE, Cluster, community_key, hierarchy

Edge = tuple[str, str, float]
EDGES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.sampled_from([0.1, 1.0, 3.0])), max_size=30
)


def clique(prefix: str, size: int) -> list[Edge]:
    return [(f"{prefix}{u:02}", f"{prefix}{v:02}", 1.0) for u, v in combinations(range(size), 2)]


def groups(seed: int = 1) -> list[Edge]:
    """Eight groups of 25 entities with 100 relations each, and 30 relations at random."""
    random = Random(seed)
    inner = [
        (f"{group}-{random.randrange(25):02}", f"{group}-{random.randrange(25):02}", 1.0)
        for group in range(8)
        for _ in range(100)
    ]
    everyone = sorted({end for edge in inner for end in edge[:2]})
    return inner + [(random.choice(everyone), random.choice(everyone), 1.0) for _ in range(30)]


def children(clusters: tuple[Cluster, ...], place: int) -> list[Cluster]:
    return [cluster for cluster in clusters if cluster.parent == place]


def test_two_cliques_are_two_communities() -> None:
    edges = [*clique("a", 4), *clique("b", 4), ("a00", "b00", 0.1), ("a01", "a01", 9.0)]
    assert hierarchy(edges) == (
        Cluster(0, None, ("a00", "a01", "a02", "a03")),
        Cluster(0, None, ("b00", "b01", "b02", "b03")),
    )


def test_both_directions_add_up() -> None:
    ring = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "a", 1.0)]
    assert hierarchy([*ring, ("c", "b", 1.0), ("a", "d", 1.0)]) == (
        Cluster(0, None, ("a", "d")),
        Cluster(0, None, ("b", "c")),
    )
    assert hierarchy([*ring, ("b", "a", 1.0), ("d", "c", 1.0)]) == (
        Cluster(0, None, ("a", "b")),
        Cluster(0, None, ("c", "d")),
    )


def test_a_large_cluster_is_split_into_its_parts() -> None:
    clusters = hierarchy(groups())
    split = [place for place in range(len(clusters)) if children(clusters, place)]
    assert split
    for place in split:
        assert len(clusters[place].members) >= MAX_CLUSTER_SIZE
        parts = children(clusters, place)
        assert len(parts) > 1
        assert {part.level for part in parts} == {clusters[place].level + 1}
        assert sorted(member for part in parts for member in part.members) == list(clusters[place].members)


def test_a_cluster_that_cannot_be_split_stands_once() -> None:
    (cluster,) = hierarchy(clique("a", 30))
    assert (cluster.level, cluster.parent, len(cluster.members)) == (0, None, 30)


def test_the_order_and_direction_of_edges_change_nothing() -> None:
    edges = groups()
    shuffled = [(v, u, weight) for u, v, weight in edges]
    Random(2).shuffle(shuffled)
    assert hierarchy(edges) == hierarchy(shuffled)


def test_absurd_weights_join_nothing() -> None:
    edges = [("a", "b", 1.0), ("b", "c", nan), ("c", "d", inf), ("d", "e", -1.0), ("e", "f", 0.0)]
    assert hierarchy(edges) == (Cluster(0, None, ("a", "b")),)
    assert hierarchy([("a", "b", 1e308), ("c", "d", 1e308)]) == (
        Cluster(0, None, ("a", "b")),
        Cluster(0, None, ("c", "d")),
    )


def test_without_relations_there_are_no_communities() -> None:
    assert hierarchy([]) == ()
    assert hierarchy([("a", "a", 1.0)]) == ()


@settings(max_examples=60)
@given(EDGES, st.randoms(use_true_random=False))
def test_the_coarsest_level_divides_all_that_is_related(edges: list[Edge], random: Random) -> None:
    clusters = hierarchy(edges)
    coarsest = [cluster for cluster in clusters if cluster.level == 0]
    assert sorted(member for cluster in coarsest for member in cluster.members) == sorted(
        {end for edge in edges for end in edge[:2] if edge[0] != edge[1]}
    )
    assert [(cluster.level, cluster.members) for cluster in clusters] == sorted(
        (cluster.level, cluster.members) for cluster in clusters
    )
    random.shuffle(edges)
    assert hierarchy(edges) == clusters


def test_a_community_is_told_by_its_level_and_members() -> None:
    key = community_key(1, ["b", "a"])
    assert key == community_key(1, ["a", "b"])
    assert key not in {community_key(0, ["a", "b"]), community_key(1, ["a", "c"]), community_key(1, ["ab"])}
