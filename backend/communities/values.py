"""The values of communities: groups of densely linked entities in a hierarchy, their reports, and claims.

A report is what a model wrote (`imported`, `written`), or sentences quoted from passages (`extractive`). What a model
wrote is context and never evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from backend.models import EVERYTHING, Cut, Json, Scope
from backend.questions import EvidenceItem, LeftOut


class ReportOrigin(StrEnum):
    """`extractive`: quoted from passages; `written`: by a language model; `imported`: came with the index."""

    EXTRACTIVE = "extractive"
    WRITTEN = "written"
    IMPORTED = "imported"


class CommunityOrigin(StrEnum):
    """`imported`: loaded with its dataset; `built`: made here from the relations of its dataset."""

    IMPORTED = "imported"
    BUILT = "built"


class Citation(NamedTuple):
    """What a report cites: the kind of thing, the number that stands in the text, and the id, None where it is nothing.

    Kinds: `entity`, `relation` (an edge), `claim`, `community`, `passage`, `document`.
    """

    kind: str
    number: str
    id: str | None


class Finding(NamedTuple):
    """One finding of a report; either part may be empty."""

    summary: str
    explanation: str


class SentenceSource(NamedTuple):
    """Where a sentence of a report stands in a passage."""

    passage_id: str
    start: int
    end: int


class ReportSentence(NamedTuple):
    """A sentence of an extractive or written report, with its sources; `supported` where these state it."""

    text: str
    sources: tuple[SentenceSource, ...]
    supported: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """What is written about a community; `rank` is the importance that its writer gave it.

    `cited` are the ids of the passages that it rests on by name: it is shown only where all of them are visible.
    """

    origin: ReportOrigin
    title: str
    summary: str
    findings: tuple[Finding, ...] = ()
    rank: float | None = None
    text: str = ""
    citations: tuple[Citation, ...] = ()
    sentences: tuple[ReportSentence, ...] = ()
    cited: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommunityHead:
    """A community as the scope sees it, without what is in it; level 0 is the coarsest.

    `is_whole` where the scope hides nothing that its report may rest on; only then are its report, `title` and
    `metadata` to be had. `size` counts the members in scope. `stale` where its dataset has changed since it was made.
    `vectors` is the collection with the vector of its stored report.
    """

    id: str
    source_id: str
    dataset: str
    level: int
    parent: str | None
    title: str
    origin: CommunityOrigin
    report: ReportOrigin | None
    is_whole: bool
    stale: bool
    size: int
    vectors: str | None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """A dated, qualified assertion about a subject; `passage_ids` are its visible passages, in order of id."""

    id: str
    source_id: str
    dataset: str
    subject_id: str
    subject: str
    object_id: str | None
    object: str | None
    type: str | None
    status: str | None
    start_date: str | None
    end_date: str | None
    description: str
    passage_ids: tuple[str, ...]
    metadata: Mapping[str, Json] = field(default_factory=dict)


# --- a question to communities ---------------------------------------------------------------------------------------

RRF, WEIGHTED = "rrf", "weighted"


@dataclass(frozen=True, slots=True)
class CommunityQuery:
    """A question that communities are to answer; `score` is `rrf`, or `weighted` by the three coefficients.

    Without a `level` communities of all levels may be found, of a branch the one that ranks first. With `rerank` a
    language model orders the first twenty, and discards those that have nothing to do with the question.
    """

    text: str
    score: str = RRF
    alpha: float = 0.5
    beta: float = 0.3
    gamma: float = 0.2
    level: int | None = None
    limit: int = 5
    rerank: bool = False
    scope: Scope = EVERYTHING


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that the question names, in its words, and its first and last day as ISO dates."""

    text: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question is about: names in it, other forms of them, what is left as themes, times, and its mood."""

    entities: tuple[str, ...]
    aliases: tuple[str, ...]
    themes: tuple[str, ...]
    time: tuple[TimeSpan, ...]
    sentiment: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchedEntity:
    """An entity of the question, with the channels that found it (each its rank) and the fused score."""

    id: str
    name: str
    label: str
    channels: Mapping[str, int]
    score: float


@dataclass(frozen=True, slots=True)
class Signal:
    """The value of one signal of a community and its rank among the candidates, None where it has none."""

    value: float | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class CommunityHit:
    """A community found, and why; `origin` is that of its report, `covers_more` where a stored one may not be shown."""

    id: str
    title: str
    level: int
    origin: ReportOrigin
    stale: bool
    size: int
    covers_more: bool
    signals: Mapping[str, Signal]  # semantic, overlap, structure
    score: float
    report: Report


@dataclass(frozen=True, slots=True)
class ContextItem:
    """Background for a model: a report, member, relation or claim, and the numbers of the passages that it leads to."""

    kind: str
    id: str
    text: str
    origin: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CommunityResult:
    """The communities that answer a question, best first, with their context and the passages that they lead to.

    `weighting` says in words what an edge weighs, `left_out` which context or evidence its budget left out.
    """

    query: CommunityQuery
    intent: Intent
    entities: tuple[MatchedEntity, ...]
    communities: tuple[CommunityHit, ...]
    context: tuple[ContextItem, ...]
    evidence: tuple[EvidenceItem, ...]
    left_out: tuple[LeftOut, ...]
    weighting: str
    note: str  # of a language model that was to re-rank them
    truncated_by: tuple[str, ...]
    cuts: tuple[Cut, ...]
    timings_ms: Mapping[str, float]
