"""What is visible, as Cypher: the one place that turns a scope into conditions on document versions.

A `Document` node is *current* when a commit that the reading knows of has written it, the scope's time falls into its
validity and the scope's filters hold for it. A passage is visible when its version is current; a document is in scope
when one of its versions is.

A scope without filters, at a time when every validity has begun, is answered from properties that were computed after
the last commit with these very conditions (`FOREVER`); while they are being computed, it is answered in general.
"""

from __future__ import annotations

from typing import Any

from backend.scope import ResolvedCondition, ResolvedScope, present
from backend.stores.neo4j.driver import Reading
from backend.stores.neo4j.schema import (
    CHUNK,
    DOCUMENT,
    HAS_PART,
    MENTIONED_IN,
    RELATION,
    SEEK_RELATION,
    SEEK_SUPPORT,
    STATED_IN,
    text_order,
)
from backend.stores.validity import is_present, is_stored

_COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Visibility:
    """The Cypher conditions of one scope and their parameters: `commit`, `at`, `present` and `scope_…`.

    `settled` is the last time at which any validity begins or ends; None where what is stored is not up to date.
    """

    def __init__(self, scope: ResolvedScope, commit: int, settled: int | None) -> None:
        self.is_stored = is_stored(scope, settled)
        self.is_present = is_present(scope, settled)
        self.parameters: dict[str, Any] = {"commit": commit, "at": scope.at}
        self._filters: list[str] = []
        if scope.collections:
            self.parameters["scope_collections"] = list(scope.collections)
            self._filters.append("{v}.collection IN $scope_collections")
        if scope.document_ids:
            self.parameters["scope_documents"] = list(scope.document_ids)
            self._filters.append("{v}.id IN $scope_documents")
        for number, condition in enumerate(scope.conditions):
            self._filters.append(self._condition(f"scope_{number}", condition))

    def current(self, version: str) -> str:
        """Holds for a `Document` that is current and passes the scope's filters."""
        filters = "".join(f" AND {text.format(v=version)}" for text in self._filters)
        return f"({self.valid(version)}{filters})"

    def valid(self, version: str) -> str:
        """Holds for a `Document` that is current at the scope's time, whatever its filters."""
        return f"{written(version)} AND {version}.valid_from <= $at AND $at < {version}.valid_to"

    def hides(self, version: str) -> str:
        """Holds for a `Document` that is current in an empty scope and not in this one."""
        self.parameters["present"] = present()
        now = f"{version}.valid_from <= $present AND $present < {version}.valid_to"
        return f"({written(version)} AND {now} AND NOT {self.current(version)})"

    def entity_known(self, entity: str) -> str:
        """Holds where a passage in scope mentions the entity, in any version."""
        if self.is_stored:
            return f"{entity}.known"
        # Names of its own: where the statement has a passage `p`, a `p` here would be that one.
        return (
            f"EXISTS {{ MATCH ({entity})-[km:{MENTIONED_IN}]->(kp:{CHUNK}) WHERE {written('km')} AND {written('kp')} "
            f"MATCH (c:{DOCUMENT} {{id: kp.document}}) WHERE {self.current('c')} }}"
        )

    def entity_supported(self, entity: str) -> str:
        """Holds where a visible passage mentions the entity."""
        if self.is_stored:
            return f"{entity}.supported"
        return (
            f"EXISTS {{ MATCH ({entity})-[m:{MENTIONED_IN}]->(p:{CHUNK})<-[:{HAS_PART}]-(c:{DOCUMENT}) "
            f"WHERE {written('m')} AND {written('p')} AND {self.current('c')} }}"
        )

    def edge_stated(self, edge: str) -> str:
        """Holds where a visible passage states the edge, an `Edge` node."""
        if self.is_stored:
            return f"{edge}.stated > 0"
        return f"EXISTS {{ {self.support(f'{edge}.id')} }}"

    def edge_has_unstated(self, edge: str) -> str:
        """Holds where a relation of the edge names no passage in its latest row."""
        if self.is_stored:
            return f"{edge}.unstated > 0"
        return (
            f"EXISTS {{ MATCH (r:{RELATION} {{edge: {edge}.id}}) {SEEK_RELATION} WHERE {written('r')} AND r.unstated }}"
        )

    def support(self, edge_id: str) -> str:
        """Matches the relations `r` of an edge with the visible passages `p` that state them and their versions `v`."""
        return (
            f"MATCH (r:{RELATION})-[s:{STATED_IN} {{edge: {edge_id}}}]->(p:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT}) "
            f"{SEEK_SUPPORT} WHERE {written('s')} AND {written('p')} AND {self.current('v')}"
        )

    def relation_stated(self, relation: str) -> str:
        """Holds where a visible passage states the relation, of whatever edge it then was."""
        return (
            f"EXISTS {{ MATCH ({relation})-[s:{STATED_IN}]->(p:{CHUNK})<-[:{HAS_PART}]-(c:{DOCUMENT}) "
            f"WHERE {written('s')} AND {written('p')} AND {self.current('c')} }}"
        )

    def _condition(self, name: str, condition: ResolvedCondition) -> str:
        self.parameters[f"{name}_key"] = condition.key
        tests = [
            self._comparison(f"{name}_{number}", condition.operator, number, condition)
            for number in range(len(condition.values))
        ]
        matching = f" AND ({' OR '.join(tests)})" if tests else ""
        return f"any(i IN range(0, size({{v}}.value_keys) - 1) WHERE {{v}}.value_keys[i] = ${name}_key{matching})"

    def _comparison(self, name: str, operator: str, number: int, condition: ResolvedCondition) -> str:
        value = condition.values[number]
        if operator == "contains":
            self.parameters[name] = value.text
            return f"{{v}}.value_texts[i] CONTAINS ${name}"
        if operator == "exists":
            return "true"
        self.parameters[f"{name}_kind"] = value.kind
        # Numbers, instants and texts are in lists of their own: a list holds one type, an instant all its digits, and
        # texts are sorted by their code points, which the server would not do.
        column = {"number": "value_numbers", "date": "value_instants", "text": "value_orders"}[value.kind]
        self.parameters[name] = text_order(value.text) if value.number is None else value.number
        comparison = _COMPARISONS.get(operator, "=")
        return f"({{v}}.value_kinds[i] = ${name}_kind AND {{v}}.{column}[i] {comparison} ${name})"


class Reads:
    """What every reading primitive has: the reading, the commit that it shows, and what is stored of that."""

    def __init__(self, reading: Reading, commit: int, settled: int | None) -> None:
        self.reading = reading
        self.commit = commit
        self._settled = settled

    def visibility(self, scope: ResolvedScope) -> Visibility:
        """The conditions of a scope at this reading's commit."""
        return Visibility(scope, self.commit, self._settled)


def written(row: str) -> str:
    """Holds for what a commit that the reading knows of has written."""
    return f"{row}.since <= $commit"
