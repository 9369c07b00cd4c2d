"""The hierarchy as a scope sees it: per dataset what stands at the top, and what is within each community."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.communities.values import CommunityHead

DATASET = "dataset:"  # what the place of a dataset begins with; all other places are communities
_DEEPEST = 64  # parents that lead in a circle end here


@dataclass(frozen=True, slots=True)
class Forest:
    """Communities by id; `tops` are per dataset those without a visible parent, `within` the children.

    The largest come first.
    """

    heads: Mapping[str, CommunityHead]
    tops: Mapping[str, tuple[str, ...]]
    within: Mapping[str, tuple[str, ...]]

    def path(self, community: str) -> tuple[str, ...]:
        """The communities above this one, from the top down, and itself; nothing where it is not in scope."""
        way: list[str] = []
        head = self.heads.get(community)
        while head is not None and head.id not in way and len(way) < _DEEPEST:
            way.append(head.id)
            head = self.heads.get(head.parent or "")
        return tuple(reversed(way))

    def below(self, place: str) -> tuple[str, ...]:
        """What is within a community, or at the top of a dataset, the largest first."""
        if place.startswith(DATASET):
            return self.tops.get(place.removeprefix(DATASET), ())
        return self.within.get(place, ())

    def size(self, place: str) -> int:
        """The members of a community, or of those at the top of a dataset together."""
        if place.startswith(DATASET):
            return sum(self.heads[one].size for one in self.below(place))
        return self.heads[place].size

    def levels(self, dataset: str) -> int:
        """How many levels the communities of a dataset are on."""
        return len({head.level for head in self.heads.values() if head.dataset == dataset})

    def count(self, dataset: str) -> int:
        return sum(head.dataset == dataset for head in self.heads.values())


def grown(heads: Sequence[CommunityHead]) -> Forest:
    """The forest of these communities; one whose parent is not among them, or is itself, stands at the top."""
    known = {head.id: head for head in heads}
    tops: dict[str, list[CommunityHead]] = defaultdict(list)
    within: dict[str, list[CommunityHead]] = defaultdict(list)
    for head in heads:
        parent = known.get(head.parent or "")
        if parent is None or parent.level >= head.level:
            tops[head.dataset].append(head)
        else:
            within[parent.id].append(head)
    return Forest(
        known,
        {dataset: _largest_first(own) for dataset, own in sorted(tops.items())},
        {parent: _largest_first(own) for parent, own in within.items()},
    )


def _largest_first(heads: Sequence[CommunityHead]) -> tuple[str, ...]:
    return tuple(head.id for head in sorted(heads, key=lambda head: (-head.size, head.level, head.id)))
