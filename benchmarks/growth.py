"""How time grows with the rows and with the block size: slopes on logarithmic axes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.clock import best_interleaved
from benchmarks.tables import Cell, Table
from btests import Gaussian
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize

_D = 10


@dataclass(frozen=True)
class Series:
    """Sizes ``(n, block_size)`` of a series of tests, the variable they grow in, and the exponent to expect."""

    name: str
    variable: str
    sizes: tuple[tuple[int, int], ...]
    expected: float

    def values(self) -> list[float]:
        """Return the variable that grows."""
        return [float(n if self.variable == "n" else b) for n, b in self.sizes]


def all_series(*, quick: bool) -> tuple[Series, ...]:
    """Return the three series: n at fixed B, n at B = sqrt(n), and B at fixed n."""
    least, most, n_points = (20_000, 400_000, 7) if quick else (50_000, 2_000_000, 9)
    rows = [round(n) for n in np.geomspace(least, most, n_points)]
    fixed = 50_000 if quick else 100_000
    sizes = [round(b) for b in np.geomspace(100, 1600, n_points)]
    return (
        Series("n at B = 100", "n", tuple((n, 100) for n in rows), 1.0),
        Series("n at B = sqrt(n)", "n", tuple((n, math.isqrt(n)) for n in rows), 1.5),
        Series(f"B at n = {fixed}", "B", tuple((fixed, b) for b in sizes), 1.0),
    )


def measure(series: Series, *, seconds: float) -> list[float]:
    """Return CPU seconds of one thread for each size, best of several rounds over all sizes."""
    rng = np.random.default_rng(0)
    most = max(n for n, _ in series.sizes)
    x, y = rng.standard_normal((most, _D)), rng.standard_normal((most, _D))
    statistic = MMD(Gaussian(math.sqrt(2.0 * _D)))

    def task(n: int, block_size: int) -> Callable[[], object]:
        p, q, plan = Sample(x[:n]), Sample(y[:n]), Plan.of_size(n, n, block_size)
        return lambda: summarize(statistic, p, q, plan, 1)

    tasks = [task(n, b) for n, b in series.sizes]
    return best_interleaved(tasks, [time.thread_time] * len(tasks), seconds=seconds)


def slope(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return the exponent of a power law by least squares on logarithms, and half its 95 % t interval."""
    from scipy.stats import t

    a, b = np.log(x), np.log(y)
    a = a - a.mean()
    exponent = float(a @ b / (a @ a))
    residuals = b - b.mean() - exponent * a
    deviation = math.sqrt(float(residuals @ residuals) / (len(a) - 2) / float(a @ a))
    return exponent, float(t.ppf(0.975, len(a) - 2)) * deviation


def growth_table(series: Sequence[Series], *, seconds: float) -> Table:
    """Return exponents with their intervals beside what theory says."""
    rows: list[tuple[Cell, ...]] = []
    for s in series:
        times = measure(s, seconds=seconds)
        exponent, half = slope(s.values(), times)
        interval = f"{exponent - half:.3f} to {exponent + half:.3f}"
        first, last = s.sizes[0], s.sizes[-1]
        span = f"n = {first[0]}, B = {first[1]} to n = {last[0]}, B = {last[1]}"
        rows.append((s.name, span, len(times), times[0], times[-1], s.expected, round(exponent, 3), interval))
    columns = ("time over", "sizes", "points", "first, s", "last, s", "expected", "exponent", "95 % interval")
    notes = (
        f"Block values in d = {_D}, float64, one thread, CPU time, best of several rounds over all sizes. The",
        "interval is that of a straight line: overhead that shows in the smallest sizes bends the line and widens it.",
    )
    return Table("Growth of time", columns, rows, notes)
