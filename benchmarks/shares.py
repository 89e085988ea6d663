"""The share of the machine's own limit that the block values reach, and what a whole test adds to them."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.clock import best_cpu, best_interleaved, best_wall, one_thread
from benchmarks.limits import Rates, rate_of, rate_tasks
from benchmarks.tables import Cell, Table, verdict
from btests import Gaussian, PrecisionWarning, btest
from btests._core.threads import default_threads
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize, summarize_blocks

#: At least this speed-up from a second thread, and at most this many times one read of the data for B = 2.
SPEED_UP = 1.7
READS = 6.0

#: Most that a block value may differ from plain numpy: what is fast but in the wrong arithmetic must not be timed.
_TOLERANCES = {"float64": 1e-11, "float32": 1e-4}


@dataclass(frozen=True)
class Case:
    """Two samples (n, d) in blocks of ``block_size``, and the target for the share in float64, where there is one."""

    n: int
    d: int
    block_size: int
    share: float | None = None

    def evaluations(self) -> float:
        """Return how many kernel values the statistic needs: xx and yy without order, xy without i = j."""
        return self.n / self.block_size * 2.0 * self.block_size * (self.block_size - 1)

    def data(self, dtype: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return two standard normal samples (n, d)."""
        rng = np.random.default_rng(self.n + self.d)
        kind: Any = np.float32 if dtype == "float32" else np.float64
        return rng.standard_normal((self.n, self.d), kind), rng.standard_normal((self.n, self.d), kind)


CASES = (
    Case(20_000, 2, 141, 0.70),
    Case(100_000, 10, 316, 0.80),
    Case(1_000_000, 10, 1000, 0.80),
    Case(100_000, 784, 316, 0.65),
    Case(100_000, 10, 8),
    Case(1_000_000, 2, 2),
    Case(1_000_000, 10, 2),
)
_SMALLER = {Case(1_000_000, 10, 1000, 0.80): 200_000, Case(100_000, 784, 316, 0.65): 20_000}
QUICK_CASES = tuple(Case(_SMALLER.get(c, c.n), c.d, c.block_size, c.share) for c in CASES)


@dataclass(frozen=True)
class Measured:
    """Seconds of one case."""

    case: Case
    dtype: str
    limit: float
    one_thread: float
    speed_up: float | None
    machine_speed_up: float | None
    read: float
    whole_one_thread: float
    whole: float

    def share(self) -> float:
        """Return the limit over the time."""
        return self.limit / self.one_thread

    def reads(self) -> float | None:
        """Return the time over that of one read of the data, for blocks of two."""
        return self.one_thread / self.read if self.case.block_size == 2 else None

    def target(self) -> float | None:
        """Return the share to reach; there are targets for float64, the default, alone."""
        return self.case.share if self.dtype == "float64" else None


def measure(case: Case, dtype: str, *, seconds: float) -> Measured:
    """Return the times of one case, about ``seconds`` for each of the four things timed."""
    x, y = case.data(dtype)
    kernel = Gaussian(math.sqrt(2.0 * case.d))
    statistic, p, q = MMD(kernel, dtype), Sample(x), Sample(y)
    plan = Plan.of_size(case.n, case.n, case.block_size)

    def values(n_threads: int) -> object:
        return summarize_blocks(statistic, p, q, plan, n_threads=n_threads)[0]

    def whole() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            return btest(x, y, kernel=kernel, block_size=case.block_size, seed=1, dtype=dtype)

    check_values(statistic, x, y, case.block_size)
    # The limit is measured in turns with the loops: what slows one slows the other.
    tasks = [lambda: values(1), *rate_tasks(dtype), lambda: (x.sum(), y.sum())]
    alone, products, exponentials, read = best_interleaved(tasks, [time.thread_time] * 4, seconds=seconds)
    n_bytes = x.nbytes + y.nbytes
    rates = Rates(rate_of(products, exponentials=False), rate_of(exponentials, exponentials=True), n_bytes / read)
    speed_up = machine_speed_up = None
    if default_threads() > 1:
        with ThreadPoolExecutor(2) as pool:
            bare = rate_tasks(dtype)[0]
            both = [lambda: values(1), lambda: values(2), bare, lambda: _twice(pool, bare)]
            one, two, once, twice = best_interleaved(both, [time.perf_counter] * 4, seconds=seconds, least=2)
        speed_up, machine_speed_up = one / two, 2.0 * once / twice
    with one_thread():
        whole_one_thread = best_cpu(whole, seconds=seconds / 2, least=2)
    return Measured(
        case,
        dtype,
        rates.seconds(case.evaluations(), case.d, n_bytes),
        alone,
        speed_up,
        machine_speed_up,
        read,
        whole_one_thread,
        best_wall(whole, seconds=seconds / 2, least=2),
    )


