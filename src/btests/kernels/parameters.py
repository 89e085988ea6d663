"""Checks of kernel parameters, shared by every ``__post_init__``."""

from __future__ import annotations

import math
from numbers import Real


def require_positive(name: str, value: object) -> None:
    """Raise unless ``value`` is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        good = math.isfinite(value) and float(value) > 0
    except OverflowError:  # a whole number beyond the range of floats
        good = False
    if not good:
        raise ValueError(f"{name} must be positive and finite, got {value}")
