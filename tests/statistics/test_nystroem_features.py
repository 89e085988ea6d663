"""MMD by Nystroem features: values and moments against plain twins, the same bits in any order, exact p-values."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import (
    Aggregate,
    Energy,
    FeatureMMD,
    Gaussian,
    Linear,
    OnColumns,
    Pairwise,
    Polynomial,
    SignFlip,
    btest,
    default_family,
)
from btests._core import RowGroups
from btests._warnings import PrecisionWarning
from btests.data.sample import Sample
from btests.execution import out_of_core
from btests.kernels.random_fourier import Discriminant
from btests.pipeline import run_test
from btests.plan import Array
from btests.selection import FisherFamily
from btests.statistics import in_memory, plan_for, summarize_all
from btests.statistics.nystroem_features import LandmarkValues, landmark_gram, values_of
from btests.symmetries import Bins, landmark_rows


def tanimoto(p: Array, q: Array) -> Array:
    products = p @ q.T
    return np.asarray(products / (np.sum(p**2, axis=1)[:, None] + np.sum(q**2, axis=1) - products))


def shared(a: str, b: str) -> float:
    """Count pairs of equal neighbours: an inner product of counts of pairs of letters."""
    pairs = [[s[i : i + 2] for i in range(len(s) - 1)] for s in (a, b)]
    return float(sum(pairs[0].count(one) for one in pairs[1]))


KERNELS: list[Any] = [
    Energy(),
    Energy(1.5),
    Linear(),
    Polynomial(3, gamma=0.1),
    Gaussian(1.0) + 0.5 * Energy(),
    OnColumns(Energy(), (1,)) + OnColumns(Polynomial(), (0, 2)),
    tanimoto,
]


def name(kernel: Any) -> str:
    return getattr(kernel, "__name__", repr(kernel))


def samples(n_x: int, n_y: int, d: int = 3) -> tuple[Sample, Sample]:
    rng = np.random.default_rng(n_x + n_y)
    x, y = rng.normal(size=(n_x, d)), rng.normal(size=(n_y, d)) * 1.3 + 0.2
    return Sample(x, rng.permutation(n_x)), Sample(y, rng.permutation(n_y))


def unbiased(xx: Array, yy: Array, xy: Array) -> float:
    n, m = len(xx), len(yy)
    within = (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1))
    return float(within - 2.0 * xy.mean())


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_all_rows_as_landmarks_give_the_kernel(kernel: Any) -> None:
    x, y = samples(60, 60)
    statistic = FeatureMMD((kernel,), n_landmarks=120).prepare(x, y)
    (found,) = summarize_all(statistic, x, y, plan_for(statistic, 60, 60, 60))
    p, q = x.first(60), y.first(60)
    apart = np.not_equal.outer(np.arange(60) % 32, np.arange(60) % 32)
    h = kernel(p, p) + kernel(q, q) - kernel(p, q) - kernel(q, p)
    assert found.mean() == pytest.approx(h[apart].mean(), rel=1e-5, abs=1e-7)
    exact = unbiased(kernel(p, p), kernel(q, q), kernel(p, q))
    assert found.mean() == pytest.approx(exact, rel=0.2, abs=0.02 * float(np.abs(h).mean()))


def test_some_landmarks_are_near_the_kernel() -> None:
    x, y = samples(3000, 3000)
    for n_y in (3000, 1000):
        features, blocks = (
            btest(x.rows, y.rows[:n_y], kernel="energy", statistic=one, seed=1) for one in ("features", "blocks")
        )
        assert features.statistic == pytest.approx(blocks.statistic, rel=0.1)
        low, high = features.confidence_interval()
        assert 0.0 < low < blocks.statistic < high
        assert features.pvalue_above(0.0) < 1e-6 < features.pvalue_above(2.0 * features.statistic)
        assert (features.n_frequencies, features.n_landmarks, features.engine) == (None, 256, "numpy")
        assert "256 landmarks" in str(features)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=name)
@pytest.mark.parametrize("d", [3, 50])
def test_sums_do_not_depend_on_order_or_chunks(kernel: Any, d: int) -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_t(2, size=(700, d))
    values = values_of(kernel, rows[:40], np.median(rows, axis=0), 40)
    groups = rng.integers(0, 9, 700)

    def sums(chosen: Any) -> Array:
        turn = np.argsort(groups[chosen], kind="stable")
        edges = np.append(0, np.cumsum(np.bincount(groups[chosen], minlength=9)))
        return values.sums(RowGroups(rows, chosen[turn], edges), 700)

    wanted = sums(np.arange(700))
    assert wanted.any()
    assert np.array_equal(sums(rng.permutation(700)), wanted)
    cuts = np.split(rng.permutation(700), [1, 333, 334])
    assert np.array_equal(sum(sums(cut) for cut in cuts), wanted)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_values_are_centred_kernel_values(kernel: Any) -> None:
    rng = np.random.default_rng(4)
    rows, marks = rng.normal(size=(30, 50)), rng.normal(size=(12, 50))
    np.testing.assert_allclose(landmark_gram(kernel, rows, marks, None), kernel(rows, marks), rtol=1e-12, atol=1e-12)
    values = values_of(kernel, marks, np.zeros(50), 12)
    gram, own = kernel(rows, marks), kernel(marks, marks)
    wanted = gram - gram.mean(axis=1, keepdims=True) - own.mean(axis=0) + own.mean()
    np.testing.assert_allclose(values.values(rows), wanted, atol=1e-10 * np.abs(wanted).max())


def test_values_of_far_rows_are_clipped() -> None:
    marks = np.linspace(-1.0, 1.0, 9)[:, None]
    rows = np.array([[1e6], [1e15], [1e150], [0.0]])
    values: LandmarkValues = values_of(Energy(), marks, None, 9)
    assert np.abs(values.values(rows)).max() <= 4.0  # by the triangle inequality, however far a row is
    # Beyond 1e16 distances to all landmarks are rounded to one number.
    np.testing.assert_allclose(values.values(rows[2:3]), -values.centre[None])
    bound = 2.0 ** values_of(Linear(), marks, None, 9).exponent
    assert 64.0 <= bound <= 256.0
    assert np.abs(values_of(Linear(), marks, None, 9).values(rows)).max() == bound


def test_swaps_of_groups_are_swaps_of_rows() -> None:
    x, y = samples(96, 96)
    kernels = (Energy(), Discriminant(Energy(), 4.0), Gaussian(1.0))
    p, q = x.first(96), y.first(96)
    swapped = np.isin(np.arange(96) % 32, [0, 3, 17, 30])[:, None]
    signs = np.where(np.isin(np.arange(32), [0, 3, 17, 30]), -1.0, 1.0)
    found = []
    for one, other in ((p, q), (np.where(swapped, q, p), np.where(swapped, p, q))):
        both = Sample(one, np.arange(96)), Sample(other, np.arange(96))
        statistic = FeatureMMD(kernels, n_landmarks=64)
        found.append(summarize_all(statistic, *both, plan_for(statistic, 96, 96, 40)))
    for before, after in zip(*found, strict=True):
        scale = float(np.abs(before.moments).max())
        np.testing.assert_allclose(after.moments[0], np.outer(signs, signs) * before.moments[0], atol=1e-8 * scale)


@pytest.mark.parametrize("kernels", [(Energy(),), (Energy(), Discriminant(Linear(), 1.0), tanimoto)], ids=len)
def test_pvalues_of_all_assignments_of_tiny_samples_are_uniform(kernels: Any) -> None:
    rows = np.random.default_rng(6).normal(size=(8, 2))
    found = []
    for chosen in combinations(range(8), 3):
        of_y = np.isin(np.arange(8), chosen)
        both = Sample(rows[~of_y], np.arange(5)), Sample(rows[of_y], np.arange(3))
        statistic = FeatureMMD(kernels, n_landmarks=6)
        found.append(run_test(statistic, both, plan_for(statistic, 5, 3, 3), in_memory, SignFlip(), seed=0).pvalue)
    assert sorted(found) == pytest.approx(np.arange(1, 57) / 56, abs=1e-12)


def test_pvalues_of_all_swaps_of_tiny_samples_are_uniform() -> None:
    pairs = np.random.default_rng(7).normal(size=(5, 2, 2))
    found = []
    for signs in product((0, 1), repeat=5):
        x, y = (pairs[np.arange(5), [s ^ side for s in signs]] for side in (0, 1))
        statistic = FeatureMMD((Energy(), Polynomial()), n_landmarks=6)
        both = Sample(x, np.arange(5)), Sample(y, np.arange(5))
        found.append(run_test(statistic, both, plan_for(statistic, 5, 5, 5), in_memory, SignFlip(), seed=0).pvalue)
    # A swap of all pairs changes nothing: values come twice.
    assert sorted(found) == pytest.approx(np.repeat(np.arange(1, 17), 2) / 16, abs=1e-12)


@pytest.mark.parametrize("n_y", [1000, 400])
def test_files_give_the_bits_of_arrays(n_y: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    x, y = np.sort(rng.normal(size=(1000, 2)), axis=0), np.sort(rng.normal(size=(n_y, 2)), axis=0)
    monkeypatch.setattr("btests.statistics.feature_mmd._CHUNK", 500)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 4000)
    kernel = Aggregate([Energy(), Polynomial(), Gaussian(1.0)])
    wanted = btest(x, y, kernel=kernel, statistic="features", seed=3)
    assert (wanted.n_frequencies, wanted.n_landmarks) == (256, 256)
    for label, rows in (("x", x), ("y", y)):
        np.save(tmp_path / f"{label}.npy", rows)
    found = btest(tmp_path / "x.npy", tmp_path / "y.npy", kernel=kernel, statistic="features", seed=3)
    assert (found.statistic, found.pvalue, found.kernel) == (wanted.statistic, wanted.pvalue, wanted.kernel)


def test_objects() -> None:
    rng = np.random.default_rng(9)
    x, y = (["".join(rng.choice(list("abc"), size=8, p=p)) for _ in range(150)] for p in ([0.5, 0.3, 0.2], None))
    for rows in (y, y[:60]):
        result = btest(x, rows, kernel=Pairwise(shared), statistic="features", seed=1)
        assert result.pvalue < 0.005
        assert result.block_rule == "features"
    assert btest(x, y, kernel=Pairwise(shared), budget=0.01, seed=1).block_rule == "features"
    assert btest(x, y[:60], kernel=Pairwise(shared), budget=0.01, seed=1).block_rule != "features"
    family = Aggregate([Pairwise(shared), 2 * Pairwise(shared)])
    assert btest(x, y[:60], kernel=family, statistic="features", seed=1).pvalue < 0.005
    with pytest.raises(ValueError, match="name its kernels one by one"):
        btest(x, y[:60], kernel=Aggregate(FisherFamily([Pairwise(shared)])), statistic="features", seed=1)


def test_landmarks_are_as_many_as_asked_for_and_symmetric() -> None:
    x, y = samples(300, 200)
    found = landmark_rows(x, y, 64)
    assert found.shape == (64, 3)
    bins = Bins.of(300, 200)
    pooled = np.concatenate([x.first(bins.many), y.first(bins.few)])
    ranked = pooled[np.lexsort(pooled.T[::-1])]
    assert np.array_equal(found, ranked[np.arange(64) * len(ranked) // 64])
    assert len(landmark_rows(*samples(20, 20), 64)) == 40


def test_level() -> None:
    rng = np.random.default_rng(10)
    rejected = 0
    for k in range(120):
        x, y = rng.lognormal(size=(64, 2)), rng.lognormal(size=(64 if k % 2 else 24, 2))
        rejected += btest(x, y, kernel="energy", statistic="features", null=SignFlip(99), seed=k).pvalue <= 0.05
    # 21 or more of 120 at .05: a probability of 2e-7.
    assert rejected < 21


def test_bad_input() -> None:
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 40, 2))
    options: dict[str, Any] = {"statistic": "features", "seed": 0}
    constant = btest(x * 0.0, y * 0.0, kernel="energy", **options)
    assert (constant.pvalue, constant.statistic) == (1.0, 0.0)
    assert "no swap of x and y changes anything" in constant.note
    few = np.repeat(x[:2], 20, axis=0), np.repeat(x[:2], [30, 10], axis=0)  # landmarks that coincide
    assert 0.0 < btest(*few, kernel="energy", **options).pvalue <= 1.0
    columns = np.c_[x, np.ones(40)], np.c_[y, np.ones(40)]
    with_constant = btest(*columns, kernel="energy", **options)
    assert with_constant.pvalue == btest(x, y, kernel="energy", **options).pvalue
    assert btest(x, y[:3], kernel="energy", **options).pvalue > 0.0
    assert btest(x[:2], y[:2], kernel=Polynomial(), **options).pvalue >= 0.5
    far = np.r_[x[:-1], [[1e150, 0.0]]]
    assert 0.0 < btest(far, y, kernel="energy", **options).pvalue <= 1.0
    with pytest.raises(ValueError, match="overflow"):
        btest(np.r_[x[:-1], [[1e200, 0.0]]], y, kernel=Polynomial(4), **options)
    with pytest.warns(PrecisionWarning, match="not positive semi-definite"):
        btest(x, y, kernel=lambda p, q: np.tanh(p @ q.T - 1.0), **options)
    with pytest.raises(ValueError, match="not symmetric"):
        btest(x, y, kernel=lambda p, q: p[:, :1] - q[:, 0], **options)
    with pytest.raises(ValueError, match="must return a matrix of shape"):
        btest(x, y, kernel=lambda p, q: p @ p.T, **options)
    with pytest.raises(ValueError, match="columns must be between 0 and 1"):
        btest(x, y, kernel=OnColumns(Energy(), (5,)), **options)


def test_families_may_have_both_kinds_of_features() -> None:
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) * 1.3
    both = Aggregate([Energy(), *default_family().kernels(Sample(x, np.arange(500)), Sample(y, np.arange(500)))])
    result = btest(x, y, kernel=both, statistic="features", seed=1)
    assert result.pvalue == 1 / 2000
    assert result.engine == btest(x, y, statistic="features", seed=1).engine
