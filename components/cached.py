"""The only place with caches: the explorer, shared by all sessions, and its answers.

The key of an answer is its request and the store's data version, so that no answer outlives a load. Answers are
frozen and shared, never copied.
"""

from __future__ import annotations

import atexit
import gc
import logging
import threading
from collections.abc import Callable, Generator, Sequence
from datetime import timedelta
from pathlib import Path

import streamlit as st

from backend.answers.answering import Moment
from backend.communities.reading import CommunityView
from backend.communities.values import CommunityHead, CommunityQuery, CommunityResult
from backend.errors import AttestError, NotConfigured
from backend.explorer import Explorer, open_explorer
from backend.models import (
    Catalog,
    DocumentView,
    EntityQuery,
    EntityResult,
    EntityView,
    Evidence,
    Passage,
    PassageQuery,
    PassageResult,
    RelationType,
    Scope,
    WalkQuery,
    WalkResult,
)
from backend.questions import Named, Question, Retrieval
from backend.settings import Settings, read_settings
from backend.status import StatusReport
from backend.stores.base import StoredEdge

_MANY, _FEW = 500, 50  # answers kept
_HEAD_START = 0.5  # seconds; importing the encoder's libraries would hold up what the first page still fetches


class _Opening:
    """How the explorer is opened; one for the whole server."""

    with_settings: Callable[[Settings], Explorer] = staticmethod(open_explorer)


def open_with(opener: Callable[[Settings], Explorer]) -> None:
    """Opens the explorer in another way from now on, for a program that brings stores or an encoder of its own."""
    _Opening.with_settings = staticmethod(opener)
    st.cache_resource.clear()


@st.cache_resource(show_spinner=False, on_release=lambda kept: kept.close())
def explorer() -> Explorer:
    return _Opening.with_settings(read_settings())


atexit.register(st.cache_resource.clear)  # a server that ends closes its stores


@st.cache_resource(show_spinner=False, max_entries=1, ttl=timedelta(seconds=1))
def catalog() -> Catalog:
    """The catalog, read at most once a second."""
    return explorer().catalog()


def forget() -> None:
    """Reads the catalog anew: something was loaded or removed."""
    catalog.clear()


@st.cache_resource(show_spinner=False)
def _warming() -> threading.Thread:
    """The thread that loads the encoder, started once, when the first page is in the browser; nothing waits for it."""
    thread = threading.Timer(_HEAD_START, _load_encoder, (explorer(),))
    thread.daemon = True
    thread.start()
    return thread


def _load_encoder(opened: Explorer) -> None:
    """Loads the encoder, and spares its libraries the garbage collection that Streamlit runs after every click."""
    try:
        opened.warm()
    except AttestError as error:
        logging.getLogger("attest").warning("The encoder did not load: %s", error)
    gc.collect()
    gc.freeze()  # half a million objects that stay: looking through them each time takes a third of a second


def warm_up() -> None:
    """Begins to load the encoder, if that has not begun; called when a page is drawn."""
    if not encoder_ready():
        _warming()


def encoder_ready() -> bool:
    return explorer().encoder_ready


def encoder_coming() -> bool:
    """Whether the encoder still loads; not where that failed."""
    return not encoder_ready() and _warming().is_alive()


def search(query: EntityQuery) -> EntityResult:
    return _search(query, catalog().data_version)


def passages(query: PassageQuery) -> PassageResult:
    return _passages(query, catalog().data_version)


def mentioned(passage_id: str, scope: Scope) -> tuple[Named, ...]:
    return _mentioned(passage_id, scope, catalog().data_version)


def retrieve(question: Question) -> tuple[Retrieval, str]:
    """The evidence for a question, and the data version that it is of."""
    version = catalog().data_version
    return _retrieve(question, version), version


def has_model() -> bool:
    """Whether a language model writes the answers."""
    return explorer().settings.llm_model is not None


def answer(found: Retrieval) -> Generator[Moment]:
    """The answer as it comes, never kept here: it is of whoever asked."""
    return explorer().answer(found)


def walk(query: WalkQuery) -> WalkResult:
    return _walk(query, catalog().data_version)


def entity(entity_id: str, scope: Scope) -> EntityView:
    return _entity(entity_id, scope, catalog().data_version)


def entity_evidence(entity_id: str, scope: Scope, limit: int) -> Evidence:
    return _entity_evidence(entity_id, scope, limit, catalog().data_version)


def edge_evidence(edge_id: str, scope: Scope, limit: int) -> Evidence:
    return _edge_evidence(edge_id, scope, limit, catalog().data_version)


def mentioning_both(first: str, second: str, scope: Scope, limit: int) -> Evidence:
    return _mentioning_both(first, second, scope, limit, catalog().data_version)


def relation_types(entity_id: str, scope: Scope) -> tuple[RelationType, ...]:
    return _relation_types(entity_id, scope, catalog().data_version)


def document(document_id: str, scope: Scope, version: int | None = None) -> DocumentView:
    return _document(document_id, scope, version, catalog().data_version)


def edge(edge_id: str, scope: Scope) -> StoredEdge:
    return _edge(edge_id, scope, catalog().data_version)


def visible_passages(ids: tuple[str, ...], scope: Scope) -> tuple[Passage, ...]:
    return _visible_passages(ids, scope, catalog().data_version)


