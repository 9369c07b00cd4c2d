"""Names that relations and claims give, matched with entities; whom no entity has is made a placeholder."""

from __future__ import annotations

import re
import unicodedata

from backend.loading.formats.index import Entity, Index
from backend.loading.rows import EntityRow

_HYPHENS = re.compile(r"[\s\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d_-]+")
_QUOTES = "\"'“”„‘’«»"
DEFAULT_LABEL = "Entity"


def match_key(name: str) -> str:
    """The name with compatibility forms, white space, hyphens and case folded."""
    return _HYPHENS.sub(" ", unicodedata.normalize("NFKC", unquoted(name))).strip().upper()


def unquoted(name: str) -> str:
    """The name without the quotes and white space around it; as it is where nothing else is left."""
    stripped = name.strip()
    while len(stripped) > 1 and stripped[0] in _QUOTES and stripped[-1] in _QUOTES:
        stripped = stripped[1:-1].strip()
    return stripped or name


class Names:
    """The entities by title; ids are exact titles, so that they survive a new run of the indexer."""

    def __init__(self, index: Index) -> None:
        self.rows: list[EntityRow] = []
        self.by_id: dict[str, str] = {}
        self.by_short_id: dict[str, str] = {}
        self.units: dict[str, dict[str, None]] = {}  # text units by title
        self._notes = index.notes
        self._by_key: dict[str, str] = {}
        for entity in index.entities:
            self._add(entity)
        for unit in index.units:
            for one in unit.entity_ids:
                if one in self.by_id:
                    self.units[self.by_id[one]][unit.id] = None
            unknown = [one for one in unit.entity_ids if one not in self.by_id]
            self._notes.unknown(EntityRow, unit.row, "entity_ids", unknown)

    def find(self, name: str) -> str | None:
        """The title that this name means, exactly or by its match key."""
        return name if name in self.units else self._by_key.get(match_key(name))

    def find_or_make(self, name: str, file: str, row: int) -> str:
        """The title that this name means; that of a placeholder where there is none."""
        found = self.find(name)
        if found is None:
            detail = f"no entity {name!r}"
            self._notes.issues(EntityRow).repaired("placeholder", file, row, detail[:200])
            self._notes.read[EntityRow.kind] += 1
            return self._take(EntityRow(row, name, unquoted(name), DEFAULT_LABEL, (), None, {"placeholder": True}))
        if found != name:
            detail = f"{name!r} is {found!r}"
            self._notes.issues(EntityRow).repaired("matched_name", file, row, detail[:200])
        return found

    def _take(self, row: EntityRow) -> str:
        self.rows.append(row)
        self.units.setdefault(row.id, {})
        self._by_key.setdefault(match_key(row.id), row.id)
        return row.id

    def _add(self, entity: Entity) -> None:
        title = entity.title
        if title in self.units:
            detail = f"an earlier row has the title {title!r}, to which its text units are added"
            self._notes.issues(EntityRow).left_out("used_id", self._notes.file(EntityRow), entity.row, detail[:200])
        else:
            metadata = entity.metadata | {"original_id": entity.id}
            if entity.short_id is not None:
                metadata["short_id"] = entity.short_id
            label = entity.type or DEFAULT_LABEL
            self._take(EntityRow(entity.row, title, unquoted(title), label, (), entity.description, metadata))
        self.units[title].update(dict.fromkeys(entity.unit_ids))
        self.by_id.setdefault(entity.id, title)
        if entity.short_id is not None:
            self.by_short_id.setdefault(entity.short_id, title)
