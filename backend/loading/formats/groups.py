"""Communities and reports as rows: parents, members and citations resolved, and a group for what is in none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from backend import data_citations
from backend.loading.formats.graph import Graph
from backend.loading.formats.index import Community, Index, Metadata, Report
from backend.loading.formats.matching import Names
from backend.loading.formats.texts import Texts
from backend.loading.rows import CommunityRow, ReportRow

UNCLUSTERED = -1  # the number that indexes give to what is in no community
UNCLUSTERED_ID = "0:unclustered"
_TITLE = "Unclustered"

Numbers = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Groups:
    """The rows."""

    communities: list[CommunityRow]
    reports: list[ReportRow]


def make_groups(index: Index, texts: Texts, names: Names, graph: Graph) -> Groups:
    """The rows of communities and their reports."""
    making = _Making(index, names)
    making.keep_reports()
    making.keep_communities()
    numbers: dict[tuple[str, str], str] = {}
    if index.cites_short_ids:
        numbers = _short_ids(texts, names, graph) | {("community", str(n)): one for n, one in making.ids.items()}
    reports = [making.report_row(report, numbers, names) for report in making.reports.values()]
    return Groups(making.rows, sorted(reports, key=lambda row: row.line))


class _Making:
    def __init__(self, index: Index, names: Names) -> None:
        self._index = index
        self._names = names
        self._notes = index.notes
        self.reports: dict[int, Report] = {}
        self.ids: dict[int, str] = {}
        self._titles: dict[int, str] = {}
        self.rows: list[CommunityRow] = []

    def keep_reports(self) -> None:
        """One report for each community: the one of the last period, of these the last."""
        issues, file = self._notes.issues(ReportRow), self._notes.file(ReportRow)
        for report in self._index.reports:
            before = self.reports.get(report.number)
            if before is not None:
                last = max(before, report, key=lambda one: (str(one.metadata.get("period") or ""), one.row))
                other = report if last is before else before
                detail = f"another report on community {report.number} is of a later period or row"
                issues.left_out("used_id", file, other.row, detail)
                report = last
            self.reports[report.number] = report

    def keep_communities(self) -> None:
        """Gives every community its id, and then its row with the id of its parent."""
        kept: dict[int, tuple[Community, tuple[str, ...]]] = {}
        taken: Counter[str] = Counter()
        for community in (*self._index.communities, *self._missing()):
            if community.number in kept or community.number == UNCLUSTERED:
                self._leave_out("used_id", community, f"community {community.number}")
                continue
            members = self._members(community)
            if not members and community.number not in self.reports:
                self._leave_out("empty_community", community, f"community {community.number}")
                continue
            kept[community.number] = (community, members)
            key = self._key(community, members)
            taken[key] += 1
            self.ids[community.number] = key + (f" #{taken[key]}" if taken[key] > 1 else "")
        for community, members in kept.values():
            parent = self._parent(community, kept)
            title = self._titles[community.number] = community.title or f"Community {community.number}"
            metadata = community.metadata | {"number": community.number}
            own = (self.ids[community.number], community.level, parent, title, members, metadata)
            self.rows.append(CommunityRow(community.row, *own))
        self._add_unclustered(kept)

    def report_row(self, report: Report, numbers: Numbers, names: Names) -> ReportRow:
        """The report, with where its citations lead; what leads nowhere is noted."""
        community = self.ids[report.number]
        title = report.title or self._titles[report.number]
        parts = [title, report.summary or "", report.text or "", *(part for one in report.findings for part in one)]
        cited = dict.fromkeys((one.kind, one.number) for part in parts for one in data_citations.find(part))
        resolved = {one: _resolved(one, numbers, names) for one in cited}
        unknown = [f"{kind} {number}" for (kind, number), source_id in resolved.items() if source_id is None]
        if unknown:
            detail = f"{len(unknown)} such as {unknown[0]!r}"[:200]
            self._notes.issues(ReportRow).repaired(
                "unknown_citations", self._notes.file(ReportRow), report.row, detail, count=len(unknown)
            )
        known = {one: source_id for one, source_id in resolved.items() if source_id is not None}
        metadata = report.metadata | {"number": report.number}
        own = (community, title, report.summary, report.findings, report.rank, report.text, metadata, known)
        return ReportRow(report.row, *own)

    def _missing(self) -> list[Community]:
        """Communities that only reports tell of."""
        known = {community.number for community in self._index.communities} | {UNCLUSTERED}
        made = []
        for report in self.reports.values():
            if report.number not in known:
                self._notes.read[CommunityRow.kind] += 1
                detail = f"community {report.number}"
                file = self._notes.file(ReportRow)
                self._notes.issues(CommunityRow).repaired("made_community", file, report.row, detail)
                made.append(Community(report.row, report.number, report.level or 0, report.parent, report.title, ()))
        return made

    def _members(self, community: Community) -> tuple[str, ...]:
        unknown = [one for one in community.entity_ids if one not in self._names.by_id]
        self._notes.unknown(CommunityRow, community.row, "entity_ids", unknown)
        known = (self._names.by_id[one] for one in community.entity_ids if one in self._names.by_id)
        return tuple(dict.fromkeys(known))

    def _key(self, community: Community, members: Sequence[str]) -> str:
        """What survives a new run of the indexer: the level and the members, or without any the report's title."""
        if not members:
            return f"{community.level}:{self.reports[community.number].title or community.title}"
        digest = blake2b("\0".join(sorted(members)).encode("utf-8", "replace"), digest_size=16).hexdigest()
        return f"{community.level}:{digest}"

    def _parent(self, community: Community, kept: Mapping[int, tuple[Community, tuple[str, ...]]]) -> str | None:
        if community.parent is None or community.parent == UNCLUSTERED:
            return None
        above = kept.get(community.parent)
        if above is None or above[0].level >= community.level:
            file, detail = self._notes.file(CommunityRow), f"`parent`: {community.parent}"
            self._notes.issues(CommunityRow).repaired("unknown_ids", file, community.row, detail)
            return None
        return self.ids[community.parent]

    def _add_unclustered(self, kept: Mapping[int, tuple[Community, tuple[str, ...]]]) -> None:
        """A community of what is in none, so that nothing is out of sight by communities."""
        clustered = {member for _, members in kept.values() for member in members}
        members = tuple(row.id for row in self._names.rows if row.id not in clustered) if clustered else ()
        if not members and UNCLUSTERED not in self.reports:
            return
        file = self._notes.file(CommunityRow)
        self._notes.read[CommunityRow.kind] += 1
        self._notes.issues(CommunityRow).repaired("unclustered", file, None, f"{len(members)} entities")
        self.ids[UNCLUSTERED], self._titles[UNCLUSTERED] = UNCLUSTERED_ID, _TITLE
        metadata: Metadata = {"number": UNCLUSTERED, "virtual": True}
        line = 1 + max((community.row for community, _ in kept.values()), default=0)
        self.rows.append(CommunityRow(line, UNCLUSTERED_ID, 0, None, _TITLE, members, metadata))

    def _leave_out(self, kind: Literal["used_id", "empty_community"], community: Community, detail: str) -> None:
        self._notes.issues(CommunityRow).left_out(kind, self._notes.file(CommunityRow), community.row, detail)


def _short_ids(texts: Texts, names: Names, graph: Graph) -> dict[tuple[str, str], str]:
    """What each number in a citation means: short ids, and for sources the place of the text unit's row, from 0."""
    by_kind = {
        "entity": names.by_short_id,
        "relation": graph.relations_by_short_id,
        "claim": graph.claims_by_short_id,
        "document": texts.by_short_id,
        "passage": {str(row - 1): passage for row, passage in texts.by_row.items()},
    }
    return {(kind, number): source_id for kind, known in by_kind.items() for number, source_id in known.items()}


def _resolved(cited: tuple[str, str], numbers: Numbers, names: Names) -> str | None:
    """The source id; an entity may be cited by its name, too."""
    kind, number = cited
    if found := numbers.get(cited):
        return found
    return names.find(number) if kind == "entity" and not number.lstrip("-").isdigit() else None
