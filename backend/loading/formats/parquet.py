"""Tables as parquet: the only file that imports Arrow, which commands that load nothing must not pay for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from backend.loading.files import DAMAGE, damaged
from backend.loading.formats.columns import is_read, too_many
from backend.loading.formats.limits import MAX_ROWS, MAX_TEXT_BYTES, MAX_VALUES
from backend.loading.formats.places import Place

_BATCH = 256  # rows: what a small file can blow up to is seen before it is there
_ERRORS = (pa.ArrowException, OverflowError, RecursionError, KeyError, TypeError, *DAMAGE)


def parquet_columns(stream: IO[bytes], name: str) -> frozenset[str]:
    """The columns of a table, of which nothing else is read; raises Malformed where it is damaged."""
    try:
        return frozenset(pq.read_schema(stream).names)
    except _ERRORS as error:
        raise damaged(name, error) from error


def parquet_rows(place: Place, file: PurePosixPath, name: str, columns: set[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of a table, adding to `columns` those that are read; raises Malformed for a damaged or too large one."""
    try:
        yield from _read(place, file, name, columns)
    except _ERRORS as error:
        raise damaged(name, error) from error


def _read(place: Place, file: PurePosixPath, name: str, columns: set[str]) -> Iterator[Mapping[str, Any]]:
    with place.open(file) as stream, pq.ParquetFile(stream) as table:
        if table.metadata.num_rows > MAX_ROWS:
            raise too_many(name)
        wanted = [column for column in table.schema_arrow.names if is_read(column)]
        columns.update(wanted)
        values = size = 0
        for batch in table.iter_batches(_BATCH, columns=wanted):
            dense = [_dense(column) for column in batch.columns]
            values += batch.num_rows + sum(_leaves(column) for column in dense)
            size += sum(column.nbytes for column in dense)
            if values > MAX_VALUES or size > MAX_TEXT_BYTES:
                raise too_many(name)
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
