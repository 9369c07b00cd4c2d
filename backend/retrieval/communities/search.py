"""Community retrieval: from the entities of a question to communities, and from these to passages.

Parsing and matching, one step along the relations, candidates, scores, reports with members, relations and claims as
context, and the passages that these lead to as evidence: the retrieval guide, sections 3.1 to 3.7. Nothing is encoded
but the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.answers.base import LanguageModel
from backend.communities.reading import covers_more, made_of_visible, weighting
from backend.communities.scoring import Ranked, ranked, without_relatives
from backend.communities.values import (
    RRF,
    WEIGHTED,
    CommunityHit,
    CommunityQuery,
    CommunityResult,
    ContextItem,
    Intent,
    MatchedEntity,
    Report,
)
from backend.errors import IndexNotReady, Malformed
from backend.models import Cut
from backend.names import asked_names, check_question, check_within, refuse_unknown
from backend.questions import EvidenceItem, LeftOut, Question
from backend.ranking import fuse
from backend.retrieval.communities.candidates import Pool, around, near
from backend.retrieval.communities.context import Background, background
from backend.retrieval.communities.intent import read_intent
from backend.retrieval.communities.matching import matched
from backend.retrieval.communities.reranking import MOST_RATED, Summarised, rerank
from backend.retrieval.communities.times import dated_within
from backend.retrieval.evidence import item
from backend.retrieval.names import names_in
from backend.retrieval.reader import Found, Reader
from backend.scope import resolve
from backend.stopwatch import Stopwatch
from backend.stores.base import GraphView
from backend.stores.lexical import Content
from backend.vectors.base import Encoder, Index

MOST_COMMUNITIES = 50
EVIDENCE = 8
# Passages that are compared with the question, and tokens of context; reports are long, and passages come first.
_COMPARED, _CONTEXT_TOKENS = 100, 3_000


@dataclass(frozen=True, slots=True)
class _Answering:
    """What a question came to: the communities, what they say, and the passages, best first."""

    intent: Intent
    entities: tuple[MatchedEntity, ...]
    hits: tuple[CommunityHit, ...]
    said: tuple[Background, ...]
    found: tuple[Found, ...]
    weighting: str
    note: str


def search_communities(
    view: GraphView,
    query: CommunityQuery,
    *,
    index: Callable[[], Index],
    encoder: Callable[[], Encoder],
    model: LanguageModel | None = None,
) -> CommunityResult:
    """The communities that answer a question, best first, with context and numbered evidence.

    Raises Malformed, IndexNotReady where there are no communities, naming the command that builds them, and
    NotConfigured where they are to be re-ranked without a model.
    """
    watch = Stopwatch()
    _check(query)
    with watch.step("scope"):
        scope = resolve(query.scope)
        catalog, unknown = view.opening(asked_names(query.scope))
        refuse_unknown(view, unknown)
    question = Question(query.text, "communities", scope=query.scope)
    reader = Reader(view, question, scope, catalog, index, encoder, model=model)
    with watch.step("communities"):
        answering = _answering(reader, query)
    with watch.step("evidence"):
        evidence, left_out = _evidence(reader, answering.found)
        context, too_much = _context(reader, answering.said, evidence)
    return CommunityResult(
        query=query,
        intent=answering.intent,
        entities=answering.entities,
        communities=answering.hits,
        context=context,
        evidence=evidence,
        left_out=(*left_out, *too_much),
        weighting=answering.weighting,
        note=answering.note,
        truncated_by=tuple(cut.bound for cut in reader.cuts),
        cuts=tuple(reader.cuts),
        timings_ms=watch.timings_ms,
    )


def find_communities(reader: Reader) -> Sequence[Found]:
    """The strategy `communities`: the passages that the communities of a question lead to."""
    answering = _answering(reader, CommunityQuery(reader.question.text))
    reader.context = tuple(one.text for one in answering.said)
    return answering.found


def _check(query: CommunityQuery) -> None:
    check_question(query.text)
    check_within("limit", query.limit, MOST_COMMUNITIES)
    if query.score not in (RRF, WEIGHTED):
        raise Malformed(f"There is no score {query.score[:100]!r}.", hint=f"There are: {RRF}, {WEIGHTED}.")
    for name, value in (("alpha", query.alpha), ("beta", query.beta), ("gamma", query.gamma)):
        if not 0 <= value <= 1:
            raise Malformed(f"{name} {value} is not between 0 and 1.", hint="Choose a value in that range.")
    if query.level is not None and query.level < 0:
        raise Malformed(f"level {query.level} is below 0.", hint="Level 0 is the coarsest.")


def _answering(reader: Reader, query: CommunityQuery) -> _Answering:
    reader.require("report")
    if not reader.view.has_communities():
        raise IndexNotReady(
            "The graph has no communities.",
            hint="Run `attest index --communities`.",
            index="communities",
            remedy="attest index --communities",
        )
    names = names_in(reader)
    with reader.step("entities of the question") as note:
        entities = matched(reader, names)
        note(len(entities))
    asked = [entity.id for entity, _ in entities]
    pool = around(reader, asked, query.level) if asked else near(reader, query.level or 0)
    with reader.step("communities in their order") as note:
        parents = {one: head.parent for one, head in pool.heads.items()}
        kept, dropped = without_relatives(ranked(pool.candidates, query), parents)
        if dropped:
            reader.note(Cut("relative", 1, missing=len(dropped)))
        hits, said_of_it = _hits(reader, kept[: MOST_RATED if query.rerank else query.limit], pool), ""
        note(len(hits))
    if query.rerank:
        with reader.step("what a language model thinks of them") as note:
            hits, said_of_it = _reranked(reader, hits)
            note(len(hits))
    hits = hits[: query.limit]
    with reader.step("what they say") as note:
        told = background(reader, {hit.id: hit.report for hit in hits}, asked)
        said = tuple(one for own in told.values() for one in own)
        note(len(said))
    intent = read_intent(reader.question.text, names)
    with reader.step("the passages that they lead to") as note:
        found = _passages(reader, said, asked, intent)
        note(len(found))
    datasets = sorted({pool.heads[hit.id].dataset for hit in hits})
    return _Answering(
        intent, tuple(one for _, one in entities), hits, said, found, weighting(reader.view, datasets), said_of_it
    )


def _hits(reader: Reader, kept: Sequence[Ranked], pool: Pool) -> tuple[CommunityHit, ...]:
    """The communities that are kept, each with its report: the stored one, or the one that was made anew."""
    lacking = [one.candidate.id for one in kept if one.candidate.id not in pool.made]
    reports = pool.made | (reader.view.reports(lacking, reader.scope) if lacking else {})
    reports |= made_of_visible(reader.view, [one for one in lacking if one not in reports], reader.scope)
    return tuple(_hit(one, pool, reports[one.candidate.id]) for one in kept)


def _reranked(reader: Reader, hits: tuple[CommunityHit, ...]) -> tuple[tuple[CommunityHit, ...], str]:
    """The communities as a model orders them, without those that it discards; and what is to be said of that."""
    summarised = [Summarised(hit.id, hit.title, hit.report.summary) for hit in hits]
    found = rerank(reader.question.text, summarised, reader.model)
    if found.discarded:
        reader.note(Cut("relevance", 1, missing=len(found.discarded)))
    by_id = {hit.id: hit for hit in hits}
    return tuple(by_id[one] for one in found.kept), found.note


def _hit(one: Ranked, pool: Pool, report: Report) -> CommunityHit:
    head = pool.heads[one.candidate.id]
    return CommunityHit(
        id=head.id,
        title=report.title,
        level=head.level,
        origin=report.origin,
        stale=head.stale,
        size=head.size,
        covers_more=covers_more(head),
        signals=one.signals,
        score=one.score,
        report=report,
    )


# --- evidence --------------------------------------------------------------------------------------------------------


def _passages(reader: Reader, said: Sequence[Background], asked: Sequence[str], intent: Intent) -> tuple[Found, ...]:
    """The passages that are led to, best first: by what leads to them, meaning, names, and the time of the question."""
    led: dict[str, list[str]] = {}
    for one in said:
        for passage in one.passage_ids:
            led.setdefault(passage, []).append(f"{one.kind}: {one.text.splitlines()[0][:80]}")
    wanted = list(led)[:_COMPARED]
    if len(led) > _COMPARED:
        reader.note(Cut("passage", _COMPARED, missing=len(led) - _COMPARED))
    contents = reader.contents(wanted)
    nearest = reader.nearest_statements(contents)
    near_by = {one: similarity for one, (similarity, _) in nearest.items()}
    named = {one: _named(content, set(asked)) for one, content in contents.items()}
    lists = {
        "led": [one for one in wanted if one in contents],
        "meaning": sorted(near_by, key=lambda one: (-near_by[one], one)),
        "names": sorted((one for one in named if named[one]), key=lambda one: (-named[one], -near_by.get(one, 0), one)),
        "time": [one for one in wanted if one in contents and _is_timely(contents[one], intent)],
    }
    scores = fuse(lists)
    order = sorted(scores, key=lambda one: (-scores[one], one))
    places = {one: (place,) for one, (_, place) in nearest.items()}
    return tuple(
        Found(one, scores[one], places.get(one, ()), (*_places_in(one, lists), *led[one][:2])) for one in order
    )


def _named(content: Content, asked: set[str]) -> int:
    return len(asked & {entity.id for entity in content.mentions})


def _is_timely(content: Content, intent: Intent) -> bool:
    document = content.passage.document
    return dated_within(document.date or document.valid_from, intent.time)


def _places_in(passage: str, lists: Mapping[str, list[str]]) -> Iterable[str]:
    said = {"meaning": "like the question in meaning", "names": "names of the question", "time": "of its time"}
    return (f"{words} (place {lists[key].index(passage) + 1})" for key, words in said.items() if passage in lists[key])


def _evidence(reader: Reader, found: Sequence[Found]) -> tuple[tuple[EvidenceItem, ...], tuple[LeftOut, ...]]:
    """The first passages, numbered, and the numbers that the others would have."""
    contents = reader.contents(one.passage_id for one in found)
    shown = tuple(item(n, one, contents[one.passage_id]) for n, one in enumerate(found[:EVIDENCE], start=1))
    return shown, tuple(LeftOut("evidence", n) for n in range(len(shown) + 1, len(found) + 1))


def _context(
    reader: Reader, said: Sequence[Background], evidence: Sequence[EvidenceItem]
) -> tuple[tuple[ContextItem, ...], tuple[LeftOut, ...]]:
    """What of the background has room, in its order, and the numbers of what has not."""
    numbers = {one.passage.id: one.n for one in evidence}
    counts = reader.open_encoder().count_tokens([one.text for one in said]) if said else []
    kept: list[ContextItem] = []
    left_out: list[LeftOut] = []
    used = 0
    for number, (one, tokens) in enumerate(zip(said, counts, strict=True), start=1):
        if used + tokens > _CONTEXT_TOKENS:
            left_out.append(LeftOut("context", number))
            continue
        used += tokens
        leads = tuple(sorted(numbers[passage] for passage in one.passage_ids if passage in numbers))
        kept.append(ContextItem(one.kind, one.id, one.text, one.origin, leads))
    return tuple(kept), tuple(left_out)
