"""The kernel test of all columns together, and the swaps that the tests of columns and pairs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from btests.api import btest
from btests.block_size import PAPER_EXPONENT, root
from btests.nulls import SignFlip
from btests.nulls.registry import null_of
from btests.plan import Array, Plan
from btests.result import TestResult
from btests.selection import Aggregate, MedianHeuristic, default_family
from btests.symmetries import SignDraws, SwapGroups

#: The kernels of the joint test by default, and the place of the Gaussian of median bandwidth among them.
DEFAULT_KERNELS = Aggregate(default_family())
CENTRE = 5

# For columns and pairs, rows swap in blocks of at most so many rows, folded as if for so many kernels: several hundred
# independent signs. The null variance of a linear statistic with score z is 1 + z^2 / n_signs times as large.
_LARGEST_BLOCK, _SHARES = 128, 8

# The rows are shuffled, and the columns on one scale.
_AS_ENCODED: dict[str, Any] = {"shuffle": False, "scale": False}

# Rows of each side whose distances make the bandwidth of the effect, and draws of a null that is not used.
_MEDIAN_ROWS = 500
_FEW_RESAMPLES = 19


@dataclass(frozen=True, slots=True)
class Together:
    """The kernel test, and the blocks and sign flips of the other tests: finer ones than the kernel test needs."""

    result: TestResult
    flips: SignDraws
    plan: Plan


def look(
    x: Array, y: Array, *, kernel: Any, null: Any, block_size: int | str | None, budget: float | None, seed: int
) -> Together:
    """Test two tables of coordinates in the order of their rows: (n_x, d) and (n_y, d)."""
    null = null_of(null)
    chosen = DEFAULT_KERNELS if kernel is None and isinstance(null, SignFlip) else kernel
    options: dict[str, Any] = {
        "block_size": block_size,
        "budget": budget,
        "seed": seed,
        "shuffle": False,
        "scale": False,
    }
    return beside(btest(x, y, kernel=chosen, null=null, **options), len(x), len(y), seed)


def beside(result: TestResult, n_x: int, n_y: int, seed: int) -> Together:
    """Return a kernel test, and sign flips for the tests of columns and pairs on ``n_x`` and ``n_y`` rows."""
    plan = Plan.of_size(n_x, n_y, min(_LARGEST_BLOCK, root(min(n_x, n_y), PAPER_EXPONENT)), _SHARES)
    return Together(result, SwapGroups().draw(plan, plan.moments_shape, SignFlip().n_resamples, seed), plan)


def measure(x: Array, y: Array, *, kernel: Any, block_size: int | str | None, budget: float | None) -> TestResult:
    """Return the test whose MMD^2 is the effect: with one kernel, the Gaussian of median bandwidth unless one is named.

    (n_x, d) and (n_y, d), in an order that does not depend on the seed of the comparison.
    """
    chosen = MedianHeuristic(n_rows=_MEDIAN_ROWS) if kernel is None else kernel
    few = SignFlip(_FEW_RESAMPLES)
    return btest(x, y, kernel=chosen, null=few, block_size=block_size, budget=budget, seed=0, **_AS_ENCODED)
