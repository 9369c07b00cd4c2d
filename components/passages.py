"""Passages as evidence: whole, mentions marked, document and place in one quiet line, their surroundings on demand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import streamlit as st

from backend.models import Document, DocumentView, Passage, Scope, Span
from backend.questions import EvidenceItem, LeftOut
from components import cached, errors, markup, scope_picker, wording
from components.clicks import once

_READ = "read-passage"  # place and id of the passage whose document is opened
_OPEN = "open-passages"  # ids of the passages whose surroundings are shown


def draw(found: Sequence[Passage], *, place: str, scope: Scope, first: int = 1) -> None:
    """Draws the passages, numbered from `first`; `place` tells the same passage in two lists apart."""
    for number, passage in enumerate(found, first):
        with st.container(key=f"passage-{place}-{passage.id}", gap="xxsmall"):
            text = markup.passage_text(passage.text, passage.mentions)
            _draw_one(source_line(number, passage), text, passage, place, scope)


def draw_evidence(found: Sequence[EvidenceItem], scope: Scope, left_out: Collection[LeftOut] = ()) -> None:
    """Draws numbered evidence: what supports an answer is underlined, and a citation leads here.

    What a full prompt has left out says so.
    """
    kept_from = {one.n: one.shortened for one in left_out if one.kind == "evidence"}
    for item in found:
        passage = item.passage
        with st.container(key=f"passage-evidence-{passage.id}", gap="xxsmall"):
            text = markup.passage_text(passage.text, passage.mentions, item.sentences)
            why = markup.tag("div", markup.join((markup.tag("bdi", way) for way in item.why), " · "), css="at-why")
            head = markup.join((markup.anchor(item.n), source_line(item.n, passage), why))
            if item.n in kept_from:
                head = markup.join((head, _kept_from_the_model(shortened=kept_from[item.n])))
            _draw_one(head, text, passage, "evidence", scope)


def _kept_from_the_model(*, shortened: bool) -> markup.Html:
    told = (
        "The model was given only the underlined sentences of this passage: the prompt was full."
        if shortened
        else "The model was not given this passage: the prompt was full."
    )
    return markup.tag("div", markup.tag("b", told), css="at-why")


def draw_sentences(passage: Passage, sentences: Sequence[Span], *, place: str, scope: Scope) -> None:
    """Draws one passage whole, with these sentences of it underlined."""
    with st.container(key=f"passage-{place}-{passage.id}", gap="xxsmall"):
        text = markup.passage_text(passage.text, passage.mentions, sentences)
        _draw_one(source_line(1, passage), text, passage, place, scope)


def draw_document(view: DocumentView, scope: Scope, *, shown: int) -> None:
    """A document with its first passages."""
    st.html(_heading(view))
    draw(view.passages[:shown], place="document", scope=scope)
    if len(view.passages) > shown:
        first, every = wording.number(shown), wording.count(len(view.passages), "passage")
        told = f"The first {first} of {every}; “Whole document” has all of them."
        st.html(markup.tag("p", told, css="at-quiet"))


def _draw_one(head: markup.Html, text: markup.Html, passage: Passage, place: str, scope: Scope) -> None:
    opened = passage.id in _opened()
    around = _neighbours(passage, scope) if opened else (None, None)
    st.html(
        markup.join(
            (
                head,
                _neighbour(around[0]),
                text,
                _neighbour(around[1]),
            )
        )
    )
    with st.container(horizontal=True, gap="small", key=f"context-{place}-{passage.id}"):
        action, icon = ("Close", ":material/unfold_less:") if opened else ("In context", ":material/unfold_more:")
        key = f"{place}-{passage.id}"
        st.button(action, key=f"open-{key}", icon=icon, type="tertiary", on_click=once(_toggle), args=(passage.id,))
        if opened:
            icon = ":material/description:"
            st.button("Whole document", key=f"whole-{key}", icon=icon, type="tertiary", on_click=_read, args=(key,))
    if st.session_state.get(_READ) == key:
        del st.session_state[_READ]
        _document(passage, scope)


def source_line(number: int, passage: Passage) -> markup.Html:
    """Number, document, collection and date of a passage, in one quiet line."""
    document = passage.document
    title, collection = markup.name(document.title), markup.name(document.collection, limit=40)
    where = markup.tag("b", str(number)), " · ", title, " · ", collection
    version = f" · version {document.version}" if document.version > 1 else ""
    day = markup.tag("span", markup.plain(wording.day(document.date), 24), css="at-date")
    return markup.tag("div", markup.tag("span", *where, version), day, css="at-source")


def _neighbour(passage: Passage | None) -> markup.Html:
    return markup.Html() if passage is None else markup.tag("p", markup.tag("bdi", passage.text), css="at-around")


def _opened() -> frozenset[str]:
    opened: frozenset[str] = st.session_state.get(_OPEN, frozenset())
    return opened


def _toggle(passage_id: str) -> None:
    st.session_state[_OPEN] = _opened() ^ {passage_id}


def _read(key: str) -> None:
    """A callback: the whole document of the passage at this place."""
    st.session_state[_READ] = key


def _view(passage: Passage, scope: Scope) -> DocumentView:
    return cached.document(passage.document.id, replace(scope, document_ids=()), passage.document.version)


def _neighbours(passage: Passage, scope: Scope) -> tuple[Passage | None, Passage | None]:
    """The passages before and after in the same version of the document."""
    found = _view(passage, scope).passages
    at = next((place for place, other in enumerate(found) if other.id == passage.id), None)
    if at is None:
        return None, None
    return found[at - 1] if at else None, found[at + 1] if at + 1 < len(found) else None


@st.dialog("Document", width="medium", position="right")
@errors.shown()
def _document(passage: Passage, scope: Scope) -> None:
    """The whole document beside the page, the passage that led here set apart."""
    view = _view(passage, scope)
    st.html(_heading(view))
    st.button(
        "Only this document in scope",
        key="limit-to-document",
        icon=":material/filter_alt:",
        on_click=scope_picker.limit_to,
        args=(view.id,),
    )
    heading = None
    parts: list[str] = []
    for other in view.passages:
        if other.heading and other.heading != heading:
            parts.append(markup.tag("h3", markup.name(other.heading), css="at-section"))
        heading = other.heading
        here = other.id == passage.id
        text = markup.passage_text(other.text, passage.mentions if here else ())
        parts.append(markup.tag("div", text, css="at-here-passage" if here else "at-passage"))
    st.html(markup.join(parts))


def _heading(document: Document) -> markup.Html:
    """Title and every field of a document, addresses as text."""
    fields = [
        ("Collection", document.collection),
        ("Date", wording.day(document.date)),
        ("Author", document.author or ""),
        ("Address", document.url or ""),
        ("Version", str(document.version) if document.version > 1 else ""),
        ("Valid from", wording.day(document.valid_from)),
        *((key, wording.value(value)) for key, value in document.metadata.items()),
        ("Dataset", document.dataset),
        ("Id in the dataset", document.source_id),
    ]
    return markup.join((markup.tag("h2", markup.name(document.title), css="at-title"), markup.facts(fields)))
