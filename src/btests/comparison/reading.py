"""Files to arrow tables: one reader for each format, and one sentence where it cannot read."""

from __future__ import annotations

import glob
import gzip
import io
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from btests._memory import free_bytes
from btests.comparison.delimited import read_csv, shortly
from btests.comparison.format import option
from btests.comparison.need import arrow
from btests.data.cell_checks import DamagedError
from btests.data.magic import ARROW, FEATHER, LONGEST, NUMPY, PARQUET, STREAM, ZIP, refuse_misnamed

Found = TypeVar("Found")

#: Memory that a comparison takes at least, in sizes of its files; of compressed files it is several times more.
TIMES_SIZE = 4


def read(path: str, delimiter: str | None = None, skipped: list[str] | None = None) -> Any:
    """Return the table in a file, in the parts that a pattern or a folder holds, or on standard input for ``-``.

    Damaged parts are named in ``skipped`` and left out where that is given, and an error otherwise.
    """
    if path == "-":
        return _checked(_from_bytes(_standard_input(), delimiter), "standard input")
    parts = parts_of(path)
    _require_memory(path, sum(part.stat().st_size for part in parts))
    tables = []
    for part in parts:
        table = good_part(partial(_from_file, part, delimiter), len(parts) > 1, skipped)
        if table is not None:
            tables.append((part, _checked(table, str(part))))
    if not tables:
        raise ValueError(f"{path!r} has no part that can be read: {skipped[-1] if skipped else ''}")
    return tables[0][1] if len(tables) == 1 else _joined(tables)


def good_part(reading: Callable[[], Found], several: bool, skipped: list[str] | None) -> Found | None:
    """Return what was read of one of several parts, None where it is damaged and is named in ``skipped`` instead."""
    try:
        return reading()
    except DamagedError as error:
        if not several:
            raise
        if skipped is None:
            advice = f"{option('skip_bad_parts', True)} goes on without such parts"
            raise DamagedError(f"{error}; {advice}") from None
        skipped.append(str(error))
        return None


