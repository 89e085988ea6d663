"""Record batches of Parquet files, Arrow files and Arrow streams, by row group or record batch.

`pyarrow.dataset` is not used: its scanner decodes a row group as a whole, also without readahead and with buffered
streams (one of 192 MB takes 297 MB there, and 48 MB here), and it has neither record batches of an Arrow file by number
nor Arrow streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.data.errors import reading
from btests.data.formats import ARROW, PARQUET, STREAM
from btests.data.record_batches import FEW_ROWS, PREFIXED_BYTES, TEXT_BYTES, is_text, longest, merged, prefixed
from btests.plan import Index

# Bytes that a stream of pages reads ahead, so that a large row group is never in memory as a whole.
_READ_AHEAD = 2**20

Input = str | bytes  # a path, or the contents of a file


@dataclass(frozen=True, slots=True)
class FileLayout:
    """Units of a file, row groups or record batches, which are read by themselves.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of all columns.
    edges : ndarray (n_units + 1,)
        Rows before each unit, and all rows.
    n_bytes : ndarray (n_units,)
        Bytes of each unit, about.
    starts : ndarray (n_units,) or None
        Bytes before each unit of a stream, which has no list of its record batches.
    """

    schema: Any
    edges: Index
    n_bytes: Index
    starts: Index | None = None


def layout(start: bytes) -> str | None:
    """Return ``"parquet"``, ``"file"`` (Arrow) or ``"stream"`` (Arrow) by the first bytes, None for anything else."""
    known = {PARQUET: "parquet", ARROW: "file", STREAM: "stream"}
    return next((name for magic, name in known.items() if start.startswith(magic)), None)


def outline(path: str, kind: str) -> FileLayout:
    """Return the units of a file of a layout."""
    with reading(path):
        schema, counts, sizes, starts = _OUTLINES[kind](path)
        _named(schema)
    edges = np.append(0, np.cumsum(counts)).astype(np.int64)
    if sizes is None:
        sizes = np.diff(edges) * (Path(path).stat().st_size / max(1, int(edges[-1])))
    return FileLayout(schema, edges, np.asarray(sizes, dtype=np.int64), starts)


def header(source: Input, kind: str, size: int) -> tuple[Any, int]:
    """Return the schema of a file, and its number of rows, estimated from the first record batch where it is Arrow."""
    if kind == "parquet":
        with _parquet(source) as file:
            return _named(file.schema_arrow), int(file.metadata.num_rows)
    ipc = arrow("pyarrow.ipc")
    with opened(source) as file:
        if kind == "stream":
            reader = ipc.open_stream(file)
            first = next(iter(reader), None)
            return _named(reader.schema), 0 if first is None else round(first.num_rows * size / file.tell())
        reader = ipc.open_file(file)
        n_batches = reader.num_record_batches
        return _named(reader.schema), reader.get_batch(0).num_rows * n_batches if n_batches else 0


def batches(
    source: Input,
    kind: str,
    columns: list[str] | None,
    *,
    units: tuple[int, int] | None = None,
    n_rows: int,
    starts: Index | None = None,
) -> Iterator[Any]:
    """Yield the record batches of some units, checked, at most ``n_rows`` rows and a few megabytes of text at a time.

    Parameters
    ----------
    source : str or bytes
        The path of the file, or its contents.
    kind : str
        Its layout.
    columns : list of str or None
        Names of the columns to read, in this order; None is all.
    units : tuple of int or None
        The first unit and the one after the last; None is all.
    n_rows : int
        Rows of a batch at most.
    starts : ndarray (n_units,) or None
        Where the units of a stream begin; None reads it from its beginning.
    """
    if kind == "parquet":
        # Pages are read as they are needed: one row group may be larger than memory.
        with _parquet(source) as file:
            groups = range(*(units or (0, file.num_row_groups)))
            limits = _limits(source, file, groups, columns, n_rows)
            for limit, some in groupby(groups, key=lambda i: limits[i - groups.start]):
                found = map(_checked, file.iter_batches(limit, list(some), columns))
                yield from found if limit == n_rows else merged(found, n_rows)
        return
    for batch in map(_checked, _arrow_batches(source, kind, columns, units, starts)):
        own = batch if columns is None else batch.select(columns)
        rows = max(1, min(n_rows, TEXT_BYTES // max(1, sum(map(longest, own.columns)))))
        yield from (own.slice(first, rows) for first in range(0, own.num_rows, rows))


def _checked(batch: Any) -> Any:
    """Return a record batch whose offsets, indices and texts are sound; pyarrow trusts those of a file."""
    batch.validate(full=True)
    return batch


def _named(schema: Any) -> Any:
    """Return a schema; raise a `UnicodeDecodeError` where the name of a column is no text."""
    assert schema.names is not None, "reading names decodes them"
    return schema


def _limits(source: Input, file: Any, groups: range, columns: list[str] | None, n_rows: int) -> list[int]:
    """Return how many rows of each row group are read at a time, by the longest texts that it can hold."""
    wanted = set(file.schema_arrow.names if columns is None else columns)
    texts = [field.name for field in file.schema_arrow if field.name in wanted and is_text(field.type)]
    if not texts:
        return [n_rows] * len(groups)
    found = []
    with _parquet(source, texts) as coded:
        for i in groups:
            plain, size = prefixed(file.metadata.row_group(i), texts)
            # The dictionaries of a row group come with its first row.
            first = next(coded.iter_batches(1, [i], plain), None) if plain else None
            most = 0 if first is None else sum(map(longest, first.columns))
            rows = min(n_rows, TEXT_BYTES // max(1, most))
            found.append(max(1, min(rows, max(FEW_ROWS, PREFIXED_BYTES // size)) if size else rows))
    return found


def _arrow_batches(
    source: Input, kind: str, columns: list[str] | None, units: tuple[int, int] | None, starts: Index | None
) -> Iterator[Any]:
    ipc = arrow("pyarrow.ipc")
    with opened(source) as file:
        reader = ipc.open_file(file) if kind == "file" else ipc.open_stream(file)
        if kind == "stream" and starts is not None and units is not None:
            for start in starts[units[0] : units[1]].tolist():
                file.seek(start)
                yield ipc.read_record_batch(ipc.read_message(file), reader.schema)
            return
        if columns is not None:
            fields = [reader.schema.get_field_index(name) for name in columns]
            options = ipc.IpcReadOptions(included_fields=fields)
            file.seek(0)
            reader = (ipc.open_file if kind == "file" else ipc.open_stream)(file, options=options)
        if kind == "stream":
            yield from reader
            return
        yield from map(reader.get_batch, range(*(units or (0, reader.num_record_batches))))


def opened(source: Input) -> Any:
    """Return a file, or its contents, as an open file of pyarrow."""
    return arrow().OSFile(source) if isinstance(source, str) else arrow().BufferReader(source)


@lru_cache(maxsize=16)  # the metadata of a file with many row groups take as long to read as one of them
def _metadata(path: str, _size: int, _changed: int) -> Any:
    return arrow("pyarrow.parquet").read_metadata(path)


def _parquet(source: Input, coded: list[str] | None = None) -> Any:
    found: Any = source
    metadata = None
    if isinstance(source, bytes):
        found = opened(source)
    else:
        stat = Path(source).stat()
        metadata = _metadata(source, stat.st_size, stat.st_mtime_ns)
    return arrow("pyarrow.parquet").ParquetFile(
        found,
        metadata=metadata,
        read_dictionary=coded,
        pre_buffer=False,
        buffer_size=_READ_AHEAD,
        page_checksum_verification=True,
    )


def _parquet_outline(path: str) -> tuple[Any, list[int], list[int], None]:
    with _parquet(path) as file:
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        return (
            file.schema_arrow,
            [group.num_rows for group in groups],
            [group.total_byte_size for group in groups],
            None,
        )


def _file_outline(path: str) -> tuple[Any, list[int], None, None]:
    ipc = arrow("pyarrow.ipc")
    # One column of a memory map: the numbers of uncompressed batches are not read.
    with arrow().memory_map(path) as file:
        schema = ipc.open_file(file).schema
        reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=[0]))
        return schema, [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)], None, None


def _stream_outline(path: str) -> tuple[Any, list[int], None, Index]:
    ipc = arrow("pyarrow.ipc")
    starts: list[int] = []
    counts: list[int] = []
    with arrow().memory_map(path) as file:
        schema = ipc.open_stream(file).schema
        file.seek(0)
        messages = ipc.MessageReader.open_stream(file)
        while True:
            start = file.tell()
            try:
                message = messages.read_next_message()
            except StopIteration:
                return schema, counts, None, np.asarray(starts, dtype=np.int64)
            if message.type == "dictionary":  # a batch depends on all dictionaries before it
                raise ValueError(
                    f"{path!r} is an Arrow stream with categories, which can only be read from its beginning; save it "
                    "as an Arrow file, as pyarrow.feather.write_feather does"
                )
            if message.type == "record batch":
                starts.append(start)
                counts.append(ipc.read_record_batch(message, schema).num_rows)


_OUTLINES: dict[str, Any] = {"parquet": _parquet_outline, "file": _file_outline, "stream": _stream_outline}
