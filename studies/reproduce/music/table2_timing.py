"""Seconds of the tests of Table 2 on this machine, with one thread; they do not repeat."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

from btests._warnings import BTestWarning
from btests.api import btest
from btests.kernels import Kernel
from btests.nulls import Normal
from btests.selection import Selector
from studies.harness.counts import Row
from studies.reproduce.music.quadratic import KERNELS, NULLS
from studies.reproduce.music.songs import Song
from studies.reproduce.music.trials import MULTIPLE, SINGLE, draw
from studies.reproduce.timing import machine, seconds


def measure(songs: tuple[Song, Song], seed: int, sizes: list[tuple[int, int, int]]) -> list[Row]:
    """Return the seconds of each test on rows of 1000 coordinates, the choice of the kernel included.

    ``sizes`` are rows, the block size, and that for multiple kernels; the last is that of the quadratic-time tests.
    """
    rows = []
    for n, root, half_root in sizes:
        x, y = draw(*songs, n, (seed, 3, n), is_null=False, turned=False)
        tests: list[tuple[str, Kernel | Selector, int]] = [
            *((name, kernel, b) for name, kernel in SINGLE.items() for b in (2, root)),
            *(("multiple", MULTIPLE, b) for b in (2, half_root)),
        ]
        for name, kernel, b in tests:
            test = partial(btest, x, y, kernel=kernel, null=Normal(), block_size=b)
            rows.append(_row((n, "normal", name, b), _took(test, 5)))
    for label, null in NULLS.items():
        for name in KERNELS:
            test = partial(btest, x, y, kernel=SINGLE[name], null=null)
            rows.append(_row((n, label, name, n), _took(test, 1)))
    return rows


def _took(test: Callable[..., object], repeats: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)
        return seconds(partial(test, seed=0, shuffle=False, n_threads=1), 0.3, repeats)


def _row(line: tuple[int, str, str, int], took: float) -> Row:
    n, null, strategy, block_size = line
    return {
        "n": n,
        "null": null,
        "strategy": strategy,
        "block_size": block_size,
        "seconds": float(f"{took:.3g}"),
        "machine": machine(),
    }