def check_values(statistic: MMD, x: npt.NDArray[Any], y: npt.NDArray[Any], block_size: int) -> None:
    """Raise an error unless the first blocks have the values that plain numpy gives, to the digits of their type."""
    n = min(len(x), 4 * block_size)
    plan = Plan.of_size(n, n, block_size)
    both = [MMD(statistic.kernels, statistic.dtype, plain) for plain in (False, True)]
    values = [summarize(s, Sample(x[:n]), Sample(y[:n]), plan, 1).values for s in both]
    error = float(np.abs(values[0] - values[1]).max())
    if not error <= _TOLERANCES[statistic.dtype]:
        raise RuntimeError(
            f"the {statistic.dtype} loops differ from plain numpy by {error:.1e}, more than "
            f"{_TOLERANCES[statistic.dtype]:g}: is the compiled library of another version than the package?"
        )


def _twice(pool: Executor, task: Callable[[], object]) -> None:
    """Run a task in two threads at once."""
    for running in [pool.submit(task), pool.submit(task)]:
        running.result()


def shares_table(measured: Sequence[Measured]) -> Table:
    """Return shares, speed-ups and whole tests beside their targets."""
    rows = [_row(m) for m in measured]
    notes = (
        "blocks: values and cores of all blocks on one thread, CPU time, best of several. limit: 2 n (B - 1) kernel",
        "values, each d multiply-adds and one exponential at the rates measured in turns with the blocks, or numpy's",
        "sum of the same arrays if that takes longer. Targets are for float64, the default. 2 threads: speed-up by the",
        f"wall clock, target {SPEED_UP} where a share has a target; beside it what two threads of bare multiply-adds",
        "gained in the same seconds: a busy machine gives neither its second core, and then there is no verdict.",
        f"reads: time over numpy's sum of the same arrays, target at most {READS:g} for B = 2. Whole test: btest()",
        "with checks, shuffle and sign-flip null, one thread in CPU time, all cores by the wall clock.",
    )
    columns = (
        *("n", "d", "B", "numbers", "blocks, s", "limit, s", "share", "target", "G values/s", "2 threads"),
        *("machine's own", "reads", "whole test, 1 thread, s", "all cores, s", "targets"),
    )
    return Table("Shares of the machine's limit", columns, rows, notes)


def _verdict(m: Measured) -> str | None:
    """Return which targets a case met or missed."""
    words, reads, target = [], m.reads(), m.target()
    if m.share() > 1.0:  # nothing beats the limit: such a row shows that something was measured wrongly
        words.append("share ABOVE THE LIMIT: do not trust this row")
    elif target is not None:
        words.append(f"share {verdict(met=m.share() >= target)}")
    if target is not None and m.speed_up is not None and m.machine_speed_up is not None:
        busy = m.speed_up < SPEED_UP and m.machine_speed_up < SPEED_UP
        words.append("2 threads: machine busy" if busy else f"2 threads {verdict(met=m.speed_up >= SPEED_UP)}")
    if reads is not None and m.dtype == "float64":
        words.append(f"reads {verdict(met=reads <= READS)}")
    return ", ".join(words) or None


def _row(m: Measured) -> tuple[Cell, ...]:
    case, target = m.case, m.target()
    return (
        case.n,
        case.d,
        case.block_size,
        m.dtype,
        m.one_thread,
        m.limit,
        f"{m.share():.1%}",
        None if target is None else f"{target:.0%}",
        case.evaluations() / m.one_thread / 1e9,
        m.speed_up,
        m.machine_speed_up,
        m.reads(),
        m.whole_one_thread,
        m.whole,
        _verdict(m),
    )
