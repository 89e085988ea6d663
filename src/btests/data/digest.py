"""Digests of files from a few of their bytes, for checkpoints: size and time of a file are not enough."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from btests.data.errors import reading

# Bytes that are read at a place, and places in a file: the first, the last, and some evenly between them.
_PIECE = 2**12
_MOST_PLACES = 16

# Places in all files together, about; at least the first and the last of each file.
_PLACES = 2**13


def digests(paths: Sequence[str]) -> list[str]:
    """Return a digest of each file, of bytes at fixed places.

    A file that is rewritten with other numbers has another digest, nearly always. One in which single cells are changed
    in place, between the places that are read, has the same digest.
    """
    n_places = max(2, min(_MOST_PLACES, _PLACES // max(1, len(paths))))
    return [_digest(path, n_places) for path in paths]


def _digest(path: str, n_places: int) -> str:
    found = hashlib.blake2b(digest_size=16)
    with reading(path), open(path, "rb", buffering=0) as file:
        last = max(0, os.fstat(file.fileno()).st_size - _PIECE)
        for start in sorted({last * i // (n_places - 1) for i in range(n_places)}):
            file.seek(start)
            found.update(file.read(_PIECE))
    return found.hexdigest()
