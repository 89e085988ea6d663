"""JSON lines as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from btests.data.optional import arrow


def read_json(data: bytes, texts: tuple[str, ...] = (), *, block_size: int | None = None) -> Any:
    """Return the table in JSON lines.

    Parameters
    ----------
    data : bytes
        Whole lines.
    texts : tuple of str
        Columns that are text, also where some of it looks like times.
    block_size : int or None
        Bytes that pyarrow infers types from at a time; None is all of them.
    """
    pa, json = arrow(), arrow("pyarrow.json")
    options = json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in texts]))
    return json.read_json(pa.BufferReader(data), json.ReadOptions(block_size=block_size or len(data) + 1), options)


def check_lines(start: bytes, where: str) -> None:
    """Raise if JSON is one array."""
    if start.lstrip()[:1] == b"[":
        raise ValueError(f"{where!r} holds one JSON array, not JSON lines; write each record on a line of its own")


def line_blocks(file: Any, n_bytes: int) -> Iterator[bytes]:
    """Yield whole lines of an open file, about ``n_bytes`` bytes at a time."""
    rest = b""
    while data := file.read(n_bytes):
        data = rest + data
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if data[:cut].strip():
            yield data[:cut]
    if rest.strip():
        yield rest


def json_batches(
    file: Any, where: str, names: tuple[str, ...], columns: list[str], texts: tuple[str, ...], *, n_bytes: int
) -> Iterator[Any]:
    """Yield columns of an open file as tables, ``n_bytes`` bytes of it at a time; ``names`` are all its columns."""
    done = 0
    for block in line_blocks(file, n_bytes):
        table = read_json(block, texts)
        new = [name for name in table.column_names if name not in names]
        if new:
            rows = f"rows {done + 1} to {done + table.num_rows}"
            raise ValueError(f"{where!r} has {new[0]!r} in {rows}, which its first rows do not have")
        done += table.num_rows
        for name in columns:
            if name not in table.column_names:
                table = table.append_column(name, arrow().nulls(table.num_rows))
        yield table.select(columns).combine_chunks()
