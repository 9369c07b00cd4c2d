"""What is visible, as SQL: the one place that turns a scope into conditions on document versions.

A version row is *current* when the scope's time falls into its validity and the scope's filters hold for it. A
passage is visible when its version is current; a document is in scope when one of its versions is current.

A scope without filters, at a time when every validity has begun, is answered from columns that each commit has
computed with these very conditions (`FOREVER`).
"""

from __future__ import annotations

import json
from typing import Any

from backend.scope import ResolvedCondition, ResolvedScope
from backend.stores.validity import is_present, is_stored

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Visibility:
    """The SQL conditions of one scope and their parameters, which are named `at` and `scope_…`.

    `settled` is the last time at which any validity begins or ends; None computes what a commit stores.
    """

    def __init__(self, scope: ResolvedScope, settled: int | None) -> None:
        self._scope = scope
        self.is_stored = is_stored(scope, settled)
        self.is_present = is_present(scope, settled)
        self.parameters: dict[str, Any] = {"at": scope.at}
        self._filters: list[str] = []
        if scope.collections:
            self._filters.append(f"{{v}}.collection IN {self._list('scope_collections', scope.collections)}")
        if scope.document_ids:
            listed = self._list("scope_documents", scope.document_ids)
            self._filters.append(f"{{v}}.document IN (SELECT id FROM document WHERE uuid IN {listed})")
        for number, condition in enumerate(scope.conditions):
            self._filters.append(self._condition(f"scope_{number}", condition))

    def current(self, version: str) -> str:
        """Holds for rows of `version` (an alias of that table) that are current and pass the scope's filters."""
        filters = "".join(f" AND {text.format(v=version)}" for text in self._filters)
        return f"({self.valid(version)}{filters})"

    def valid(self, version: str) -> str:
        """Holds for rows that are current at the scope's time, whatever its filters."""
        return f"{version}.valid_from <= :at AND :at < {version}.valid_to"

    def entity_known(self, entity: str) -> str:
        """Holds where a passage in scope mentions the entity, a row of that table, in any version."""
        return f"{entity}.known" if self.is_stored else self.entity_known_by(f"{entity}.id")

    def entity_supported(self, entity: str) -> str:
        """Holds where a visible passage mentions the entity, a row of that table."""
        if self.is_stored:
            return f"{entity}.supported"
        return (
            f"EXISTS (SELECT 1 FROM appearance a CROSS JOIN version c ON c.id = a.version "
            f"WHERE a.entity = {entity}.id{self._narrow('a')} AND {self.current('c')})"
        )

    def entity_known_by(self, key: str) -> str:
        """The same for an SQL expression for the entity's key, where its row is not at hand."""
        if self.is_stored:
            return f"(SELECT known FROM entity WHERE id = {key})"
        return (
            f"EXISTS (SELECT 1 FROM appearance a CROSS JOIN version c ON c.document = a.document "
            f"WHERE a.entity = {key}{self._narrow('a')} AND {self.current('c')})"
        )

    def edge_kept(self, near: str) -> str:
        """Holds where the scope keeps the edge that was read around an entity in scope.

        `near` has the columns of `adjacency`, and joined to it is the edge as `e`.
        """
        if self.is_stored:
            return f"{near}.kept"
        stated = (
            f"EXISTS (SELECT 1 FROM support s CROSS JOIN version c ON c.id = s.version "
            f"WHERE s.edge = e.id AND {self.current('c')})"
        )
        return f"((e.unstated > 0 OR {stated}) AND {self.entity_known_by(f'{near}.other')})"

    def edge_unstated(self, edge: str) -> str:
        """How many relations of the edge name no passage in their latest row and are not stated by an earlier one."""
        if self.is_stored:
            return f"{edge}.current_unstated"
        return (
            f"(SELECT count(*) FROM relation r WHERE r.edge = {edge}.id AND r.unstated AND NOT EXISTS ("
            f"SELECT 1 FROM support s CROSS JOIN version c ON c.id = s.version "
            f"WHERE s.relation = r.id AND {self.current('c')}))"
        )

    def edge_support(self, wanted: str) -> str:
        """A query of `edge, stated, passages, documents` for the edges of `wanted` that visible passages state."""
        if self.is_stored:
            return (
                f"SELECT w.edge, x.stated, x.current_passages AS passages, x.current_documents AS documents "
                f"FROM {wanted} w CROSS JOIN edge x ON x.id = w.edge"
            )
        return (
            f"SELECT s.edge, count(DISTINCT s.relation) AS stated, count(DISTINCT s.passage) AS passages, "
            f"count(DISTINCT s.document) AS documents FROM {wanted} w CROSS JOIN support s ON s.edge = w.edge "
            f"CROSS JOIN version v ON v.id = s.version WHERE {self.current('v')} GROUP BY s.edge"
        )

    def _narrow(self, appearance: str) -> str:
        # The same filter on the narrower table: a hub has many documents, the scope perhaps one.
        if not self._scope.document_ids:
            return ""
        listed = "(SELECT value FROM json_each(:scope_documents))"
        return f" AND {appearance}.document IN (SELECT id FROM document WHERE uuid IN {listed})"

    def _list(self, name: str, values: tuple[str, ...]) -> str:
        self.parameters[name] = json.dumps(values)
        return f"(SELECT value FROM json_each(:{name}))"

    def _condition(self, name: str, condition: ResolvedCondition) -> str:
        self.parameters[f"{name}_key"] = condition.key
        tests = " OR ".join(
            self._comparison(f"{name}_{number}", condition.operator, number, condition)
            for number in range(len(condition.values))
        )
        matching = f" AND ({tests})" if tests else ""
        return f"EXISTS (SELECT 1 FROM version_value x WHERE x.version = {{v}}.id AND x.key = :{name}_key{matching})"

    def _comparison(self, name: str, operator: str, number: int, condition: ResolvedCondition) -> str:
        value = condition.values[number]
        if operator == "contains":
            self.parameters[name] = value.text
            return f"instr(x.text, :{name}) > 0"
        if operator == "exists":
            return "1"
        sql_operator = operator if operator in _COMPARISONS else "="
        self.parameters[f"{name}_kind"] = value.kind
        self.parameters[name] = value.text if value.number is None else value.number
        column = "text" if value.number is None else "number"
        return f"(x.kind = :{name}_kind AND x.{column} {sql_operator} :{name})"
