"""Files of folders and patterns, their formats by name and by first bytes, and their digests."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests._memory import amount
from btests._text import shortly
from btests.data.errors import DamagedError, LargeError, MissingFileError, reading

# Files and folders that are looked at for a folder or a pattern, at most: a folder such as / is named by mistake.
_MOST_ENTRIES = 50_000


def inside(folder: str) -> Iterator[Path]:
    """Yield the files in a folder and in the folders inside it, without those whose names begin with . or _."""
    count = 0
    for place, folders, names in os.walk(folder, onerror=_raise):
        count += len(folders) + len(names)
        _require_few(count, folder)
        yield from (Path(place, name) for name in names if not name.startswith((".", "_")))


def matching(pattern: str) -> list[str]:
    """Return what matches a pattern, as `glob.glob` does, which looks at any number of files.

    Folders behind links are not searched by ``**``: a file would be found several times.
    """
    drive, path = os.path.splitdrive(pattern)
    parts = [part for part in path.split(os.sep) if part]
    found = [drive + (os.sep if path.startswith(os.sep) else "")]
    count = 0

    def entries_of(folder: str) -> Iterator[os.DirEntry[str]]:
        nonlocal count
        with suppress(OSError), os.scandir(folder or os.curdir) as entries:
            for entry in entries:
                count += 1
                _require_few(count, pattern)
                yield entry

    for part in parts:
        if part == "**":
            found = list(dict.fromkeys(below for folder in found for below in _below(folder, entries_of)))
        elif glob.has_magic(part):
            fits = re.compile(fnmatch.translate(os.path.normcase(part))).match
            found = [
                os.path.join(folder, entry.name)
                for folder in found
                for entry in entries_of(folder)
                if fits(os.path.normcase(entry.name)) and (part.startswith(".") or not entry.name.startswith("."))
            ]
        else:
            found = [path for path in (os.path.join(folder, part) for folder in found) if os.path.lexists(path)]
    return [folder for folder in found if os.path.isdir(folder)] if pattern.endswith(os.sep) else found


def _below(folder: str, entries_of: Callable[[str], Iterator[os.DirEntry[str]]]) -> Iterator[str]:
    """Yield a folder and everything in it that is not hidden, at any depth."""
    folders = [folder]
    while folders:
        folder = folders.pop()
        yield folder
        for entry in entries_of(folder):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(os.path.join(folder, entry.name))
            else:
                yield os.path.join(folder, entry.name)


def _raise(error: OSError) -> None:
    raise error


def _require_few(count: int, path: str) -> None:
    if count > _MOST_ENTRIES:
        raise ValueError(f"{path!r} holds more than {_MOST_ENTRIES} files and folders; name those of the table")


# Bytes that are unpacked at a time, and the length of the shortest gzip-compressed file.
_UNPACKED, _LEAST_GZIP = 2**22, 18

_SUFFIXES = {
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
}


@dataclass(frozen=True, slots=True)
class Formats:
    """Formats that a reader takes, by the suffixes of file names.

    Attributes
    ----------
    known : tuple of str
        Names of formats.
    packed : tuple of str
        Those that may be gzip-compressed, with .gz after their suffix.
    ignored : tuple of str
        Suffixes that are ignored in folders.
    """

    known: tuple[str, ...]
    packed: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    def get(self, path: str | os.PathLike[str]) -> str | None:
        """Return the format of a file by its name; None if it is unknown."""
        suffix, packed = _suffix(path)
        name = _SUFFIXES.get(suffix)
        return name if name in (self.packed if packed else self.known) else None

    def of(self, path: str) -> str:
        """Return the format of a file, or raise an error that lists the suffixes."""
        found = self.get(path)
        if found is None:
            raise ValueError(f"{path!r} is of no known format by its name; known are {self.suffixes()}")
        return found

    def suffixes(self) -> str:
        """Return the suffixes, as a list in words."""
        packed = "also .gz" if self.packed == self.known else "text also .gz"
        return ", ".join([*(suffix for suffix, name in _SUFFIXES.items() if name in self.known), packed])

    def files(self, path: str) -> list[str]:
        """Return the files of a path: itself, those in a folder, or those that match a pattern, sorted."""
        if not path.isascii() and path != path.encode("utf-8", "replace").decode("utf-8"):  # bytes that are no text
            raise ValueError(f"the name {path!r} is not UTF-8, which readers of files need; rename or link the file")
        try:
            return self._found(path)
        except MissingFileError:
            raise
        except OSError as error:  # such as a folder without permission, or a name that is too long
            where = path if error.filename is None else os.fspath(error.filename)
            raise ValueError(f"{where!r} cannot be read: {error.strerror or shortly(error)}") from None

    def _found(self, path: str) -> list[str]:
        found = Path(path)
        if not path:
            raise ValueError("the name of a file is empty, ''; name a file, a folder or a pattern")
        if found.is_dir():
            parts = sorted(f for f in inside(path) if self.get(f) is not None and _suffix(f)[0] not in self.ignored)
            files = [str(f) for f in parts if f.is_file()]
            if not files:
                raise ValueError(f"the folder {path!r} holds no data files ({self.suffixes()})")
            return files
        if not found.exists() and glob.has_magic(path):
            files = [f for f in sorted(matching(path)) if Path(f).is_file()]
            if not files:
                raise MissingFileError(f"no file matches {path!r}")
            return files
        if not found.exists():
            raise MissingFileError(f"there is no file {path!r}")
        if not found.is_file():  # a pipe can be read once, and may have no writer
            raise ValueError(f"{path!r} is a pipe or a device; name a file, or save the data to one first")
        return [path]


#: Files of numbers, for `btest`. Notes beside the parts end with .txt as a rule; such a file is read if it is named.
NUMBERS = Formats(("npy", "npz", "parquet", "arrow", "csv", "tsv"), ("csv", "tsv"), (".txt",))

#: Files of tables, for `compare`.
TABLES = Formats(*[tuple(dict.fromkeys(_SUFFIXES.values()))] * 2)


def open_input(path: str) -> Any:
    """Return a file as an open file of pyarrow, uncompressed."""
    return arrow().input_stream(path, compression="gzip" if is_packed(path) else None)


def unpacked(file: Any, where: str, most_bytes: int | None) -> bytes:
    """Return all bytes of an open file; raise where they are more than ``most_bytes``."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_UNPACKED):
        pieces.append(piece)
        size += len(piece)
        if most_bytes is not None and size > most_bytes:
            raise LargeError(f"{where!r} unpacks to more than {amount(most_bytes)}, which is what it may take")
    return b"".join(pieces)


