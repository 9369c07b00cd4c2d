"""The frame of every page: title, icon, style sheet (what the theme cannot express), and the way to the pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from components import address

_HERE = Path(__file__).parent
_SIDEBAR = 250  # pixels
_ROUTED, _WHOLE = "routed", "drawn to its end"


def draw() -> None:
    """The page's own frame. The icon is a file, since a browser would fetch a Material icon from a server."""
    st.session_state[_WHOLE] = False
    st.set_page_config("Attest", _HERE / "icon.svg", layout="wide", initial_sidebar_state=_SIDEBAR)
    st.html(_HERE / "frame.css")


def run(page: Page) -> None:
    """Runs the page, which can tell by this that it was not run alone."""
    st.session_state[_ROUTED] = True
    page.run()
    st.session_state[_WHOLE] = True


def redraw(*fragments: str) -> None:
    """Ends a callback with drawing these fragments alone, or the page where somebody was quicker than its first run.

    The browser breaks down when it is sent a fragment for whose place nothing has been drawn yet.
    """
    if st.session_state[_WHOLE]:
        st.rerun(list(fragments))


def navigate() -> tuple[Page, Sequence[Page]]:
    """The page that the address names, and all pages."""
    files = address.FILES
    pages = (
        st.Page(files[address.SEARCH], title="Search", icon=":material/search:", help="Find an entity.", default=True),
        st.Page(files[address.EXPLORE], title="Explore", icon=":material/hub:", help="Walk along its relations."),
        st.Page(files[address.ASK], title="Ask", icon=":material/forum:", help="Ask a question; evidence comes first."),
        st.Page(
            files[address.COMMUNITIES],
            title="Communities",
            icon=":material/workspaces:",
            help="What belongs together, from the whole down.",
        ),
        st.Page(files[address.DATA], title="Data", icon=":material/database:", help="What is loaded; load more."),
    )
    return st.navigation(pages, position="hidden"), pages


def through_app() -> None:
    """Makes sure that a page is run by app.py, at the top of each page.

    Streamlit takes a folder `pages` for its older kind of multipage app until it has met `st.navigation`, so the
    first address that a new server (or a new AppTest) is asked for would run its page alone.
    """
    if not st.session_state.pop(_ROUTED, False):
        draw()
        navigate()
        st.rerun()


def draw_links(pages: Sequence[Page]) -> None:
    """The name of the application and the list of its pages."""
    with st.container(key="brand"):
        st.markdown(":material/fact_check: **Attest**")
    with st.container(key="pages", gap="xxsmall"):
        for page in pages:
            st.page_link(page, width="stretch")
