"""From what a model wrote to its sentences, each with the numbers of the evidence that it cites."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from backend.answers.plain import plain
from backend.sentences import sentence_spans

_NUMBER = r"\^?\d{1,4}"
_APART = r"\s{0,3}(?:[,;、，–—-]|and|&|to)?\s{0,3}"
# [1], [1, 3], [1-3], 【1】 and 【1†source】; beside one another they are several. Parentheses hold years and asides.
_MARKER = re.compile(
    rf"[ \t]{{0,10}}[\[【]\s{{0,3}}({_NUMBER}(?:{_APART}{_NUMBER}){{0,30}})\s{{0,3}}(?:†[^\[\]【】\n]{{0,80}})?[\]】]"
)
_RANGE = re.compile(r"(\d+)\s*(?:[–—-]|to)\s*\^?(\d+)")
_MOST_OF_A_RANGE = 50
# Behind these a sentence has ended, even where the model has put its citation between them and the next one.
_ENDED = re.compile(r"[.!?…][\"'”’»)]{0,3}$")


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence of a model without its markers; `citations` are the numbers in them, in their order, each once."""

    text: str
    citations: tuple[int, ...] = ()


def written_sentences(text: str) -> list[Written]:
    """The sentences of a text in their order; a line ends one, and what has no letter or digit is none.

    A marker belongs to the sentence that it stands in or behind; at the beginning of a line, to the one that follows.
    """
    found: list[tuple[str, list[int]]] = []
    for line in plain(text).split("\n"):
        words, markers = _apart(line)
        spans = [(start, end) for start, end in sentence_spans(words) if any(c.isalnum() for c in words[start:end])]
        starts = [start for start, _ in spans]
        before = len(found)
        found += ((words[start:end], []) for start, end in spans)
        for place, numbers in markers:
            # The last sentence that begins before the marker, else the first of the line, else that of a line above.
            owner = before + max(0, bisect_left(starts, place) - 1) if spans else before - 1
            if owner >= 0:
                found[owner][1].extend(numbers)
    return [Written(words, tuple(dict.fromkeys(numbers))) for words, numbers in found]


def _apart(text: str) -> tuple[str, list[tuple[int, list[int]]]]:
    """The text without markers, and each marker's place in it with its numbers."""
    pieces: list[str] = []
    markers = []
    length = done = 0
    for marker in _MARKER.finditer(text):
        pieces.append(text[done : marker.start()])
        length += len(pieces[-1])
        markers.append((length, list(_numbers(marker[1]))))
        done = marker.end()
        # "It left.[1]She stayed." would become one word.
        if text[done : done + 1].isalnum() and _ENDED.search(text[max(0, marker.start() - 5) : marker.start()]):
            pieces.append(" ")
            length += 1
    return "".join([*pieces, text[done:]]), markers


def _numbers(marker: str) -> Iterator[int]:
    done = 0
    for span in _RANGE.finditer(marker):
        yield from (int(number) for number in re.findall(r"\d+", marker[done : span.start()]))
        first, last = sorted((int(span[1]), int(span[2])))
        yield from range(first, last + 1) if last - first < _MOST_OF_A_RANGE else (first, last)
        done = span.end()
    yield from (int(number) for number in re.findall(r"\d+", marker[done:]))
