"""What is visible, as SQL: the one place that turns a scope into conditions on document versions.

A version row is *current* when the scope's time falls into its validity and the scope's filters hold for it. A
passage is visible when its version is current; a document is in scope when one of its versions is current.
"""

from __future__ import annotations

import json
from typing import Any

from backend.scope import ResolvedCondition, ResolvedScope

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Visibility:
    """The SQL conditions of one scope and their parameters, which are named `at` and `scope_…`."""

    def __init__(self, scope: ResolvedScope) -> None:
        self._scope = scope
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
        """Holds where a passage in scope mentions the entity (an SQL expression for its key), in any version."""
        return (
            f"EXISTS (SELECT 1 FROM appearance a CROSS JOIN version c ON c.document = a.document "
            f"WHERE a.entity = {entity}{self._narrow('a')} AND {self.current('c')})"
        )

    def entity_supported(self, entity: str) -> str:
        """Holds where a visible passage mentions the entity."""
        return (
            f"EXISTS (SELECT 1 FROM appearance a CROSS JOIN version c ON c.id = a.version "
            f"WHERE a.entity = {entity}{self._narrow('a')} AND {self.current('c')})"
        )

    def edge_stated(self, edge: str) -> str:
        """Holds where a visible passage states a relation of the edge."""
        return (
            f"EXISTS (SELECT 1 FROM support s CROSS JOIN version c ON c.id = s.version "
            f"WHERE s.edge = {edge} AND {self.current('c')})"
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
