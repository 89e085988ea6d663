"""What the past says about how x and y differ, and what that is worth on new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from btests.kernels.protocol import Kernel
from btests.plan import Array
from btests.statistics.checks import kernel_matrix


@dataclass(frozen=True, slots=True)
class Witness:
    r"""For each kernel the function ``f(z) = mean_i k(x_i, z) - mean_j k(y_j, z)`` of the last pairs of rows.

    It is large where x has been denser than y. The value of a new pair is ``f(x) - f(y)``: positive on average if the
    new rows differ as the old ones did, and as often positive as negative, by the same amounts, if x and y may swap
    places.

    The last pairs, not some of all that came before: where nothing changes these are as good, and where something does
    they know it sooner. And nothing has to be drawn at random.

    Attributes
    ----------
    kernels
        One or several (k).
    n_kept
        Pairs to remember.
    x, y
        The last pairs: (n, d) each.
    values
        What they were worth when they came: (n, k).
    """

    kernels: tuple[Kernel, ...]
    n_kept: int
    x: Array
    y: Array
    values: Array

    @classmethod
    def of(cls, kernels: tuple[Kernel, ...], n_kept: int, width: int) -> Witness:
        """Return the witness that has seen nothing."""
        return cls(kernels, n_kept, np.empty((0, width)), np.empty((0, width)), np.empty((0, len(kernels))))

    def value(self, x: Array, y: Array) -> Array:
        """Return what new pairs are worth: rows (m, d) and (m, d) to (m, k), 0 where there is no past."""
        n = len(self.x)
        if n == 0:
            return np.zeros((len(x), len(self.kernels)))
        past = np.concatenate([self.x, self.y])
        found = np.empty((len(x), len(self.kernels)))
        for j, kernel in enumerate(self.kernels):
            # Two calls of the same shape, the past first: then the value of a row is the same to the last bit as x and
            # as y, and a swap changes the sign of the difference and nothing else.
            of_x, of_y = (kernel_matrix(kernel, past, rows) for rows in (x, y))
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
                found[:, j] = _contrast(of_x, n) - _contrast(of_y, n)
        if not np.isfinite(found).all():
            raise ValueError("the kernel overflowed here; scale the data down or take a bounded kernel")
        return found

    def payoffs(self, values: Array) -> Array:
        """Return values (m, k) as payoffs (m, k) between -1 and 1: odd, and measured by what the past was worth."""
        if len(self.values) == 0:
            return np.zeros_like(values)
        with np.errstate(over="ignore"):
            kernel_scale = np.abs(self.values).mean(axis=0)
            scaled = np.divide(values, kernel_scale, out=np.zeros_like(values), where=kernel_scale > 0.0)
        return np.asarray(np.tanh(0.5 * scaled))

    def after(self, x: Array, y: Array, values: Array) -> Witness:
        """Return the witness that has seen these pairs, too: rows (m, d) and (m, d), values (m, k)."""
        return replace(self, x=self._last(self.x, x), y=self._last(self.y, y), values=self._last(self.values, values))

    def _last(self, old: Array, new: Array) -> Array:
        return np.concatenate([old, new])[-self.n_kept :]


def _contrast(gram: Array, n: int) -> Array:
    """Return the average over the first n rows less that over the others: (2 n, m) to (m,)."""
    return np.asarray(gram[:n].mean(axis=0, dtype=np.float64) - gram[n:].mean(axis=0, dtype=np.float64))
