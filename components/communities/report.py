"""The report of a community, each of whose citations leads to the thing that it cites, or says that it is nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import urlencode

from backend import data_citations
from backend.communities.reading import CommunityView
from backend.communities.values import Report, ReportOrigin, ReportSentence
from components import address, cached, markup
from components.address import CommunitiesView

Block: TypeAlias = dict[str, Any]
_TOLD = 90  # characters of what a citation tells of its thing
_KINDS = ("entity", "relation", "claim", "community", "passage", "document")


def blocks(found: CommunityView, view: CommunitiesView, *, whole: bool = True) -> list[Block]:
    """The paragraphs of a report, as its component draws them; without `whole` only its summary."""
    teller = _Teller(found, view)
    report = found.report
    if report.sentences and report.origin is not ReportOrigin.IMPORTED:
        headings = {finding.summary for finding in report.findings}
        sentences = report.sentences if whole else report.sentences[:3]
        return [teller.sentence(one, is_heading=one.text in headings) for one in sentences]
    paragraphs = [("p", report.summary)]
    if whole:
        paragraphs += [part for one in report.findings for part in (("h3", one.summary), ("p", one.explanation))]
        if not any(text for _, text in paragraphs):
            paragraphs = [("p", report.text)]
    return [_block(name, "", list(teller.parts(text))) for name, text in paragraphs if text.strip()]


def things(drawn: list[Block]) -> set[str]:
    """What these paragraphs lead to, as KIND:ID."""
    return {part["thing"] for block in drawn for part in block["parts"] if isinstance(part, dict) and part["thing"]}


def _block(name: str, css: str, parts: list[Any]) -> Block:
    return {"name": name, "css": css, "parts": parts}


class _Teller:
    """Knows of one report which citation leads where, and what is to be said of that."""

    def __init__(self, found: CommunityView, view: CommunitiesView) -> None:
        self._is_quoted = found.report.origin is ReportOrigin.EXTRACTIVE
        self._view = view.opened(found.head.id) if view.community is None else view
        self._ids = {(one.kind, one.number): one.id for one in found.report.citations}
        self._names = _names(found)
        self._passages = _numbered(found.report)
        titles = cached.visible_passages(tuple(self._passages), view.scope)
        self._names |= {f"passage:{one.id}": one.document.title for one in titles}

    def sentence(self, sentence: ReportSentence, *, is_heading: bool) -> Block:
        """A sentence with the numbers of the passages that state it."""
        parts: list[Any] = [markup.visible(sentence.text)]
        for passage in dict.fromkeys(source.passage_id for source in sentence.sources):
            parts += [" ", self._link(str(self._passages[passage]), f"passage:{passage}", "passage")]
        if not sentence.supported:
            said = "not supported" if sentence.sources else "not supported: it cites nothing"
            return _block("p", "unsupported", [*parts, f" ({said})"])
        if is_heading:
            return _block("h3", "", parts)
        return _block("p", "quote" if self._is_quoted else "", parts)

    def parts(self, text: str) -> Iterator[Any]:
        """The text with its citations: a number within a range is put where the range stands."""
        done = 0
        for cited in data_citations.find(text):
            if cited.start > done:
                yield markup.visible(text[done : cited.start])
            if cited.start == cited.end:
                yield "\u2009"
            yield self._citation(cited.kind, cited.number)
            done = max(done, cited.end)
        yield markup.visible(text[done:])

    def _citation(self, kind: str, number: str) -> dict[str, Any]:
        number = markup.plain(number, 60)
        thing = self._ids.get((kind, number))
        if thing is not None:
            return self._link(number, f"{kind}:{thing}", f"{kind} {number}")
        told = (
            f"there is no {kind} {number}" if kind in _KINDS else f"“{markup.plain(kind, 40)}” is no kind of thing here"
        )
        return {"thing": None, "text": number, "told": f"leads to nothing: {told}"}

    def _link(self, text: str, thing: str, what: str) -> dict[str, Any]:
        name = self._names.get(thing)
        kind, _, target = thing.partition(":")
        leads = self._view.opened(target) if kind == "community" else replace(self._view, thing=thing)
        return {
            "thing": thing,
            "text": text,
            "told": f"{what}: {markup.plain(name, _TOLD)}" if name else what,
            "href": "?" + urlencode(address.communities_params(leads), doseq=True),
            "shown": thing == self._view.thing,
        }


def _numbered(report: Report) -> dict[str, int]:
    """The passages that sentences are quoted from, numbered in the order of the sentences."""
    ids = dict.fromkeys(source.passage_id for sentence in report.sentences for source in sentence.sources)
    return {passage: number for number, passage in enumerate(ids, 1)}


def _names(found: CommunityView) -> dict[str, str]:
    """What is told of the things of a community, by KIND:ID."""
    names: Mapping[str, str] = {f"entity:{one.member.id}": one.member.name for one in found.members}
    relations = {f"relation:{one.id}": f"{one.source.name} {one.type} {one.target.name}" for one in found.relations}
    claims = {f"claim:{one.id}": f"{one.subject}: {one.description}" for one in found.claims}
    others = {f"community:{one}": title for one, title in found.titles.items()}
    return {**names, **relations, **claims, **others}
