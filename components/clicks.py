"""Clicks as browsers send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

_P = ParamSpec("_P")


def once(callback: Callable[_P, object]) -> Callable[_P, None]:
    """The callback of a button as it is drawn this time, which a second call does not call again.

    While a part of the page draws itself anew by a clock, Streamlit's browser side may send one click twice: with what
    the clock sends, and by itself. Without this, the second would undo a toggle, or start a job once more.
    """
    called = False

    def call(*args: _P.args, **kwargs: _P.kwargs) -> None:
        nonlocal called
        if not called:
            called = True
            callback(*args, **kwargs)

    return call
