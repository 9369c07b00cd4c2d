"""An answer as it comes: each sentence with its citations, and what no cited passage supports said in words."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from backend.questions import Answer, AnswerKind, AnswerSentence, Question, Retrieval
from components import asking, cached, errors, markup, wording
from components.asking import Answering
from components.clicks import once

_AT_ONCE = 0.4  # seconds; quotations are there by then, and need no page that waits
_BEAT = 0.3  # seconds between two looks at what has come


def draw(found: Retrieval, answering: Answering) -> None:
    """Draws the answer, again and again until it has ended."""
    answering.wait(_AT_ONCE)
    coming = not answering.ended
    st.fragment(_draw, key="answer", run_every=_BEAT if coming else None)(found, answering, coming)


@errors.shown()
def _draw(found: Retrieval, answering: Answering, coming: bool) -> None:
    if not answering.ended:
        _draw_coming(found, answering)
    elif coming:
        st.rerun()
    else:
        _draw_ended(found, answering.result())


def _draw_coming(found: Retrieval, answering: Answering) -> None:
    moment = answering.moment
    if not cached.has_model():
        st.html(markup.tag("div", "Choosing sentences …", css="at-counts"))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="answer-head"):
        who = markup.name(moment.answer.model or "") if moment else "The model"
        st.html(markup.tag("div", markup.tag("span", who, " is writing an answer …"), css="at-counts"))
        st.button("Stop", key="stop-answer", icon=":material/stop_circle:", type="tertiary", on_click=answering.stop)
    if moment is not None:
        if moment.answer.sentences:
            st.html(_sentences(found, moment.answer))
        if moment.rest.strip():
            st.html(markup.tag("p", markup.tag("bdi", moment.rest), css="at-said at-coming"))


def _draw_ended(found: Retrieval, answer: Answer) -> None:
    st.html(markup.join((_head(answer), _sentences(found, answer))))
    st.html(markup.tag("p", _spoken(answer), css="at-spoken", role="status"))
    if answer.note and answer.kind is AnswerKind.MODEL:
        st.html(markup.tag("p", answer.note, css="at-quiet"))
    if cached.has_model() and found.evidence:
        text, icon = "Answer again", ":material/refresh:"
        st.button(text, key="again", icon=icon, type="tertiary", on_click=once(_again), args=(found.question,))


def _again(question: Question) -> None:
    asking.forget(question)
    st.rerun()


def _head(answer: Answer) -> markup.Html:
    if answer.kind is AnswerKind.NONE:
        return markup.tag("p", answer.note, css="at-nothing")
    if answer.kind is AnswerKind.EXTRACTIVE:
        badge, told = "quotations", markup.escape(answer.note)
    else:
        unsupported = sum(not sentence.supported for sentence in answer.sentences)
        checked = (
            f"{wording.count(unsupported, 'sentence')} not supported" if unsupported else "every sentence supported"
        )
        badge, told = "written by a model", markup.join((markup.name(answer.model or ""), f" · {checked}"))
    return markup.tag("div", markup.tag("span", badge, css="at-badge"), markup.tag("span", told), css="at-counts")


def _spoken(answer: Answer) -> str:
    return f"The answer has ended: {wording.count(len(answer.sentences), 'sentence')}"


def _sentences(found: Retrieval, answer: Answer) -> markup.Html:
    titles = {item.n: item.passage.document.title for item in found.evidence}
    quoted = answer.kind is AnswerKind.EXTRACTIVE
    return markup.join(_sentence(sentence, titles, quoted=quoted) for sentence in answer.sentences)


def _sentence(sentence: AnswerSentence, titles: Mapping[int, str], *, quoted: bool) -> markup.Html:
    text = markup.tag("q" if quoted else "span", markup.tag("bdi", sentence.text))
    cited = markup.join(
        markup.citation(n, titles[n]) if n in titles else markup.tag("span", str(n), css="at-cite at-unknown")
        for n in sentence.citations
    )
    if sentence.supported:
        return markup.tag("p", text, " ", cited, css="at-said")
    why = markup.tag("span", markup.tag("b", "Not supported. "), sentence.why, css="at-why")
    return markup.tag("p", text, " ", cited, why, css="at-said at-unsupported")
