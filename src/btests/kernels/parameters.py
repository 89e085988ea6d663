"""Checks of kernel parameters, shared by every ``__post_init__``."""

from __future__ import annotations

import math
from numbers import Real

# The inverse of a smaller number would overflow.
_SMALLEST = 1e-300


def require_positive(name: str, value: object) -> None:
    """Raise unless ``value`` is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    if number < _SMALLEST:
        raise ValueError(f"{name} must be at least {_SMALLEST}, got {value}; scale the data up")
