"""An answer without a language model: the sentences of the evidence that say most about the question, quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from backend.questions import AnswerSentence, EvidenceItem
from backend.sentences import sentence_spans
from backend.vectors.base import Encoder
from backend.words import fold, words

MOST_SENTENCES, MOST_OF_A_PASSAGE = 5, 2
# Every item later in the evidence costs a sentence so much of its similarity, down to the twentieth: the search knows
# more than likeness to the question, but a sentence that plainly answers is taken from anywhere.
_PER_PLACE, _PLACES = 0.03, 20
# What the search has named is worth so much more; the sentence that answers may stand beside it.
_NAMED = 0.1
# A piece without an end mark is a heading, a row of a table or cut off: sentences that say as much come before it.
_NO_SENTENCE = 0.15
_ENDS = ".!…。．！۔।፡።"
_CLOSERS = "\"'”’»)]』」）"
# A passage may be a whole document; what stands so far down is hardly what it was found for.
_SENTENCES_READ = 60
_MOST_CANDIDATES = 300


@dataclass(frozen=True, slots=True)
class _Candidate:
    item: EvidenceItem
    start: int
    text: str
    is_named: bool

    def score(self, similarity: float) -> float:
        place = _PER_PLACE * min(self.item.n - 1, _PLACES)
        is_sentence = self.text.rstrip(_CLOSERS).endswith(tuple(_ENDS))
        return round(similarity - place + _NAMED * self.is_named - (0 if is_sentence else _NO_SENTENCE), 6)


def extract(question: str, evidence: Sequence[EvidenceItem], encoder: Encoder) -> tuple[AnswerSentence, ...]:
    """At most five sentences, the best first, word by word as they stand in the passage that each cites.

    The best are nearest in meaning to the question, counting the order of the evidence and what the search has named
    too; at most two are of one passage and no two the same. Questions, and pieces that say nothing but what is asked,
    are no answers.
    """
    asked = {word.text for word in words(question)}
    candidates = list(islice(_candidates(evidence, asked), _MOST_CANDIDATES))
    if not candidates:
        return ()
    vectors = encoder.encode([question, *(candidate.text for candidate in candidates)])
    scored = [
        (candidate.score(float(vector @ vectors[0])), candidate)
        for candidate, vector in zip(candidates, vectors[1:], strict=True)
    ]
    scored.sort(key=lambda each: (-each[0], each[1].item.n, each[1].start))
    return tuple(
        AnswerSentence(text=candidate.text, citations=(candidate.item.n,), supported=True)
        for candidate in islice(_distinct(candidate for _, candidate in scored), MOST_SENTENCES)
    )


def _candidates(evidence: Sequence[EvidenceItem], asked: set[str]) -> Iterator[_Candidate]:
    for item in evidence:
        text = item.passage.text
        for start, end in dict.fromkeys([*item.sentences, *sentence_spans(text)[:_SENTENCES_READ]]):
            piece = text[start:end].strip()
            told = {word.text for word in words(piece)}
            if not piece.rstrip(_CLOSERS).endswith(("?", "？", "؟")) and not told <= asked:
                yield _Candidate(item, start, piece, (start, end) in item.sentences)


def _distinct(candidates: Iterator[_Candidate]) -> Iterator[_Candidate]:
    """Those that repeat no earlier one, and no third of a passage."""
    seen: set[str] = set()
    taken: dict[str, int] = {}
    for candidate in candidates:
        folded, passage = fold(candidate.text), candidate.item.passage.id
        # Of a passage without supporting sentences only its best one counts.
        most = MOST_OF_A_PASSAGE if candidate.item.sentences else 1
        if folded not in seen and taken.get(passage, 0) < most:
            seen.add(folded)
            taken[passage] = taken.get(passage, 0) + 1
            yield candidate
