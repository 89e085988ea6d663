"""A kernel may be slow: the quadratic-time tests evaluate it once for each pair of rows."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Gamma, Null, Pearson, Permutation, Spectrum, btest
from btests.plan import Array

NULLS = (Permutation(20), Spectrum(20), Gamma(), Pearson())


@pytest.mark.parametrize("null", NULLS, ids=repr)
def test_a_users_kernel_is_evaluated_once_for_each_pair(null: Null) -> None:
    n, evaluated = 300, 0

    def kernel(a: Array, b: Array) -> Array:
        nonlocal evaluated
        evaluated += len(a) * len(b)
        return np.asarray(np.exp(-np.abs(a[:, None, 0] - b[None, :, 0])))

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((n, 1)), rng.standard_normal((n, 1))
    result = btest(x, y, kernel=kernel, null=null, seed=1)
    pairs = 2 * n * (2 * n + 1) // 2
    # The tiles on the diagonal are whole squares, and the checks of a kernel look at a few rows.
    assert pairs <= evaluated <= 1.5 * pairs
    assert result.engine == "numpy"
    assert result.confidence_interval().low < result.confidence_interval().high
