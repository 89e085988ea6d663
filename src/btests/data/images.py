"""Images of one size as rows of numbers: grey or RGB values between 0 and 1, row by row of pixels."""

from __future__ import annotations

import re
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._imports import arrow, optional
from btests._memory import amount
from btests._text import shortly
from btests.data.errors import DamagedError, LargeError
from btests.data.source import Rows
from btests.plan import Index

#: Name of the column of images in tables.
COLUMN = "image"

# Metadata of this column: rows, columns and colours.
_SHAPE = b"btests.image"

# Numbers of an image at most.
_LARGEST = 2**24

# What Pillow raises at damaged images.
_ERRORS = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, struct.error, zlib.error)

# Modes of Pillow for grey images; those of more than 8 bits are numbers up to 65535.
_GREY, _DEEP = ("1", "L", "LA"), ("I", "I;16", "I;16B", "I;16L", "F")


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Rows of the images in some files, all of one size, which are decoded as they are read.

    Attributes
    ----------
    name : str
        Name in messages.
    paths : tuple of str
        The files.
    size : (int, int)
        Width and height in pixels.
    n_colours : int
        1 for grey images, 3 for RGB.
    """

    name: str
    paths: tuple[str, ...] = field(repr=False)
    size: tuple[int, int]
    n_colours: int

    @property
    def n_rows(self) -> int:
        """Number of images."""
        return len(self.paths)

    @property
    def width(self) -> int:
        """Numbers of an image."""
        return self.size[0] * self.size[1] * self.n_colours

    @property
    def names(self) -> None:
        """Pixels have no names."""
        return

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows."""
        return np.dtype(np.float32)

    @property
    def skipped(self) -> tuple[str, ...]:
        """No image was skipped."""
        return ()

    def units(self) -> None:
        """Any image can be read by itself."""
        return

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self.take(np.arange(first, last))

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        found = np.empty((len(rows), self.width), dtype=np.float32)
        for place, row in enumerate(np.asarray(rows).tolist()):
            found[place] = self._decoded(self.paths[row])
        return found

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, at most ``n_rows`` at a time: each (m, width)."""
        for first in range(0, self.n_rows, n_rows):
            yield self.read(first, min(first + n_rows, self.n_rows))

    def _decoded(self, path: str) -> Rows:
        with _opened(path) as image:
            if image.size != self.size:
                raise DamagedError(f"{path!r} has changed since it was opened")
            try:
                if image.mode in _DEEP:
                    deep: Rows = np.asarray(image, dtype=np.float32) / np.float32(65535.0)
                    grey = np.clip(deep, np.float32(0.0), np.float32(1.0)).ravel()
                    return np.repeat(grey, self.n_colours)
                image.info.pop("transparency", None)  # which is ignored, and Pillow warns of it
                pixels: Rows = np.asarray(image.convert("L" if self.n_colours == 1 else "RGB"))
            except _ERRORS as error:
                raise DamagedError(f"{path!r} is no readable image, or it is cut off: {shortly(error)}") from None
        found: Rows = pixels.astype(np.float32).ravel() / np.float32(255.0)
        return found


def open_images(name: str, paths: Sequence[str]) -> ImageSource:
    """Return the source of image files; raise unless all have one size. Only their headers are read.

    Images are RGB if one of them has colours.
    """
    first: tuple[int, int] | None = None
    has_colours = False
    for path in paths:
        with _opened(path) as image:
            size, mode = image.size, image.mode
        if first is None:
            first = size
        if size != first:
            sizes = f"{size[0]} x {size[1]} pixels, and {paths[0]!r} has {first[0]} x {first[1]}"
            raise ValueError(
                f"{path!r} has {sizes}; images are compared in one size, to which they must be resized first"
            )
        has_colours = has_colours or mode not in (*_GREY, *_DEEP)
    assert first is not None, "there is a file"
    return ImageSource(name, tuple(paths), first, 3 if has_colours else 1)


def image_table(name: str, paths: Sequence[str], most_bytes: int | None) -> Any:
    """Return a table with a column of the images in some files, each a list of numbers."""
    source = open_images(name, paths)
    size = source.n_rows * source.width * source.dtype.itemsize
    if most_bytes is not None and size > most_bytes:
        raise LargeError(f"{name!r} holds images of {amount(size)}, and may take {amount(most_bytes)}")
    pa = arrow()
    values = pa.array(source.read(0, source.n_rows).ravel())
    images = pa.FixedSizeListArray.from_arrays(values, source.width)
    shape = f"{source.size[1]},{source.size[0]},{source.n_colours}"
    return pa.table([images], schema=pa.schema([pa.field(COLUMN, images.type, metadata={_SHAPE: shape})]))


def image_shape(field: Any) -> tuple[int, int, int] | None:
    """Return rows, columns and colours of the images of an arrow field, None if it does not say them."""
    text = (field.metadata or {}).get(_SHAPE, b"")
    found = re.fullmatch(rb"(\d{1,9}),(\d{1,9}),([13])", text)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def _opened(path: str) -> Any:
    """Return an image whose header was read; raise where it declares too many pixels."""
    pillow = optional("PIL.Image", "python -m pip install 'btests[images]'")
    if isinstance(pillow, str):
        raise ValueError(f"{path!r} is an image, and reading it needs Pillow; {pillow}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image = pillow.open(path, formats=("PNG", "JPEG"))
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise DamagedError(f"{path!r} declares more pixels than an image may have, {_LARGEST // 3}") from None
    except (*_ERRORS, Warning) as error:
        what = getattr(error, "strerror", None) or "it does not begin as one, or is damaged"
        raise DamagedError(f"{path!r} is no readable image of PNG or JPEG: {what}") from None
    if 3 * image.size[0] * image.size[1] > _LARGEST:
        image.close()
        raise DamagedError(
            f"{path!r} declares {image.size[0]} x {image.size[1]} pixels; an image has {_LARGEST // 3} at most"
        )
    return image
