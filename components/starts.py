"""The Search page before anything is asked: guided starts where the demo graph is loaded."""

from __future__ import annotations

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


def draw() -> None:
    report = cached.status()
    if not report.datasets:
        st.html(markup.tag("p", "Nothing is loaded yet.", css="at-nothing"))
        st.page_link(address.FILES[address.DATA], label="Load a graph", icon=":material/database:")
        return
    entities = sum(dataset.entities for dataset in report.datasets)
    passages = sum(dataset.passages for dataset in report.datasets)
    welcome = "Find an entity, walk along its relations, and read the passages that state them."
    loaded = f"{wording.count(entities, 'entity')} from {wording.count(passages, 'passage')}."
    st.html(
        markup.join(
            (
                markup.tag("h1", "What do the documents state?", css="at-welcome"),
                markup.tag("p", f"{welcome} {loaded}", css="at-quiet"),
            )
        )
    )
    if any(dataset.name == DEMO for dataset in report.datasets):
        _draw_starts()


def _draw_starts() -> None:
    st.html(markup.tag("h2", "Places to start", css="at-heading"))
    for number, (text, what) in enumerate(STARTS):
        with st.container(key=f"hit-start-{number}", border=True, gap=None):
            title = markup.tag("div", markup.tag("b", text), css="at-start")
            st.html(markup.join((title, markup.tag("p", what, css="at-quiet"))))
            st.button(f"Search for {text}", key=f"pick-start-{number}", on_click=hits.ask, args=(text,))
