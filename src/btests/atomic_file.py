"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # a system that does not remove files that are open
    fcntl = None  # type: ignore[assignment]

# Seconds after which a draft that no process has locked is taken for one of a process that was killed.
_STALE = 10.0

# Bytes of the name of a file that the name of the one beside it begins with: names have 255 bytes at most.
_LONGEST = 200


def write_file(path: Path, write: Callable[[IO[bytes]], object], *, force: bool) -> None:
    """Write a file beside its place, and move it there when it is complete.

    Readers see the file that was there, or the new one. If writing fails, the former is unchanged and nothing is left.
    A process that is killed leaves its draft, ``.name.<16 hex digits>.draft``; the next that writes there removes it.

    Parameters
    ----------
    path : Path
        File to write; of a link its target. A pipe may have no reader: what is no file is refused.
    write : callable
        Writes the contents to an open file.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    FileExistsError
        If ``path`` exists, also since a moment ago, and ``force`` is False.
    OSError
        If the file cannot be written.
    """
    if not force and os.path.lexists(path):
        raise _exists(path)
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "it is there, and is no file", str(path))
    name = os.fsdecode(os.fsencode(place.name)[:_LONGEST])
    _remove_stale(place.parent, name)
    beside = place.with_name(f".{name}.{secrets.token_hex(8)}.draft")
    # Not mkstemp, whose files other users cannot read: the rights are those that open() would give.
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            _lock(file.fileno())
            if place.exists():
                os.chmod(beside, stat.S_IMODE(place.stat().st_mode))
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if force or not _linked(beside, place):  # while it is locked
                os.replace(beside, place)
            else:
                beside.unlink()
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _linked(beside: Path, place: Path) -> bool:
    """Give a file the name of its place, which no file has, in one step; return False where it is only reserved."""
    try:
        os.link(beside, place)
    except FileExistsError:
        raise _exists(place) from None
    except OSError:  # a file system without hard links
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return False
    return True


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _remove_stale(folder: Path, name: str) -> None:
    """Remove drafts of a file that are ours, old, and locked by no process; errors are no reason not to write."""
    drafts = re.compile(re.escape(f".{name}.") + r"[0-9a-f]{16}\.draft")
    with suppress(OSError):
        for entry in os.scandir(folder):
            if drafts.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_stale(entry.path)


def _remove_if_stale(draft: str) -> None:
    found = os.lstat(draft)
    own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not own or not stat.S_ISREG(found.st_mode) or abs(time.time() - found.st_mtime) < _STALE:
        return
    if fcntl is None:
        os.unlink(draft)  # an error where a process has it open
        return
    handle = os.open(draft, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.lstat(draft)):
            os.unlink(draft)
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Lock a draft until it is closed, where the file system has locks."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
