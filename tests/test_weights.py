"""Weights of rows: survey weights and importance weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from btests import FewBlocksWarning, Gaussian, SignFlip, btest
from btests.statistics.unit_blocks import centred


def drawn(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return rows (n, 1) with weights that depend on them."""
    rows = rng.normal(size=(n, 1))
    return rows, np.exp(0.7 * rows[:, 0]) * rng.exponential(size=n)


def kernel(p: Any, q: Any) -> float:
    """Return a Gaussian of bandwidth 1."""
    return float(np.exp(-np.sum((p - q) ** 2) / 2.0))


@pytest.mark.parametrize("n_y", [12, 15])
def test_weighted_features_less_their_mean_one_by_one(n_y: int) -> None:
    rng = np.random.default_rng(1)
    (x, w), (y, v) = drawn(12, rng), drawn(n_y, rng)
    found = btest(x, y, weights_x=w, weights_y=v, kernel=Gaussian(1.0), shuffle=False, seed=0)
    n, m, rows, weights = 12, n_y, np.concatenate([x, y]), np.concatenate([w, v])
    a, b = w.mean(), v.mean()
    weights = weights / ((n + m) * a * b / (n * a + m * b))
    total = weights.sum()
    inner = np.array([sum(u * kernel(p, q) for q, u in zip(rows, weights, strict=True)) / total for p in rows])
    mean = sum(u * own for u, own in zip(weights, inner, strict=True)) / total
    gram = np.empty((n + m, n + m))
    for i in range(n + m):
        for j in range(n + m):
            gram[i, j] = weights[i] * weights[j] * (kernel(rows[i], rows[j]) - inner[i] - inner[j] + mean)
    xx, yy, xy = gram[:n, :n], gram[n:, n:], gram[:n, n:]
    within = (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1))
    across = (xy.sum() - np.trace(xy)) / (n * (n - 1)) if n == m else xy.mean()
    assert found.statistic == pytest.approx(within - 2.0 * across, rel=1e-9)


def test_the_biased_value_is_the_distance_of_weighted_means() -> None:
    rng = np.random.default_rng(2)
    (x, w), (y, v) = drawn(20, rng), drawn(30, rng)
    rows, weights = np.concatenate([x, y]), np.concatenate([w, v])
    weights /= (50 * w.mean() * v.mean()) / (20 * w.mean() + 30 * v.mean())
    plain = np.exp(-((rows - rows.T) ** 2) / 2.0)
    own = np.concatenate([w / w.sum(), -v / v.sum()])
    shares = np.repeat([1 / 20, -1 / 30], [20, 30])
    gram = centred(np.outer(weights, weights) * plain, weights)
    assert shares @ gram @ shares == pytest.approx(own @ plain @ own, rel=1e-10)


def test_equal_weights_are_none() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(80, 2)) + 0.1
    wanted = btest(x, y, seed=1, statistic="blocks")
    several: Any = ({"weights_x": np.full(60, 3.0), "weights_y": np.full(80, 3.0)}, {"weights_x": np.full(60, 7)})
    for options in several:
        found = btest(x, y, seed=1, **options)
        assert found.pvalue == wanted.pvalue
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
        assert "weighted" in found.note


def test_only_ratios_within_a_sample_matter() -> None:
    rng = np.random.default_rng(4)
    (x, w), (y, v) = drawn(200, rng), drawn(200, rng)
    one = btest(x, y, weights_x=w, seed=1)
    assert one.pvalue == btest(x, y, weights_x=1e3 * w, seed=1).pvalue
    assert "approximate" in one.note
    both = btest(x, y, weights_x=w, weights_y=v, seed=1)
    assert "exchangeable" in both.note
    assert both.pvalue == btest(x, y, weights_x=1e-3 * w, weights_y=1e-3 * v, seed=1).pvalue
    apart = btest(x, y, weights_x=w, weights_y=50.0 * v, seed=1)  # on another scale
    assert "normalised in each sample" in apart.note
    assert apart.statistic == pytest.approx(both.statistic, rel=0.2)
    assert abs(apart.pvalue - both.pvalue) < 0.1


