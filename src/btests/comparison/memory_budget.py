"""How much memory a comparison may take, and whether its tables are larger than that."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from btests._memory import free_bytes
from btests.comparison.reading import TIMES_SIZE
from btests.data.files import TABLES
from btests.data.fragment import plain
from btests.data.optional import arrow

#: Share of the free memory that tables may take to be read whole.
SHARE = 0.25

# A packed file is so many times larger when it is unpacked, about.
_UNPACKED = 5

# What a comparison takes in memory, in sizes of the rows themselves, and rows from which the size of all is estimated.
_TIMES_ROWS, _FIRST_ROWS = 2, 1000

# What the work on the rows that were drawn takes: for each row of both sides, and for each cell of it, about.
_ROW_BYTES, _CELL_BYTES = 400, 100

# So few rows are always drawn.
_FEWEST_ROWS = 2000

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def memory_of(memory: Any) -> int:
    """Return a number of bytes: as it is, or such as ``"500MB"`` or ``"2 GB"``; for None the share of what is free."""
    if memory is None:
        return int(SHARE * free_bytes())
    if isinstance(memory, bool) or not isinstance(memory, (int, str)):
        raise TypeError(f"memory must be a number of bytes, or a text such as '500MB', got {memory!r}")
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    size = 0 if found is None else int(float(found[1]) * _UNITS[found[2]])
    if size <= 0:
        raise ValueError(f"memory must be a number of bytes, such as 500MB, got {memory!r}")
    return size


def bytes_in_memory(path: str) -> int:
    """Return what the table in a file, a folder or a pattern would take in memory, about.

    That is a few times the size of the files, unpacked. Parquet files are packed in more ways than one: of them it is
    estimated from the number of rows, and the size of the first rows of the first file.
    """
    parts = [Path(part) for part in TABLES.files(path)]
    packed = [part for part in parts if TABLES.get(part) == "parquet"]
    total = sum(_part_bytes(part) for part in parts)
    try:
        rows = sum(int(import_module("pyarrow.parquet").read_metadata(part).num_rows) for part in packed)
        return max(total, round(_TIMES_ROWS * rows * _row_bytes(packed[0]))) if packed else total
    except (arrow().ArrowException, OSError):
        return total  # an error when it is read


def _part_bytes(part: Path) -> int:
    size = part.stat().st_size * (_UNPACKED if part.suffix.lower() == ".gz" else 1)
    return TIMES_SIZE * size


def _row_bytes(part: Path) -> float:
    """Return what a row of a Parquet file takes in memory, by its first rows."""
    with import_module("pyarrow.parquet").ParquetFile(part, pre_buffer=False, buffer_size=2**20) as file:
        first = next(file.iter_batches(_FIRST_ROWS), None)
        return 0.0 if first is None else float(plain(first).nbytes / first.num_rows)


def rows_to_draw(memory: int, n_columns: int, most: int) -> int:
    """Return how many rows of each side are drawn, so that the work on them takes half of the memory, about."""
    return min(most, max(_FEWEST_ROWS, memory // 4 // (_ROW_BYTES + _CELL_BYTES * n_columns)))
