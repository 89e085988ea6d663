"""Formats of files by their names, and the files of a folder or a pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from btests.data.errors import DamagedError, shortly
from btests.data.optional import arrow

Found = TypeVar("Found")

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
        """Return the format of a file, None where its name does not tell."""
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
        try:
            return self._found(path)
        except OSError as error:  # such as a folder without permission, or a name that is too long
            where = path if error.filename is None else os.fspath(error.filename)
            raise ValueError(f"{where!r} cannot be read: {error.strerror or shortly(error)}") from None

    def _found(self, path: str) -> list[str]:
        found = Path(path)
        if not path:
            raise ValueError("there is no file ''")
        if found.is_dir():
            os.listdir(found)  # raises where permission is missing; rglob would find nothing
            inside = sorted(f for f in found.rglob("*") if f.is_file() and not re.match(r"[._]", f.name))
            files = [str(f) for f in inside if self.get(f) is not None and _suffix(f)[0] not in self.ignored]
            if not files:
                raise ValueError(f"the folder {path!r} holds no data files ({self.suffixes()})")
            return files
        if not found.exists() and glob.has_magic(path):
            files = [f for f in sorted(glob.glob(path, recursive=True)) if Path(f).is_file()]
            if not files:
                raise ValueError(f"no file matches {path!r}")
            return files
        if not found.exists():
            raise ValueError(f"there is no file {path!r}")
        return [path]


#: Files of numbers, for `btest`. Notes beside the parts end with .txt as a rule; such a file is read if it is named.
NUMBERS = Formats(("npy", "npz", "parquet", "arrow", "csv", "tsv"), ("csv", "tsv"), (".txt",))

#: Files of tables, for `compare`.
TABLES = Formats(*[tuple(dict.fromkeys(_SUFFIXES.values()))] * 2)


def open_input(path: str) -> Any:
    """Return a file as an open file of pyarrow, uncompressed."""
    return arrow().input_stream(path, compression="gzip" if is_packed(path) else None)


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is gzip-compressed by its name."""
    return _suffix(path)[1]


def _suffix(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the suffix of a file name without .gz, and whether there was one."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes[-1:] == [".gz"]
    return "".join(suffixes[:-1][-1:] if packed else suffixes[-1:]), packed


def good_part(read: Callable[[], Found], skipped: list[str] | None, advice: str = "") -> Found | None:
    """Return what is read of a part, None where it is damaged and its message is added to ``skipped``.

    Parameters
    ----------
    read : callable
        Reads the part.
    skipped : list of str or None
        Messages of damaged parts; None makes damage an error.
    advice : str
        Added to that error.
    """
    try:
        return read()
    except DamagedError as error:
        if skipped is None:
            raise DamagedError(f"{error}{advice}") from None
        skipped.append(str(error))
        return None


def check_same_columns(first: str, names: Sequence[str], part: str, others: Sequence[str]) -> None:
    """Raise where two parts do not have the same columns, in any order."""
    odd = sorted(set(names) ^ set(others))
    if odd:
        raise ValueError(f"the parts {first!r} and {part!r} do not both have {', '.join(map(repr, odd))}")
