"""A table of which one row can be selected, by the pointer and by the keyboard."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

LONGEST = 80  # characters of a text in a cell; the pane beside the table has the whole
# Pixels of the grid's small letters, of capitals and of what is as wide as it is high, and on both sides of them.
_SMALL, _CAPITAL, _WIDE, _PADDING = 5.6, 7.4, 12.0, 17
_WIDEST = 450
_FEW = 12  # rows that fit any window; more fill the pane and scroll
Rows: TypeAlias = dict[str, list[str] | list[int]]  # columns by name


def draw(
    rows: Rows, ids: list[str], name: str, selected: str | None, on_select: Callable[[str | None], None], alt: str
) -> None:
    """Draws the rows, whose ids are `ids`; `on_select` is told an id, or None when a row is let go."""
    place = [ids.index(selected)] if selected in ids else []
    key = _key(name, ids, place)

    def chosen() -> None:
        picked = _picked(key)
        on_select(ids[picked[0]] if picked and picked[0] < len(ids) else None)

    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height="content" if len(ids) <= _FEW else "stretch",
        on_select=chosen,
        selection_mode="single-row",
        selection_default={"selection": {"rows": place}},
        column_config={head: _column(head, cells) for head, cells in rows.items()},
        alt=alt,
    )


def _column(head: str, cells: list[str] | list[int]) -> ColumnConfig:
    """A column as wide as its texts, within reason: the grid would cut them without a sign that it did."""
    width = _PADDING + round(min(_WIDEST, max(_width(str(cell)) for cell in (head, *cells))))
    if cells and isinstance(cells[0], int):
        return st.column_config.NumberColumn(width=width)
    return st.column_config.TextColumn(width=width)


def _width(text: str) -> float:
    """About how wide a text is in the grid's font."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    capitals = sum(character.isupper() for character in text)
    return _WIDE * wide + _CAPITAL * capitals + _SMALL * (len(text) - wide - capitals)


def _key(name: str, ids: list[str], place: list[int]) -> str:
    """The key of a table: another one where the rows are others, or where something else than a click selected."""
    turns: dict[str, int] = st.session_state.setdefault("table-turns", {})
    base = f"{name}-{hash(tuple(ids))}"
    key = f"{base}-{turns.get(base, 0)}"
    if key in st.session_state and _picked(key) != place:
        turns[base] = turns.get(base, 0) + 1
        key = f"{base}-{turns[base]}"
    return key


def _picked(key: str) -> list[int]:
    rows: list[int] = st.session_state[key].selection.rows
    return list(rows)
