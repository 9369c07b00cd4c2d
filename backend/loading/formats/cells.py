"""The cells of one row of a table, in whatever type they come, as texts, numbers and lists of ids.

What a cell cannot be read as is absent, and remembered as odd. Of CSV every cell is text, and lists are written in two
dialects: with commas, `['a', 'b']`, and as numpy writes them, `['a' 'b']`, perhaps over several lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

import orjson

from backend.loading.formats.limits import MAX_NESTING
from backend.loading.issues import Repair
from backend.loading.rows import mend
from backend.models import Json

_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_PLAIN = re.compile(r"[^\s,\[\]]+")
_ELLIPSIS = re.compile(r"(?:^|[\s\['\",])\.\.\.(?:$|[\s\]'\",])")
_MAX_WHOLE = 2**63 - 1


class Cells:
    """The cells of a row, each taken once; what is left of it is metadata."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = dict(row)
        self.odd: list[str] = []
        self.abridged: list[str] = []
        self.repairs: dict[Repair, None] = {}  # that JSON text in a cell took

    def text(self, *names: str) -> str | None:
        """The text of the first of these columns that there is; None where it is blank."""
        value = self._take(names)
        if isinstance(value, bool | int | float):
            return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if value is None or isinstance(value, str):
            return value if value and not value.isspace() else None
        self._odd(names)
        return None

    def whole(self, *names: str) -> int | None:
        """The whole number of the first of these columns that there is."""
        value = self._take(names)
        if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "none", "<na>")):
            return None
        try:
            number = float(value) if isinstance(value, str | int | float) and len(str(value)) < 40 else math.nan
        except ValueError:
            number = math.nan
        if not number.is_integer() or abs(number) > _MAX_WHOLE:
            self._odd(names)
            return None
        return int(value) if isinstance(value, int) else int(number)

    def number(self, *names: str) -> float | None:
        """The finite number of the first of these columns that there is."""
        value = self._take(names)
        if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "none")):
            return None
        try:
            number = float(value) if isinstance(value, str | int | float) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
        self._odd(names)
        return None

    def ids(self, *names: str) -> tuple[str, ...]:
        """The ids of the first of these columns that there is, in their order and with repetitions."""
        value = self._take(names)
        if value is None:
            return ()
        if isinstance(value, str):
            if _ELLIPSIS.search(value):
                self.abridged.append(names[0])
            return tuple(parse_list(value))
        if isinstance(value, int):
            return (str(value),)
        if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
            return tuple(_id(item) for item in value if item is not None)
        self._odd(names)
        return ()

    def raw(self, *names: str) -> Any:
        """The value as it is."""
        return self._take(names)

    def json(self, *names: str) -> Any:
        """The value, or what it has as JSON text; a text that is no JSON is itself."""
        value = self._take(names)
        if not isinstance(value, str):
            return value
        mended, repairs = mend(value.encode())
        try:
            found = orjson.loads(mended)
        except orjson.JSONDecodeError:
            return value
        self.repairs |= dict.fromkeys(repairs)
        return plain(found)[0]

    def object(self, *names: str) -> dict[str, Any]:
        """The object that the first of these columns is, or has as JSON text; an empty one where there is none."""
        value = self.json(*names)
        if isinstance(value, dict):
            return value
        if value is not None and value != "":
            self._odd(names)
        return {}

    def peek(self, name: str) -> Any:
        """The value as it is, which is not taken."""
        return self._row.get(name)

    def has(self, *names: str) -> bool:
        """Whether there is any of these columns that was not taken yet."""
        return any(name in self._row for name in names)

    def drop(self, *names: str) -> None:
        """Leaves out columns that say nothing that is not said elsewhere."""
        for name in names:
            self._row.pop(name, None)

    def put(self, name: str, value: Json) -> None:
        """Keeps a value for the rest."""
        self._row[name] = value

    def rest(self) -> dict[str, Json]:
        """What was not taken, without what is absent."""
        return {name: value for name, value in self._row.items() if value is not None and value != ""}

    def _take(self, names: tuple[str, ...]) -> Any:
        found = None
        for name in names:
            value = self._row.pop(name, None)
            found = value if found is None else found
        return found

    def _odd(self, names: tuple[str, ...]) -> None:
        self.odd.append(names[0])


def _id(item: str | int | float) -> str:
    return str(int(item) if isinstance(item, float) and item.is_integer() else item)


def parse_list(text: str) -> list[str]:
    """The items of a list that is written as text: all that is quoted, else what commas and white space part."""
    quoted = [single or double for single, double in _QUOTED.findall(text)]
    return [item for item in quoted or _PLAIN.findall(text) if item not in ("", "...", "nan", "None")]


def text_of(value: Any) -> str | None:
    """The text that a value is; None where it is anything else, or blank."""
    return value if isinstance(value, str) and value and not value.isspace() else None


def plain(value: Any, depth: int = 0) -> tuple[Json, bool, bool]:
    """The value as JSON has it, whether there was a NUL in it, and whether bytes were no UTF-8; these are U+FFFD."""
    if value is None or isinstance(value, bool):
        return value, False, False
    if isinstance(value, int):
        return (value if abs(value) <= _MAX_WHOLE else str(value)), False, False
    if isinstance(value, float):
        return (value if math.isfinite(value) else None), False, False
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
        return text.replace("\0", "\ufffd"), "\0" in text, text.encode() != value
    if isinstance(value, str):
        return value.replace("\0", "\ufffd"), "\0" in value, False
    if isinstance(value, datetime | date | time):
        return value.isoformat(), False, False
    if depth >= MAX_NESTING or not isinstance(value, list | tuple | dict):
        return str(value)[:1_000], False, False
    items = value.values() if isinstance(value, dict) else value
    cleaned = [plain(item, depth + 1) for item in items]
    values: Json = [one for one, _, _ in cleaned]
    if isinstance(value, dict):
        values = {str(plain(key)[0]): one for key, (one, _, _) in zip(value, cleaned, strict=True)}
    return values, any(nul for _, nul, _ in cleaned), any(invalid for _, _, invalid in cleaned)
