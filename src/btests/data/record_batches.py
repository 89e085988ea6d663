"""Types and memory of record batches: dictionaries, views, runs, lists, and texts longer than their bytes in a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from btests._coordinates import unlike
from btests._imports import arrow
from btests._validation import Rows

#: Bytes of texts in a batch at most, unless one row has more.
TEXT_BYTES = 2**23

#: Bytes of texts that are beginnings of one another in a batch, if each is as long as all bytes of its column, and the
#: rows that are read in any case.
PREFIXED_BYTES, FEW_ROWS = 2**24, 16

# Encodings of texts, besides those of missing cells, that take no more memory than bytes of the file.
_LENGTHS = {"RLE", "BIT_PACKED", "PLAIN", "DELTA_LENGTH_BYTE_ARRAY"}


def prefixed(group: Any, texts: list[str]) -> tuple[list[str], int]:
    """Return the columns of a row group with dictionaries or plain texts alone, and the bytes of the others.

    The others may have texts as beginnings of those before them: none is longer than all bytes of its column.
    """
    plain, size = set(texts), 0
    for k in range(group.num_columns):
        column = group.column(k)
        if column.path_in_schema in plain and any(name.startswith("DELTA") for name in column.encodings):
            plain.remove(column.path_in_schema)
            size += max(1, column.total_uncompressed_size) if set(column.encodings) - _LENGTHS else 0
    return [name for name in texts if name in plain], size


def plain_bytes(batch: Any) -> int:
    """Return the bytes of a record batch with dictionaries as their values."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    size = int(batch.nbytes)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
            size += pc.sum(lengths).as_py() or 0
    return size


def merged(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield record batches of at most ``n_rows`` rows and a few megabytes from smaller ones."""
    some: list[Any] = []
    rows = size = 0
    for batch in batches:
        own = plain_bytes(batch)
        if some and (rows + batch.num_rows > n_rows or size + own > TEXT_BYTES):
            yield from _joined(some)
            some, rows, size = [], 0, 0
        some.append(batch)
        rows, size = rows + batch.num_rows, size + own
    yield from _joined(some)


def _joined(batches: list[Any]) -> list[Any]:
    if len(batches) < 2:
        return batches
    found: list[Any] = arrow().Table.from_batches(batches).combine_chunks().to_batches()
    return found


def longest(column: Any) -> int:
    """Return the bytes of the longest text in the dictionary of a column; 0 without one."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return 0
    return pc.max(pc.binary_length(column.dictionary)).as_py() or 0


def is_text(dtype: Any) -> bool:
    """Return whether cells of a type are texts or bytes."""
    types = arrow().types
    return bool(
        types.is_string(dtype) or types.is_large_string(dtype) or types.is_binary(dtype) or types.is_large_binary(dtype)
    )


def simple_type(dtype: Any) -> Any:
    """Return the type that cells of a type are read as: half floats as floats, views as texts, runs as their values."""
    pa = arrow()
    if pa.types.is_run_end_encoded(dtype):
        return simple_type(dtype.value_type)
    if pa.types.is_dictionary(dtype):
        inner = simple_type(dtype.value_type)
        if pa.types.is_dictionary(inner):
            return inner
        return dtype if inner == dtype.value_type else pa.dictionary(dtype.index_type, inner, dtype.ordered)
    simple = {
        pa.float16(): pa.float32(),
        pa.string_view(): pa.large_string(),
        pa.binary_view(): pa.large_binary(),
    }
    return simple.get(dtype, dtype)


def simplified(rows: Any) -> Any:
    """Return a table, record batch or schema with the types of `simple_type`; itself where it has them."""
    pa = arrow()
    schema = rows if isinstance(rows, pa.Schema) else rows.schema
    types = [simple_type(field.type) for field in schema]
    if all(field.type == own for field, own in zip(schema, types, strict=True)):
        return rows
    found = pa.schema([field.with_type(own) for field, own in zip(schema, types, strict=True)])
    if isinstance(rows, pa.Schema):
        return found
    columns = [_cells(column, own) for column, own in zip(rows.columns, types, strict=True)]
    return type(rows).from_arrays(columns, schema=found)


def _cells(column: Any, dtype: Any) -> Any:
    """Return a column, or a part of it, as another type."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if column.type == dtype:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_cells(chunk, dtype) for chunk in column.chunks], dtype)
    if pa.types.is_run_end_encoded(column.type):
        return _cells(pc.run_end_decode(column), dtype)
    if not pa.types.is_dictionary(column.type):
        return pc.cast(column, dtype)
    if pa.types.is_dictionary(column.type.value_type):
        return _cells(column.dictionary.take(column.indices), dtype)
    return pa.DictionaryArray.from_arrays(
        column.indices, _cells(column.dictionary, dtype.value_type), ordered=dtype.ordered
    )


def plain(batch: Any) -> Any:
    """Return a record batch with dictionaries as their values."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if not any(pa.types.is_dictionary(column.type) for column in batch.columns):
        return batch
    columns = [pc.cast(c, c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


def is_list(dtype: Any) -> bool:
    """Return whether cells of an arrow type are lists of numbers."""
    types = arrow().types
    is_any = types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype)
    return bool(is_any and (types.is_integer(dtype.value_type) or types.is_floating(dtype.value_type)))


def vector_rows(column: Any, width: int, where: str, first_row: int = 0) -> Rows:
    """Return an arrow array of lists as rows of numbers (n, width); raise unless all have that length.

    Parameters
    ----------
    column : pyarrow.Array
        The lists.
    width : int
        Their length.
    where : str
        The column in messages.
    first_row : int
        Rows before the first of these.
    """
    if column.null_count:
        row = first_row + column.is_null().index(True).as_py()
        raise ValueError(f"{where} has a missing cell in row {row}; drop or fill such rows first")
    lengths = arrow("pyarrow.compute").list_value_length(column).to_numpy(zero_copy_only=False)
    odd = np.flatnonzero(lengths != width)
    if odd.size:
        raise unlike(where, first_row + int(odd[0]), int(lengths[odd[0]]), width)
    found: Rows = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), width)
    return found
