"""What went wrong, as a sentence on the page: `errors.shown()` around the body of a page or of a fragment."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from backend.errors import AttestError, IndexNotReady, Malformed, NotConfigured, StoreUnreachable, Unavailable
from components import address, markup

P = TypeVar("P")

_FAILED = "failed"  # an error of a callback
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
    except Exception:  # the rim: a visitor gets a sentence, the log gets the rest
        logging.getLogger("attest").exception("A page failed.")
        st.error("The server's log says what happened.", title="Something went wrong", icon=":material/error:")


def guarded(action: Callable[[P], object], value: P) -> None:
    """A callback that does something to the store; what goes wrong is shown in the run that follows."""
    try:
        action(value)
    except AttestError as error:
        st.session_state[_FAILED] = error


def draw(error: AttestError) -> None:
    """The error's sentence and what to do next."""
    headline = next((text for kind, text in _HEADLINES.items() if isinstance(error, kind)), "It did not work")
    text = markup.label(f"{error.message} {error.hint}".strip(), _LIMIT)
    if isinstance(error, Unavailable):
        st.info(text, title=headline, icon=":material/search_off:")
    else:
        st.error(text, title=headline, icon=":material/error:")


def _draw_ways_out() -> None:
    """What an address that does not resolve leaves to do."""
    with st.container(horizontal=True, gap="small"):
        if address.has_scope():
            st.button("Everything in scope", key="error-scope", icon=":material/public:", on_click=address.clear_scope)
        st.button("Start over", key="error-start", icon=":material/restart_alt:", on_click=address.start_over)
