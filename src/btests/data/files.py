"""Files of folders and patterns, their formats by name or by content, and their digests."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from btests._text import close_match, shortly
from btests.data.compression import open_input
from btests.data.errors import MissingFileError, reading
from btests.data.formats import CODECS, CONTAINERS, INSIDE, SOME, SUFFIXES, file_of, inside_of, recognised, split_suffix
from btests.data.splits import check_one_split, without_notes

# Suffixes of files of several formats, which their first bytes tell.
_SHARED = (".db",)

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


def _similar(path: str) -> str:
    """Return a question that names the entry of the same folder whose name is most like that of a path; empty if none.

    What is named after ``::`` is kept.
    """
    file, inner = file_of(path), inside_of(path)
    with suppress(OSError, ValueError), os.scandir(os.path.dirname(file) or os.curdir) as entries:
        names = [entry.name for entry in islice(entries, _MOST_ENTRIES)]
        own = os.path.basename(file)
        # Without suffixes, which are alike in any case: a.csv is not near c.csv.
        stem = close_match(own.split(".")[0], {name.split(".")[0] for name in names})
        if stem is not None:
            alike = [name for name in names if name.split(".")[0] == stem]
            near = os.path.join(os.path.dirname(file), close_match(own, alike) or min(alike))
            return f"; did you mean {near if inner is None else near + INSIDE + inner!r}?"
    return ""


def _raise(error: OSError) -> None:
    raise error


def _require_few(count: int, path: str) -> None:
    if count > _MOST_ENTRIES:
        raise ValueError(f"{path!r} holds more than {_MOST_ENTRIES} files and folders; name those of the table")


@dataclass(frozen=True, slots=True)
class Formats:
    """Formats that a reader takes, by the suffixes of file names.

    Attributes
    ----------
    known : tuple of str
        Names of formats.
    packed : tuple of str
        Those that may be compressed, with .gz or its like after their suffix.
    ignored : tuple of str
        Suffixes that are ignored in folders.
    by_content : bool
        Whether files of other names are recognised by their first bytes.
    """

    known: tuple[str, ...]
    packed: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    by_content: bool = False

    def get(self, path: str | os.PathLike[str]) -> str | None:
        """Return the format of a file by its name; None if it is unknown."""
        suffix, codec = split_suffix(path)
        name = SUFFIXES.get(suffix)
        return name if name in (self.packed if codec else self.known) else None

    def find(self, path: str | os.PathLike[str]) -> str | None:
        """Return the format of a file by its name, or by its content if its name is of no format; None if unknown."""
        found, suffix = self.get(path), split_suffix(path)[0]
        if found == "npz" and inside_of(path) is not None:
            return "zip"  # one of its arrays is a member
        if not self.by_content or (suffix in SUFFIXES and suffix not in _SHARED):
            return found
        try:
            with reading(os.fspath(path)), open_input(file_of(path)) as file:
                form = recognised(bytes(file.read(SOME)))
        except ValueError:  # raises on reading
            return found
        if found is not None:
            return form if form in CONTAINERS else found
        return form if form in self.known else None

    def of(self, path: str) -> str:
        """Return the format of a file, or raise an error that lists the suffixes."""
        found = self.find(path)
        if found is None:
            raise ValueError(f"{path!r} is of no known format by its name; known are {self.suffixes()}")
        return found

    def are_images(self, files: Sequence[str]) -> bool:
        """Return whether all files are images, which are the rows of one sample."""
        return bool(files) and all(self.get(file) == "image" for file in files)

    def suffixes(self) -> str:
        """Return the suffixes, as a list in words."""
        packed = f"{'also' if self.packed == self.known else 'text also'} {', '.join(CODECS)}"
        return ", ".join([*(suffix for suffix, name in SUFFIXES.items() if name in self.known), packed])

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
            parts = sorted(
                f for f in inside(path) if self.get(f) is not None and split_suffix(f)[0] not in self.ignored
            )
            files = without_notes([str(f) for f in parts if f.is_file()])
            if not files:  # pictures beside tables are none of them
                files = sorted(str(f) for f in inside(path) if self.get(f) == "image" and f.is_file())
            if not files:
                raise ValueError(f"the folder {path!r} holds no data files ({self.suffixes()})")
            check_one_split(path, files)
            return files
        if not found.exists() and inside_of(path) is not None and Path(file_of(path)).is_file():
            if self.find(path) not in (None, *CONTAINERS):
                raise ValueError(f"{file_of(path)!r} holds one table; name it without '{INSIDE}{inside_of(path)}'")
            return [path]
        if not found.exists() and glob.has_magic(path):
            files = [f for f in sorted(matching(path)) if Path(f).is_file()]
            if not files:
                raise MissingFileError(f"no file matches {path!r}")
            return files
        if not found.exists():
            raise MissingFileError(f"there is no file {path!r}{_similar(path)}")
        if not found.is_file():  # a pipe can be read once, and may have no writer
            raise ValueError(f"{path!r} is a pipe or a device; name a file, or save the data to one first")
        return [path]


#: Files of numbers, for `btest`. Notes beside the parts end with .txt as a rule; such a file is read if it is named.
NUMBERS = Formats(
    ("npy", "npz", "parquet", "arrow", "csv", "tsv", "image"),
    ("csv", "tsv"),
    (".txt", *(suffix for suffix, form in SUFFIXES.items() if form == "image")),
)

#: Files of tables, for `compare`.
TABLES = Formats(
    tuple(dict.fromkeys(SUFFIXES.values())),
    tuple(form for form in dict.fromkeys(SUFFIXES.values()) if form not in CONTAINERS),
    tuple(
        suffix for suffix, form in SUFFIXES.items() if form in (*CONTAINERS, "image")
    ),  # such as Thumbs.db beside parts
    by_content=True,
)


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
