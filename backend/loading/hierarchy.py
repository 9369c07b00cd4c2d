"""Communities and reports as they are written: what they refer to has its id, what refers to nothing is gone."""

from __future__ import annotations

from backend.communities.values import Citation, CommunityOrigin, Report, ReportOrigin
from backend.loading.plan import Plan
from backend.loading.rows import CommunityRow, ReportRow
from backend.stores.rows import NewCommunity


def new_community(plan: Plan, row: CommunityRow, report: ReportRow | None) -> NewCommunity:
    """A community with its report, and named like that, since a title of its own is often but a number.

    That stays as metadata.
    """
    title = (report.title if report else "") or row.title or row.id
    has_parent = row.parent is not None and plan.is_above(row.parent, row.id)
    return NewCommunity(
        id=plan.community_id(row.id),
        source_id=row.id,
        level=row.level,
        parent=plan.community_id(row.parent or "") if has_parent else None,
        title=title,
        origin=CommunityOrigin.IMPORTED,
        member_ids=tuple(plan.entity_id(member) for member in row.entity_ids if plan.has_entity(member)),
        report=_report(plan, report) if report else None,
        metadata={**row.metadata, "title": row.title} if row.title and row.title != title else row.metadata,
    )


def _report(plan: Plan, row: ReportRow) -> Report:
    citations = tuple(
        Citation(kind, number, None if source_id is None else _id(plan, kind, source_id))
        for kind, number, source_id in row.cited()
    )
    return Report(
        origin=ReportOrigin.IMPORTED,
        title=row.title,
        summary=row.summary or "",
        findings=row.findings,
        rank=row.rank,
        text=row.text or "",
        citations=citations,
        cited=tuple(dict.fromkeys(one.id for one in citations if one.kind == "passage" and one.id is not None)),
        metadata=row.metadata,
    )


def _id(plan: Plan, kind: str, source_id: str) -> str | None:
    """The id of the thing of a kind that a load knows under a source id."""
    if kind == "entity":
        return plan.entity_id(source_id) if plan.has_entity(source_id) else None
    if kind == "relation":
        return plan.edges.get(source_id)
    if kind == "claim":
        return plan.claim_id(source_id) if source_id in plan.claims else None
    if kind == "community":
        return plan.community_id(source_id) if source_id in plan.communities else None
    if kind == "passage":
        return plan.passage_id(source_id) if source_id in plan.passages else None
    return plan.document_id(source_id) if kind == "document" and source_id in plan.documents else None
