"""Names of files: their formats and compression by suffixes, tables inside them, and pipes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

SUFFIXES = {
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "workbook"),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), "sqlite"),
    ".zip": "zip",
}

#: Formats that hold several tables, of which one is named after ``::``.
CONTAINERS = ("workbook", "sqlite", "zip")

#: Compression by the last suffix of a name.
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}

#: Between the name of a file and that of a table inside it.
INSIDE = "::"

# Names that the system gives to open files.
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def split_suffix(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the suffix of a file name without that of a compression, and the compression.

    Examples
    --------
    >>> split_suffix("a/b.csv"), split_suffix("b.CSV.gz"), split_suffix("b.gz"), split_suffix("b.csv::c.d")
    (('.csv', None), ('.csv', 'gzip'), ('', 'gzip'), ('.csv', None))
    """
    suffixes = [suffix.lower() for suffix in Path(file_of(path)).suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    return "".join(suffixes[:-1][-1:] if codec else suffixes[-1:]), codec


def file_of(path: str | os.PathLike[str]) -> str:
    """Return the file of an address such as ``file.zip::member.csv``; any other path unchanged.

    Examples
    --------
    >>> file_of("a.zip::b.csv"), file_of("a.csv")
    ('a.zip', 'a.csv')
    """
    return _split(os.fspath(path))[0]


def inside_of(path: str | os.PathLike[str]) -> str | None:
    """Return the table that an address names inside its file; None for any other path.

    Examples
    --------
    >>> inside_of("a.zip::b.csv"), inside_of("a.csv")
    ('b.csv', None)
    """
    return _split(os.fspath(path))[1]


def _split(path: str) -> tuple[str, str | None]:
    file, mark, name = path.partition(INSIDE)
    return (file, name) if mark and file and not os.path.lexists(path) else (path, None)


def is_stream(path: str) -> bool:
    """Return whether a path is standard input (``-``), or a pipe that is open already: it can be read once.

    A pipe with a name of its own is none: it may have no writer, and opening it would wait for one.
    """
    if path == "-":
        return True
    if not path.startswith(_DESCRIPTORS):
        return False
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