def declared_size(path: str | os.PathLike[str]) -> int:
    """Return the unpacked size of a gzip-compressed file by its last bytes, which hold it modulo 4 GB."""
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) < _LEAST_GZIP:
            return 0
        file.seek(-4, os.SEEK_END)
        return int.from_bytes(file.read(4), "little")


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is gzip-compressed by its name."""
    return _suffix(path)[1]


def _suffix(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the suffix of a file name without .gz, and whether there was one."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes[-1:] == [".gz"]
    return "".join(suffixes[:-1][-1:] if packed else suffixes[-1:]), packed


# Bytes that are read at a place, and places in a file: the first, the last, and some evenly between them.
_PIECE = 2**12
_MOST_PLACES = 16

# Places in all files together, about; at least the first and the last of each file.
_PLACES = 2**13


def digests(paths: Sequence[str]) -> list[str]:
    """Return a digest of each file, of bytes at fixed places.

    A file that is rewritten with other numbers has another digest, nearly always. One in which single cells are changed
    in place, between the places that are read, has the same digest.
    """
    n_places = max(2, min(_MOST_PLACES, _PLACES // max(1, len(paths))))
    return [_digest(path, n_places) for path in paths]


def _digest(path: str, n_places: int) -> str:
    found = hashlib.blake2b(digest_size=16)
    with reading(path), open(path, "rb", buffering=0) as file:
        last = max(0, os.fstat(file.fileno()).st_size - _PIECE)
        for start in sorted({last * i // (n_places - 1) for i in range(n_places)}):
            file.seek(start)
            found.update(file.read(_PIECE))
    return found.hexdigest()


PARQUET, ARROW, FEATHER = b"PAR1", b"ARROW1", b"FEA1"
STREAM, NUMPY, ZIP = b"\xff\xff\xff\xff", b"\x93NUMPY", b"PK\x03\x04"

# Formats by first bytes, each with a remedy.
_KNOWN = {
    PARQUET: "a Parquet file: name it .parquet",
    ARROW: "an Arrow file: name it .arrow",
    STREAM: "a stream of Arrow record batches: name it .arrow",
    FEATHER: "a Feather file of the first version: read it with pyarrow and save it as Parquet",
    NUMPY: "a numpy array: name it .npy",
    ZIP: "a zip or Excel file: take the table out of it first",
    b"\x1f\x8b": "gzip-compressed: name it .csv.gz, or unpack it",
    b"SQLite format 3\x00": "a database of SQLite: take the table out of it first",
    b"\x89HDF": "an HDF5 file: take the table out of it first",
}

# First bytes of the files of a format, and how messages name such files.
_OWN = {
    "parquet": ("not a readable Parquet file", (PARQUET,)),
    "arrow": ("not a readable Arrow or Feather file", (ARROW, STREAM)),
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
    """Raise if the first bytes of a file do not match the format of its name."""
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
