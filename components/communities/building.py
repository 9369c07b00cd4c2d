"""Finding communities from the page: where there are none, and where the data has changed since they were found."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from backend.communities.values import CommunityHead, CommunityOrigin
from components import address, cached, errors, jobs, markup, wording
from components.clicks import once

_COMMAND = "attest index --communities"


def draw_missing() -> None:
    """The page of a store without communities: what they are, and how there come to be some."""
    st.html(markup.tag("h1", "No communities yet", css="at-welcome"))
    datasets = cached.status().datasets
    if not datasets:
        st.html(markup.tag("p", "Nothing is loaded yet.", css="at-nothing"))
        st.page_link(address.FILES[address.DATA], label="Load a graph", icon=":material/database:")
        return
    told = (
        "Communities are groups of entities with many relations among them, in a hierarchy: a few large ones, and "
        "smaller ones within these. Each gets a report of sentences quoted from its passages. No model is needed."
    )
    st.html(markup.tag("p", told, css="at-note"))
    names = ", ".join(markup.plain(found.name, 40) for found in datasets[:5])
    more = f" and {len(datasets) - 5} more" if len(datasets) > 5 else ""
    st.html(markup.tag("p", f"None were found yet in {names}{more}.", css="at-quiet"))
    _draw_button("Find communities", ())


def draw_stale(heads: Sequence[CommunityHead]) -> None:
    """Says so where communities are older than their data, and offers to find those anew that were found here."""
    stale = {head.dataset: head.origin for head in heads if head.stale}
    if not stale:
        jobs.draw_followed()
        return
    built = tuple(sorted(dataset for dataset, origin in stale.items() if origin is CommunityOrigin.BUILT))
    imported = sorted(stale.keys() - set(built))
    if built:
        st.html(
            markup.tag("p", f"The data of {_named(built)} has changed since its communities were found.", css="at-note")
        )
        _draw_button("Find them anew", built)
    if imported:
        told = f"The data of {_named(imported)} has changed since its communities came with it: load its index again."
        st.html(markup.tag("p", told, css="at-note"))


def _named(datasets: Sequence[str]) -> str:
    return ", ".join(markup.plain(dataset, 40) for dataset in datasets)


def _draw_button(text: str, datasets: tuple[str, ...]) -> None:
    jobs.draw_followed()
    if not cached.writable():
        told = f"This server may only read. Where its store can be written, “{_COMMAND}” finds them."
        st.html(markup.tag("p", told, css="at-quiet"))
        return
    st.button(
        text,
        key="find-communities",
        type="primary",
        icon=":material/workspaces:",
        disabled=jobs.following(),
        on_click=once(errors.guarded),
        args=(_start, datasets),
    )
    st.html(markup.tag("p", f"The same on the command line: {_COMMAND}", css="at-quiet"))


def _start(datasets: tuple[str, ...]) -> None:
    jobs.follow(cached.start_communities(datasets))


def draw_welcome(heads: Sequence[CommunityHead]) -> None:
    """What stands beside the hierarchy before anything of it is selected."""
    levels = wording.count(len({head.level for head in heads}), "level")
    counts = f"{wording.count(len(heads), 'community')} on {levels}"
    told = (
        "A community is a group of entities with many relations among them. Select one to read what it is about; open "
        "it for its members, relations and passages. Or ask a question: the communities that it is about are found."
    )
    st.html(markup.join((markup.tag("h2", counts, css="at-title"), markup.tag("p", told, css="at-quiet"))))
    draw_stale(heads)
