"""Headers of numpy arrays in files, checked before anything is read by them."""

from __future__ import annotations

import math
import tokenize
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from btests._text import shortly
from btests.data.errors import DamagedError

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
