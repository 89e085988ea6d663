"""Arrow types that few functions of pyarrow know, as types that all of them know."""

from __future__ import annotations

from typing import Any

from btests._imports import arrow


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
