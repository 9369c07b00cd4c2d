"""Pages before anything is asked: guided starts and questions where the demo graph is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from components import address, cached, hits, markup, wording

DEMO = "demo"
# What to search for, and what there is to see; the demo's own page tells the whole story.
STARTS = (
    ("Meridian Freight", "Charters MV Halcyon, which seven passages in five documents state. Walk two steps."),
    (
        "Calder Quay Holdings",
        "Directed by whom? Look again as of 2023-06-30, before its register extract was replaced.",
    ),
    ("Port Ostrava Bay", "A hub: two steps from it are more relations than the bounds let through."),
    ("Orrin Vantage", "Named only by an article that was corrected. Look again as of 2022-09-30."),
    ("Marsa al-Sinjab", "Did MV Halcyon sail there? A letter in Arabic, the auditors and a notebook differ."),
)
QUESTIONS = (
    ("Did MV Halcyon sail to Marsa al-Sinjab?", "The port's agent, the auditors and a notebook do not agree."),
    (
        "Who chartered MV Halcyon, and at what rate?",
        "Ask again with the collection Filings alone: the contract itself.",
    ),
    ("Who received the transfers of Calder Quay Holdings?", "Where the hire went. Ask again as of 2022-09-30."),
    ("When did Lanthorn divide itself in two?", "A newspaper and a court filing."),
    (
        "Where was the designer of Sinyaya Vyp born?",
        "Two steps: one document names the designer, another tells where that person was born.",
    ),
    ("Who taught the harbour master of Saint Averil?", "Two steps, over a name that the question does not have."),
    ("Who founded the company that lends to Lanthorn Assets?", "Two steps, from a filing to a magazine."),
)


def draw() -> None:
    """The Search page before anything is asked."""
    welcome = "Find an entity, walk along its relations, and read the passages that state them."
    if _draw_welcome("What do the documents state?", welcome):
        _draw_cards("Places to start", STARTS, "Search for", hits.ask)


def draw_questions(ask: Callable[[str], None]) -> None:
    """The Ask page before anything is asked."""
    welcome = "The passages that tell about your question come first, numbered; the answer cites them."
    if _draw_welcome("What do you want to know?", welcome):
        _draw_cards("Questions to start with", QUESTIONS, "Ask", ask)


def _draw_welcome(title: str, welcome: str) -> bool:
    """What there is to ask, or the way to load something; whether it is the demo graph."""
    report = cached.status()
    if not report.datasets:
        st.html(markup.tag("p", "Nothing is loaded yet.", css="at-nothing"))
        st.page_link(address.FILES[address.DATA], label="Load a graph", icon=":material/database:")
        return False
    entities = sum(dataset.entities for dataset in report.datasets)
    passages = sum(dataset.passages for dataset in report.datasets)
    loaded = f"{wording.count(entities, 'entity')} from {wording.count(passages, 'passage')}."
    heading = markup.tag("h1", title, css="at-welcome")
    st.html(markup.join((heading, markup.tag("p", f"{welcome} {loaded}", css="at-quiet"))))
    return any(dataset.name == DEMO for dataset in report.datasets)


def _draw_cards(heading: str, cards: Sequence[tuple[str, str]], action: str, on_click: Callable[[str], None]) -> None:
    st.html(markup.tag("h2", heading, css="at-heading"))
    for number, (text, what) in enumerate(cards):
        with st.container(key=f"hit-start-{number}", border=True, gap=None):
            title = markup.tag("div", markup.tag("b", text), css="at-start")
            st.html(markup.join((title, markup.tag("p", what, css="at-quiet"))))
            st.button(f"{action} {text}", key=f"pick-start-{number}", on_click=on_click, args=(text,))
