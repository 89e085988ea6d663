"""Robust location and scale of a column."""

from __future__ import annotations

import numpy as np

from btests.plan import Array

# Quantile ranges that may serve as scale, the first that is not empty, and the range of a standard normal in them.
_RANGES = ((0.25, 0.75, 1.3489795), (0.05, 0.95, 3.2897073), (0.005, 0.995, 5.1516586))


def robust_scale(values: Array) -> tuple[float, float]:
    """Return the median, and a scale that is the standard deviation of normal data and that outliers do not move."""
    if values.size == 0:
        return 0.0, 1.0
    shares = [0.5, *(q for low, high, _ in _RANGES for q in (low, high))]
    centre, *ends = (float(q) for q in np.quantile(values, shares))
    for (_, _, normal), low, high in zip(_RANGES, ends[::2], ends[1::2], strict=True):
        scale = (high - low) / normal
        if scale > 1e-300 and np.isfinite(scale):
            return centre, scale
    spread = float(np.abs(values - centre).max())
    return centre, spread if spread > 0.0 else 1.0
