"""What went wrong, as a sentence on the page: `errors.shown()` around the body of a page or of a fragment."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import streamlit as st

from backend.errors import AttestError, IndexNotReady, Malformed, NotConfigured, StoreUnreachable, Unavailable
from backend.models import IndexState, Status
from components import address, cached, markup

P = TypeVar("P")

_ASK_AGAIN = 3  # seconds
_FAILED = "failed"  # an error of a callback
_FALLBACK = "It did not work"
_QUOTED = re.compile(r"`([^`]*)`")
_LIMIT = 1_000  # a message that names every known label is cut, not the page
_HEADLINES: dict[type[AttestError], str] = {
    Malformed: "This cannot be asked",
    Unavailable: "Not to be found here",
    IndexNotReady: "An index is not ready",
    StoreUnreachable: "The store does not answer",
    NotConfigured: "A setting is missing or wrong",
}


@contextmanager
def shown(*, whole_page: bool = False) -> Iterator[None]:
    """Shows an error of the body in place of what it would have drawn; also usable as a decorator."""
    failed: AttestError | None = st.session_state.pop(_FAILED, None)
    if failed is not None:
        draw(failed)
    try:
        yield
    except AttestError as error:
        draw(error)
        if whole_page:
            _draw_ways_out()
            if isinstance(error, StoreUnreachable):
                _until_it_answers()
    except Exception:  # the rim: a visitor gets a sentence, the log gets the rest
        logging.getLogger("attest").exception("A page failed.")
        st.error("The server's log says what happened.", title="Something went wrong", icon=":material/error:")


def guarded(action: Callable[[P], object], value: P) -> None:
    """A callback that does something to the store; what goes wrong is shown in the run that follows."""
    try:
        action(value)
    except AttestError as error:
        st.session_state[_FAILED] = error


def draw(error: AttestError, headline: str | None = None) -> None:
    """The error's sentence and what to do next."""
    headline = headline or next((text for kind, text in _HEADLINES.items() if isinstance(error, kind)), _FALLBACK)
    text = markup.label(f"{error.message} {_next_step(error)}".strip(), _LIMIT)
    if isinstance(error, Unavailable):
        st.info(text, title=headline, icon=":material/search_off:")
    else:
        st.error(text, title=headline, icon=":material/error:")


def _next_step(error: AttestError) -> str:
    """What to do about it here: the error's own hint speaks to somebody at a command line."""
    if isinstance(error, Unavailable):
        if error.details.get("status") == Status.UNSUPPORTED:
            return "Look at an earlier date: choose it under “As of”."
        widen, look_up = address.has_scope(), "entity_id" in error.details
        if widen and look_up:
            return "Widen the scope, or look it up under Search."
        return "Widen the scope." if widen else "Look it up under Search." if look_up else ""
    if isinstance(error, IndexNotReady) and error.details.get("state") == IndexState.POPULATING:
        return "It is being built: try again in a while."
    if isinstance(error, IndexNotReady):
        return "Where this server runs, “attest index” builds it."
    if isinstance(error, Malformed) and "`attest " in error.hint:
        return ""
    return _QUOTED.sub(r"“\1”", error.hint)


@st.fragment(run_every=_ASK_AGAIN)
def _until_it_answers() -> None:
    """Draws the page anew once the store answers again."""
    with suppress(AttestError):
        cached.catalog()
        st.rerun()


def _draw_ways_out() -> None:
    """What an address that does not resolve leaves to do."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if address.has_scope():
            st.button("Everything in scope", key="error-scope", icon=":material/public:", on_click=address.clear_scope)
        if st.session_state.get("page") != address.SEARCH:
            st.page_link(address.FILES[address.SEARCH], label="Search", icon=":material/search:")
        st.button("Start over", key="error-start", icon=":material/restart_alt:", on_click=address.start_over)
