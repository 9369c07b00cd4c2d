"""The sentences of a text: the only file that imports the splitter."""

from __future__ import annotations

from sentencex import get_sentence_boundaries

from backend.models import Span

# The splitter knows abbreviations by language; for a language that it is not told it takes those of English, and ends
# of sentences in any script.
_LANGUAGE = "en"


def sentence_spans(text: str) -> list[Span]:
    """The places of the sentences in their order, without the white space around them; they never overlap."""
    found = []
    for boundary in get_sentence_boundaries(_LANGUAGE, text):
        piece = text[boundary["start_index"] : boundary["end_index"]]
        start = boundary["start_index"] + len(piece) - len(piece.lstrip())
        end = boundary["start_index"] + len(piece.rstrip())
        if start < end:
            found.append((start, end))
    return found
