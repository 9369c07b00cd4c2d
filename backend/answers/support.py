"""Is a sentence of a model supported by the passages that it cites? What is not says why, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from backend.answers.citations import Written
from backend.answers.figures import unstated
from backend.answers.known_names import KnownNames
from backend.questions import AnswerSentence, EvidenceItem
from backend.sentences import sentence_spans
from backend.vectors.base import Encoder, Vectors
from backend.words import fold

# Cosine, with the bundled encoder. Of 24 pairs of a sentence and one that restates it or a part of it (newspaper,
# contract, medicine, film, history) the lowest has 0.52 and the median 0.78; of 23 pairs on one subject where the
# second says something that the first does not, the highest has 0.36 and the median 0.10. Bare answers ("20 March
# 851.", "It was fined.") have 0.41 and more; a very short one in other words ("It had to pay a fine.", 0.35), and one
# in another language than the passage (0.28), are marked. It tells a sentence about something else; it cannot tell a
# sentence from its contrary.
SIMILARITY = 0.4
NOT_STATED = "The documents in scope do not state this."
# The sentence that the prompt asks for, and what models make of it; with nothing behind it that would be a claim.
_NOT_STATED = re.compile(
    r"(?:i am sorry, |sorry, )?the (?:documents?|passages?|evidence|sources?)(?: in scope| given| provided)? "
    r"(?:do|does) not (?:state|say|mention|contain|provide|answer|give|tell|specify)\b[^,;:.]{0,150}[.!]?"
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s()<>]+", re.IGNORECASE)
_CLAIMS_ON = re.compile(r"\b(?:but|however|though|although|while|whereas|only|except|instead|and)\b")
_SENTENCES_READ = 200  # of one passage


class Checker:
    """Checks sentences against the evidence that a model was given; each passage is encoded once, when first cited.

    A sentence is supported when every number that it cites was given; every number, date, address and known name in it
    is in the passages that it cites, or in the title, heading and date that stand with them; and it is near enough in
    meaning (SIMILARITY) to one of their sentences. One that says that the documents do not state something claims
    nothing that a passage could state: it is supported without a citation.
    """

    def __init__(
        self, evidence: Sequence[EvidenceItem], names: Mapping[str, Collection[str]], encoder: Encoder
    ) -> None:
        self._items = {item.n: item for item in evidence}
        self._names = KnownNames(names)
        self._encoder = encoder
        self._vectors: dict[int, Vectors] = {}
        self._checked: dict[Written, AnswerSentence] = {}

    def check(self, written: Iterable[Written]) -> tuple[AnswerSentence, ...]:
        """The sentences with what was found; those of earlier calls are not checked again."""
        written = list(written)
        new = [sentence for sentence in dict.fromkeys(written) if sentence not in self._checked]
        problems = {sentence: self._problems(sentence) for sentence in new}
        citing = [sentence for sentence in new if self._cited(sentence)]
        for sentence, nearness in zip(citing, self._nearness(citing), strict=True):
            if nearness < SIMILARITY and not says_not_stated(sentence.text):
                problems[sentence].append("No sentence of the cited passages says something close to it.")
        for sentence, found in problems.items():
            self._checked[sentence] = AnswerSentence(
                sentence.text, sentence.citations, supported=not found, why=" ".join(found)
            )
        return tuple(self._checked[sentence] for sentence in written)

    def _cited(self, sentence: Written) -> list[int]:
        return [n for n in sentence.citations if n in self._items]

    def _problems(self, sentence: Written) -> list[str]:
        problems = []
        unknown = [f"[{n}]" for n in sentence.citations if n not in self._items]
        if unknown:
            problems.append(f"{_listed(unknown)} {'is' if len(unknown) == 1 else 'are'} no evidence that was given.")
        if says_not_stated(sentence.text):
            return problems
        if not sentence.citations:
            return ["It cites no evidence."]
        told = "\n".join(_told(self._items[n]) for n in self._cited(sentence))
        if told:
            addresses = [each for each in _ADDRESS.findall(sentence.text) if each not in told]
            missing = [*addresses, *unstated(sentence.text, told), *self._names.unstated(sentence.text, told)]
            if missing:
                problems.append(f"The cited passages do not say {_listed([f'“{each}”' for each in missing])}.")
        return problems

    def _nearness(self, sentences: Sequence[Written]) -> list[float]:
        """The similarity of each sentence to the nearest sentence that it cites."""
        if not sentences:
            return []
        self._read({n for sentence in sentences for n in self._cited(sentence)})
        encoded = self._encoder.encode([sentence.text for sentence in sentences])
        return [
            max(float((self._vectors[n] @ vector).max()) for n in self._cited(sentence))
            for sentence, vector in zip(sentences, encoded, strict=True)
        ]

    def _read(self, numbers: Iterable[int]) -> None:
        """Encodes the sentences of these passages, all at once, as far as that has not been done."""
        texts = {n: _sentences(self._items[n].passage.text) for n in sorted(numbers) if n not in self._vectors}
        encoded = self._encoder.encode([text for each in texts.values() for text in each])
        done = 0
        for n, each in texts.items():
            self._vectors[n] = encoded[done : done + len(each)]
            done += len(each)


def says_not_stated(text: str) -> bool:
    """Whether a sentence says that the documents do not state something, and nothing else."""
    folded = fold(text).replace("’", "'").replace("don't", "do not").replace("doesn't", "does not")
    return _NOT_STATED.fullmatch(folded) is not None and not _CLAIMS_ON.search(folded)


def _told(item: EvidenceItem) -> str:
    document = item.passage.document
    return "\n".join(filter(None, (document.title, document.date, item.passage.heading, item.passage.text)))


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)[:_SENTENCES_READ]] or [text]


def _listed(things: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))
