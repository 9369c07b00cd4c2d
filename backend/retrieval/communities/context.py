"""What the communities of a question have to say: background for a model, and the passages that it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.communities.extractive import CentralMember
from backend.communities.reading import CLAIMS, REPRESENTATIVE, TELLING, central_members, in_order, inner_degrees
from backend.communities.values import Claim, Report, ReportOrigin
from backend.models import Evidence
from backend.retrieval.reader import Reader
from backend.scope import ResolvedScope
from backend.stores.base import GraphView, StoredEdge

# Of each community so many members, relations and claims, and of a relation so many passages.
MEMBERS, RELATIONS, ABOUT, EACH = 10, 10, 10, 2


@dataclass(frozen=True, slots=True)
class Background:
    """One thing that a community says, and the passages that it leads to, best first."""

    kind: str  # report, member, relation or claim
    id: str
    text: str
    origin: str
    passage_ids: tuple[str, ...]


def background(
    reader: Reader, reports: Mapping[str, Report], asked: Sequence[str]
) -> dict[str, tuple[Background, ...]]:
    """Per community, in their order: its report, relations, claims and central members.

    Relations that touch E_q come before those that are best supported. A report that cites nothing leads where these
    lead, and where they lead nowhere to the passages that mention most members. A handful of queries for all of them.
    """
    view, scope, ids = reader.view, reader.scope, list(reports)
    if not ids:
        return {}
    inside = view.inside(ids, TELLING, scope)
    degrees = inner_degrees(view, inside, scope)
    members = view.members(ids, MEMBERS, scope)
    chosen = {community: _relations(read.edges, set(asked)) for community, read in inside.items()}
    support = view.edge_support([edge.id for own in chosen.values() for edge in own], EACH, scope)
    claims = view.claims(ids, CLAIMS, scope)
    led = {
        community: report.cited or _passages(chosen.get(community, ()), support)
        for community, report in reports.items()
    }
    silent = [community for community, passages in led.items() if not passages]
    central = view.central_passages(silent, REPRESENTATIVE, scope) if silent else {}
    led |= {community: tuple(passage for passage, _ in own) for community, own in central.items()}
    people = {
        community: central_members(members.get(community), inside.get(community), degrees.get(community, {}))[:MEMBERS]
        for community in ids
    }
    described = _descriptions(view, {one.id for own in people.values() for one in own}, scope)
    return {
        community: (
            _report(community, report, led[community]),
            *(_relation(edge, support.get(edge.id, Evidence())) for edge in chosen.get(community, ())),
            *(_claim(claim) for claim in _first_claims(claims.get(community, ()), set(asked))),
            *(_member(one, described.get(one.id)) for one in people[community]),
        )
        for community, report in reports.items()
    }


def _relations(edges: Sequence[StoredEdge], asked: set[str]) -> list[StoredEdge]:
    """The best supported edges, those that touch the entities of the question first."""
    touching = [edge for edge in edges if {edge.source.id, edge.target.id} & asked]
    return list(dict.fromkeys([*in_order(touching)[: RELATIONS // 2], *in_order(edges)]))[:RELATIONS]


def _first_claims(claims: Sequence[Claim], asked: set[str]) -> list[Claim]:
    return sorted(claims, key=lambda one: (not {one.subject_id, one.object_id} & asked, one.id))[:ABOUT]


def _descriptions(view: GraphView, ids: set[str], scope: ResolvedScope) -> dict[str, str | None]:
    return {one.id: one.description for one in view.named((), sorted(ids), (), 0, scope)} if ids else {}


def _report(community: str, report: Report, passages: Sequence[str]) -> Background:
    findings = [f"{one.summary} {one.explanation}".strip() for one in report.findings]
    quoted = [] if report.summary and report.findings else [sentence.text for sentence in report.sentences]
    parts = [report.title, report.summary, *findings, *quoted]
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return Background("report", community, text, str(report.origin), tuple(passages))


def _passages(edges: Iterable[StoredEdge], support: Mapping[str, Evidence]) -> tuple[str, ...]:
    """The passages that state the edges, each once."""
    stating = (passage.id for edge in edges for passage in support.get(edge.id, Evidence()).passages)
    return tuple(dict.fromkeys(stating))


def _relation(edge: StoredEdge, evidence: Evidence) -> Background:
    kind = "stated" if evidence.passages else "no passage states it"
    text = f"{edge.source.name} {edge.type} {edge.target.name} ({kind})"
    return Background("relation", edge.id, text, "stored", tuple(passage.id for passage in evidence.passages))


def _claim(claim: Claim) -> Background:
    dates = " to ".join(date for date in (claim.start_date, claim.end_date) if date)
    about = ", ".join(part for part in (claim.type, claim.status, dates) if part)
    text = f"{claim.subject}: {claim.description}" + (f" ({about})" if about else "")
    return Background("claim", claim.id, text, str(ReportOrigin.IMPORTED), claim.passage_ids)


def _member(member: CentralMember, description: str | None) -> Background:
    text = f"{member.name} ({member.label})" + (f": {description}" if description else "")
    return Background("member", member.id, text, "stored", ())
