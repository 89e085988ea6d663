"""Random Fourier features beside the machine's own limit and beside blocks: ``python -m benchmarks.features``."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import rates
from benchmarks.clock import Task, best_interleaved
from benchmarks.limits import machine_table
from benchmarks.tables import Cell, Table, verdict
from btests import FeatureMMD, Gaussian, _core
from btests.data.sample import Sample
from btests.kernels.random_fourier import frequencies_of
from btests.plan import Array, Plan
from btests.statistics import MMD, InMemory, plan_for, summarize_all, summarize_blocks
from btests.statistics.feature_mmd import features_chunk
from btests.statistics.fourier_features import FrequencyChain, bits_for, chains_of, fourier_sums

#: Share of the limit that the loop is to reach.
SHARE = 0.7

# Rows of a call of the loop, and work of the rates: some tenths of a millisecond each. Longer ones would hardly ever
# have the core and its caches to themselves on a busy machine. A call without rows is timed as well, and taken off.
_ROWS = 2048
_PRODUCTS, _TURNS, _DOUBLINGS = 6_000_000, 300_000, 3_000_000

# Bandwidths from wide to narrow, powers of two apart.
_WIDEST = 32.0

_SIZE = {"float64": 1, "float32": 2}


@dataclass(frozen=True)
class Case:
    """Columns, frequencies of each kernel, and bandwidths."""

    d: int = 10
    n_frequencies: int = 64
    n_kernels: int = 11

    def kernels(self) -> tuple[Gaussian, ...]:
        """Return Gaussians of bandwidths that halve."""
        return tuple(Gaussian(math.sqrt(self.d) * _WIDEST * 0.5**k) for k in range(self.n_kernels))

    def chain(self, dtype: str) -> FrequencyChain:
        """Return the frequencies of all kernels."""
        (chain,), _ = chains_of([frequencies_of(k, self.n_frequencies, self.d) for k in self.kernels()])
        return FrequencyChain(chain.turns, chain.doublings, dtype == "float32")


CASES = (Case(), Case(n_kernels=1), Case(d=2), Case(d=100))


@dataclass(frozen=True)
class Measured:
    """Nanoseconds of a row: of the loop, and of the parts of the limit."""

    case: Case
    dtype: str
    loop: float
    projections: float
    turns: float
    levels: float
    exact_levels: float

    def limit(self, *, exact: bool = True) -> float:
        """Return the sum of the parts, with exact sums or with those that depend on the order of the rows."""
        return self.projections + self.turns + (self.exact_levels if exact else self.levels)

    def share(self, *, exact: bool = True) -> float:
        """Return the limit over the time."""
        return self.limit(exact=exact) / self.loop


def measure(case: Case, dtype: str, *, seconds: float, instructions: str | None = None) -> Measured:
    """Return the time of the loop and of the limit, measured in turns."""
    rng = np.random.default_rng(case.d)
    rows = rng.normal(size=(_ROWS, case.d)).astype(dtype)
    order = rng.permutation(_ROWS)
    chain, float32 = case.chain(dtype), dtype == "float32"
    bits = bits_for(1_000_000, in_float32=float32)

    def sums(n: int = _ROWS, *, plain: bool = False) -> Array:
        groups = _core.RowGroups(rows, order[:n], np.array([0, n]), plain, instructions=instructions)
        return fourier_sums(chain, groups, np.zeros(case.d), bits)

    _check(sums(), sums(plain=True), 1e-9 if not float32 else 1e-2)
    more = _SIZE[dtype]
    rate: dict[str, Any] = {"float32": float32, "instructions": instructions}
    tasks: list[Task] = [
        sums,
        lambda: sums(0),
        lambda: rates.sum_products(more * _PRODUCTS, **rate),
        lambda: rates.sum_turns(more * _TURNS, **rate),
        lambda: rates.sum_doublings(more * _DOUBLINGS, **rate),
        lambda: rates.sum_doublings(more * _DOUBLINGS, **rate, exact=True),
    ]
    clocks = [time.thread_time] * len(tasks)
    loop, call, products, turns, *levels = best_interleaved(tasks, clocks, seconds=seconds, most=100_000)
    f = case.n_frequencies
    return Measured(
        case,
        dtype,
        1e9 * (loop - call) / _ROWS,
        1e9 * f * case.d * products / (more * _PRODUCTS),
        1e9 * f * turns / (more * _TURNS),
        *(1e9 * f * (case.n_kernels - 1) * level / (more * _DOUBLINGS) for level in levels),
    )


def _check(found: Array, plain: Array, tolerance: float) -> None:
    """Raise an error unless the averages are those of plain numpy: what is fast and wrong must not be timed."""
    error = float(np.abs(found - plain).max()) / _ROWS
    if not error <= tolerance:
        raise RuntimeError(f"averages of features differ from plain numpy by {error:.1e}, more than {tolerance:g}")


def shares_table(measured: Sequence[Measured]) -> Table:
    """Return shares of the limit."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(m.case.d, m.case.n_frequencies, m.case.n_kernels, m.dtype, m.loop),
            *(m.projections, m.turns, m.exact_levels, m.limit(), f"{m.share():.0%}", _target(m)),
            *(m.levels, f"{m.share(exact=False):.0%}"),
        )
        for m in measured
    ]
    columns = (
        *("d", "frequencies", "bandwidths", "numbers", "loop, ns a row", "projections", "cosines and sines"),
        *("doublings and exact sums", "limit", "share", f"target {SHARE:.0%}", "with plain sums", "share of that"),
    )
    notes = (
        f"The least CPU time of {_ROWS} rows of one group, and of the parts of the limit, all in turns: d",
        "multiply-adds for each frequency, one cosine and sine, and for each further bandwidth a doubling of the",
        "angle and two additions, each at the rate that it reaches in registers. Additions are exact, of rounded",
        "numbers, so that no order of rows changes a bit; the last two columns are of plain additions in floating",
        "point, which are not.",
    )
    return Table("Random Fourier features: shares of the machine's limit", columns, rows, notes)


