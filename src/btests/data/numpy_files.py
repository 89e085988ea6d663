"""Arrays in .npy and .npz files."""

from __future__ import annotations

import io
import math
import os
import tokenize
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy_format

from btests._memory import amount
from btests._text import shortly
from btests.data.containers import ZIP_ERRORS
from btests.data.errors import DamagedError, LargeError
from btests.data.formats import ZIP

# What numpy raises at headers that are no dictionary of shape, order and type.
_ERRORS = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, SyntaxError, tokenize.TokenError),
    *(RecursionError, MemoryError, EOFError),
)


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """Header of an array.

    Attributes
    ----------
    shape : tuple of int
        Its shape.
    by_column : bool
        Whether the order is Fortran's.
    dtype : numpy.dtype
        Type of its cells, no objects.
    offset : int
        Byte at which the cells begin.
    """

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def order(self) -> Literal["C", "F"]:
        """Order of the cells, as numpy names it."""
        return "F" if self.by_column else "C"

    @property
    def n_bytes(self) -> int:
        """Bytes of all cells."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: Any, where: str, size: int) -> NpyHeader:
    """Return the header at the beginning of an open file of ``size`` bytes, which hold all of its cells.

    Parameters
    ----------
    file : file object
        The file, at its beginning.
    where : str
        Its name in messages.
    size : int
        Its size.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of Python 2 take numpy longer
            version = npy_format.read_magic(file)
            read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
            shape, by_column, dtype = read(file)
    except _ERRORS as error:
        raise DamagedError(f"{where!r} is not a readable numpy file, or it is cut off: {shortly(error)}") from None
    header = NpyHeader(shape, bool(by_column), dtype, file.tell())
    if dtype.hasobject:
        raise ValueError(f"{where!r} holds Python objects, which are never loaded; save plain numbers")
    if len(shape) not in (1, 2):
        raise ValueError(f"{where!r} must have rows and columns, (n, d) or (n,), got shape {shape}")
    if min(shape) < 0:
        raise DamagedError(f"{where!r} is damaged: its shape is {shape}")
    if shape[-1] == 0 and len(shape) == 2:
        raise ValueError(f"{where!r} has no columns")
    if shape[0] == 0:
        raise ValueError(f"{where!r} has no rows")
    if not dtype.itemsize:
        raise ValueError(f"{where!r} holds {dtype}, cells of no bytes")
    missing = header.offset + header.n_bytes - size
    if missing > 0:
        raise DamagedError(f"{where!r} is cut off: {missing} bytes of its {shape[0]} rows are missing")
    return header


# Bytes of an archive that are unpacked at a time.
_BYTES = 2**22


def load_arrays(
    source: str | bytes, where: str, *, mapped: bool = False, most_bytes: int | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays in a .npy or .npz file by their names; that of a .npy file has none.

    Parameters
    ----------
    source : str or bytes
        The path of the file, or its contents.
    where : str
        Its name in messages.
    mapped : bool
        Whether to map a .npy file to memory; it must then be a path.
    most_bytes : int or None
        Bytes that arrays of an archive may have in all; None is any number.
    """
    with Path(source).open("rb") if isinstance(source, str) else io.BytesIO(source) as file:
        is_archive = file.read(len(ZIP)) == ZIP
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if not is_archive:
            header = read_header(file, where, size)
            if mapped and header.n_bytes:
                return {"": np.memmap(file, header.dtype, "r", header.offset, header.shape, header.order)}
            return {"": _cells(file, header, where)}
        try:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, where, most_bytes)
        except ZIP_ERRORS as error:
            raise DamagedError(f"{where!r} is not a readable numpy file, or it is cut off: {shortly(error)}") from None


def _members(archive: zipfile.ZipFile, where: str, most_bytes: int | None) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays in an archive, by the names of its members."""
    members = archive.infolist()
    declared = sum(member.file_size for member in members)
    if most_bytes is not None and declared > most_bytes:
        raise LargeError(f"{where!r} holds arrays of {amount(declared)}, and may take {amount(most_bytes)}")
    found: dict[str, np.ndarray[Any, Any]] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in found:
            raise DamagedError(f"{where!r} has more than one array called {name!r}")
        if name == member.filename:
            raise DamagedError(f"{where!r} is no archive of arrays: it holds {name!r}")
        with archive.open(member) as file:
            found[name] = _cells(file, read_header(file, where, member.file_size), where)
            if file.read(1):  # the sum of an archive is checked where a member ends
                raise DamagedError(f"{where!r} is damaged: {name!r} is longer than its array")
    return found


def _cells(file: Any, header: NpyHeader, where: str) -> np.ndarray[Any, Any]:
    """Return the array behind a header, with no more memory than the array needs."""
    data = np.empty(header.n_bytes, dtype=np.uint8)
    done = 0
    while done < len(data):
        piece = file.read(min(_BYTES, len(data) - done))
        if not piece:
            raise DamagedError(f"{where!r} is cut off: {len(data) - done} bytes are missing")
        data[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        done += len(piece)
    return data.view(header.dtype).reshape(header.shape, order=header.order)
