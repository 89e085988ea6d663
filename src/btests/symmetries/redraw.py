"""Any group of rearrangements, by drawing from it while blocks are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests.plan import Array, Plan


@dataclass(frozen=True, slots=True)
class RedrawnValues:
    """Values of random draws that are in the moments already."""

    n_draws: int
    exhaustive: ClassVar[bool] = False

    def values(self, moments: Array) -> Array:
        """Return the sum over strata of the value of each draw: moments (s, r + 1) to (r,)."""
        return np.asarray(moments[:, 1:].sum(axis=0))


@dataclass(frozen=True, slots=True)
class Redraw:
    """Random elements of a group, applied to each block where its rows are at hand.

    The moments of a block are its value and those after ``n_resamples`` draws, with random numbers that are keyed by
    seed and block. Moments add as all others do. It takes the time of the draws, and is for few rows, where a smaller
    group would have few elements.

    Attributes
    ----------
    n_resamples : int
        Number of draws.
    seed : int
        Seed of the draws.
    """

    n_resamples: int
    seed: int

    is_pooled: ClassVar[bool] = False

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments of one block: (r + 1,)."""
        return (self.n_resamples + 1,)

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> RedrawnValues:
        """Return the draws that the moments hold."""
        return RedrawnValues(self.n_resamples)

    def observed(self, moments: Array) -> float:
        """Return the value without rearrangement."""
        return float(moments[:, 0].sum())

    def magnitude(self, moments: Array) -> float:
        """Return the largest absolute value of a draw."""
        return float(np.abs(moments.sum(axis=0)).max())

    def variance(self, moments: Array) -> float:
        """Return the variance over the draws and the observed value, which are exchangeable."""
        return float(np.var(moments.sum(axis=0)))

    def third_cumulant(self, moments: Array) -> None:
        """Return None: there is no closed form."""
        return

    def n_effective_pairs(self, moments: Array) -> float:
        """Return infinity: the number is not available from resampled moments."""
        return float("inf")

    def generator(self, block: int) -> np.random.Generator:
        """Return the random numbers of a block."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self.seed, 0x45C, block])))
