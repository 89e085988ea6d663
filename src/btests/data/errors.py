"""Errors of files, and the wording of their messages."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

# Characters of a reader's own message, and of a cell, that a message quotes.
_MESSAGE, _CELL = 160, 40


class DamagedError(ValueError):
    """Raised if a file cannot be read, or not to its end."""


def shortly(error: BaseException) -> str:
    """Return the first sentence of a message, short enough to be part of one."""
    text = str(error).strip() or type(error).__name__
    return _shortened(re.split(r"\n|\. (?=[A-Z])", text)[0].rstrip(". "), _MESSAGE)


def quoted(cell: str) -> str:
    """Return a cell in quotes, the beginning of it if it is long."""
    return repr(_shortened(cell, _CELL))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


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
    own = (OSError, EOFError, UnicodeDecodeError, zlib.error)
    return own if pa is None else (*own, pa.ArrowException)
