"""Variance and third cumulant of a block value from rows, for samples of different lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from btests.data.sample import AnySample
from btests.data.unit_sample import UnitSample
from btests.kernels.kernel import Kernel, properties_of
from btests.plan import Array, Plan
from btests.statistics.numpy_backend import evaluate, without_diagonal
from btests.summary import ENOUGH_BLOCKS, RowMoments, Summary

# Rows of each sample at which the witness is evaluated: a tenth of all, within these bounds; it is estimated with four
# times as many. Fewer of objects, whose kernels may be slow.
_LEAST, _MOST, _OBJECTS = 64, 256, 24
_ROWS_PER_PLACE = 4

# Most numbers that the rows of one sample hold: 2 MiB.
_NUMBERS = 2**18

# Rows of each sample without which there is no estimate.
_ENOUGH = 8

# The degenerate part of the variance counts that much more at one block. Without it 95 % intervals cover 92 % for 500
# and 100 rows of blobs on a 2 x 2 grid, where it is half of the variance and the estimated third cumulant is too large;
# with it they cover 95 %. That error falls with the number of blocks.
_MORE = 0.3


class Values(NamedTuple):
    """Kernel values between p places in x, q places in y, and all rows; the places are the first of the rows.

    ``xx`` (p, n_x), ``xy`` (p, n_y), ``yx`` (q, n_x), ``yy`` (q, n_y).
    """

    xx: Array
    xy: Array
    yx: Array
    yy: Array


@dataclass(frozen=True, slots=True, eq=False)
class Subsample:
    """Some rows of both samples and a kernel, to estimate the moments of one block value from when they are asked for.

    Attributes
    ----------
    kernel : Kernel
        The kernel of the test.
    x, y : ndarray
        Rows that the witness is estimated with.
    n_places : int
        Number of rows of each sample, the first, at which it is evaluated.
    sizes : tuple of float
        Rows of x and of y in a block.
    n_blocks : int
        Number of blocks.
    """

    kernel: Kernel
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    n_places: int
    sizes: tuple[float, float]
    n_blocks: int

    @classmethod
    def of(cls, kernel: Kernel, x: AnySample, y: AnySample, plan: Plan) -> Subsample:
        """Take the first rows in random order, or rows spread evenly where the order is the user's own."""
        places = min(_MOST, max(_LEAST, (len(x) + len(y)) // 10)) if x.is_numeric else _OBJECTS
        rows = min(_ROWS_PER_PLACE * places, max(places, _NUMBERS // max(1, x.width)))
        p, q = (_rows(sample, rows, places) for sample in (x, y))
        if x.is_numeric and properties_of(kernel).centers_rows:
            p, q = p - x.location.origin, q - x.location.origin
        m = plan.n_blocks
        return cls(kernel, p, q, places, (plan.n_x / m, plan.n_y / m), m)

    def __call__(self) -> RowMoments:
        """Return the moments of one block value."""
        places = np.concatenate([self.x[: self.n_places], self.y[: self.n_places]])
        gram = evaluate(self.kernel, places[None], np.concatenate([self.x, self.y])[None])[0]
        n, m = min(self.n_places, len(self.x)), len(self.x)
        values = Values(gram[:n, :m], gram[:n, m:], gram[n:, :m], gram[n:, m:])
        return two_sample_moments(values, self.sizes, 1.0 + _MORE / self.n_blocks)


def with_row_moments(summary: Summary, kernel: Kernel, x: AnySample, y: AnySample) -> Summary:
    """Return the summary with rows to estimate moments from, if its samples differ in length and its blocks are few.

    Swaps of partners show the witness w as differences w(x) - w(y) alone. For samples of different lengths its
    variances in x and in y are needed one by one, which moments of blocks do not hold. Nothing is computed before an
    interval is asked for. (Not of units, which have no interval then.)
    """
    plan = summary.plan
    if isinstance(x, UnitSample) or plan.paired or plan.n_blocks >= ENOUGH_BLOCKS or min(len(x), len(y)) < _ENOUGH:
        return summary
    found = replace(summary, row_moments=Subsample.of(kernel, x, y, plan))
    return found if summary.moments.any() else found.zeroed()


def two_sample_moments(values: Values, sizes: tuple[float, float], weight: float) -> RowMoments:
    r"""Return the moments of the unbiased MMD^2 of b and c rows, the degenerate part of the variance with a weight.

    With w the witness and k~ the kernel centred in both arguments, the variance is the linear part
    ``4 var w(x) / b + 4 var w(y) / c`` and the degenerate part
    ``2 E k~(x, x')^2 / b (b - 1) + 2 E k~(y, y')^2 / c (c - 1) + 4 E k~(x, y)^2 / b c``. The sample variance of the
    estimated witness has the noise of the rows that it is estimated with, whose expectation is subtracted.
    """
    constant = values.xy[0, 0]  # the MMD does not depend on it; the differences of a wide kernel keep their digits
    xx, xy, yx, yy = (k - constant for k in values)
    for inner in (xx, yy):
        np.fill_diagonal(inner, 0.0)
    (b, c), (p, q), (n_x, n_y) = sizes, (len(xx), len(yy)), (xx.shape[1], yy.shape[1])
    unit = max(float(np.abs(k).max()) for k in (xx, xy, yx, yy))
    if unit == 0.0:
        return RowMoments(0.0, 0.0, 0.0, 0.0, p + q - 2.0)
    xx, xy, yx, yy = (k / unit for k in (xx, xy, yx, yy))
    of_x = _deviations(xx.sum(axis=1) / (n_x - 1.0) - xy.mean(axis=1))
    of_y = _deviations(yx.mean(axis=1) - yy.sum(axis=1) / (n_y - 1.0))
    inner_x, inner_y, across = _centred(xx[:, :p]), _centred(yy[:, :q]), xy[:, :q]
    across = across - across.mean(axis=1, keepdims=True) - across.mean(axis=0) + across.mean()
    s_xx = float(np.sum(inner_x**2)) / (p * (p - 3.0))
    s_yy = float(np.sum(inner_y**2)) / (q * (q - 3.0))
    s_xy = float(np.sum(across**2)) / ((p - 1.0) * (q - 1.0))
    v_x, v_y = (4.0 * float(np.sum(w**2)) / (len(w) - 1.0) / size for w, size in ((of_x, b), (of_y, c)))
    noise = 4.0 / b * (s_xx / n_x + s_xy / n_y) + 4.0 / c * (s_yy / n_y + s_xy / n_x)
    degenerate = 2.0 * s_xx / (b * (b - 1.0)) + 2.0 * s_yy / (c * (c - 1.0)) + 4.0 * s_xy / (b * c)
    if v_x + v_y == 0.0:
        return RowMoments(unit, weight * degenerate, 0.0, 0.0, p + q - 2.0)
    signal = max(0.0, v_x + v_y - noise)
    linear = 8.0 * (float(np.mean(of_x**3)) / b**2 - float(np.mean(of_y**3)) / c**2)
    u, v = of_x / (p * b), of_y / (q * c)
    interaction = 24.0 * float(u @ inner_x @ u + v @ inner_y @ v + 2.0 * (u @ across @ v))
    # A witness estimated with fewer rows than the block has is noisier than that of the block: the interaction is
    # reduced in proportion.
    interaction *= min(1.0, (signal + 2.0 * degenerate) / (v_x + v_y))
    degrees = (v_x + v_y) ** 2 / (v_x**2 / (p - 1.0) + v_y**2 / (q - 1.0))  # of Welch and Satterthwaite
    return RowMoments(unit, signal + weight * degenerate, linear, interaction, degrees)


def _rows(sample: AnySample, n_rows: int, n_places: int) -> npt.NDArray[Any]:
    """Return some rows of a sample, evenly spread places first where the order is the user's own."""
    rows = sample.head(min(n_rows, len(sample)))
    if sample.is_shuffled:
        return rows
    n = min(n_places, len(rows))
    places = np.arange(n) * len(rows) // n
    return np.asarray(rows[np.concatenate([places, np.setdiff1d(np.arange(len(rows)), places)])])


def _centred(gram: Array) -> Array:
    """Return values with a zero diagonal less their mean and the effects of rows and columns: (n, n) to (n, n)."""
    n = len(gram)
    means = gram.sum(axis=1) / (n - 1.0)
    effects = _deviations(means) * ((n - 1.0) / (n - 2.0))
    return without_diagonal(gram - means.mean() - effects[:, None] - effects)


def _deviations(values: Array) -> Array:
    return np.asarray(values - values.mean())
