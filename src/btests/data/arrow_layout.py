"""Memory of the record batches of Arrow files, as the files declare it, before anything is decompressed.

pyarrow decompresses a record batch as a whole, and does not tell its size before. The layout is that of the format:
https://arrow.apache.org/docs/format/Columnar.html, with tables of flatbuffers.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from btests._memory import amount
from btests.data.errors import DamagedError, LargeError, check_memory

# Kinds of messages, and the mark before those of newer versions.
_DICTIONARY, _BATCH = 2, 3
_MARK = b"\xff\xff\xff\xff"

# Magic bytes at the end of a file, and the bytes of a block in its footer.
_MAGIC, _BLOCK = b"ARROW1", 24


def refuse_large_batches(
    source: str | bytes, where: str, kind: str, *, most_batch: int | None = None, most_all: int | None = None
) -> None:
    """Raise a `LargeError` if a record batch, or all of them, take more memory than they may.

    Parameters
    ----------
    source : str or bytes
        The path of the file, or its contents.
    where : str
        Its name in messages.
    kind : str
        ``"file"`` or ``"stream"``.
    most_batch, most_all : int, optional
        Bytes of one record batch, and of all.
    """
    with Path(source).open("rb") if isinstance(source, str) else io.BytesIO(source) as file:
        total = 0
        try:
            for size in batch_bytes(file, kind):
                total += size
                if most_batch is not None and size > most_batch:
                    what = f"a record batch of {amount(size)}, and may take {amount(most_batch)}"
                    raise LargeError(f"{where!r} has {what}")
                check_memory(total, most_all, where)
        except (struct.error, OverflowError) as error:
            raise DamagedError(f"{where!r} is damaged or cut off: its record batches are not where it says") from error


def table_bytes(path: str) -> int:
    """Return the bytes of all record batches of an Arrow file, uncompressed; 0 where it is none, or damaged."""
    with Path(path).open("rb") as file:
        start = file.read(len(_MAGIC))
        kind = {_MAGIC: "file", _MARK: "stream"}.get(start if start == _MAGIC else start[: len(_MARK)])
        try:
            return 0 if kind is None else sum(batch_bytes(file, kind))
        except (struct.error, OverflowError):
            return 0


def batch_bytes(file: IO[bytes], kind: str) -> Iterator[int]:
    """Yield the bytes of each record batch or dictionary in an open file, uncompressed, as the file declares them."""
    for start, length in _blocks(file) if kind == "file" else _messages(file):
        file.seek(max(0, start))
        yield _declared(file, file.read(max(0, length)), start + length)


def _blocks(file: IO[bytes]) -> list[tuple[int, int]]:
    """Return place and length of the metadata of each record batch and dictionary, by the footer of a file."""
    end = file.seek(0, io.SEEK_END) - len(_MAGIC) - 4
    file.seek(max(0, end))
    (length,) = struct.unpack("<i", file.read(4))
    file.seek(max(0, end - length))
    footer = file.read(max(0, length))
    root, found = _number("<I", footer, 0), []
    for vector in (2, 3):
        place = _field(footer, root, vector)
        if place:
            place += _number("<I", footer, place)
            for k in range(_number("<I", footer, place)):
                start, size = struct.unpack_from("<qi", footer, place + 4 + _BLOCK * k)
                found.append((start, size))
    return found


def _messages(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield place and length of the metadata of each message of a stream."""
    start, size = 0, file.seek(0, io.SEEK_END)
    while start + 4 <= size:
        file.seek(start)
        prefix = file.read(8)
        before = 8 if prefix.startswith(_MARK) else 4
        length = _number("<i", prefix, before - 4)
        if length <= 0:
            return
        yield start, before + length
        file.seek(start + before)
        metadata = file.read(length)
        body = _field(metadata, _number("<I", metadata, 0), 3)
        n_bytes = _number("<q", metadata, body) if body else 0
        if n_bytes < 0:
            return
        start += before + length + n_bytes


def _declared(file: IO[bytes], data: bytes, body: int) -> int:
    """Return the bytes of a record batch: its metadata with their prefix, and the place of its body."""
    metadata = data[8:] if data.startswith(_MARK) else data[4:]
    message = _number("<I", metadata, 0)
    kind, place = _field(metadata, message, 1), _field(metadata, message, 2)
    what = _number("<B", metadata, kind) if kind and place else 0
    if what not in (_DICTIONARY, _BATCH):
        return 0
    batch = place + _number("<I", metadata, place)
    if what == _DICTIONARY:
        place = _field(metadata, batch, 1)
        batch = place + _number("<I", metadata, place)
    buffers = _field(metadata, batch, 2)
    if not buffers:
        return 0
    buffers += _number("<I", metadata, buffers)
    is_compressed = bool(_field(metadata, batch, 3))
    total = 0
    for k in range(_number("<I", metadata, buffers)):
        offset, length = struct.unpack_from("<qq", metadata, buffers + 4 + 16 * k)
        if is_compressed and length >= 8:
            file.seek(max(0, body + offset))
            (declared,) = struct.unpack("<q", file.read(8))
            length = length if declared < 0 else declared  # -1: not compressed
        total += max(0, length)
    return total


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table; 0 if it has none."""
    fields = table - _number("<i", data, table)
    if fields < 0 or 6 + 2 * number > _number("<H", data, fields):
        return 0
    offset = _number("<H", data, fields + 4 + 2 * number)
    return table + offset if offset else 0


def _number(form: str, data: bytes, place: int) -> Any:
    return struct.unpack_from(form, data, place)[0]
