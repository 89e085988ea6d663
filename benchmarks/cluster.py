"""A cluster on this machine: two workers against one, and what the cluster costs beside the plain path."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.large import BLOCK_SIZE, WIDTH, folder_for, write_npy
from benchmarks.tables import Cell, Table


@dataclass(frozen=True)
class Timed:
    """The best time of one way to compute the same test, and what it found."""

    way: str
    seconds: float
    pvalue: float
    statistic: float


def measure(n: int, repetitions: int, say: Callable[[str], None]) -> list[Timed]:
    """Return the plain path on one thread, one worker and two workers, in turns, on the same .npy files."""
    import btests
    from btests.execution.dask.local_workers import local_client

    options: dict[str, Any] = {"kernel": btests.Gaussian(math.sqrt(float(WIDTH))), "block_size": BLOCK_SIZE, "seed": 1}
    with folder_for(6 * n * WIDTH * 4 + 10**8) as folder, ExitStack() as opened:
        x, y = (folder / f"{name}.npy" for name in "xy")
        for seed, path in enumerate((x, y)):
            write_npy(path, n, seed)
        say("starting workers")
        ways: list[tuple[str, dict[str, Any]]] = [("plain, one thread", {"n_threads": 1})]
        for n_workers in (1, 2):
            client = opened.enter_context(local_client(n_workers))
            ways.append((f"{n_workers} worker{'s' * (n_workers > 1)}", {"workers": client}))
        best: dict[str, Timed] = {}
        for turn in range(repetitions + 1):  # the first loads modules and compiled loops everywhere
            for way, where in ways:
                say(f"{way}, turn {turn}")
                began = time.perf_counter()
                found = btests.btest(x, y, **options, **where)
                seconds = time.perf_counter() - began
                if turn and (way not in best or seconds < best[way].seconds):
                    best[way] = Timed(way, seconds, found.pvalue, found.statistic)
        return list(best.values())


def cluster_table(n: int, repetitions: int, say: Callable[[str], None]) -> Table:
    """Return all ways beside the plain one, and two workers beside one."""
    found = measure(n, repetitions, say)
    plain, one = found[0], found[1]
    rows: list[tuple[Cell, ...]] = []
    for timed in found:
        same = "yes" if (timed.pvalue, timed.statistic) == (plain.pvalue, plain.statistic) else "no"
        of_one = None if timed is plain else one.seconds / timed.seconds
        rows.append((timed.way, n, n / timed.seconds / 1e6, plain.seconds / timed.seconds, of_one, same))
    columns = ("computed by", "n", "million rows/s", "speed beside plain", "speed beside 1 worker", "same answer")
    notes = (
        f"Two .npy files of n rows, {WIDTH} columns of float32, B = {BLOCK_SIZE}, one Gaussian, shuffled exactly;",
        f"workers have one thread each and were started before. The best of {repetitions} in turns. The plain path has",
        "one thread for the blocks and one that reads. The same answer is the same to the last bit.",
    )
    return Table("A cluster on one machine", columns, rows, notes)
