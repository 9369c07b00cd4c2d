"""Tables as parquet or CSV, read whole within limits: each row a mapping from columns to plain values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from backend.errors import Malformed
from backend.loading.bundle import MAX_ROW_BYTES
from backend.loading.files import DAMAGE, damaged, readable
from backend.loading.formats.cells import plain
from backend.loading.formats.columns import is_read, too_many
from backend.loading.formats.limits import MAX_FILE_BYTES, MAX_ROWS
from backend.loading.formats.places import Place
from backend.loading.issues import Issues

_ERRORS = (OverflowError, RecursionError, KeyError, TypeError, *DAMAGE)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it was read: `rows` are its good ones, each with its number from 1; `length` counts all."""

    file: str
    columns: frozenset[str]
    rows: Sequence[tuple[int, Mapping[str, Any]]]
    length: int


def read_table(place: Place, file: PurePosixPath, issues: Issues) -> Table:
    """The table in a .parquet or .csv file; raises Malformed where it is damaged or larger than any index."""
    name = readable(file.name)
    read = _csv_rows if name.lower().endswith(".csv") else _parquet_rows
    rows: list[tuple[int, Mapping[str, Any]]] = []
    columns: set[str] = set()
    number = 0
    try:
        for number, row in enumerate(read(place, file, name, columns), start=1):
            if row is not None and (cleaned := _cleaned(row, name, number, issues)) is not None:
                rows.append((number, cleaned))
            elif row is None:
                issues.left_out("wrong_type", name, number, "more or fewer cells than the table has columns")
    except _ERRORS as error:
        raise damaged(name, error) from error
    return Table(name, frozenset(columns), rows, number)


def columns_of(place: Place, file: PurePosixPath) -> frozenset[str]:
    """The columns of a table, of which nothing else is read; none where it cannot be read."""
    try:
        with place.open(file) as stream:
            if file.name.lower().endswith(".csv"):
                head = stream.read(2**16).decode("utf-8-sig", "replace")
                return frozenset(next(csv.reader(io.StringIO(head, newline="")), ()))
            from backend.loading.formats.parquet import parquet_columns

            return parquet_columns(stream, readable(file.name))
    except (Malformed, csv.Error, *_ERRORS):
        return frozenset()


def _cleaned(row: Mapping[str, Any], file: str, number: int, issues: Issues) -> Mapping[str, Any] | None:
    """The row as plain values; None where it is too long to be loaded."""
    cleaned: dict[str, Any] = {}
    nul = invalid = False
    for column, value in row.items():
        cleaned[column], has_nul, is_invalid = plain(value)
        nul, invalid = nul or has_nul, invalid or is_invalid
    if sum(_length(value) for value in cleaned.values()) > MAX_ROW_BYTES:
        issues.left_out("too_long", file, number, f"over {MAX_ROW_BYTES >> 20} MiB")
        return None
    if nul:
        issues.repaired("nul", file, number)
    if invalid:
        issues.repaired("invalid_utf8", file, number)
    return cleaned


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(_length(item) for item in inner)


# --- parquet ---------------------------------------------------------------------------------------------------------


def _parquet_rows(place: Place, file: PurePosixPath, name: str, columns: set[str]) -> Iterator[Mapping[str, Any]]:
    from backend.loading.formats.parquet import parquet_rows

    return parquet_rows(place, file, name, columns)


# --- CSV -------------------------------------------------------------------------------------------------------------


def _csv_rows(
    place: Place, file: PurePosixPath, name: str, columns: set[str]
) -> Iterator[Mapping[str, str | bytes | None] | None]:
    """The rows of a CSV file; None for one with another number of cells than the header."""
    csv.field_size_limit(MAX_FILE_BYTES)  # of the process; a row is judged by its size once it is there
    with place.open(file) as stream, io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as text:
        reader = csv.reader(text, strict=True)
        try:
            header = next(reader, [])
            columns.update(column for column in header if is_read(column))
            for number, cells in enumerate(reader, start=1):
                if number > MAX_ROWS:
                    raise too_many(name)
                if not cells:
                    continue
                if len(cells) != len(header):
                    yield None
                    continue
                named = zip(header, cells, strict=True)
                yield {column: _cell(cell) for column, cell in named if is_read(column)}
        except csv.Error as error:
            raise damaged(name, error) from error


def _cell(cell: str) -> str | bytes | None:
    """The cell; bytes where these are no UTF-8."""
    if cell.isascii():
        return cell or None
    try:
        cell.encode()
    except UnicodeEncodeError:
        return cell.encode("utf-8", "surrogateescape")
    return cell
