"""What a result says about the choice of its kernel."""

from __future__ import annotations

import json

import numpy as np
import pytest

from btests import (
    CrossValidation,
    Gaussian,
    MaxMMD,
    MaxRatio,
    MedianHeuristic,
    SelectionWarning,
    Selector,
    Weights,
    btest,
)
from btests.kernels.combination import shortened

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 2)), RNG.normal(size=(300, 2)) * [2.0, 1.0]
SELECTORS: list[Selector] = [MaxMMD(), MaxRatio(), Weights(), CrossValidation()]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_who_chose_and_on_which_rows(selector: Selector) -> None:
    result = btest(X, Y, kernel=selector, seed=1)
    assert (result.selector, result.n_x, result.n_y, result.n_train) == (selector, 150, 150, (150, 150))
    assert sum(c.weight for c in result.candidates) == pytest.approx(1.0)
    assert f"  chosen    by {selector!r} on 150 rows a side" in str(result).split("\n")
    loaded = json.loads(result.to_json())
    assert loaded == result.to_dict()
    assert loaded["selector"] == repr(selector)
    assert len(loaded["candidates"]) == 26
    assert loaded["candidates"][0]["kernel"] == "Gaussian(bandwidth=3.0517578125e-05)"
    assert (loaded["note"], loaded["n_train"]) == ("", [150, 150])
    assert result == btest(X, Y, kernel=selector, seed=1)


def test_samples_of_different_lengths() -> None:
    assert "on 150 and 50 rows" in str(btest(X, Y[:100], kernel=MaxMMD(), seed=1))
    result = btest(X, Y[:100], kernel=CrossValidation(), seed=1)
    assert (result.n_train, result.n_x, result.n_y) == ((50, 50), 250, 50)


def test_fixed_kernels_and_the_median_use_no_rows() -> None:
    fixed, median = btest(X, Y, kernel=Gaussian(1.0), seed=1), btest(X, Y, kernel="gaussian", seed=1)
    assert (fixed.selector, fixed.candidates, fixed.n_train, fixed.note) == (None, (), (0, 0), "")
    assert (median.selector, median.candidates, median.n_train) == (MedianHeuristic(Gaussian), (), (0, 0))
    assert fixed.to_dict()["selector"] is None
    assert "chosen" not in str(fixed) + str(median)
    assert btest(X, Y, kernel=MedianHeuristic(Gaussian), seed=1) == median


def test_no_positive_mean_is_said() -> None:
    """Blocks of x = 0, 1 and y = 1, 0: in each, x and y are more alike than two rows of x."""
    family = [Gaussian(0.5), Gaussian(1.0)]
    x, y = np.tile([[0.0], [1.0]], (40, 1)), np.tile([[1.0], [0.0]], (40, 1))
    with pytest.warns(SelectionWarning, match="no kernel found a difference .*; taking the one of the largest ratio"):
        result = btest(x, y, kernel=Weights(family), block_size=2, seed=1, shuffle=False)
    assert result.kernel in family
    assert "no kernel found a difference" in result.note
    assert f"  note      {result.note}" in str(result).split("\n")
    assert result.pvalue > 0.5
    for selector in (MaxMMD(family), MaxRatio(family), CrossValidation(family)):
        assert btest(x, y, kernel=selector, block_size=2, seed=1, shuffle=False).note.startswith("no kernel found")


def test_a_solver_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("btests.selection.weights.minimise", lambda matrix, means: None)
    with pytest.warns(SelectionWarning, match="the weights could not be found; taking the one of the largest ratio"):
        result = btest(X, Y, kernel=Weights(), seed=1)
    assert result.kernel == btest(X, Y, kernel=MaxRatio(), seed=1).kernel


def test_a_long_sum_is_short_in_print_and_whole_in_json() -> None:
    kernel = sum((Gaussian(2.0**p) * (p + 1.0) for p in range(1, 8)), Gaussian(1.0) * 9.0)
    wanted = "9 * Gaussian(bandwidth=1.0) + 8 * Gaussian(bandwidth=128.0) + 7 * Gaussian(bandwidth=64.0) + 5 more"
    assert shortened(kernel) == wanted
    assert shortened(Gaussian(1.0)) == repr(Gaussian(1.0))
    result = btest(X, Y, kernel=kernel, seed=1)
    assert f"  kernel    {wanted}" in str(result).split("\n")
    assert result.to_dict()["kernel"] == repr(kernel)
