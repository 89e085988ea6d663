"""Formats by the first bytes of files, and errors of files that are named like something else."""

from __future__ import annotations

from btests.data.errors import DamagedError

PARQUET, ARROW, FEATHER = b"PAR1", b"ARROW1", b"FEA1"
STREAM, NUMPY, ZIP = b"\xff\xff\xff\xff", b"\x93NUMPY", b"PK\x03\x04"

# Formats by first bytes, each with a remedy.
_KNOWN = {
    PARQUET: "a Parquet file: name it .parquet",
    ARROW: "an Arrow file: name it .arrow",
    STREAM: "a stream of Arrow record batches: name it .arrow",
    FEATHER: "a Feather file of the first version: name it .feather",
    NUMPY: "a numpy array: name it .npy",
    ZIP: "a zip or Excel file: take the table out of it first",
    b"\x1f\x8b": "gzip-compressed: name it .csv.gz, or unpack it",
    b"SQLite format 3\x00": "a database of SQLite: take the table out of it first",
    b"\x89HDF": "an HDF5 file: take the table out of it first",
}

# First bytes of the files of a format, and how messages name such files.
_OWN = {
    "parquet": ("not a readable Parquet file", (PARQUET,)),
    "arrow": ("not a readable Arrow or Feather file", (ARROW, FEATHER, STREAM)),
    "npy": ("not a readable numpy file", (NUMPY, ZIP)),
    "npz": ("not a readable numpy file", (NUMPY, ZIP)),
}

_FORMATS = {
    PARQUET: "parquet",
    ARROW: "arrow",
    FEATHER: "arrow",
    STREAM: "arrow",
    NUMPY: "npy",
    ZIP: "npz",
    b"{": "json",
    b"[": "json",
}

#: First bytes that are needed to recognise a format.
LONGEST = max(map(len, _KNOWN))


def what_it_is(start: bytes) -> str | None:
    """Return the format of a binary file with a remedy; None for text and for unknown formats."""
    if _is_text(start):  # whose first column may be called PAR1
        return None
    return next((what for known, what in _KNOWN.items() if start.startswith(known)), None)


def refuse_misnamed(start: bytes, path: str, unlike: str, *own: bytes) -> None:
    """Raise an error that names the format of a file that does not begin with one of ``own``, if it is known."""
    if start.startswith(own):
        return
    what = "text: name it .csv if it is a table" if _is_text(start) else what_it_is(start)
    if what is not None:
        raise DamagedError(f"{path!r} is {unlike} but {what}")


def check_magic(start: bytes, path: str, form: str) -> None:
    """Raise where a file is of another format than its name says."""
    if form in _OWN:
        unlike, own = _OWN[form]
        refuse_misnamed(start, path, unlike, *own)


def format_of_bytes(data: bytes) -> str:
    """Return the format of a table by its first bytes, delimited text where they are of no other."""
    header = data.split(b"\n", 1)[0]
    text = "tsv" if b"\t" in header and b"," not in header else "csv"
    return next((form for start, form in _FORMATS.items() if data.startswith(start)), text)


def _is_text(start: bytes) -> bool:
    some = start[: LONGEST + 1]
    return bool(some) and all(32 <= letter < 127 or letter in b"\t\r\n" for letter in some)