def test_importance_weights_undo_a_bias() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(0.5, 1.0, size=400), rng.normal(size=400)
    weights = np.exp(0.125 - 0.5 * x)  # the ratio of the densities
    assert btest(x, y, seed=1).pvalue <= 0.001
    assert btest(x, y, weights_x=weights, seed=1).pvalue > 0.05
    assert btest(x, y + 0.5, weights_x=weights, seed=1).pvalue <= 0.01


def test_levels() -> None:
    """Of 300 trials at 5 %, rejections exceed the bound with probability 1e-6 at most."""
    exchangeable = importance = 0
    for k in range(300):
        rng = np.random.default_rng([9, k])
        options: Any = {"kernel": "gaussian", "null": SignFlip(199), "seed": k}
        (x, w), (y, v) = drawn(30, rng), drawn(40, rng)
        exchangeable += btest(x, y, weights_x=w, weights_y=v, **options).pvalue <= 0.05
        biased = rng.normal(0.5, 1.0, size=60)
        fair = rng.normal(size=60)
        importance += btest(biased, fair, weights_x=np.exp(-0.5 * biased), **options).pvalue <= 0.05
    assert 1 <= exchangeable <= binom.isf(1e-6, 300, 0.05)
    assert 1 <= importance <= binom.isf(1e-6, 300, 0.05)


def test_weights_and_units_and_pairs_together() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(90, 2)), rng.normal(size=(90, 2))
    units = np.arange(90) // 3, 100 + np.arange(90) // 3
    alike = btest(x, y, units=units, seed=1)
    weighted = btest(x, y, units=units, weights_x=np.full(90, 0.2), weights_y=np.full(90, 0.2), seed=1)
    assert weighted.pvalue == alike.pvalue
    assert weighted.statistic == pytest.approx(alike.statistic, rel=1e-8)
    paired = btest(x, y, weights_x=np.ones(90), weights_y=np.ones(90), paired=True, seed=1)
    assert paired.pvalue == btest(x, y, paired=True, seed=1).pvalue


def test_columns_of_frames() -> None:
    rng = np.random.default_rng(7)
    (x, w), (y, v) = drawn(50, rng), drawn(50, rng)
    found = btest(
        pd.DataFrame({"a": x[:, 0], "w": w}), pd.DataFrame({"v": v, "a": y[:, 0]}), weights_x="w", weights_y="v", seed=1
    )
    assert found.pvalue == btest(x, y, weights_x=w, weights_y=v, seed=1).pvalue


def test_mistakes_are_named() -> None:
    x, y, w = np.arange(10.0), np.arange(10.0), np.ones(10)
    for weights, message in [
        (np.where(x == 3, -0.5, w), "negative weight in row 3, -0.5"),
        (np.where(x == 3, np.nan, w), "not finite in row 3, nan"),
        (0.0 * w, "weights_x are all 0"),
        (w[:9], "weights_x are 9 numbers for 10 rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            btest(x, y, weights_x=weights)
    for wrong in (np.ones((10, 1)), ["a"] * 10, "w"):
        with pytest.raises(TypeError, match="weights_x"):
            btest(x, y, weights_x=wrong)
    with pytest.raises(ValueError, match="weights_y names the column 'v'"):
        btest(pd.DataFrame({"a": x}), pd.DataFrame({"a": y}), weights_y="v")
    with pytest.raises(ValueError, match="in memory"):
        btest(iter([x, x]), y, weights_x=w)


def test_weights_of_one_row_are_refused() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    with pytest.raises(ValueError, match=r"weights_x are worth 1\.0 rows of equal weight"):
        btest(x, y, weights_x=(np.arange(50) == 0) * 1.0, seed=1)


def test_few_effective_rows_are_named() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    with pytest.warns(FewBlocksWarning, match="weights make x 4 rows of equal weight"):
        found = btest(x, y, weights_x=(np.arange(50) < 4) * 1.0, seed=1)
    assert "may be much too small" in found.note
