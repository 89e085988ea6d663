"""Compressed files, and the contents of such files, as open files of what is packed in them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from typing import Any

from btests._imports import arrow
from btests._memory import amount
from btests.data.errors import LargeError
from btests.data.formats import SUFFIXES, split_suffix

# Bytes that are unpacked at a time, and the length of the shortest gzip-compressed file.
_UNPACKED, _LEAST_GZIP = 2**22, 18

# First bytes of compressed files; those of bzip2 have the size of its blocks, a digit, between these.
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
_BZIP2 = b"BZh", b"1AY&SY"


def codec_of(path: str | os.PathLike[str]) -> str | None:
    """Return the compression of a file by its name, or by its first bytes if its name has no known suffix."""
    suffix, codec = split_suffix(path)
    if codec is not None or suffix in SUFFIXES:
        return codec
    try:
        with open(path, "rb") as file:
            return codec_of_bytes(file.read(16))
    except (OSError, ValueError):  # raises on reading
        return None


def codec_of_bytes(start: bytes) -> str | None:
    """Return the compression of data by its first bytes.

    Examples
    --------
    >>> import bz2, gzip
    >>> codec_of_bytes(gzip.compress(b"a")), codec_of_bytes(bz2.compress(b"a")), codec_of_bytes(b"BZh,size")
    ('gzip', 'bz2', None)
    """
    if start.startswith(_BZIP2[0]) and start[4:].startswith(_BZIP2[1]):
        return "bz2"
    return next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)


def open_input(path: str) -> Any:
    """Return a file as an open file, uncompressed."""
    codec = codec_of(path)
    if codec == "bz2":
        return bz2.open(path)
    if codec == "xz":  # which pyarrow does not read
        return lzma.open(path)
    return arrow().input_stream(path, compression=codec)


def open_bytes(data: bytes, codec: str | None) -> Any:
    """Return the contents of a file as an open file, uncompressed."""
    if codec == "zstd":
        return arrow().CompressedInputStream(arrow().BufferReader(data), codec)
    file = io.BytesIO(data)
    openers: dict[str | None, Callable[[Any], Any]] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    return openers[codec](file) if codec in openers else file


def unpacked(file: Any, where: str, most_bytes: int | None) -> bytes:
    """Return all bytes of an open file; raise where they are more than ``most_bytes``."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_UNPACKED):
        pieces.append(piece)
        size += len(piece)
        if most_bytes is not None and size > most_bytes:
            raise LargeError(f"{where!r} unpacks to more than {amount(most_bytes)}, which is what it may take")
    return b"".join(pieces)


def declared_size(path: str | os.PathLike[str]) -> int:
    """Return the unpacked size of a gzip-compressed file by its last bytes, which hold it modulo 4 GB."""
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) < _LEAST_GZIP:
            return 0
        file.seek(-4, os.SEEK_END)
        return int.from_bytes(file.read(4), "little")
