"""Whether a question asks about the whole of the documents rather than about something that they name."""

from __future__ import annotations

import re

from backend.words import fold

# What such questions say, in English: what is asked for, and of what.
_ASKED = r"(?:themes?|topics?|subjects?|trends?|patterns?|communities|clusters?)"
_ALL = r"(?:documents?|texts|corpus|collection|dataset|graph|data|whole)"
_WHOLE = re.compile(
    rf"\b(?:overview|big picture|gist|overall|in general|in total|as a whole|altogether"
    rf"|(?:main|major|central|key|common|recurring|overarching|dominant|important|what|which) {_ASKED}"
    rf"|(?:summari[sz]e|describe|outline) (?:everything|all|it all|(?:the|these) {_ALL})"
    rf"|(?:the|these|all) {_ALL}(?: is| are)? (?:about|cover|discuss))\b"
)


def asks_about_the_whole(question: str) -> bool:
    """Whether the question is worded like one about everything, and writes no name with a capital."""
    if _WHOLE.search(fold(question)) is None:
        return False
    _, *others = question.split()
    return not any(word[:1].isupper() and word != "I" for word in others)
