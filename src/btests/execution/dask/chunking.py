"""Into which parts a sample is cut, and which blocks are computed together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from btests.data.dask_source import DaskSource
from btests.data.protocol import Source
from btests.plan import Index

#: Bytes of a part of a file; a unit that is larger stays whole. Small partitions of a dask collection are put together
#: up to ``SMALL_PART``.
PART_BYTES = 2**26
SMALL_PART = 2**23
LEAST_PART = 2**18

#: Bytes of the rows of some blocks that are computed together, x and y, where partitions are smaller.
SHARD_BYTES = 2**24

# A shard takes this share of the memory of a worker at most: its rows twice, and what computes on them.
_SHARE = 16

# Fewer rows of a part are not worth another try.
_FEWEST = 256


@dataclass(frozen=True, slots=True)
class Span:
    """Rows ``first .. last - 1`` of a sample, and of a dask collection the partitions that they are."""

    first: int
    last: int
    numbers: tuple[int, int] | None = None

    def halves(self) -> tuple[Span, Span] | None:
        """Return both halves, None where this cannot be halved: a partition is what dask makes it."""
        if self.numbers is not None or self.last - self.first < 2 * _FEWEST:
            return None
        middle = (self.first + self.last) // 2
        return Span(self.first, middle), Span(middle, self.last)


def spans(source: Source, row_bytes: int, n_threads: int, memory: int) -> list[Span]:
    """Return all rows of a source as stretches that are read as one task each."""
    edges, n = source.units(), source.n_rows
    if isinstance(source, DaskSource):
        assert edges is not None, "partitions are units"
        cuts = _together(edges, SMALL_PART // row_bytes)
        return [Span(int(edges[a]), int(edges[b]), (a, b)) for a, b in pairwise(cuts)]
    share = min(PART_BYTES, memory // _SHARE or PART_BYTES)
    most = max(1, min(share, max(LEAST_PART, n * row_bytes // (2 * n_threads))) // row_bytes)
    if edges is None:
        edges = np.append(np.arange(0, n, most), n).astype(np.int64)
        cuts = list(range(len(edges)))
    else:
        cuts = _together(edges, most)
    return [Span(int(edges[a]), int(edges[b])) for a, b in pairwise(cuts) if edges[a] < edges[b]]


def _together(edges: Index, most: int) -> list[int]:
    """Return cuts between units so that those between two cuts have ``most`` rows at most, or are one unit."""
    cuts = [0]
    for i in range(1, len(edges)):
        if edges[i] - edges[cuts[-1]] > most and i - 1 > cuts[-1]:
            cuts.append(i - 1)
    return [*cuts, len(edges) - 1]


def shard_bytes(total: int, largest_part: int, n_threads: int, memory: int) -> int:
    """Return how many bytes of rows, x and y together, are computed as one task."""
    most = max(largest_part, SHARD_BYTES)
    if memory:
        most = min(most, memory // _SHARE)
    return max(1, min(most, max(LEAST_PART, total // (4 * n_threads))))
