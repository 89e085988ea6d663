"""Relabelled bins: averages and variances over all labellings, and levels by enumeration of all splits of few rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from btests import _core, btest
from btests.plan import Array, Plan
from btests.symmetries import Bins, RelabelBins
from btests.symmetries.relabel_bins import label_pairs, label_pairs_plain

#: Rows of x and of y, and bins of the shorter sample and of both; with rows that are in no bin, and without.
LAYOUTS = [(9, 5, (5, 14)), (13, 5, (5, 14)), (12, 5, (2, 9)), (40, 3, (3, 30)), (7, 23, (3, 9))]


def sums_of_bins(bins: Bins, shift: float) -> Array:
    """Return sums of kernel values between bins, their diagonals of any size."""
    rng = np.random.default_rng(0)
    counts = bins.counts()[:, None]
    sums = rng.normal(size=(bins.n_bins + 2, 4)) * np.sqrt(counts) + shift * counts * rng.normal(size=4)
    sums -= counts * sums.sum(axis=0) / counts.sum()
    return np.asarray(sums @ sums.T - np.diag(4.0 * counts[:, 0] * rng.gamma(0.3, size=len(sums))))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_values_have_mean_zero_and_the_stated_variance_over_all_labellings(
    layout: tuple[int, int, tuple[int, int]], shift: float
) -> None:
    bins = Bins.of(*layout)
    symmetry, moments = RelabelBins(bins), sums_of_bins(bins, shift)[None]
    draws = symmetry.draw(Plan(bins.n_x, bins.n_y, 1), moments.shape, 10**6, 0)
    values = draws.values(moments)
    assert draws.exhaustive
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12 * np.abs(values).max())
    # Labels count as independent, and covariances of single bins and pairs are left out: off by a quarter with few.
    assert 0.9 < symmetry.variance(moments) / np.var(values) < 1.3
    at = np.flatnonzero((draws.labels == bins.observed()).all(axis=1))
    assert values[at[0]] == pytest.approx(symmetry.observed(moments), abs=1e-12 * np.abs(values).max())


def test_the_diagonal_of_bins_counts_in_the_variance() -> None:
    bins = Bins.of(40, 3, (3, 30))
    moments = np.diag(np.append(np.random.default_rng(1).gamma(0.1, size=bins.n_bins), [0.0, 0.0]))[None]
    values = RelabelBins(bins).draw(Plan(40, 3, 1), moments.shape, 10**6, 0).values(moments)
    assert RelabelBins(bins).variance(moments) == pytest.approx(np.var(values), rel=0.15)


def test_pvalues_of_all_splits_of_few_rows_are_exact() -> None:
    # Every row is a bin, so all splits of the pooled rows are one orbit: at most k of 84 have a p-value of k / 84.
    rows = np.random.default_rng(2).standard_t(2.0, size=(9, 2))
    pvalues = []
    for split in combinations(range(9), 3):
        of_y = np.isin(np.arange(9), split)
        result = btest(rows[~of_y], rows[of_y], statistic="features", shuffle=False, scale=False, n_threads=1)
        pvalues.append(result.pvalue)
    ranks = np.round(84.0 * np.array(pvalues), 9)
    assert all(np.sum(ranks <= k) <= k for k in range(1, 85))
    assert np.sum(ranks <= 8) > 0


@pytest.mark.parametrize("k", [1, 2, 5, 17, 33, 129, 150])
def test_sums_over_pairs_of_labels_have_the_bits_of_numpy(k: int) -> None:
    rng = np.random.default_rng(k)
    matrix, labels = rng.normal(size=(200, 200)), np.argsort(rng.random((40, 200)), axis=1)[:, :k]
    wanted = [sum(matrix[a, b] for a, b in combinations(some[::-1], 2)) for some in labels]
    plain = label_pairs_plain(matrix, labels)
    assert plain == pytest.approx(wanted, abs=1e-10)
    for n_threads in (1, 3):
        assert np.array_equal(label_pairs(matrix, labels, n_threads), plain)
    if k <= 129:
        for name in _core.instruction_sets():
            assert np.array_equal(_core.label_pairs(matrix, labels, 1, name), plain)


def test_more_labels_than_the_compiled_loop_has_are_refused() -> None:
    if _core.is_available():
        with pytest.raises(ValueError, match="at most 129 bins"):
            _core.label_pairs(np.zeros((200, 200)), np.arange(130)[None], 1)
