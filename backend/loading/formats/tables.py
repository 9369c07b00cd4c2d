"""Tables as parquet or CSV, read whole within limits: each row a mapping from columns to plain values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from backend.errors import Malformed
from backend.loading.bundle import MAX_ROW_BYTES
from backend.loading.files import DAMAGE, damaged, readable
from backend.loading.formats.cells import plain
from backend.loading.formats.limits import MAX_FILE_BYTES, MAX_ROWS, MAX_TEXT_BYTES, MAX_VALUES
from backend.loading.formats.places import Place
from backend.loading.issues import Issues

# Vectors, layouts and the row numbers of a pandas frame: large, and nothing that is shown.
_SKIPPED = {"index", "__index_level_0__", "x", "y", "graph_embedding", "embedding"}
_BATCH = 256  # rows: what a small file can blow up to is seen before it is there

_ARROW = (pa.ArrowException, OverflowError, RecursionError, KeyError, TypeError, *DAMAGE)


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
    except _ARROW as error:
        raise damaged(name, error) from error
    return Table(name, frozenset(columns), rows, number)


def columns_of(place: Place, file: PurePosixPath) -> frozenset[str]:
    """The columns of a table, of which nothing else is read; none where it cannot be read."""
    try:
        with place.open(file) as stream:
            if file.name.lower().endswith(".csv"):
                head = stream.read(2**16).decode("utf-8-sig", "replace")
                return frozenset(next(csv.reader(io.StringIO(head, newline="")), ()))
            return frozenset(pq.read_schema(stream).names)
    except (Malformed, csv.Error, *_ARROW):
        return frozenset()


def _is_read(column: str) -> bool:
    return column not in _SKIPPED and not column.endswith("_embedding")


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
    with place.open(file) as stream, pq.ParquetFile(stream) as table:
        if table.metadata.num_rows > MAX_ROWS:
            raise _too_many(name)
        wanted = [column for column in table.schema_arrow.names if _is_read(column)]
        columns.update(wanted)
        values = size = 0
        for batch in table.iter_batches(_BATCH, columns=wanted):
            dense = [_dense(column) for column in batch.columns]
            values += batch.num_rows + sum(_leaves(column) for column in dense)
            size += sum(column.nbytes for column in dense)
            if values > MAX_VALUES or size > MAX_TEXT_BYTES:
                raise _too_many(name)
            lists = [_python(column) for column in dense]
            names = batch.schema.names
            yield from (dict(zip(names, cells, strict=True)) for cells in zip(*lists, strict=True))


def _dense(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _leaves(column: pa.Array) -> int:
    """How many values are in the lists of a column: lists of nothing take no memory before they are unpacked."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = column.flatten()
        return len(inner) + _leaves(inner)
    if pa.types.is_map(kind):
        return len(column.keys) + _leaves(column.items)
    if pa.types.is_struct(kind):
        return sum(_leaves(column.field(place)) for place in range(kind.num_fields))
    return 0


def _python(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return list(column.cast(_as_bytes(column.type)).to_pylist())


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with bytes where it has text."""
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_as_bytes(kind.value_type)))
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pa.struct([one.with_type(_as_bytes(one.type)) for one in fields])
    return kind


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
            columns.update(column for column in header if _is_read(column))
            for number, cells in enumerate(reader, start=1):
                if number > MAX_ROWS:
                    raise _too_many(name)
                if not cells:
                    continue
                if len(cells) != len(header):
                    yield None
                    continue
                named = zip(header, cells, strict=True)
                yield {column: _cell(cell) for column, cell in named if _is_read(column)}
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


def _too_many(name: str) -> Malformed:
    return Malformed(
        f"{name} has over {MAX_ROWS:,} rows, {MAX_VALUES:,} values or {MAX_TEXT_BYTES >> 30} GiB.",
        hint="No index that was seen comes near that size.",
    )
