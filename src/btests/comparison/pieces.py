"""Files that are read in pieces: whether they are, the memory that they may take, and the checkpoint of their run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests._memory import free_bytes
from btests._text import brief
from btests.comparison.compare_options import Options
from btests.comparison.format import option
from btests.comparison.sources import TIMES_SIZE
from btests.comparison.table_side import TableSide
from btests.data.arrow_layout import table_bytes
from btests.data.columnar import batches
from btests.data.compression import codec_of, declared_size
from btests.data.files import TABLES, digests
from btests.data.formats import is_stream
from btests.data.fragment import can_be_split
from btests.data.record_batches import plain_bytes
from btests.execution.checkpoint import Recorder
from btests.execution.dask import require_distributed
from btests.summary_file import read_arrays


def reads_in_pieces(a: Any, b: Any, options: Options) -> bool:
    """Whether the tables are files that would take more memory than allowed, or that workers read."""
    memory_of(options.memory)  # checks it
    tables = [table for table in (a, b) if table is not None]
    if options.workers is not None:
        _require_files(tables, options)
        require_distributed()  # now, rather than after files were read
        return True
    if not all(isinstance(table, (str, os.PathLike)) and not is_stream(os.fspath(table)) for table in tables):
        return False
    if (options.by is None) != (len(tables) == 2):
        return False  # an error when tables are loaded
    paths = [os.fspath(table) for table in tables]
    if not all(can_be_split(part, options.file_format) for path in paths for part in TABLES.files(path)):
        return False
    return sum(map(bytes_in_memory, paths)) > memory_limit(options)


def _require_files(tables: Sequence[Any], options: Options) -> None:
    """Raise unless workers can read the tables piece by piece."""
    if (options.by is None) != (len(tables) == 2):
        raise ValueError(two_tables())
    if options.is_drawn:
        raise ValueError(
            f"{option('workers')} computes the joint test of all rows, and {option('max_rows')} draws some; drop one"
        )
    for table in tables:
        if not isinstance(table, (str, os.PathLike)) or is_stream(os.fspath(table)):
            raise ValueError(f"{option('workers')} is for tables in files, which workers read themselves")
        for part in TABLES.files(os.fspath(table)):
            if not can_be_split(part, options.file_format):
                raise ValueError(f"{part!r} can only be read whole; {option('workers')} is for other formats")


def two_tables() -> str:
    """Return what is asked for where there are not two tables."""
    return f"name two tables, or one and the column that splits it with {option('by')}"


def memory_limit(options: Options) -> int:
    """Return the memory limit in bytes: as named, or that of the run of a checkpoint, or a share of the free memory."""
    if options.memory is None and options.checkpoint is not None:
        return memory_of(saved_memory(options.checkpoint))
    return memory_of(options.memory)


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
    packed = [part for part in parts if TABLES.find(part) == "parquet"]
    total = sum(_part_bytes(part) for part in parts)
    try:
        rows = sum(int(import_module("pyarrow.parquet").read_metadata(part).num_rows) for part in packed)
        return max(total, round(_TIMES_ROWS * rows * _row_bytes(packed[0]))) if packed else total
    except (arrow().ArrowException, OSError):
        return total  # raises on reading


def _part_bytes(part: Path) -> int:
    size = part.stat().st_size
    codec = codec_of(part)
    if codec is not None:
        size = max(_UNPACKED * size, declared_size(part) if codec == "gzip" else 0)
    declared = table_bytes(str(part)) if TABLES.find(part) == "arrow" else 0
    return max(TIMES_SIZE * size, _TIMES_ROWS * declared)


def _row_bytes(part: Path) -> float:
    """Return the memory of a row of a Parquet file, estimated from its first rows."""
    first = next(batches(str(part), "parquet", None, n_rows=_FIRST_ROWS), None)
    return 0.0 if first is None else float(plain_bytes(first) / first.num_rows)


def rows_to_draw(memory: int, n_columns: int, most: int) -> int:
    """Return how many rows of each side are drawn, so that their tests take about half of the memory."""
    return min(most, max(_FEWEST_ROWS, memory // 4 // (_ROW_BYTES + _CELL_BYTES * n_columns)))


def saved_seed(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the seed of the run of a checkpoint; None if there is none."""
    seed = _identity(checkpoint).get("seed")
    return seed if isinstance(seed, int) else None


def saved_memory(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the memory limit of the run of a checkpoint, on which the drawn rows depend."""
    try:
        memory = json.loads(_identity(checkpoint).get("run", "")).get("memory")
    except (ValueError, AttributeError, TypeError):  # of another kind of run, which is refused later
        return None
    return memory if isinstance(memory, int) else None


def recorder(sides: list[TableSide], options: Options, memory: int, progress: Any) -> Recorder:
    """Return the recorder of the joint test; raise if its file belongs to another run."""
    if options.checkpoint is None:
        return Recorder(None, "", options.seed, progress, "`checkpoint=FILE`")
    path = Path(options.checkpoint)
    if not path.exists():
        _require_folder(path)
    settings = {name: getattr(options, name) for name in _SETTINGS}
    identity = {
        "version": version("btests"),
        "memory": memory,
        "settings": repr(settings),
        "files": [s.stamps for s in sides],
    }
    identity["contents"] = [digests([part.path for part in side.parts]) for side in sides]
    return Recorder(path, json.dumps(identity), options.seed, progress)


# Everything that the joint test depends on, except the seed.
_SETTINGS = (
    *("by", "value_a", "value_b", "columns", "exclude", "common", "kernel", "null", "block_size", "max_rows"),
    *("delimiter", "decimal", "encoding", "file_format", "missing", "categories", "skip_bad_parts"),
)


def _require_folder(path: Path) -> None:
    """Raise if a checkpoint cannot be written, before the work starts."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(f"the checkpoint {str(path)!r} cannot be written: there is no such folder, or it is closed")


def _identity(checkpoint: str | os.PathLike[str]) -> dict[str, Any]:
    path = Path(checkpoint)
    if not path.exists():
        return {}
    identity = read_arrays(path)[0].get("checkpoint")
    return identity if isinstance(identity, dict) else {}
