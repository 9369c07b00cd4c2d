"""What is read of communities, as the scope sees them.

A community is seen where one of its members is in scope: where a passage in scope mentions it, in any version. One
without any members is seen where it is whole. It is whole where the scope hides no passage that is visible in an empty
scope and mentions a member or supports a relation between two members, and sees every passage that its report cites by
name; of a community without members the passages are those of its dataset. Edges of an entity to itself count nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from backend.communities.values import Claim, CommunityHead, Report
from backend.models import Status
from backend.scope import ResolvedScope

if TYPE_CHECKING:
    from backend.stores.base import EdgeRead


class Member(NamedTuple):
    """A member in scope, and the visible passages that mention it."""

    id: str
    source_id: str
    name: str
    label: str
    description: str | None
    status: Status
    passages: int


@dataclass(frozen=True, slots=True)
class Members:
    """The first members of a community that the scope sees, in order of id; `more` where it has further ones."""

    members: tuple[Member, ...]
    more: bool


class WeightedEdge(NamedTuple):
    """An edge between two different entities: how many relations the scope keeps of it, and the sum of their weights.

    A relation without a weight of its own weighs 1.
    """

    source: str
    target: str
    relations: int
    weight: float


class CommunityRows(Protocol):
    """One call is one query."""

    def communities(
        self,
        ids: Sequence[str] | None,
        limit: int,
        scope: ResolvedScope,
        *,
        level: int | None = None,
        parent: str | None = None,
    ) -> list[CommunityHead]:
        """Those of the communities that the scope sees, the first `limit` in order of level and id; None means all.

        With a level those of that level alone, with a parent its children alone.
        """

    def has_communities(self) -> bool:
        """Whether any dataset has communities, whatever a scope sees of them."""

    def communities_of(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, tuple[str, ...]]:
        """Per entity in scope the ids of its communities, in order of id."""

    def reports(self, ids: Sequence[str], scope: ResolvedScope) -> dict[str, Report]:
        """The stored reports of those of the communities that the scope sees whole."""

    def members(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Members]:
        """Per community its first `limit` members in scope, in order of id."""

    def inside(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, EdgeRead]:
        """Per community its first `limit` edges between two members in stored order, as far as the scope keeps them.

        Those that have a member in scope. Stored order: documents, passages (most first), edge id. The scope keeps an
        edge whose ends are in scope and that a visible passage states, or of which a relation names no passage.
        """

    def central_passages(
        self, ids: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, tuple[tuple[str, int], ...]]:
        """Per community up to `limit` visible passages with how many members each mentions: most first, then id."""

    def claims(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, tuple[Claim, ...]]:
        """Per community the first `limit` claims about members, in order of id.

        A claim is seen where its subject, and its object where it has one, are in scope, and one of its passages is
        visible or none was ever named.
        """

    def edge_weights(self, edge_ids: Sequence[str], scope: ResolvedScope) -> dict[str, float]:
        """Per edge the sum of the weights of the relations that the scope keeps; one without a weight weighs 1."""

    def weighted_datasets(self) -> frozenset[str]:
        """The datasets that have relations, each with a weight of its own."""

    def weighted_edges(self, dataset: str, scope: ResolvedScope) -> Iterator[WeightedEdge]:
        """Every edge of a dataset that the scope keeps, in order of source, target and edge id."""
