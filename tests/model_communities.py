"""The oracle of communities: what a scope sees of a hierarchy, its reports and claims, worked out by loops over lists.

Written from the words of `backend.stores.communities`. A `Hierarchy` are the rows of one load over what a world adds up
to; `SeenCommunities` is it through one scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend.communities.values import Claim, CommunityHead, CommunityOrigin, ReportOrigin
from backend.identity import stable_id
from backend.models import Scope
from backend.stores.communities import Member, Members, WeightedEdge
from tests.model import Edge, Row, Seen, StoredPassage, Truth


@dataclass(frozen=True)
class Hierarchy:
    """Communities with their reports, and claims, of one dataset; they refer to what was loaded before."""

    dataset: str
    communities: Sequence[Row] = ()
    reports: Sequence[Row] = ()
    claims: Sequence[Row] = ()


class SeenCommunities:
    """A hierarchy over a truth, through a scope."""

    def __init__(self, truth: Truth, hierarchy: Hierarchy, scope: Scope) -> None:
        self.truth, self.hierarchy = truth, hierarchy
        self.seen = Seen(truth, scope)
        # "visible in an empty scope" is what counts as hidden where this scope does not see it.
        self.everything = Seen(truth, Scope(as_of=datetime.now(UTC).date().isoformat()))
        self.visible = {passage.key for passage in self.seen.visible}
        self.levels = {row["id"]: row["level"] for row in hierarchy.communities}

    # --- ids ---

    def entity(self, source_id: str) -> str:
        return stable_id("entity", self.hierarchy.dataset, source_id)

    def id(self, row: Row) -> str:
        return stable_id("community", self.hierarchy.dataset, row["id"])

    def latest(self, source_id: str) -> StoredPassage | None:
        """The passage with a source id in the latest version of its document, unless that was retired."""
        for document in self.truth.documents.values():
            if document.dataset == self.hierarchy.dataset:
                for passage in document.versions[-1].passages:
                    if passage.row["id"] == source_id:
                        return passage
        return None

    # --- what is in a community ---

    def stored_members(self, row: Row) -> set[str]:
        return {self.entity(one) for one in row.get("entity_ids", ())} & self.truth.entities.keys()

    def member_ids(self, row: Row) -> list[str]:
        return sorted(self.stored_members(row) & self.seen.entities)

    def inner_edges(self, row: Row, seen: Seen) -> list[Edge]:
        members = self.stored_members(row)
        return [edge for edge in seen.edges if {edge.source, edge.target} <= members]

    def report(self, row: Row) -> Row | None:
        return next((one for one in self.hierarchy.reports if one["community_id"] == row["id"]), None)

    def cited(self, row: Row) -> list[StoredPassage]:
        report = self.report(row)
        found = [self.latest(one) for one in (report or {}).get("cites", ())]
        return [passage for passage in found if passage is not None]

    # --- what the scope sees ---

    def is_whole(self, row: Row) -> bool:
        members = self.stored_members(row)
        if row.get("entity_ids") and members:
            inner = {relation.id for edge in self.inner_edges(row, self.everything) for relation in edge.relations}
            resting = [
                passage
                for passage in self.everything.visible
                if members & {mention.entity for mention in passage.mentions} or passage.relations & inner
            ]
        else:
            resting = [p for p in self.everything.visible if self._dataset(p) == self.hierarchy.dataset]
        return all(passage.key in self.visible for passage in [*resting, *self.cited(row)])

    def _dataset(self, passage: StoredPassage) -> str:
        return self.truth.documents[passage.key[0]].dataset

    def is_seen(self, row: Row) -> bool:
        return bool(self.member_ids(row)) or (not self.stored_members(row) and self.is_whole(row))

    def head(self, row: Row) -> CommunityHead:
        report, whole, parent = self.report(row), self.is_whole(row), row.get("parent")
        own = row.get("title")
        title = (report["title"] if report else None) or own or row["id"]
        above = parent is not None and self.levels.get(parent, row["level"]) < row["level"]
        return CommunityHead(
            id=self.id(row),
            source_id=row["id"],
            dataset=self.hierarchy.dataset,
            level=row["level"],
            parent=stable_id("community", self.hierarchy.dataset, str(parent)) if above else None,
            title=title if whole else "",
            origin=CommunityOrigin.IMPORTED,
            report=ReportOrigin.IMPORTED if report else None,
            is_whole=whole,
            stale=False,
            size=len(self.member_ids(row)),
            vectors=None,
            metadata={"title": own} if whole and own and own != title else {},
        )

    def heads(self) -> list[CommunityHead]:
        found = [self.head(row) for row in self.hierarchy.communities if self.is_seen(row)]
        return sorted(found, key=lambda head: (head.level, head.id))

    def communities_of(self, entities: Sequence[str]) -> dict[str, tuple[str, ...]]:
        found = {}
        for entity in set(entities) & self.seen.entities:
            own = [self.id(row) for row in self.hierarchy.communities if entity in self.stored_members(row)]
            found[entity] = tuple(sorted(own))
        return found

    def report_titles(self) -> dict[str, str]:
        found = ((self.id(row), self.report(row)) for row in self.hierarchy.communities if self._shows_report(row))
        return {community: report["title"] for community, report in found if report is not None}

    def _shows_report(self, row: Row) -> bool:
        return self.is_whole(row) and self.is_seen(row)

    def members(self, limit: int) -> dict[str, Members]:
        found = {}
        for row in self.hierarchy.communities:
            ids = self.member_ids(row)
            if ids:
                found[self.id(row)] = Members(tuple(map(self._member, ids[:limit])), len(ids) > limit)
        return found

    def _member(self, entity_id: str) -> Member:
        entity = self.truth.entities[entity_id]
        passages = [p for p in self.seen.visible if entity_id in {mention.entity for mention in p.mentions}]
        own = (entity.source_id, entity.name, entity.label, entity.description)
        return Member(entity_id, *own, self.seen.status(entity_id), len(passages))

    def inside(self, limit: int) -> dict[str, tuple[list[str], int, bool]]:
        """Per community the edges that are kept of the first ones, how many these are, and whether there are more."""
        found = {}
        for row in self.hierarchy.communities:
            edges = self.inner_edges(row, self.seen)
            if edges and self.member_ids(row):
                kept = [edge.id for edge in edges[:limit] if edge.kept]
                found[self.id(row)] = (kept, min(len(edges), limit), len(edges) > limit)
        return found

    def central_passages(self, limit: int) -> dict[str, tuple[tuple[str, int], ...]]:
        found = {}
        for row in self.hierarchy.communities:
            members = self.stored_members(row)
            counts = [
                (self.seen.id(passage), len(members & {mention.entity for mention in passage.mentions}))
                for passage in self.seen.visible
            ]
            best = sorted((one for one in counts if one[1]), key=lambda one: (-one[1], one[0]))[:limit]
            if best:
                found[self.id(row)] = tuple(best)
        return found

    # --- claims ---

    def claims(self, limit: int) -> dict[str, tuple[Claim, ...]]:
        seen = sorted(filter(None, map(self._claim, self.hierarchy.claims)), key=lambda claim: claim.id)
        found = {}
        for row in self.hierarchy.communities:
            own = [claim for claim in seen if claim.subject_id in self.stored_members(row)]
            if own:
                found[self.id(row)] = tuple(own[:limit])
        return found

    def claim_count(self) -> int:
        return sum(self._claim(row) is not None for row in self.hierarchy.claims)

    def _claim(self, row: Row) -> Claim | None:
        subject, entities = self.entity(row["subject_id"]), self.truth.entities
        if subject not in entities:
            return None  # left out
        other = self.entity(row["object_id"]) if row.get("object_id") else None
        other = other if other in entities else None
        passages = [passage for name in row.get("passage_ids", ()) if (passage := self.latest(name)) is not None]
        visible = sorted({self.seen.id(passage) for passage in passages if passage.key in self.visible})
        if subject not in self.seen.entities or (other is not None and other not in self.seen.entities):
            return None
        if passages and not visible:
            return None
        return Claim(
            id=stable_id("claim", self.hierarchy.dataset, row["id"]),
            source_id=row["id"],
            dataset=self.hierarchy.dataset,
            subject_id=subject,
            subject=entities[subject].name,
            object_id=other,
            object=entities[other].name if other else None,
            type=row.get("type"),
            status=row.get("status"),
            start_date=None,
            end_date=None,
            description=row["description"],
            passage_ids=tuple(visible),
            metadata={},
        )

    # --- edges ---

    def edge_weights(self) -> dict[str, float]:
        return {edge.id: self._weight(edge) for edge in self.seen.edges if edge.kept}

    def weighted_edges(self) -> list[WeightedEdge]:
        kept = [edge for edge in self.seen.edges if edge.kept and self._is_ours(edge)]
        ordered = sorted(kept, key=lambda edge: (edge.source, edge.target, edge.id))
        return [WeightedEdge(edge.source, edge.target, edge.weight, self._weight(edge)) for edge in ordered]

    def _is_ours(self, edge: Edge) -> bool:
        return self.truth.entities[edge.source].dataset == self.hierarchy.dataset

    def _weight(self, edge: Edge) -> float:
        visible: set[Any] = {one for passage in self.seen.visible for one in passage.relations}
        return float(sum(relation.id in visible or relation.unstated for relation in edge.relations))
