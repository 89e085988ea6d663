"""Memory budget of a comparison, and estimates of the memory of tables."""

from __future__ import annotations

import re
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests._memory import free_bytes
from btests._text import brief
from btests.comparison.sources import TIMES_SIZE
from btests.data.arrow_layout import table_bytes
from btests.data.columnar import batches
from btests.data.files import TABLES, declared_size
from btests.data.text_limits import plain_bytes

#: Maximum share of the free memory for tables that are read whole.
SHARE = 0.25

# Approximate ratio of uncompressed to compressed size.
_UNPACKED = 5

# Memory of a comparison as a multiple of its rows, and rows from which the size of all is estimated.
_TIMES_ROWS, _FIRST_ROWS = 2, 1000

# Approximate memory of the tests on drawn rows, per row of both sides and per cell.
_ROW_BYTES, _CELL_BYTES = 400, 100

# Minimum number of drawn rows.
_FEWEST_ROWS = 2000

# More than any machine has.
_MOST = 2**62

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def memory_of(memory: Any) -> int:
    """Return a number of bytes, given as such or as ``"500MB"`` or ``"2 GB"``; None is a share of the free memory."""
    if memory is None:
        return int(SHARE * free_bytes())
    if isinstance(memory, bool) or not isinstance(memory, (int, str)):
        raise TypeError(f"memory must be a number of bytes, or a text such as '500MB', got {brief(memory)}")
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    size = 0 if found is None else min(_MOST, int(Decimal(found[1]) * _UNITS[found[2]]))
    if size <= 0:
        raise ValueError(f"memory must be a number of bytes, such as 500MB, got {brief(memory)}")
    return size


def bytes_in_memory(path: str) -> int:
    """Return the approximate memory of the table in a file, a folder or a pattern.

    That is a few times the size of the files, or of what compressed ones declare. For Parquet files, which are encoded
    and compressed, it is estimated from the number of rows and the size of the first rows of the first file.
    """
    parts = [Path(part) for part in TABLES.files(path)]
    packed = [part for part in parts if TABLES.get(part) == "parquet"]
    total = sum(_part_bytes(part) for part in parts)
    try:
        rows = sum(int(import_module("pyarrow.parquet").read_metadata(part).num_rows) for part in packed)
        return max(total, round(_TIMES_ROWS * rows * _row_bytes(packed[0]))) if packed else total
    except (arrow().ArrowException, OSError):
        return total  # raises on reading


def _part_bytes(part: Path) -> int:
    size = part.stat().st_size
    if part.suffix.lower() == ".gz":
        size = max(_UNPACKED * size, declared_size(part))
    declared = table_bytes(str(part)) if TABLES.get(part) == "arrow" else 0
    return max(TIMES_SIZE * size, _TIMES_ROWS * declared)


def _row_bytes(part: Path) -> float:
    """Return the memory of a row of a Parquet file, estimated from its first rows."""
    first = next(batches(str(part), "parquet", None, n_rows=_FIRST_ROWS), None)
    return 0.0 if first is None else float(plain_bytes(first) / first.num_rows)


def rows_to_draw(memory: int, n_columns: int, most: int) -> int:
    """Return how many rows of each side are drawn, so that their tests take about half of the memory."""
    return min(most, max(_FEWEST_ROWS, memory // 4 // (_ROW_BYTES + _CELL_BYTES * n_columns)))
