"""Swaps of x and y within groups of all rows, for blocks that share rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from btests.plan import Array, Plan
from btests.symmetries.swap_groups import SignDraws, SwapGroups

_SWAPS = SwapGroups()


@dataclass(frozen=True, slots=True)
class SharedDraws:
    """Signs of groups of all rows, the same in every stratum."""

    signs: SignDraws

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.signs.n_draws

    @property
    def exhaustive(self) -> bool:
        """Whether the draws are all patterns of signs."""
        return self.signs.exhaustive

    def values(self, moments: Array) -> Array:
        """Return ``s'Cs`` for each draw s, C the sum over strata: moments (f, k, k) to (n_draws,)."""
        return self.signs.values(_joined(moments))


@dataclass(frozen=True, slots=True)
class SharedSwaps:
    """Swap x_a and y_a for all rows a of a group, wherever the rows are in a block.

    Groups are groups of all rows: row a of a sample belongs to group ``a mod k``. A row that is in several blocks is
    swapped in all of them. The moments of a block are a symmetric matrix C with zero diagonal, and the sum of the block
    values after a swap is a constant plus ``s'Cs``, C the sum over all blocks. For samples of one length.

    Attributes
    ----------
    most_groups : int
        Largest number of groups. Of 64, pairs inside a group, which no swap changes, are 1/64 of all.
    """

    most_groups: int = 64

    is_pooled: ClassVar[bool] = False

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments of one block: (k, k)."""
        k = min(self.most_groups, n_x, n_y)
        return k, k

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> SharedDraws:
        """Return ``n_resamples`` random sign patterns for moments (s, k, k), or all patterns if they are no more."""
        return SharedDraws(_SWAPS.draw(plan, (1, *shape[1:]), n_resamples, seed, n_threads))

    def observed(self, moments: Array) -> float:
        """Return the value without swaps."""
        return _SWAPS.observed(moments)

    def magnitude(self, moments: Array) -> float:
        """Return the sum of the absolute terms of the value."""
        return _SWAPS.magnitude(moments)

    def variance(self, moments: Array) -> float:
        """Return the variance over all sign patterns, ``2 sum C^2``."""
        return _SWAPS.variance(_joined(moments))

    def third_cumulant(self, moments: Array) -> float:
        """Return the third cumulant over all sign patterns, ``8 tr C^3``."""
        return _SWAPS.third_cumulant(_joined(moments))

    def n_effective_pairs(self, moments: Array) -> float:
        """Return ``(sum C^2)^2 / sum C^4`` over pairs of groups."""
        return _SWAPS.n_effective_pairs(_joined(moments))


def _joined(moments: Array) -> Array:
    return np.asarray(moments.sum(axis=0, keepdims=True))
