"""Which entities are in which community at which level, as it is told entity by entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable


class Memberships:
    """Communities by number, with their level, their members in the order they were told, and where that was first."""

    def __init__(self) -> None:
        self.levels: dict[int, int] = {}
        self.rows: dict[int, int] = {}
        self.members: dict[int, dict[str, None]] = defaultdict(dict)
        self._places: dict[tuple[str, int], int] = {}

    def add(self, number: int, level: int, entities: Iterable[str], row: int) -> None:
        """Says that these entities are in a community; the first level that is told of it holds."""
        level = self.levels.setdefault(number, level)
        self.rows.setdefault(number, row)
        for entity in entities:
            self.members[number].setdefault(entity)
            self._places.setdefault((entity, level), number)

    def parent(self, number: int) -> int | None:
        """The community one level above that has most of the members, of several the one with the lowest number."""
        above = self.levels[number] - 1
        held = Counter(self._places[one, above] for one in self.members[number] if (one, above) in self._places)
        return min(held, key=lambda other: (-held[other], other)) if held else None