def _target(m: Measured) -> str:
    return "ABOVE THE LIMIT: do not trust this row" if m.share() > 1.0 else verdict(met=m.share() >= SHARE)


def blocks_table(n: int, *, seconds: float, instructions: str | None = None) -> Table:
    """Return the time of all rows with features of eleven kernels beside that of blocks of 1000 with one kernel."""
    case, block_size = Case(), 1000
    rows: list[tuple[Cell, ...]] = []
    for dtype in _SIZE:
        rng = np.random.default_rng(0)
        x, y = (Sample(rng.normal(size=(n, case.d)).astype(dtype), rng.permutation(n)) for _ in range(2))
        features = FeatureMMD(case.kernels(), case.n_frequencies, dtype=dtype).prepare(x, y)
        blocks = MMD(case.kernels()[5], dtype)
        plans = plan_for(features, n, n, features_chunk(x, y)), Plan.of_size(n, n, block_size)

        def of_features(features: Any = features, x: Any = x, y: Any = y, plans: Any = plans) -> object:
            return summarize_all(features, x, y, plans[0], 1, executor=InMemory(instructions))

        def of_blocks(blocks: Any = blocks, x: Any = x, y: Any = y, plans: Any = plans) -> object:
            return summarize_blocks(blocks, x, y, plans[1], instructions=instructions)[0]

        clocks = [time.thread_time] * 2
        ours, theirs = best_interleaved([of_features, of_blocks], clocks, seconds=seconds, least=2)
        rows.append((n, dtype, ours, theirs, ours / theirs, verdict(met=ours <= theirs)))
    columns = ("rows a side", "numbers", "features, s", "blocks, s", "ratio", "target 1")
    notes = (
        f"d = {case.d}. Features: {case.n_frequencies} frequencies of each of {case.n_kernels} bandwidths, all rows",
        f"with the assignment to groups. Blocks of {block_size} rows: one kernel. CPU time of one thread, in turns,",
        "best of several. Both grow in proportion to the rows.",
    )
    return Table("Random Fourier features beside blocks", columns, rows, notes)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, and a tenth of the rows")
    parser.add_argument("--instruction-set", help="generic, for one; by default the best of this machine")
    chosen = parser.parse_args(arguments)
    if not _core.is_available():
        raise SystemExit("there are no compiled loops here")
    quick = chosen.quick
    print(machine_table().markdown())
    options: dict[str, Any] = {"seconds": 0.2 if quick else 8.0, "instructions": chosen.instruction_set}
    print(shares_table([measure(case, dtype, **options) for case in CASES for dtype in _SIZE]).markdown())
    print(blocks_table(20_000 if quick else 200_000, **options).markdown())


if __name__ == "__main__":
    main()
