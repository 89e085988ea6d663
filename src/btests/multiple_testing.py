"""Corrections of p-values for their number."""

from __future__ import annotations

import math

import numpy as np

from btests.plan import Array


def draws_for(n_tests: int, alpha: float) -> int:
    """Return how many draws make half the level attainable after correction for ``n_tests``.

    Examples
    --------
    >>> draws_for(66, 0.05)
    2639
    """
    return math.ceil(2.0 * n_tests / alpha) - 1


def holm(pvalues: Array) -> Array:
    """Return p-values corrected for their number by Holm's method: (c,) to (c,).

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * (len(pvalues) - np.arange(len(pvalues))))
    out = np.empty(len(pvalues))
    out[order] = np.minimum(1.0, stepped)
    return out
