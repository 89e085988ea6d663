"""Corrections of p-values for their number."""

from __future__ import annotations

import numpy as np

from btests.plan import Array


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
