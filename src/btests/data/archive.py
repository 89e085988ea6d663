"""Members of zip archives, and tables by their names inside a file."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence

from btests._memory import amount
from btests._text import close_match, shortened, shortly
from btests.data.compression import unpacked
from btests.data.errors import DamagedError, LargeError
from btests.data.file_names import INSIDE

#: What zipfile raises at damaged archives, and at those of other programs; OverflowError at times before 1980.
ZIP_ERRORS = (
    *(OSError, EOFError, UnicodeDecodeError, KeyError, IndexError, NotImplementedError, RuntimeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)

# Names in a message at most, and characters of each.
_SHOWN, _NAME = 8, 60


def choose(names: Sequence[str], wanted: str | None, file: str, noun: str) -> str:
    """Return the table of a file that is wanted, or the only one.

    Parameters
    ----------
    names : sequence of str
        Names of all tables in the file.
    wanted : str or None
        Name after ``::``; None if the user named none.
    file : str
        Name of the file in messages.
    noun : str
        What the tables are, such as ``"sheet"``.

    Examples
    --------
    >>> choose(["a", "b"], "b", "x.db", "table"), choose(["a"], None, "x.db", "table")
    ('b', 'a')
    """
    if not names:
        raise ValueError(f"{file!r} holds no {noun}")
    if wanted in names:
        return str(wanted)
    shown = ", ".join(shortened(name, _NAME) for name in names[:_SHOWN])
    shown += f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        such = f"{file}{INSIDE}{shortened(names[0], _NAME)}"
        raise ValueError(f"{file!r} holds {len(names)} {noun}s, {shown}; name one of them, such as {such!r}")
    near = close_match(wanted, names)
    hint = "" if near is None else f"did you mean {f'{file}{INSIDE}{near}'!r}? "
    raise ValueError(f"there is no {noun} {wanted!r} in {file!r}; {hint or ''}there is {shown}")


def read_member(source: str | bytes, wanted: str | None, file: str, most_bytes: int | None) -> tuple[bytes, str]:
    """Return the contents and the name of a member of an archive, in a file or its contents; the only one for None."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            # Archives of macOS hold a second member for each, with its attributes.
            own = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
            name = choose([member.filename for member in own], wanted, file, "file")
            with archive.open(name) as member:
                return unpacked(member, f"{file}{INSIDE}{name}", most_bytes), name
    except ZIP_ERRORS as error:
        raise DamagedError(f"{file!r} is not a readable zip file, or it is cut off: {shortly(error)}") from None


def check_unpacked_size(source: str | bytes, file: str, most_bytes: int | None) -> None:
    """Raise if the members of an archive declare more than ``most_bytes`` bytes in all; other files pass."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            declared = sum(member.file_size for member in archive.infolist())
    except ZIP_ERRORS:  # a workbook of the older kind, or damaged: raises on reading
        return
    if most_bytes is not None and declared > most_bytes:
        raise LargeError(f"{file!r} unpacks to {amount(declared)}, and may take {amount(most_bytes)}")
