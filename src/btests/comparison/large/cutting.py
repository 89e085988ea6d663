"""Files in pieces that can be read by themselves, so that several workers read one file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import pairwise

import numpy as np

from btests.comparison.large.parts import Part, is_stream
from btests.comparison.large.side import Side
from btests.comparison.need import arrow

#: Bytes of a piece as it is read, about.
PIECE_BYTES = 2**26

# Bytes of a number in an array, more or less.
_NUMBER = 8


def cut(side: Side, n_bytes: int | None = None) -> Side:
    """Return a side whose files are cut into pieces of so many bytes, where their format allows that.

    They are named from the root: a worker may be in another folder.
    """
    parts, counts = [], []
    for given, count in zip(side.parts, side.counts, strict=True):
        part = replace(given, path=os.path.abspath(given.path))
        edges = _CUTTERS[part.form](part, n_bytes or PIECE_BYTES) if part.form in _CUTTERS else []
        if len(edges) <= 2:
            parts.append(part)
            counts.append(count)
            continue
        for (first, start), (last, end) in pairwise(edges):
            own = replace(part, piece=(first, last), first_row=start)
            parts.append(own)
            counts.append(end - start if side.where is None else _counted(own, side))
    return replace(side, parts=tuple(parts), counts=tuple(counts))


def _counted(part: Part, side: Side) -> int:
    """Return how many rows of a piece are of a side, from the column that tells."""
    assert side.where is not None, "without that all are"
    return sum(side.where.rows(batch).num_rows for batch in part.batches((side.read[0], side.where.by)))


def _edges(sizes: list[int], rows: list[int], n_bytes: int) -> list[tuple[int, int]]:
    """Return units and the rows before them at which pieces begin, and the end."""
    found, size, n_rows = [(0, 0)], 0, 0
    for i, (own, count) in enumerate(zip(sizes, rows, strict=True)):
        if size and size + own > n_bytes:
            found.append((i, n_rows))
            size = 0
        size, n_rows = size + own, n_rows + count
    return [*found, (len(sizes), n_rows)]


def _parquet(part: Part, n_bytes: int) -> list[tuple[int, int]]:
    with import_module("pyarrow.parquet").ParquetFile(part.path) as file:
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        return _edges([group.total_byte_size for group in groups], [group.num_rows for group in groups], n_bytes)


def _arrow(part: Part, n_bytes: int) -> list[tuple[int, int]]:
    if is_stream(part.path):
        return []
    with arrow().memory_map(part.path) as file:
        reader = import_module("pyarrow.ipc").open_file(file)
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        return _edges([batch.nbytes for batch in batches], [batch.num_rows for batch in batches], n_bytes)


def _npy(part: Part, n_bytes: int) -> list[tuple[int, int]]:
    n, step = part.n_rows_about, max(1, n_bytes // (_NUMBER * len(part.names)))
    return [(int(i), int(i)) for i in np.append(np.arange(0, n, step), n)]


_CUTTERS: dict[str, Callable[[Part, int], list[tuple[int, int]]]] = {"parquet": _parquet, "arrow": _arrow, "npy": _npy}
