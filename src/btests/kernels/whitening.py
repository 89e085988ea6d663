"""Regularisation of a covariance by its degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from btests._option_checks import is_finite
from btests._text import brief
from btests.plan import Array

# Regularisers between these shares of the largest eigenvalue are tried, and halved that often on a logarithmic scale.
_LEAST, _MOST, _HALVINGS = 1e-12, 1e12, 32


def regularizer(eigenvalues: Array, dof: float) -> float:
    """Return g with ``sum l / (l + g) = dof``: (f,) to a number; 0.0 if all eigenvalues are 0.

    Degrees of freedom do not depend on the scale of a kernel. Where the rank is smaller than ``dof``, g is the smallest
    that is tried, 1e-12 of the largest eigenvalue: a singular covariance has no inverse.
    """
    largest = float(eigenvalues.max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return 0.0
    shares = eigenvalues / largest
    low, high = math.log(_LEAST), math.log(_MOST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if float(np.sum(shares / (shares + math.exp(middle)))) > dof:
            low = middle
        else:
            high = middle
    return math.exp(high) * largest


def attainable(dof: float, eigenvalues: Array) -> float:
    """Return degrees of freedom, at most half of the eigenvalues that are not rounding, and at least half of one."""
    rank = int(np.sum(eigenvalues > _LEAST * eigenvalues.max(initial=0.0)))
    return min(dof, max(rank, 1) / 2.0)


def check_dof(dof: Any) -> tuple[float, ...]:
    """Return degrees of freedom as a tuple; raise unless they are positive and finite numbers, each there once."""
    given = [dof] if isinstance(dof, Real) else dof
    if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str) or len(given) == 0:
        raise TypeError(f"dof must be a number or a list of degrees of freedom such as (4, 16), got {brief(dof)}")
    for one in given:
        if not is_finite(one) or one <= 0:
            raise ValueError(
                f"degrees of freedom must be positive and finite, got {brief(one)}; without a regulariser the "
                "covariance of a kernel has no inverse"
            )
    found = tuple(float(one) for one in given)
    if len(set(found)) < len(found):
        raise ValueError(f"dof must not name a number twice, got {brief(dof)}")
    return found
