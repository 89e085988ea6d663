"""Formats of files by their names and by their first bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from btests.data.errors import DamagedError

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
    **dict.fromkeys((".duckdb", ".ddb"), "duckdb"),
    ".zip": "zip",
    **dict.fromkeys((".png", ".jpg", ".jpeg"), "image"),
}

#: Names of formats.
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))

#: Formats that hold several tables, of which one is named after ``::``.
CONTAINERS = ("workbook", "sqlite", "duckdb", "zip")

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


PARQUET, ARROW, FEATHER = b"PAR1", b"ARROW1", b"FEA1"
STREAM, NUMPY, ZIP = b"\xff\xff\xff\xff", b"\x93NUMPY", b"PK\x03\x04"
SQLITE, COMPOUND = b"SQLite format 3\x00", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# Of DuckDB, behind a checksum of 8 bytes; the number of a version follows, whose fourth byte is 0, as in no text.
DUCKDB = b"DUCK"

# Formats by first bytes, each with a remedy.
_KNOWN = {
    PARQUET: "a Parquet file: name it .parquet",
    ARROW: "an Arrow file: name it .arrow",
    STREAM: "a stream of Arrow record batches: name it .arrow",
    FEATHER: "a Feather file of the first version: read it with pyarrow and save it as Parquet",
    NUMPY: "a numpy array: name it .npy",
    ZIP: "a zip or Excel file: name it .zip or .xlsx",
    b"\x1f\x8b": "gzip-compressed: name it .csv.gz, or unpack it",
    SQLITE: "a database of SQLite: name it .db",
    DUCKDB: "a database of DuckDB: name it .duckdb",
    COMPOUND: "an Excel file of the older kind: name it .xls",
    b"\x89HDF": "an HDF5 file: take the table out of it first",
}

# First bytes of the files of a format, and how messages name such files.
_OWN = {
    "parquet": ("not a readable Parquet file", (PARQUET,)),
    "arrow": ("not a readable Arrow or Feather file", (ARROW, STREAM)),
    "npy": ("not a readable numpy file", (NUMPY, ZIP)),
    "npz": ("not a readable numpy file", (NUMPY, ZIP)),
    "workbook": ("not a readable workbook", (ZIP, COMPOUND)),
    "sqlite": ("not a readable database of SQLite", (SQLITE,)),
    "duckdb": ("not a readable database of DuckDB", (DUCKDB,)),
    "zip": ("not a readable zip file", (ZIP, b"PK\x05\x06")),
}

_FORMATS = {
    PARQUET: "parquet",
    ARROW: "arrow",
    FEATHER: "arrow",
    STREAM: "arrow",
    NUMPY: "npy",
    SQLITE: "sqlite",
    DUCKDB: "duckdb",
    COMPOUND: "workbook",
    ZIP: "zip",
    b"{": "json",
    b"[": "json",
}

#: First bytes that are needed to recognise a format by its mark, and by whether they are text.
LONGEST, SOME = max(map(len, _KNOWN)), 4096

#: Marks of encodings at the beginning of a text.
UTF_8, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")

# Bytes that text does not hold.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r"))


def begins(start: bytes, *marks: bytes) -> bool:
    r"""Return whether a file has one of some marks at its beginning.

    Examples
    --------
    >>> begins(b"PAR1", PARQUET), begins(b"PAR1", ARROW, NUMPY), begins(b"checksumDUCK\x40\x00\x00\x00", DUCKDB)
    (True, False, True)
    """
    is_duckdb = start[8:12] == DUCKDB and start[15:16] == b"\x00"
    return any(is_duckdb if mark == DUCKDB else start.startswith(mark) for mark in marks)


def what_it_is(start: bytes) -> str | None:
    """Return the format of a binary file with a remedy; None for text and for unknown formats."""
    if _is_text(start):  # whose first column may be called PAR1
        return None
    return next((what for known, what in _KNOWN.items() if begins(start, known)), None)


def refuse_misnamed(start: bytes, path: str, unlike: str, *own: bytes) -> None:
    """Raise an error that names the format of a file that does not begin with one of ``own``, if it is known."""
    if begins(start, *own):
        return
    what = "text: name it .csv if it is a table" if _is_text(start) else what_it_is(start)
    if what is not None:
        raise DamagedError(f"{path!r} is {unlike} but {what}")


def check_magic(start: bytes, path: str, form: str) -> None:
    """Raise if the first bytes of a file do not match the format of its name."""
    if form in _OWN:
        unlike, own = _OWN[form]
        refuse_misnamed(start, path, unlike, *own)


def format_of_bytes(data: bytes) -> str:
    """Return the format of a table by its first bytes, delimited text where they are of no other."""
    header = data.split(b"\n", 1)[0]
    text = "tsv" if b"\t" in header and b"," not in header else "csv"
    if data.startswith(ZIP):
        return _archive(data)
    return next((form for mark, form in _FORMATS.items() if begins(data, mark)), text)


def _archive(data: bytes) -> str:
    """Return the format of a zip archive by the name of its first member, which begins at byte 30."""
    name = data[30 : 30 + int.from_bytes(data[26:28], "little")]
    if name.endswith(b".npy"):
        return "npz"
    is_book = name == b"mimetype" or name.startswith((b"[Content_Types]", b"_rels/", b"docProps/", b"xl/"))
    return "workbook" if is_book else "zip"


def recognised(data: bytes) -> str | None:
    r"""Return the format of a file of unknown name by its first ``SOME`` bytes; None for unknown binary files.

    Examples
    --------
    >>> recognised(b"a,b\n1,2\n"), recognised(b' {"a": 1}'), recognised(b"\x7fELF\x02\x01")
    ('csv', 'json', None)
    """
    if data.startswith(UTF_16):
        return "csv"
    if not has_control(data):
        return format_of_bytes(data.removeprefix(UTF_8).lstrip())
    is_binary = begins(data, *(mark for mark in _FORMATS if mark not in (b"[", b"{")))
    return format_of_bytes(data) if is_binary else None


def has_control(data: bytes) -> bool:
    """Return whether data hold bytes that text does not."""
    return len(data.translate(None, _CONTROL)) < len(data)


def _is_text(start: bytes) -> bool:
    some = start[: LONGEST + 1]
    return bool(some) and all(32 <= letter < 127 or letter in b"\t\r\n" for letter in some)
