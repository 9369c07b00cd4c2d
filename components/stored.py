"""What is loaded: datasets and collections with their counts, and the state of the indexes per label."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from backend.models import Catalog, CollectionCounts, DatasetCounts, IndexState, IndexStatus
from backend.status import StatusReport
from components import cached, errors, jobs, markup, wording
from components.clicks import once

_INDEXES = {"fulltext": "names", "vector": "meaning"}
_POPOVER = "remove"
_CHOSEN = "remove-name"
_ASKED = "remove-asked"  # the dataset whose removal is to be confirmed
_STATES = {
    IndexState.ONLINE: "ready",
    IndexState.POPULATING: "being built",
    IndexState.MISSING: "missing",
    IndexState.FAILED: "failed",
    IndexState.OTHER_DEFINITION: "not as it should be:",
    IndexState.OTHER_ENCODER: "made with another encoder",
}


def draw_datasets(report: StatusReport, *, writable: bool) -> None:
    st.html(markup.tag("h2", "Datasets", css="at-section-title"))
    if not report.datasets:
        st.html(markup.tag("p", "Nothing is loaded yet.", css="at-quiet"))
        return
    st.html(_dataset_table(report.datasets))
    if writable:
        _remove_form(report.datasets)


def draw_collections(collections: Sequence[CollectionCounts]) -> None:
    if not collections:
        return
    st.html(markup.tag("h2", "Collections", css="at-section-title"))
    rows = [(found.name, *map(wording.number, (found.documents, found.passages))) for found in collections]
    st.html(markup.table(("Collection", "Documents", "Passages"), rows, numbers_from=1))


def draw_indexes(catalog: Catalog) -> None:
    """One line that says whether everything can be searched; every label on demand."""
    if not catalog.indexes:
        return
    st.html(markup.tag("h2", "Indexes", css="at-section-title"))
    unready = [index for index in catalog.indexes if index.state is not IndexState.ONLINE]
    labels = wording.count(len(catalog.labels), "label")
    if unready:
        of = f"{wording.count(len(unready), 'index')} of {len(catalog.indexes)}"
        say = f"{of} not ready. “attest index” builds what is missing."
        st.html(markup.tag("p", say, css="at-note"))
        st.html(_index_table(unready))
    else:
        st.html(markup.tag("p", f"{labels}, all of them searchable by name and by meaning.", css="at-note"))
    with st.expander("Every label", icon=":material/label:", type="compact"):
        st.html(_index_table(catalog.indexes))


def draw_stores(report: StatusReport) -> None:
    fields = [("Graph", report.stores["graph"]), ("Vectors", report.stores["vectors"]), ("Encoder", report.encoder)]
    st.html(markup.tag("h2", "Stores", css="at-section-title"))
    st.html(markup.facts(fields))


def _dataset_table(datasets: Sequence[DatasetCounts]) -> markup.Html:
    heads = ("Dataset", "Documents", "Passages", "Entities", "Mentions", "Relations")
    rows = [
        (
            found.name,
            *map(wording.number, (found.documents, found.passages, found.entities, found.mentions, found.relations)),
        )
        for found in datasets
    ]
    return markup.table(heads, rows, numbers_from=1)


def _index_table(indexes: Sequence[IndexStatus]) -> markup.Html:
    """A row per label, a column per index."""
    kinds = tuple(dict.fromkeys(index.index for index in indexes))
    states = {(index.label, index.index): _state(index) for index in indexes}
    labels = dict.fromkeys(index.label for index in indexes)
    rows = [(label, *(states.get((label, kind), "") for kind in kinds)) for label in labels]
    return markup.table(("Label", *(_INDEXES.get(kind, kind).capitalize() for kind in kinds)), rows)


def _state(index: IndexStatus) -> str:
    percent = f" ({index.percent:.0f} %)" if index.percent is not None else ""
    return f"{_STATES[index.state]}{percent} {index.detail}".strip()


# --- removing --------------------------------------------------------------------------------------------------------


def _remove_form(datasets: Sequence[DatasetCounts]) -> None:
    with st.popover("Remove a dataset", icon=":material/delete:", type="tertiary", key=_POPOVER, on_change="rerun"):
        names = [found.name for found in datasets]
        st.selectbox("Dataset", names, format_func=markup.plain, key=_CHOSEN)
        st.button("Remove …", key="remove-ask", icon=":material/delete:", on_click=_ask)
    asked = st.session_state.pop(_ASKED, None)
    for found in datasets:
        if found.name == asked:
            _confirm(found)


def _ask() -> None:
    """Asks once more, of what is chosen now; an argument would be what was chosen when the page was drawn."""
    st.session_state[_ASKED] = st.session_state[_CHOSEN]
    st.session_state[_POPOVER] = False  # or it would cover the question


@st.dialog("Remove a dataset")
@errors.shown()
def _confirm(found: DatasetCounts) -> None:
    """The second step: what would be gone, and two ways out."""
    counts = (
        f"{wording.count(found.documents, 'document')}, {wording.count(found.passages, 'passage')}, "
        f"{wording.count(found.entities, 'entity')} and {wording.count(found.relations, 'relation')}"
    )
    st.html(
        markup.join(
            (
                markup.tag("h2", markup.name(found.name), css="at-title"),
                markup.tag("p", f"{counts} would be gone, with every version. This cannot be undone.", css="at-note"),
            )
        )
    )
    if jobs.active():
        st.html(markup.tag("p", "A job is running. Wait until it is done, or stop it.", css="at-note"))
        return
    with st.container(horizontal=True, gap="small"):
        st.button("Keep it", key="remove-keep", on_click=st.rerun)
        st.button(
            "Remove it",
            key="remove-do",
            type="primary",
            icon=":material/delete:",
            on_click=once(_remove),
            args=(found.name,),
        )


def _remove(dataset: str) -> None:
    """A callback: removes the dataset, and closes the dialog by running the page."""
    errors.guarded(cached.remove, dataset)
    st.rerun()
