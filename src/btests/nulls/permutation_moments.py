"""Moments of the biased MMD^2 over all relabellings of the rows, in closed form."""

from __future__ import annotations

import math

import numpy as np

from btests.statistics.tiled_gram import Margins


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