def _standard_input() -> bytes:
    """Return what is on standard input; it cannot be read a second time, so it must fit into memory."""
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    most = max(1, free_bytes() // TIMES_SIZE)
    data = sys.stdin.buffer.read(most)
    if len(data) == most and sys.stdin.buffer.read(1):
        raise ValueError(
            f"standard input has more than {most / 1e9:.3g} GB, and is read into memory; save it to a file first, "
            "which is read in pieces"
        )
    return data


def _require_memory(path: str, size: int) -> None:
    """Raise where a table that is read whole would not leave room for the work on it."""
    needed, free = TIMES_SIZE * size, free_bytes()
    if needed > free:
        raise ValueError(
            f"{path!r} has {size / 1e9:.3g} GB and takes at least {needed / 1e9:.3g} GB of memory, of which "
            f"{free / 1e9:.3g} are free; compare a part of it"
        )


def parts_of(path: str) -> list[Path]:
    """Return the files of a table: one, those in a folder, or those that match a pattern."""
    found = Path(path)
    if found.is_dir():
        files = sorted(f for f in found.rglob("*") if f.is_file() and not re.match(r"[._]", f.name))
        parts = [f for f in files if format_of(f) is not None]
        if not parts:
            raise ValueError(f"the folder {path!r} holds no data files ({known_formats()})")
        return parts
    if not found.exists() and glob.has_magic(path):
        parts = [Path(f) for f in sorted(glob.glob(path, recursive=True)) if Path(f).is_file()]
        if not parts:
            raise ValueError(f"no file matches {path!r}")
        return parts
    if not found.exists():
        raise ValueError(f"there is no file {path!r}")
    return [found]


def format_of(path: Path) -> str | None:
    """Return what a file is by its name, None where that does not tell."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _from_file(path: Path, delimiter: str | None) -> Any:
    name = format_of(path)
    if name is None:
        raise ValueError(f"{str(path)!r} is of no known format by its name; known are {known_formats()}")
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path, "rb") as file:
                data: bytes | None = file.read()
        else:
            data = path.read_bytes() if name in ("csv", "tsv") else None
    except (EOFError, gzip.BadGzipFile) as error:
        raise DamagedError(f"{str(path)!r} is damaged or cut off: {shortly(error)}") from None
    except OSError as error:
        raise DamagedError(f"{str(path)!r} cannot be read: {error.strerror or shortly(error)}") from None
    source: Any = path if data is None else data
    return _READERS[name](source, str(path), delimiter)


def _from_bytes(data: bytes, delimiter: str | None) -> Any:
    """Return the table in bytes that have no name to tell their format: it is told by how they begin."""
    where = "standard input"
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError) as error:
            raise ValueError(f"{where} is damaged or cut off: {shortly(error)}") from None
    starts = {
        PARQUET: "parquet",
        ARROW: "arrow",
        FEATHER: "arrow",
        STREAM: "arrow",
        NUMPY: "npy",
        ZIP: "npz",
        b"{": "json",
        b"[": "json",
    }
    name = next((name for start, name in starts.items() if data.startswith(start)), None)
    header = data.split(b"\n", 1)[0]
    if name is None:
        name = "tsv" if b"\t" in header and b"," not in header else "csv"
    return _READERS[name](data, where, delimiter)


def _read_delimited(default: str) -> Callable[[Any, str, str | None], Any]:
    def read_one(source: Any, where: str, delimiter: str | None) -> Any:
        return read_csv(source, where, delimiter or default, guessed=delimiter is None)

    return read_one


def _read_parquet(source: Any, where: str, _: str | None) -> Any:
    parquet = import_module("pyarrow.parquet")

    def read_one(file: Any) -> Any:
        return parquet.ParquetFile(file, page_checksum_verification=True).read()

    refuse_misnamed(_start(source, LONGEST), where, "not a readable Parquet file", PARQUET)
    return _guarded(read_one, source, where, "Parquet")


def _read_arrow(source: Any, where: str, _: str | None) -> Any:
    feather, ipc = import_module("pyarrow.feather"), import_module("pyarrow.ipc")

    def read_one(file: Any) -> Any:
        if _start(source, 4) != STREAM:
            return feather.read_table(file, memory_map=False)
        with arrow().input_stream(file) as stream:
            return ipc.open_stream(stream).read_all()

    refuse_misnamed(_start(source, LONGEST), where, "not a readable Arrow or Feather file", ARROW, FEATHER, STREAM)
    return _guarded(read_one, source, where, "Arrow or Feather")


def _read_json(source: Any, where: str, _: str | None) -> Any:
    json = import_module("pyarrow.json")
    if _start(source, 4096).lstrip()[:1] == b"[":
        raise ValueError(f"{where!r} holds one JSON array, not JSON lines; write each record on a line of its own")
    options = json.ReadOptions(block_size=2**26)
    return _guarded(lambda file: json.read_json(file, options), source, where, "JSON lines")


def _start(source: Any, count: int) -> bytes:
    """Return the first bytes of bytes or of a file."""
    if isinstance(source, bytes):
        return source[:count]
    try:
        with source.open("rb") as file:
            return bytes(file.read(count))
    except OSError as error:
        raise DamagedError(f"{str(source)!r} cannot be read: {error.strerror or shortly(error)}") from None


def _guarded(reader: Callable[[Any], Any], source: Any, where: str, what: str) -> Any:
    pa = arrow()
    file = io.BytesIO(source) if isinstance(source, bytes) else str(source)
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size == 0:
        raise DamagedError(f"{where!r} is empty")
    try:
        return reader(file)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedError(f"{where!r} is not a readable {what} file, or it is cut off: {shortly(error)}") from None


def _read_numpy(source: Any, where: str, _: str | None) -> Any:
    import zipfile

    import numpy as np

    from btests.comparison.sources import from_arrays

    file = io.BytesIO(source) if isinstance(source, bytes) else source
    refuse_misnamed(_start(source, LONGEST), where, "not a readable numpy file", NUMPY, ZIP)
    try:
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return from_arrays({"": found}, where)
        with found:
            return from_arrays({name: found[name] for name in found.files}, where)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, KeyError) as error:
        if "pickle" in str(error).lower() or "Object arrays" in str(error):
            raise ValueError(f"{where!r} holds Python objects, which are never loaded; save plain numbers") from None
        if str(error).startswith(repr(where)):
            raise
        raise DamagedError(f"{where!r} is not a readable numpy file, or it is cut off: {shortly(error)}") from None


def _checked(table: Any, where: str) -> Any:
    names = table.column_names
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"{where!r} has more than one column called {', '.join(map(repr, doubles))}")
    if table.num_columns == 0:
        raise ValueError(f"{where!r} has no columns")
    if table.num_rows == 0:
        raise ValueError(f"{where!r} has a header and no rows")
    return table


def _joined(tables: list[tuple[Path, Any]]) -> Any:
    pa = arrow()
    first, names = tables[0][0], set(tables[0][1].column_names)
    for part, table in tables[1:]:
        odd = sorted(names ^ set(table.column_names))
        if odd:
            raise ValueError(f"the parts {str(first)!r} and {str(part)!r} do not both have {', '.join(map(repr, odd))}")
    order = tables[0][1].column_names
    try:
        return pa.concat_tables([table.select(order) for _, table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(
            f"the parts from {str(first)!r} on have columns of different types: {shortly(error)}"
        ) from None


def known_formats() -> str:
    """Return the endings of file names that can be read, in words."""
    return ", ".join(dict.fromkeys(_SUFFIXES)) + ", also .gz"


_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".npy": "npy",
    ".npz": "npz",
}

_READERS: dict[str, Callable[[Any, str, str | None], Any]] = {
    "csv": _read_delimited(","),
    "tsv": _read_delimited("\t"),
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "json": _read_json,
    "npy": _read_numpy,
    "npz": _read_numpy,
}
