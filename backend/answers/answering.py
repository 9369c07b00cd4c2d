"""Answers: evidence stands already; a model writes from it, or without one the evidence is quoted."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from backend.answers.base import LanguageModel
from backend.answers.citations import Written, written_sentences
from backend.answers.extractive import extract
from backend.answers.prompt import Prompt, build_prompt
from backend.answers.support import Checker
from backend.errors import ModelFailed, NotConfigured
from backend.questions import Answer, AnswerKind, AnswerSentence, EvidenceItem, LeftOut
from backend.vectors.base import Encoder

TOKENS = 6_000
# Some models go on for ever; an answer that anybody reads is shorter.
_MOST_CHARACTERS = 12_000
_NO_EVIDENCE = "Nothing in scope was found for this question."
_QUOTED = "These sentences are quoted from the evidence."


@dataclass(frozen=True, slots=True)
class Moment:
    """How far an answer is: its finished sentences, checked; then `rest`, what came of the next one, as plain text.

    In the last moment, `finished`, nothing is left in `rest`.
    """

    answer: Answer
    rest: str = ""
    finished: bool = False


def stream_answer(
    question: str,
    evidence: Sequence[EvidenceItem],
    *,
    encoder: Encoder,
    model: LanguageModel | None = None,
    names: Mapping[str, Collection[str]] | None = None,
    context: Sequence[str] = (),
    tokens: int = TOKENS,
) -> Generator[Moment]:
    """The answer as it comes, several moments a second also while nothing does; the last one is finished.

    `names` are those of the entities in the evidence, folded, each with its folded aliases; `context` is shown to the
    model and cannot be cited. A model that fails raises nothing: the answer ends with what came and a note that says
    what happened, or quotes the evidence where nothing came. Closing the generator stops the model; what a reader who
    does so is left with is `stopped` of the last moment.
    """
    if model is None or not evidence:
        yield Moment(_quoted(question, evidence, encoder), finished=True)
        return
    prompt = build_prompt(question, evidence, context, count_tokens=encoder.count_tokens, budget=tokens)
    if not prompt.given:
        note = f"No passage fits in a prompt of {tokens:,} tokens. Set ATTEST_LLM_TOKENS higher."
        yield Moment(_quoted(question, evidence, encoder, note, prompt.left_out), finished=True)
        return
    draft = _Draft(model.name, prompt, Checker(prompt.given, names or {}, encoder))
    failure = ""
    yield draft.moment()
    try:
        with closing(model.stream(prompt.messages)) as pieces:
            for piece in pieces:
                draft.text += piece
                yield draft.moment()
                if len(draft.text) > _MOST_CHARACTERS:
                    failure = f"The model {model.name} wrote more than {_MOST_CHARACTERS:,} characters and was stopped."
                    break
    except (ModelFailed, NotConfigured) as error:
        failure = str(error)
    answer = draft.end(failure)
    if not answer.sentences:
        failure = failure or f"The model {model.name} answered nothing."
        answer = _quoted(question, evidence, encoder, failure, prompt.left_out)
    yield Moment(answer, finished=True)


def answer(
    question: str,
    evidence: Sequence[EvidenceItem],
    *,
    encoder: Encoder,
    model: LanguageModel | None = None,
    names: Mapping[str, Collection[str]] | None = None,
    context: Sequence[str] = (),
    tokens: int = TOKENS,
) -> Answer:
    """The whole answer, as `stream_answer` ends."""
    moments = stream_answer(
        question, evidence, encoder=encoder, model=model, names=names, context=context, tokens=tokens
    )
    return deque(moments, maxlen=1)[0].answer


def stopped(moment: Moment) -> Answer:
    """The answer of a reader who stopped at this moment: what had come until then, and that it was stopped."""
    if moment.finished:
        return moment.answer
    rest = (_broken_off(Written(moment.rest)),) if moment.rest.strip() else ()
    note = f"You stopped the model {moment.answer.model}. {moment.answer.note}".strip()
    kind = AnswerKind.MODEL if moment.answer.sentences or rest else AnswerKind.NONE
    return replace(moment.answer, kind=kind, sentences=moment.answer.sentences + rest, note=note)


class _Draft:
    """What a model has written so far."""

    def __init__(self, model: str, prompt: Prompt, checker: Checker) -> None:
        self.text = ""
        self._model = model
        self._prompt = prompt
        self._checker = checker
        self._last = (-1, Moment(self._answer(())))

    def moment(self) -> Moment:
        """The last sentence may go on, and its citations may follow it: it counts when the next one has begun."""
        if self._last[0] != len(self.text):
            *done, last = written_sentences(self.text) or [Written("")]
            self._last = (len(self.text), Moment(self._answer(self._checker.check(done)), last.text))
        return self._last[1]

    def end(self, failure: str) -> Answer:
        """The whole answer; with a failure, a last sentence that has no end is one that broke off."""
        written = written_sentences(self.text)
        broken = [written.pop()] if failure and written and not _has_ended(written[-1]) else []
        sentences = self._checker.check(written) + tuple(map(_broken_off, broken))
        return self._answer(sentences, failure)

    def _answer(self, sentences: tuple[AnswerSentence, ...], failure: str = "") -> Answer:
        note = " ".join(filter(None, (failure, _said(self._prompt.left_out))))
        return Answer(AnswerKind.MODEL, self._model, sentences, note, self._prompt.left_out)


def _quoted(
    question: str,
    evidence: Sequence[EvidenceItem],
    encoder: Encoder,
    note: str = "",
    left_out: tuple[LeftOut, ...] = (),
) -> Answer:
    sentences = extract(question, evidence, encoder)
    if not sentences:
        return Answer(AnswerKind.NONE, None, (), note or _NO_EVIDENCE, left_out)
    return Answer(AnswerKind.EXTRACTIVE, None, sentences, f"{note} {_QUOTED}".strip(), left_out)


def _has_ended(sentence: Written) -> bool:
    return bool(sentence.citations) or sentence.text.rstrip("\"'”’»)").endswith((".", "!", "?", "…", "。", "！", "？"))


def _broken_off(sentence: Written) -> AnswerSentence:
    return AnswerSentence(sentence.text, sentence.citations, supported=False, why="It broke off here.")


def _said(left_out: Sequence[LeftOut]) -> str:
    """In words what the model was not given."""
    gone = [f"[{each.n}]" for each in left_out if each.kind == "evidence" and not each.shortened]
    shortened = [f"[{each.n}]" for each in left_out if each.shortened]
    context = sum(each.kind == "context" for each in left_out)
    parts = [f"without evidence {', '.join(gone)}"] if gone else []
    parts += [f"with only the supporting sentences of {', '.join(shortened)}"] if shortened else []
    parts += [f"without {context} {'piece' if context == 1 else 'pieces'} of context"] if context else []
    return f"The model answered {' and '.join(parts)}: the prompt was full (ATTEST_LLM_TOKENS)." if parts else ""
