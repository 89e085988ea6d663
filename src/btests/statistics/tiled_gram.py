"""The Gram matrix of the pooled sample, evaluated by tiles, and its moments over all relabellings in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from btests.data.sample import RowSlice, Sample
from btests.kernels.kernel import Kernel, properties_of
from btests.plan import Array, Plan
from btests.statistics.checks import overflow_error
from btests.statistics.numpy_backend import (
    difference,
    evaluate,
    group_indicators,
    grouped_paired_moments,
    grouped_unpaired_moments,
)
from btests.summary import Summary

#: Rows and columns of a tile: half a MiB, large enough for fast matrix products and small enough for a cache.
TILE = 256

# Kernel values that differ by less than this, relative to their size, are one value.
_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)

# Sums over a matrix in two orders differ by this much of the sum of its absolute values, at most.
_SUMMED = 16.0 * float(np.finfo(np.float64).eps)

# Smaller numbers are not held in full precision.
_SMALLEST = float(np.finfo(np.float64).tiny)

# Sums of values beyond this overflow.
_HUGE = 1e290


def tile_bytes(n_x: int, n_y: int) -> int:
    """Return the memory of one pass over the tiles, beside the rows themselves."""
    side = min(TILE, max(n_x, n_y))
    return 6 * 8 * side**2 + 8 * 8 * (n_x + n_y)  # the tile and what computes it; sums of rows


class Tile(NamedTuple):
    """A piece of the matrix, zero where it crosses the diagonal: values (b, c) at these rows and columns."""

    rows: slice
    columns: slice
    values: Array


@dataclass(frozen=True, slots=True)
class Margins:
    """Sums over the matrix K, accumulated in one pass; K0 is K with a zero diagonal, N = n_x + n_y.

    Attributes
    ----------
    n_x, n_y : int
        Rows of the samples.
    row_sums : ndarray of shape (N, 2)
        Sums of the rows of K0 over the columns of x, and over those of y.
    diagonal : ndarray of shape (N,)
        The diagonal of K.
    pairs : float
        The sum of k(x_a, y_a) over rows at the same place, 0 for samples of different lengths.
    norm : float
        The square root of the sum of squares of K0.
    """

    n_x: int
    n_y: int
    row_sums: Array
    diagonal: Array
    pairs: float
    norm: float

    def unbiased(self) -> float:
        """Return the unbiased MMD^2, with all cross terms."""
        return float(unbiased(self.row_sums[: self.n_x, 0].sum(), self.row_sums[: self.n_x].sum(), self))

    def paired(self) -> float:
        """Return the unbiased MMD^2 of samples of one length without the terms k(x_a, y_a): the paper's eq. 3."""
        n = self.n_x
        within = self.row_sums[:n, 0].sum() + self.row_sums[n:, 1].sum()
        return float((within - 2.0 * (self.row_sums[:n, 1].sum() - self.pairs)) / (n * (n - 1)))

    def biased(self) -> float:
        """Return the biased MMD^2: the squared distance of the two mean features."""
        m, n = self.n_x, self.n_y
        xx = self.row_sums[:m, 0].sum() + self.diagonal[:m].sum()
        yy = self.row_sums[m:, 1].sum() + self.diagonal[m:].sum()
        return float(xx / m**2 + yy / n**2 - 2.0 * self.row_sums[:m, 1].sum() / (m * n))

    def tolerance(self) -> float:
        """Return by how much two ways to add up the same MMD^2 may differ."""
        m, n_y = self.n_x, self.n_y
        n = m + n_y
        # What belongs to a short sample is a difference of sums over all rows, and then divided by its few pairs.
        spread = n * (n - 1.0) * (1.0 / (m * (m - 1.0)) + 1.0 / (n_y * (n_y - 1.0)) + 2.0 / (m * n_y))
        return (1e-13 + _SUMMED * spread) * self.norm / math.sqrt(n * (n - 1.0))


def unbiased(within: Any, linear: Any, margins: Margins) -> Any:
    """Return the unbiased MMD^2 of labellings from ``a'K0a`` and ``a'K0 1``, a the indicator of x: (...) to (...)."""
    m, n, total = margins.n_x, margins.n_y, margins.row_sums.sum()
    return within / (m * (m - 1)) + (total - 2.0 * linear + within) / (n * (n - 1)) - 2.0 * (linear - within) / (m * n)


