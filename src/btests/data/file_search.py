"""Files in folders and of patterns, with a bound on what is looked at."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

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
