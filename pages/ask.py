"""Ask: evidence for a question at once, then an answer that cites it."""

import streamlit as st

from backend.questions import Retrieval
from components import address, answers, ask_bar, asking, cached, errors, frame, markup, passages, starts, wording
from components.address import AskView

frame.through_app()


@st.fragment(key="evidence")
@errors.shown()
def draw_evidence(found: Retrieval, answering: asking.Answering, view: AskView) -> None:
    title = wording.count(len(found.evidence), "passage") if found.evidence else "No passage was found"
    remarks = [wording.cut(cut) for cut in found.cuts]
    if any(item.sentences for item in found.evidence):
        remarks.insert(0, "Underlined are the sentences that were found.")
    lines = [markup.tag("p", remark, css="at-quiet") for remark in remarks]
    st.html(markup.join((markup.tag("h2", title, css="at-title"), *lines)))
    ask_bar.draw_bound(found, view)
    passages.draw_evidence(found.evidence, found.question.scope, answering.left_out)


@st.fragment(run_every=1)
def wait_for_meaning() -> None:
    if not cached.encoder_coming():
        st.rerun()


view = address.ask()
left, right = st.columns([11, 9], gap="medium")
with left, st.container(key="ask", gap="small"):
    ask_bar.draw(view)
    body = st.container(key="answer", gap="small")
pane = right.container(key="pane-ask", border=True, gap="small")
if not view.text.strip():
    pane.html(markup.tag("p", "The passages that are found are shown here, numbered.", css="at-quiet"))
    with body:
        starts.draw_questions(asking.ask)
        ask_bar.draw_before(view)
elif cached.encoder_coming():
    pane.html(markup.tag("p", "The passages that are found are shown here, numbered.", css="at-quiet"))
    body.html(markup.tag("p", "Meaning is still loading: the evidence comes in a moment.", css="at-quiet"))
    wait_for_meaning()
else:
    with body, errors.shown():
        found, version = cached.retrieve(view.question)
        asking.remember(view)
        answering = asking.answering(found, version)
        with pane:
            draw_evidence(found, answering, view)
        answers.draw(found, answering)
        ask_bar.draw_ways_on(found, view.scope)
        ask_bar.draw_steps(found)
        ask_bar.draw_before(view)
