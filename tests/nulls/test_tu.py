"""The TU-statistic: double loops, its relation to the normal null, sign flips, and levels."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from btests import TU, Gaussian, Stream, btest
from btests.symmetries.swap_groups import unpack
from tests import reference
from tests.bounds import count_bounds
from tests.nulls.summaries import summarize, two_samples

FLIPS = TU("sign-flip", 99)


def products(values: Any) -> float:
    """Return the average product of two different values, by a double loop."""
    pairs = list(permutations(range(len(values)), 2))
    return float(sum(values[i] * values[j] for i, j in pairs) / len(pairs))


def gaussian(p: Any, q: Any) -> float:
    return float(np.exp(-np.sum((np.asarray(p) - np.asarray(q)) ** 2) / 2.0))


@pytest.mark.filterwarnings("ignore::btests.FewBlocksWarning")
def test_the_chi_square_test_is_the_two_sided_normal_test() -> None:
    for shift in (0.0, 0.4):
        x, y = two_samples(200, 200, shift)
        summary = summarize(x, y, 20)
        null = TU()
        statistic, found = null.statistic(summary), null.distribution(summary, 0)
        assert statistic == pytest.approx(products(summary.values), rel=1e-10)
        t = np.sqrt(20) * summary.values.mean() / summary.values.std(ddof=1)
        assert found.pvalue(statistic) == pytest.approx(2.0 * stats.norm.sf(abs(t)), rel=1e-9)
        assert found.pvalue(statistic) == pytest.approx(stats.chi2.sf(t**2, 1), rel=1e-9)
        assert found.pvalue(found.threshold(0.03)) == pytest.approx(0.03, rel=1e-9)


def test_flips_are_those_of_swapped_rows() -> None:
    x, y = two_samples(24, 24, 0.5)
    summary = summarize(x, y, 6)
    found: Any = FLIPS.distribution(summary, 3)
    assert FLIPS.statistic(summary) == pytest.approx(products(summary.values), rel=1e-10)
    wanted = []
    for sign in np.moveaxis(unpack(summary.draw(99, 3).words, 99), -1, 0):  # type: ignore[attr-defined]
        swapped = sign.reshape(24, 1) < 0.0
        p: Any = np.where(swapped, y, x)
        q: Any = np.where(swapped, x, y)
        wanted.append(products(reference.block_values(gaussian, p, q, 6)))
    np.testing.assert_allclose(found.draws, np.sort(wanted), rtol=1e-9, atol=1e-15)


def test_all_patterns_of_few_rows_hold_the_observed_one() -> None:
    x, y = two_samples(4, 4, 1.0)
    summary = summarize(x, y, 2)
    found: Any = FLIPS.distribution(summary, 0)
    assert found.exhaustive
    assert np.abs(found.draws - FLIPS.statistic(summary)).min() <= found.tolerance
    assert found.pvalue(FLIPS.statistic(summary)) >= 1 / 16


def test_blocks_of_one_stratum_are_added_first() -> None:
    x, y = two_samples(20_000, 20_000)
    summary = summarize(x, y, 10_000)
    edges = summary.plan.stratum_edges()
    assert len(edges) < 5000
    sums = np.add.reduceat(summary.values, edges[:-1])
    sizes = np.diff(edges)
    total = sums.sum() ** 2 - np.sum(sums**2)
    assert FLIPS.statistic(summary) == pytest.approx(total / (sizes.sum() ** 2 - np.sum(sizes**2)), rel=1e-9)


def test_files_and_streams_give_the_same_bits(tmp_path: Path) -> None:
    x, y = two_samples(300, 300, 0.3)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    for null in (TU(), FLIPS):
        options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 10, "seed": 4, "null": null}
        wanted = btest(x, y, **options)
        found = btest(tmp_path / "x.npy", tmp_path / "y.npy", **options)
        assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)
        stream = Stream(Gaussian(1.0), 10, seed=4)
        stream.update(x, y)
        assert stream.result(null).pvalue == btest(x, y, shuffle=False, **options).pvalue
        assert "TU  " in str(wanted)
        assert "interval" not in str(wanted)
    assert btest(x, y, null="tu", kernel="energy", block_size=5, seed=0).null == TU()


def test_different_lengths() -> None:
    x, y = two_samples(200, 320, 1.0)
    assert btest(x, y, kernel=Gaussian(1.0), null=FLIPS, block_size=20, seed=0).pvalue == 0.01


def test_what_does_not_fit_is_named() -> None:
    x, y = two_samples(60, 60)
    for null in (TU(), FLIPS):
        with pytest.raises(ValueError, match="different blocks and needs at least 2"):
            btest(x, y, kernel=Gaussian(1.0), null=null, block_size=60)
    with pytest.raises(ValueError, match="out of range; multiply the kernel"):
        btest(x, y, kernel=1e-200 * Gaussian(1.0), null="tu", block_size=2)
    with pytest.raises(ValueError, match="method must be 'chi-square' or 'sign-flip', got 'chi2'"):
        TU("chi2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_resamples"):
        TU("sign-flip", 0)


def test_rows_that_are_all_alike() -> None:
    rows = np.ones((60, 1))
    for null in (TU(), FLIPS):
        assert btest(rows, rows, kernel=Gaussian(1.0), null=null, block_size=2, seed=0).pvalue == 1.0


def test_level() -> None:
    """600 tests of 64 rows in blocks of 8, and 600 in blocks of 2, at 10 %: false alarm 1e-6 each.

    Flips are exact. The chi-square distribution is asymptotic: of 32 blocks its level is taken to be .07 to .13.
    """
    exact, asymptotic = 0, 0
    for seed in range(600):
        x, y = np.random.default_rng(seed).exponential(size=(2, 64, 1))
        exact += btest(x, y, kernel=Gaussian(1.0), null=FLIPS, block_size=8, seed=seed).rejects(0.1)
        asymptotic += btest(x, y, kernel=Gaussian(1.0), null=TU(), block_size=2, seed=seed).rejects(0.1)
    low, high = count_bounds(600, 0.1, 0.1)
    assert low <= exact <= high
    low, high = count_bounds(600, 0.07, 0.13)
    assert low <= asymptotic <= high
