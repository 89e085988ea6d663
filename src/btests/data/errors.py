"""Errors of files, and the wording of their messages."""

from __future__ import annotations

import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from btests._memory import amount
from btests._text import shortened, shortly

Found = TypeVar("Found")

# Characters of a cell that a message quotes.
_CELL = 40


class DamagedError(ValueError):
    """Raised if a file cannot be read, or not to its end."""


class MissingFileError(FileNotFoundError, ValueError):
    """Raised if there is no file of a name, or none that matches a pattern."""


class LargeError(ValueError):
    """Raised if a file would take more memory than it may."""


def check_memory(size: int, most_bytes: int | None, where: str) -> None:
    """Raise a `LargeError` if a table takes more memory than ``most_bytes``."""
    if most_bytes is not None and size > most_bytes:
        raise LargeError(f"{where!r} takes more than {amount(most_bytes)} in memory, which is what it may take")


def quoted(cell: str) -> str:
    """Return a cell in quotes, the beginning of it if it is long."""
    return repr(shortened(cell, _CELL))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Raise a `DamagedError` that names the file in place of the errors of pyarrow, gzip and the operating system."""
    try:
        yield
    except _errors() as error:
        if isinstance(error, OSError) and error.strerror:
            raise DamagedError(f"{path!r} cannot be read: {error.strerror}") from None
        raise DamagedError(f"{path!r} is damaged or cut off: {shortly(error)}") from None


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of readers; those of pyarrow where it is imported: .npy files are read without it."""
    pa = sys.modules.get("pyarrow")
    own = (OSError, EOFError, UnicodeDecodeError, zlib.error, lzma.LZMAError)
    return own if pa is None else (*own, pa.ArrowException)


def good_part(read: Callable[[], Found], skipped: list[str] | None, advice: str = "") -> Found | None:
    """Return the value of ``read()``; None if the part is damaged and its message was added to ``skipped``.

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
