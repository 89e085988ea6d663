"""What every source must do, checked against the same rows in memory."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.data.source import Source

Rows = npt.NDArray[Any]


def check_source(source: Source, wanted: Rows) -> None:
    """Compare every way to read with the rows (n, d) that must come out, bit for bit."""
    assert isinstance(source, Source)
    n = len(wanted)
    assert (source.n_rows, source.width, source.dtype) == (n, wanted.shape[1], wanted.dtype)
    assert source.names is None or len(source.names) == source.width
    rng = np.random.default_rng(0)
    same(source.read(0, n), wanted)
    for _ in range(10):
        first, last = np.sort(rng.integers(0, n + 1, 2)).tolist()
        same(source.read(first, last), wanted[first:last])
    for share in (0.0, 0.01, 0.1, 1.0):
        rows = np.flatnonzero(rng.random(n) < share)
        same(source.take(rows), wanted[rows])
    for n_rows in (1 + n // 7, 10 * n):
        pieces = list(source.scan(n_rows))
        assert all(0 < len(piece) <= n_rows for piece in pieces)
        same(np.concatenate(pieces), wanted)
    edges = source.units()
    if edges is not None:
        assert edges[0] == 0
        assert edges[-1] == n
        assert (np.diff(edges) >= 0).all()
    same(pickle.loads(pickle.dumps(source)).read(0, min(n, 9)), wanted[:9])


def same(found: Rows, wanted: Rows) -> None:
    assert found.flags.c_contiguous
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tobytes() == np.ascontiguousarray(wanted).tobytes()
