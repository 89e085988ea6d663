"""Tables as pieces of files, so that several workers read one file."""

from __future__ import annotations

import os
from dataclasses import replace

from btests.comparison.table_side import Side
from btests.data.fragment import Fragment

#: Bytes of a piece as it is read, about.
PIECE_BYTES = 2**26


def cut(side: Side, n_bytes: int | None = None) -> Side:
    """Return a side whose files are split into pieces of about so many bytes, where their format allows that.

    Paths are absolute: a worker may have another working directory.
    """
    parts: list[Fragment] = []
    counts: list[int] = []
    for part, count in zip(side.parts, side.counts, strict=True):
        pieces = replace(part, path=os.path.abspath(part.path)).split(n_bytes or PIECE_BYTES)
        parts.extend(pieces)
        counts.extend([count] if len(pieces) == 1 else [_counted(piece, side) for piece in pieces])
    return replace(side, parts=tuple(parts), counts=tuple(counts))


def _counted(piece: Fragment, side: Side) -> int:
    """Return how many rows of a piece are of a side."""
    if side.where is None:
        return piece.n_rows_about  # which is exact for a piece
    return sum(side.where.rows(batch).num_rows for batch in piece.batches((side.read[0], side.where.by)))
