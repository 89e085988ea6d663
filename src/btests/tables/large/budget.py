"""How much memory a comparison may take, and whether its tables are larger than that."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from btests.memory import free_bytes
from btests.tables.need import arrow
from btests.tables.reading import TIMES_SIZE, format_of, parts_of

#: Share of the free memory that tables may take to be read whole.
SHARE = 0.25

# A packed file is so many times larger when it is unpacked, about.
_UNPACKED = 5

# Of a cell of a Parquet file, at least: levels of a category are stored as a few bits, and are numbers in memory.
_CELL = 16

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
    """Return what the table in a file, a folder or a pattern would take in memory, about."""
    return sum(_part_bytes(part) for part in parts_of(path))


def _part_bytes(part: Path) -> int:
    size = part.stat().st_size
    if part.suffix.lower() == ".gz":
        size *= _UNPACKED
    if format_of(part) == "parquet":
        try:
            outline = import_module("pyarrow.parquet").read_metadata(part)
        except (arrow().ArrowException, OSError):
            return TIMES_SIZE * size  # whoever reads it says what is wrong
        unpacked = sum(int(outline.row_group(i).total_byte_size) for i in range(outline.num_row_groups))
        return max(TIMES_SIZE * max(size, unpacked), _CELL * int(outline.num_rows) * int(outline.num_columns))
    return TIMES_SIZE * size


def rows_to_draw(memory: int, n_columns: int, most: int) -> int:
    """Return how many rows of each side are drawn, so that the work on them takes half of the memory, about."""
    return min(most, max(_FEWEST_ROWS, memory // 4 // (_ROW_BYTES + _CELL_BYTES * n_columns)))
