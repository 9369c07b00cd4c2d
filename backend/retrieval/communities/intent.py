"""What a question is about: the names in it, and what is left as themes."""

from __future__ import annotations

from collections.abc import Sequence

from backend.communities.values import Intent, TimeSpan
from backend.retrieval.names import QuestionNames


def read_intent(text: str, names: QuestionNames) -> Intent:
    """The names and themes of a question."""
    return Intent(tuple(name.words for name in names.names), (), names.themes, (), ())


def dated_within(moment: str | None, spans: Sequence[TimeSpan]) -> bool:
    """Whether a document's date lies within one of the times."""
    return moment is not None and any(span.start <= moment <= span.end for span in spans)