@dataclass(frozen=True, slots=True)
class Gram:
    """The kernel between all rows of both samples, those of x first, less a constant.

    MMD is invariant under adding a constant to the kernel. The value of the kernel between the first rows of x and of y
    is subtracted: very wide kernels keep their digits, and rows that are all equal give exactly 0. Where the MMD of a
    kernel is invariant under translation of the data, rows are centred first.

    Nothing of the size N x N is kept. Each pass over the tiles evaluates the kernel anew, and stores its ``margins``;
    with ``for_summary`` it stores the sums between groups of rows as well, so that a summary needs no other pass.
    """

    kernel: Kernel
    x: Sample | RowSlice
    y: Sample | RowSlice
    for_summary: bool = False
    _margins: Margins | None = field(default=None, init=False, repr=False, compare=False)
    _group_sums: Array | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        """Rows of both samples, N."""
        return len(self.x) + len(self.y)

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles on and above the diagonal, row by row; no tile has rows, or columns, of both samples.

        The kernel is symmetric: each pair of rows is evaluated once, and within the tiles on the diagonal twice.
        """
        rows = np.concatenate([s.stack(0, 1, len(s))[0] for s in (self.x, self.y)])
        if self.x.is_numeric and properties_of(self.kernel).centers_rows:
            rows = rows - self.x.location.origin
        n_x, n = len(self.x), len(rows)
        strips = [slice(i, min(i + TILE, end)) for start, end in ((0, n_x), (n_x, n)) for i in range(start, end, TILE)]
        constant = float(_evaluate(self.kernel, rows[:1], rows[n_x : n_x + 1])[0, 0])
        row_sums, diagonal, pairs, norm = np.zeros((n, 2)), np.empty(n), 0.0, 0.0
        member = _indicators(n_x, n - n_x) if self.for_summary else np.empty((n, 0))
        group_sums = np.zeros((member.shape[1], member.shape[1]))
        for i, one in enumerate(strips):
            for other in strips[i:]:
                p = rows[one]
                values = _evaluate(self.kernel, p, p if other is one else rows[other])
                _subtract(values, constant)
                if other is one:
                    diagonal[one] = values.diagonal()
                    np.fill_diagonal(values, 0.0)
                else:
                    row_sums[other, int(one.start >= n_x)] += values.sum(axis=0)
                if n == 2 * n_x and other.start - one.start == n_x:
                    pairs += float(values.trace())
                row_sums[one, int(other.start >= n_x)] += values.sum(axis=1)
                # The tile below the diagonal has the same squares once more.
                norm = math.hypot(norm, _norm(values) * (1.0 if other is one else math.sqrt(2.0)))
                if self.for_summary:
                    part = member[one].T @ values @ member[other]
                    group_sums += part if other is one else part + part.T
                yield Tile(one, other, values)
        object.__setattr__(self, "_margins", Margins(n_x, n - n_x, row_sums, diagonal, pairs, norm))
        object.__setattr__(self, "_group_sums", group_sums)

    def margins(self) -> Margins:
        """Return the sums of the last pass, or of a new one if there was none."""
        if self._margins is None:
            for _ in self.tiles():
                pass
        return cast(Margins, self._margins)

    def matrix(self) -> Array:
        """Return the whole matrix, the diagonal included: (N, N), new with every call."""
        out = np.empty((self.n_rows, self.n_rows))
        for rows, columns, values in self.tiles():
            out[rows, columns] = values
            out[columns, rows] = values.T
        np.fill_diagonal(out, self.margins().diagonal)
        return out

    def summary(self) -> Summary:
        """Return the summary of all rows as one block, without a whole Gram matrix."""
        if not self.for_summary:
            return replace(self, for_summary=True).summary()
        margins, sums = self.margins(), cast(Array, self._group_sums)
        n_x, n_y = margins.n_x, margins.n_y
        plan = Plan(n_x, n_y, 1)
        x, y, rest = np.split(np.arange(len(sums)), [plan.n_groups, 2 * plan.n_groups])
        kxx, kyy, kxy = (sums[None][:, u[:, None], v] for u, v in ((x, x), (y, y), (x, y)))
        if plan.paired:
            value, moments = margins.paired(), grouped_paired_moments(kxx + kyy, kxy, n_x)
        else:
            rest_contrast = difference(sums[x, rest], sums[y, rest])[None]
            value, moments = margins.unbiased(), grouped_unpaired_moments(kxx, kyy, kxy, rest_contrast, (n_x, n_y))
        return Summary.of(plan, np.array([value]), moments)

    def h_matrix(self) -> Array:
        """Return h(z_a, z_b) of eq. 3 for samples of one length n, zero for a = b: (n, n), new with every call."""
        n = len(self.x)
        out = np.zeros((n, n))
        for rows, columns, values in self.tiles():
            i, j = (slice(s.start % n, (s.stop - 1) % n + 1) for s in (rows, columns))
            if rows == columns:
                out[i, j] += values
            else:
                sign = 1.0 if (rows.start < n) == (columns.start < n) else -1.0
                out[i, j] += sign * values
                out[j, i] += sign * values.T
        np.fill_diagonal(out, 0.0)
        return out


def _indicators(n_x: int, n_y: int) -> Array:
    """Return 1 where a row belongs to a group of x, to one of y, or to the rest of the longer sample: (N, 2g + 1)."""
    n, n_groups = min(n_x, n_y), Plan(n_x, n_y, 1).n_groups
    out = np.zeros((n_x + n_y, 2 * n_groups + 1))
    out[:n, :n_groups] = out[n_x : n_x + n, n_groups:-1] = group_indicators(n, n_groups)
    out[n:n_x, -1] = out[n_x + n :, -1] = 1.0
    return out


def _evaluate(kernel: Kernel, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> Array:
    """Return one Gram matrix, which may be changed in place: rows (b, ...) and (c, ...) to (b, c)."""
    one = p[None]
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused here
        values: Array = evaluate(kernel, one, one if q is p else q[None])[0]
    sizes = np.abs(values)
    if not sizes.max() < _HUGE:
        raise overflow_error()
    # Numbers this small are hundreds of times slower to compute with, and nothing beside the others.
    np.copyto(values, 0.0, where=sizes < _SMALLEST)
    return values


def _subtract(values: Array, constant: float) -> None:
    """Subtract the constant in place; differences of no more than its rounding become 0: (b, c)."""
    values -= constant
    np.copyto(values, 0.0, where=np.abs(values) <= _ROUNDING * abs(constant))


def _norm(values: Array) -> float:
    """Return the root of the sum of squares: (b, c) to a number, for values whose squares leave the range, too."""
    from scipy.linalg.blas import dnrm2

    return float(dnrm2(values.ravel()))


def relabelled_mean(margins: Margins) -> float:
    r"""Return the mean of the biased MMD^2 over all relabellings.

    It is w'Kw with w = 1/n_x on x and -1/n_y on y. The entries of w sum to 0 and their squares to 1/n_x + 1/n_y, so a
    random order of them gives (1/n_x + 1/n_y) tr(HKH) / (N - 1), H the centring matrix.
    """
    n = margins.n_x + margins.n_y
    trace = margins.diagonal.sum() - (margins.row_sums.sum() + margins.diagonal.sum()) / n
    return float((1.0 / margins.n_x + 1.0 / margins.n_y) * trace / (n - 1))


def relabelled_sd(margins: Margins) -> float:
    r"""Return the standard deviation of the biased MMD^2 over all relabellings.

    K0 is U + f 1' + 1 f' off its diagonal, with zero row sums in U. As w^2 = (1/n_x - 1/n_y) w + 1/(n_x n_y) entry by
    entry, w'Kw is a constant plus w'Uw plus (1/n_x - 1/n_y) w'(diagonal - 2f). The last two are uncorrelated over
    relabellings. The unbiased MMD^2 is a multiple of w'Uw, and its variance c V is known, V the mean square of U.
    """
    m, n_y = margins.n_x, margins.n_y
    n, square = m + n_y, 1.0 / m + 1.0 / n_y
    # Squares may overflow where kernel values do not: work in units of the largest.
    unit = max(margins.norm, float(np.abs(margins.diagonal).max()))
    if unit == 0.0:
        return 0.0
    r, a = margins.row_sums.sum(axis=1) / unit, (margins.norm / unit) ** 2
    v = (a - 2.0 * float(r @ r) / (n - 2) + float(r.sum()) ** 2 / ((n - 1) * (n - 2))) / (n * (n - 3))
    c = 2.0 / (m * (m - 1)) + 2.0 / (n_y * (n_y - 1)) + 4.0 / (m * n_y)
    linear = margins.diagonal / unit - 2.0 * r / (n - 2)
    spread = float(np.var(linear)) * n / (n - 1)
    return unit * math.sqrt(4.0 * square**4 * max(v, 0.0) / c + (1.0 / m - 1.0 / n_y) ** 2 * square * spread)
