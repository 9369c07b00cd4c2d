"""The scope, in the sidebar of every page: which documents count, and how many of them there are."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import streamlit as st

from backend.errors import AttestError, Malformed
from backend.models import EVERYTHING, Condition, Scope
from backend.scope import parse_condition
from components import address, cached, markup, wording
from components.clicks import once

_COLLECTIONS, _DOCUMENTS, _CONDITIONS, _AS_OF = "scope-collections", "scope-documents", "scope-where", "scope-as-of"
_ADD, _KEY, _OPERATOR, _VALUE = "scope-add", "scope-key", "scope-operator", "scope-value"
_MISSING = "scope-missing"  # a condition without a value was added


def draw() -> None:
    """Draws the picker; raises what the backend says of a scope that it does not accept."""
    scope = address.scope()
    address.remember_scope()
    with st.container(key="scope", gap="small"):
        st.html(markup.tag("h2", "Scope", css="at-heading"))
        _collections(scope)
        _as_of(scope)
        if scope.document_ids:
            _documents(scope)
        if scope.conditions:
            _conditions(scope)
        _add_condition()
        with st.container(key="scope-size"):
            st.html(_size(scope))


def limit_to(document_id: str) -> None:
    """A callback: only this document, in whatever else the scope asks for."""
    address.set_scope(replace(address.scope(), document_ids=(document_id,)))
    st.rerun()


def _collections(scope: Scope) -> None:
    known = cached.catalog().collections
    unknown = tuple(name for name in scope.collections if name not in known)  # an old link: shown, so it can go
    address.hold(_COLLECTIONS, list(scope.collections))
    st.multiselect(
        "Collections",
        (*known, *unknown),
        key=_COLLECTIONS,
        format_func=markup.plain,
        placeholder="All",
        on_change=_changed,
    )


def _as_of(scope: Scope) -> None:
    day = _day(scope.as_of)
    address.hold(_AS_OF, day)
    st.date_input(
        "As of",
        value=None,
        key=_AS_OF,
        format="YYYY-MM-DD",
        min_value=date(1, 1, 1),
        max_value=date(9999, 12, 31),
        on_change=_changed,
        help="The documents as they were at the end of that day. Empty: now.",
    )
    if scope.as_of and day is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.html(markup.tag("span", markup.plain(scope.as_of, 40), css="at-quiet"))
            st.button("Now", key="scope-now", type="tertiary", on_click=_now)


def _documents(scope: Scope) -> None:
    address.hold(_DOCUMENTS, list(scope.document_ids))
    st.multiselect("Documents", scope.document_ids, key=_DOCUMENTS, format_func=_document_title, on_change=_changed)


def _conditions(scope: Scope) -> None:
    places = list(range(len(scope.conditions)))
    texts = [markup.plain(wording.condition(condition)) for condition in scope.conditions]
    address.hold(_CONDITIONS, places)
    st.multiselect("Conditions", places, key=_CONDITIONS, format_func=lambda place: texts[place], on_change=_changed)


def _add_condition() -> None:
    with (
        st.popover("Add a condition", icon=":material/add:", type="tertiary", key=_ADD, on_change="rerun"),
        st.form("scope-form", border=False, clear_on_submit=True),
    ):
        st.selectbox("Key", cached.catalog().metadata_keys, key=_KEY, format_func=markup.plain)
        st.selectbox("Comparison", list(wording.OPERATORS), key=_OPERATOR, format_func=wording.OPERATORS.__getitem__)
        st.text_input("Value", key=_VALUE, help="With “is one of”, values are separated by commas.")
        if st.session_state.pop(_MISSING, False):
            st.html(markup.tag("p", "Give a value to compare with.", css="at-quiet"))
        st.form_submit_button("Add", on_click=once(_added))


def _changed() -> None:
    """A callback: what the widgets say is the scope; a widget that is not drawn keeps what the address says."""
    scope, state = address.scope(), st.session_state
    chosen: date | None = state.get(_AS_OF)
    kept = scope.as_of if _day(scope.as_of) is None and chosen is None else None
    conditions = [scope.conditions[place] for place in state.get(_CONDITIONS, ()) if place < len(scope.conditions)]
    address.set_scope(
        Scope(
            collections=tuple(state.get(_COLLECTIONS, ())),
            document_ids=tuple(state.get(_DOCUMENTS, ())) if scope.document_ids else (),
            conditions=tuple(conditions) if scope.conditions else (),
            as_of=chosen.isoformat() if chosen else kept,
        )
    )


def _now() -> None:
    address.set_scope(replace(address.scope(), as_of=None))


def _added() -> None:
    """A callback: one more condition, and the form is closed."""
    state = st.session_state
    key, operator, value = state.get(_KEY), state[_OPERATOR], state[_VALUE].strip()
    if not key or (not value and operator != "exists"):
        state[_MISSING] = True
        return
    values: tuple[str, ...] = () if operator == "exists" else (value,)
    if operator == "in":
        values = parse_condition(f"x in {value}").values
    scope = address.scope()
    state[_ADD] = False
    address.set_scope(replace(scope, conditions=(*scope.conditions, Condition(key, operator, values))))


def _day(as_of: str | None) -> date | None:
    try:
        return date.fromisoformat(as_of) if as_of and len(as_of) == 10 else None
    except ValueError:
        return None


def _document_title(document_id: str) -> str:
    try:
        return markup.plain(cached.document(document_id, EVERYTHING).title)
    except AttestError:
        return markup.plain(document_id)


def _size(scope: Scope) -> markup.Html:
    try:
        within, current = cached.scope_size(scope)
    except Malformed:  # the page says why
        return markup.tag("div", "This scope cannot be used.", css="at-quiet")
    text = f"{wording.number(within)} of {wording.count(current, 'document')} in scope"
    return markup.tag("div", text, css="at-quiet")
