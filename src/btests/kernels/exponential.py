"""The exponential of kernels that decay with a distance."""

from __future__ import annotations

import math

import numpy as np

from btests.plan import Array

# Where the compiled loops take 2^-q for 0: beyond, floats lose their digits one by one before they are 0 anyway.
_LAST = 1020.5 * math.log(2.0)


def decayed(exponent: Array) -> Array:
    """Return exp(-exponent), 0 where that is below 2^-1020.5: (...) to (...), in the same memory."""
    exponent[exponent > _LAST] = np.inf
    return np.exp(np.negative(exponent, out=exponent), out=exponent)
