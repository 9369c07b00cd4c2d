"""The table of a walk, an equal of its graph: the same relations and entities, the same selection."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from backend.models import Status, WalkResult
from components import markup, tables, wording
from components.tables import LONGEST, Rows

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
            _draw(entity_rows(walk), ids, "node", selected, on_select)
        else:
            ids = [edge.id for edge in walk.edges]
            _draw(relation_rows(walk), ids, "edge", selected, on_select)


def relation_rows(walk: WalkResult) -> Rows:
    names = {node.id: markup.plain(node.name, LONGEST) for node in walk.nodes}
    return {
        "Source": [names[edge.source] for edge in walk.edges],
        "Relation": [markup.plain(edge.type, LONGEST) for edge in walk.edges],
        "Target": [names[edge.target] for edge in walk.edges],
        "Stated": [wording.stated(edge.kind) for edge in walk.edges],
        "Passages": [edge.counts.passages for edge in walk.edges],
        "Documents": [edge.counts.documents for edge in walk.edges],
    }


def entity_rows(walk: WalkResult) -> Rows:
    return {
        "Entity": [markup.plain(node.name, LONGEST) for node in walk.nodes],
        "Kind": [markup.plain(node.label, LONGEST) for node in walk.nodes],
        "Steps away": [node.step for node in walk.nodes],
        "Mentioned": [_mentioned(node.status) for node in walk.nodes],
        "Not shown, at least": [node.hidden_relations.count for node in walk.nodes],
    }


def _mentioned(status: Status) -> str:
    return wording.unsupported(status) or "yes"


def _draw(
    rows: Rows, ids: list[str], kind: str, selected: str | None, on_select: Callable[[str, str | None], None]
) -> None:
    alt = f"{'Relations' if kind == 'edge' else 'Entities'} of the walk; select a row for its evidence"
    tables.draw(rows, ids, f"table-{kind}", selected, lambda row: on_select(kind, row), alt)
