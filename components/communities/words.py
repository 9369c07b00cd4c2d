"""What is said of communities: where a report comes from, what is not shown, how a signal is read."""

from __future__ import annotations

from backend.communities.reading import covers_more
from backend.communities.values import CommunityHead, ReportOrigin, Signal
from components import wording

ORIGINS = {
    ReportOrigin.EXTRACTIVE: "quoted from passages",
    ReportOrigin.WRITTEN: "written by a model",
    ReportOrigin.IMPORTED: "imported: written by a model",
}
NOT_EVIDENCE = "A model wrote this: it is not evidence. The numbers lead to what it cites."
QUOTED = "Every sentence is quoted from a passage, to which its number leads."
STALE = "stale"
WHY_STALE = "The data has changed since this community was found."
COVERS_MORE = "covers more than this scope"
WHY_COVERS_MORE = "What is written about it rests on passages that this scope hides. This is made of what is in scope."


def origin(head: CommunityHead) -> str:
    """Where what is shown about a community comes from: a report that the scope may not see is made anew."""
    return ORIGINS[head.report if head.report is not None and head.is_whole else ReportOrigin.EXTRACTIVE]


def marks(head: CommunityHead) -> list[str]:
    """What a reader must know of a community before reading it."""
    return [STALE] * head.stale + [COVERS_MORE] * covers_more(head)


def place(head: CommunityHead, within: int, rank: float | None = None) -> str:
    """Size, what is within, and the importance that its writer gave it, on one line."""
    parts = [wording.count(head.size, "member")]
    parts += [f"{wording.count(within, 'community')} within"] if within else []
    parts += [f"rated {rank:g}"] if rank is not None else []
    return " · ".join((*parts, origin(head)))


def signal(found: Signal, digits: int = 2) -> str:
    """Value and rank of a signal: "0.42, 1st", or that there is none."""
    if found.value is None or found.rank is None:
        return "none"
    return f"{found.value:.{digits}f}, {wording.ordinal(found.rank)}"
