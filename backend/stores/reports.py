"""How the report of a community is stored, alike in every store."""

from __future__ import annotations

import json
from dataclasses import asdict

from backend.communities.values import Citation, Finding, Report, ReportOrigin, ReportSentence, SentenceSource


def stored_report(report: Report) -> str:
    """The whole of a report as one JSON text."""
    return json.dumps(asdict(report), ensure_ascii=False, separators=(",", ":"))


def read_report(text: str) -> Report:
    """The report of which `stored_report` has made the text."""
    fields = json.loads(text)
    return Report(
        **{
            **fields,
            "origin": ReportOrigin(fields["origin"]),
            "findings": tuple(Finding(*one) for one in fields["findings"]),
            "citations": tuple(Citation(*one) for one in fields["citations"]),
            "sentences": tuple(map(_sentence, fields["sentences"])),
            "cited": tuple(fields["cited"]),
        }
    )


def _sentence(row: tuple[str, list[tuple[str, int, int]], bool]) -> ReportSentence:
    text, sources, supported = row
    return ReportSentence(text, tuple(SentenceSource(*source) for source in sources), supported)
