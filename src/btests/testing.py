"""Assertions for test suites and pipelines.

Examples
--------
>>> import numpy as np
>>> from btests.testing import assert_same_distribution
>>> rng = np.random.default_rng(0)
>>> assert_same_distribution(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)), seed=1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from btests.comparison import compare
from btests.comparison.fail_on import check_fail_on, failed

__all__ = ["assert_same_distribution"]


def assert_same_distribution(
    a: Any,
    b: Any,
    *,
    alpha: float = 0.001,
    seed: int | None = 0,
    fail_on: str | Sequence[str] = "difference",
    **options: Any,
) -> None:
    """Raise an `AssertionError` if two tables come from different distributions.

    Of data that are the same, a share ``alpha`` of such assertions fails by chance. The seed is fixed, so that a test
    on fixed data always passes or always fails.

    Parameters
    ----------
    a, b : data frame, array, mapping of columns, str or Path
        The tables, as in :func:`btests.compare`.
    alpha : float, default: 0.001
        Significance level.
    seed : int or None, default: 0
        For the random numbers of the test; None for others in every call.
    fail_on : str or sequence of str, default: "difference"
        Condition under which the assertion fails, or several of which any does, as in ``btests compare --fail-on``:
        ``"effect>10%"``, ``"columns>2"``, ``"column:amount"`` or ``"column:amount>10%"``.
    **options
        Others of :func:`btests.compare`, such as ``columns``, ``exclude`` or ``tolerance=0.05``, which allows for so
        large a share of rows to differ.

    Raises
    ------
    AssertionError
        If they differ. The message says how sure that is, which columns changed, and how.

    See Also
    --------
    btests.compare : Comparison with all its numbers.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    conditions = check_fail_on(fail_on)
    found = compare(a, b, alpha=alpha, seed=seed, **options)
    if failed(found, conditions):
        raise AssertionError(f"the tables come from different distributions\n{found}")
