"""The table of a walk, an equal of its graph: the same relations and entities, the same selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from backend.models import Status, WalkResult
from components import markup, wording

_LONGEST = 80  # characters of a text in a cell; the pane beside the table has the whole
_CHARACTER, _PADDING = 5.6, 17  # pixels of the grid's small letters, and on both sides of them
_FEW = 12  # rows that fit any window; more fill the pane and scroll
Rows: TypeAlias = dict[str, list[str] | list[int]]  # columns by name

_RELATIONS, _ENTITIES = "Relations", "Entities"
_WHAT = "table-what"


def draw(walk: WalkResult, selected: str | None, on_select: Callable[[str, str | None], None]) -> None:
    """Draws relations or entities; `on_select` is told "edge" or "node" and the id, or None when a row is let go."""
    entities = selected in {node.id for node in walk.nodes if node.step or not walk.edges}
    with st.container(key="table", gap="xsmall"):
        what = st.segmented_control(
            "Rows",
            (_RELATIONS, _ENTITIES),
            default=_ENTITIES if entities else _RELATIONS,
            required=True,
            key=_WHAT,
            label_visibility="collapsed",
        )
        if what == _ENTITIES:
            ids = [node.id for node in walk.nodes]
            _table(entity_rows(walk), ids, "node", selected, on_select)
        else:
            ids = [edge.id for edge in walk.edges]
            _table(relation_rows(walk), ids, "edge", selected, on_select)


def relation_rows(walk: WalkResult) -> Rows:
    names = {node.id: markup.plain(node.name, _LONGEST) for node in walk.nodes}
    return {
        "Source": [names[edge.source] for edge in walk.edges],
        "Relation": [markup.plain(edge.type, _LONGEST) for edge in walk.edges],
        "Target": [names[edge.target] for edge in walk.edges],
        "Stated": [wording.stated(edge.kind) for edge in walk.edges],
        "Passages": [edge.counts.passages for edge in walk.edges],
        "Documents": [edge.counts.documents for edge in walk.edges],
    }


def entity_rows(walk: WalkResult) -> Rows:
    return {
        "Entity": [markup.plain(node.name, _LONGEST) for node in walk.nodes],
        "Kind": [markup.plain(node.label, _LONGEST) for node in walk.nodes],
        "Steps away": [node.step for node in walk.nodes],
        "Mentioned": [_mentioned(node.status) for node in walk.nodes],
        "Not shown, at least": [node.hidden_relations.count for node in walk.nodes],
    }


def _mentioned(status: Status) -> str:
    return wording.unsupported(status) or "yes"


def _table(
    rows: Rows,
    ids: list[str],
    kind: str,
    selected: str | None,
    on_select: Callable[[str, str | None], None],
) -> None:
    place = [ids.index(selected)] if selected in ids else []
    key = _key(kind, ids, place)

    def chosen() -> None:
        picked = _picked(key)
        on_select(kind, ids[picked[0]] if picked and picked[0] < len(ids) else None)

    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height="content" if len(ids) <= _FEW else "stretch",
        on_select=chosen,
        selection_mode="single-row",
        selection_default={"selection": {"rows": place}},
        column_config={head: _column(head, cells) for head, cells in rows.items()},
        alt=f"{'Relations' if kind == 'edge' else 'Entities'} of the walk; select a row for its evidence",
    )


def _column(head: str, cells: list[str] | list[int]) -> ColumnConfig:
    """A column as wide as its texts, within reason: the grid would cut them without a sign that it did."""
    longest = max((len(str(cell)) for cell in (head, *cells)), default=0)
    width = _PADDING + round(_CHARACTER * min(longest, _LONGEST))
    if cells and isinstance(cells[0], int):
        return st.column_config.NumberColumn(width=width)
    return st.column_config.TextColumn(width=width)


def _key(kind: str, ids: list[str], place: list[int]) -> str:
    """The key of a table: another one where the rows are others, or where something else than a click selected."""
    turns: dict[str, int] = st.session_state.setdefault("table-turns", {})
    base = f"table-{kind}-{hash(tuple(ids))}"
    key = f"{base}-{turns.get(base, 0)}"
    if key in st.session_state and _picked(key) != place:
        turns[base] = turns.get(base, 0) + 1
        key = f"{base}-{turns[base]}"
    return key


def _picked(key: str) -> list[int]:
    rows: list[int] = st.session_state[key].selection.rows
    return list(rows)