def hierarchy(scope: Scope) -> tuple[CommunityHead, ...]:
    return _hierarchy(scope, catalog().data_version)


def community_titles(heads: Sequence[CommunityHead], scope: Scope) -> dict[str, str]:
    """What communities are called, by id."""
    return _community_titles(tuple(head.id for head in heads), heads, scope, catalog().data_version)


def community_ranks(heads: Sequence[CommunityHead], scope: Scope) -> dict[str, float]:
    """The importance that the writer of a community's report gave it, by id, where there is one."""
    return _community_ranks(tuple(head.id for head in heads), heads, scope, catalog().data_version)


def community(community_id: str, scope: Scope) -> CommunityView:
    return _community(community_id, scope, catalog().data_version)


def communities_of(entity_id: str, scope: Scope) -> tuple[tuple[CommunityHead, str], ...]:
    """The communities of an entity, the coarsest first, each with what it is called."""
    return _communities_of(entity_id, scope, catalog().data_version)


def communities(query: CommunityQuery) -> CommunityResult:
    return _communities(query, catalog().data_version)


def scope_size(scope: Scope) -> tuple[int, int]:
    """How many documents are in scope, of how many that are current."""
    return _scope_size(scope, catalog().data_version)


def status() -> StatusReport:
    return _status(catalog().data_version)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _search(query: EntityQuery, version: str) -> EntityResult:
    return explorer().search(query)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _passages(query: PassageQuery, version: str) -> PassageResult:
    return explorer().passages(query)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _mentioned(passage_id: str, scope: Scope, version: str) -> tuple[Named, ...]:
    return explorer().mentioned(passage_id, scope)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _retrieve(question: Question, version: str) -> Retrieval:
    return explorer().retrieve(question)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _walk(query: WalkQuery, version: str) -> WalkResult:
    return explorer().walk(query)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _entity(entity_id: str, scope: Scope, version: str) -> EntityView:
    return explorer().entity(entity_id, scope)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _entity_evidence(entity_id: str, scope: Scope, limit: int, version: str) -> Evidence:
    return explorer().entity_evidence(entity_id, scope, limit)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _edge_evidence(edge_id: str, scope: Scope, limit: int, version: str) -> Evidence:
    return explorer().edge_evidence(edge_id, scope, limit)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _mentioning_both(first: str, second: str, scope: Scope, limit: int, version: str) -> Evidence:
    return explorer().mentioning_both(first, second, scope, limit)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _relation_types(entity_id: str, scope: Scope, version: str) -> tuple[RelationType, ...]:
    return explorer().relation_types(entity_id, scope)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _document(document_id: str, scope: Scope, number: int | None, version: str) -> DocumentView:
    return explorer().document(document_id, scope, version=number)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _edge(edge_id: str, scope: Scope, version: str) -> StoredEdge:
    return explorer().edge(edge_id, scope)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _visible_passages(ids: tuple[str, ...], scope: Scope, version: str) -> tuple[Passage, ...]:
    return explorer().visible_passages(ids, scope)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _hierarchy(scope: Scope, version: str) -> tuple[CommunityHead, ...]:
    return explorer().hierarchy(scope)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _community_titles(
    ids: tuple[str, ...], _heads: Sequence[CommunityHead], scope: Scope, version: str
) -> dict[str, str]:
    return explorer().titles(_heads, scope)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _community_ranks(
    ids: tuple[str, ...], _heads: Sequence[CommunityHead], scope: Scope, version: str
) -> dict[str, float]:
    return explorer().ranks(_heads, scope)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _community(community_id: str, scope: Scope, version: str) -> CommunityView:
    return explorer().community(community_id, scope)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _communities_of(entity_id: str, scope: Scope, version: str) -> tuple[tuple[CommunityHead, str], ...]:
    heads = explorer().communities_of(entity_id, scope)
    titles = explorer().titles(heads, scope)
    return tuple((head, titles[head.id]) for head in heads)


@st.cache_resource(show_spinner=False, max_entries=_FEW)
def _communities(query: CommunityQuery, version: str) -> CommunityResult:
    return explorer().communities(query)


@st.cache_resource(show_spinner=False, max_entries=_MANY)
def _scope_size(scope: Scope, version: str) -> tuple[int, int]:
    return explorer().scope_size(scope)


@st.cache_resource(show_spinner=False, max_entries=1)
def _status(version: str) -> StatusReport:
    return explorer().status()


# --- what changes the store, and never where it may only be read ------------------------------------------------------


def writable() -> bool:
    return not explorer().settings.read_only


def start_load(path: Path, *, dataset: str | None, collection: str | None, replace: bool) -> int:
    """Starts a load in a process of its own, which outlives this page; its process id."""
    check_writable()
    return explorer().start_load(path, dataset=dataset, collection=collection, replace=replace)


def start_communities(datasets: tuple[str, ...]) -> int:
    """Starts to find communities in a process of its own, which outlives this page; its process id."""
    check_writable()
    return explorer().start_communities(datasets)


def remove(dataset: str) -> None:
    check_writable()
    explorer().remove(dataset=dataset)
    forget()


def stop(job_id: str) -> None:
    check_writable()
    explorer().stop(job_id)


def undo(job_id: str) -> None:
    check_writable()
    explorer().undo(job_id)


def check_writable() -> None:
    if not writable():
        raise NotConfigured("This server may only read.", hint="ATTEST_READ_ONLY is set.")
