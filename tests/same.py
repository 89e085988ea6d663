"""When two results are the same: to the last bit, in all that the data decide."""

from __future__ import annotations

import numpy as np

from btests import TestResult


def assert_same(found: TestResult, wanted: TestResult) -> None:
    """Raise unless statistic, p-value, blocks, cores, kernel and all that comes from them agree to the last bit."""
    assert (found.n_blocks, found.n_x, found.n_y, found.kernel) == (
        wanted.n_blocks,
        wanted.n_x,
        wanted.n_y,
        wanted.kernel,
    )
    for name in ("values", "moments"):
        np.testing.assert_array_equal(getattr(found.summary, name), getattr(wanted.summary, name))
    assert found.summary.kernel_scale == wanted.summary.kernel_scale
    assert (found.statistic, found.pvalue, found.seed) == (wanted.statistic, wanted.pvalue, wanted.seed)
    assert found.candidates == wanted.candidates
    assert found.engine == wanted.engine
