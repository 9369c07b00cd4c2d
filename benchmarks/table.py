"""Tables that can be pasted into the README as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Cell: TypeAlias = str | int | float


@dataclass(slots=True)
class Table:
    """A title, columns and rows; a note below it says what a reader must know."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        self.rows.append(cells)

    def markdown(self) -> str:
        """The table in Markdown, its columns aligned for whoever reads it in a terminal."""
        lines = [list(self.columns), *([_text(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[n]) for line in lines) for n in range(len(self.columns))]
        is_number = [all(_is_number(row[n]) for row in self.rows) for n in range(len(self.columns))]
        head, *body = (_line(line, widths, is_number) for line in lines)
        rule = "|".join(
            "-" * (width + 1) + (":" if right else "-") for width, right in zip(widths, is_number, strict=True)
        )
        notes = [f"\n{note}" for note in self.notes]
        return "\n".join([f"### {self.title}\n", head, f"|{rule}|", *body, *notes, ""])


class Comparison:
    """A table in which each row has the same measurements of several stores, side by side."""

    def __init__(self, title: str, keys: Sequence[str], measured: Sequence[str], stores: Sequence[str]) -> None:
        self._title, self._keys, self._measured, self._stores = title, keys, measured, stores
        self._rows: dict[tuple[Cell, ...], dict[str, Sequence[Cell]]] = {}
        self.notes: list[str] = []

    def add(self, store: str, key: Sequence[Cell], *cells: Cell) -> None:
        """Puts what was measured of a store beside what others have in the row with the same key."""
        self._rows.setdefault(tuple(key), {})[store] = cells

    def table(self) -> Table:
        """The table, with a dash where a store was not measured."""
        columns = [f"{store} {column}" for store in self._stores for column in self._measured]
        table = Table(self._title, (*self._keys, *columns), notes=self.notes)
        nothing = ["–"] * len(self._measured)
        for key, found in self._rows.items():
            table.add(*key, *(cell for store in self._stores for cell in found.get(store, nothing)))
        return table


def _line(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, is_number, strict=True)
    )
    return f"| {' | '.join(padded)} |"


def _text(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.1f}" if cell < 100 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_number(cell: Cell) -> bool:
    return not isinstance(cell, str) or cell in ("", "–")
