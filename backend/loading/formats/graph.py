"""Entities, relations, claims and mentions as rows; what they refer to is resolved or noted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from backend.loading.formats.index import Claim, Index, Relation
from backend.loading.formats.matching import Names
from backend.loading.formats.texts import Texts
from backend.loading.rows import ClaimRow, EntityRow, MentionRow, RelationRow

RELATED = "RELATED"  # the type of a relation whose index has no types


@dataclass(slots=True)
class Graph:
    """The rows, with relations and claims by their short ids."""

    relations: list[RelationRow] = field(default_factory=list)
    claims: list[ClaimRow] = field(default_factory=list)
    mentions: list[MentionRow] = field(default_factory=list)
    relations_by_short_id: dict[str, str] = field(default_factory=dict)
    claims_by_short_id: dict[str, str] = field(default_factory=dict)


def make_graph(index: Index, texts: Texts, names: Names) -> Graph:
    """The rows; names that no entity has become placeholders among the names."""
    making = _Making(index, texts, names)
    for relation in index.relations:
        making.relation(relation)
    for claim in index.claims:
        making.claim(claim)
    making.mentions()
    return making.graph


class _Making:
    def __init__(self, index: Index, texts: Texts, names: Names) -> None:
        self.graph = Graph()
        self._notes = index.notes
        self._texts = texts
        self._names = names
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._contents: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._placeholders: set[str] = set()

    def relation(self, relation: Relation) -> None:
        """Takes a relation in; it is told by its ends and its number among those with the same."""
        issues, file = self._notes.issues(RelationRow), self._notes.file(RelationRow)
        if relation.id is not None and relation.id in self._ids:
            issues.left_out("used_id", file, relation.row, f"an earlier row has the id {relation.id!r}"[:200])
            return
        if relation.id is not None:
            self._ids.add(relation.id)
        source = self._end(relation.source, file, relation.row, relation.unit_ids)
        target = self._end(relation.target, file, relation.row, relation.unit_ids)
        self._pairs[source, target] += 1
        number = self._pairs[source, target]
        row_id = f"{source} → {target}" + (f" #{number}" if number > 1 else "")
        self._note_unknown(RelationRow, relation.row, relation.unit_ids)
        metadata = dict(relation.metadata)
        if relation.id is not None:
            metadata["original_id"] = relation.id
        if relation.short_id is not None:
            metadata["short_id"] = relation.short_id
            self.graph.relations_by_short_id.setdefault(relation.short_id, row_id)
        passages = self._texts.passages_of(relation.unit_ids)
        ends = (row_id, source, target, RELATED)
        self.graph.relations.append(
            RelationRow(relation.row, *ends, passages, relation.description, relation.weight, metadata)
        )

    def claim(self, claim: Claim) -> None:
        """Takes a claim in; it is told by a digest of what it says and its number among those that say the same."""
        issues, file = self._notes.issues(ClaimRow), self._notes.file(ClaimRow)
        subject = self._end(claim.subject, file, claim.row, claim.unit_ids)
        metadata = dict(claim.metadata)
        found = None if claim.object is None else self._names.find(claim.object)
        if claim.object is not None and found is None:
            issues.repaired("absent_object", file, claim.row, f"no entity {claim.object!r}"[:200])
            metadata["object_name"] = claim.object
        said = [subject, claim.object, claim.type, claim.status, claim.start_date, claim.end_date, claim.description]
        digest = blake2b(orjson.dumps(said), digest_size=16).hexdigest()
        self._contents[digest] += 1
        row_id = digest + (f" #{self._contents[digest]}" if self._contents[digest] > 1 else "")
        self._note_unknown(ClaimRow, claim.row, claim.unit_ids)
        if claim.id is not None:
            metadata["original_id"] = claim.id
        if claim.short_id is not None:
            metadata["short_id"] = claim.short_id
            self.graph.claims_by_short_id.setdefault(claim.short_id, row_id)
        what = (claim.type, claim.status, claim.start_date, claim.end_date, claim.description)
        passages = self._texts.passages_of(claim.unit_ids)
        self.graph.claims.append(ClaimRow(claim.row, row_id, subject, found, *what, passages, metadata))

    def mentions(self) -> None:
        """One mention of an entity in each passage of its text units; where its name stands there is found later."""
        for row in self._names.rows:
            units = tuple(self._names.units[row.id])
            if not row.metadata.get("placeholder"):
                self._note_unknown(EntityRow, row.line, units)
            for passage in self._texts.passages_of(units):
                self.graph.mentions.append(MentionRow(row.line, row.id, passage, None, None, None))
        self._notes.read[MentionRow.kind] = len(self.graph.mentions)

    def _end(self, name: str, file: str, row: int, unit_ids: tuple[str, ...]) -> str:
        """The title of an end; that of a placeholder is mentioned where it is named."""
        made = len(self._names.rows)
        title = self._names.find_or_make(name, file, row)
        if len(self._names.rows) > made:
            self._placeholders.add(title)
        if title in self._placeholders:
            self._names.units[title].update(dict.fromkeys(unit_ids))
        return title

    def _note_unknown(self, of: type[RelationRow | ClaimRow | EntityRow], row: int, unit_ids: tuple[str, ...]) -> None:
        unknown = [unit for unit in unit_ids if unit not in self._texts.by_unit]
        self._notes.unknown(of, row, "text_unit_ids", unknown)
