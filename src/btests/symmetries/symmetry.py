"""Protocols of a symmetry and of the draws from it."""

from __future__ import annotations

from typing import Protocol

from btests.plan import Array, Plan


class Draws(Protocol):
    """Elements of the group, drawn at random or all of them; the same draws may serve several statistics."""

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        ...

    @property
    def exhaustive(self) -> bool:
        """Whether the draws are all elements of the group, the identity among them."""
        ...

    def values(self, moments: Array) -> Array:
        """Return the value that each draw gives to moments (s, *shape) of all strata: (n_draws,)."""
        ...


class Symmetry(Protocol):
    """A group that leaves the null hypothesis invariant, and how its elements act on the moments of a statistic.

    Moments of the blocks of a stratum are added, so a draw acts on the blocks of a stratum in the same way, and on
    different strata independently.
    """

    @property
    def is_pooled(self) -> bool:
        """Whether the statistic is a quadratic form of the moments of all rows, and not the average over blocks."""
        ...

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments of one block."""
        ...

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> Draws:
        """Return ``n_resamples`` random elements for moments of a shape (s, *shape), or all if they are no more.

        Values of the draws are computed by ``n_threads`` threads; None is all cores of this process.
        """
        ...

    def observed(self, moments: Array) -> float:
        """Return the value of the identity."""
        ...

    def magnitude(self, moments: Array) -> float:
        """Return the sum of the absolute terms of the value, which its rounding error is relative to."""
        ...

    def variance(self, moments: Array) -> float:
        """Return the variance of the value over all elements of the group."""
        ...

    def third_cumulant(self, moments: Array) -> float | None:
        """Return the third cumulant of the value over all elements, None where there is no closed form."""
        ...

    def n_effective_pairs(self, moments: Array) -> float:
        """Return the number of pairs of rows, or of groups, that carry the value: k if k of them have equal weight."""
        ...
