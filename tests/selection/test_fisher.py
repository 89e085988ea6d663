"""Whitened features: the family of Fisher discriminants, and blocks of explicit features."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import (
    Aggregate,
    Energy,
    FisherFamily,
    Gaussian,
    MedianFamily,
    Pairwise,
    SignFlip,
    Stream,
    btest,
    fisher_family,
)
from btests.block_range import BlockRange
from btests.data.sample import Sample
from btests.kernels import features_of
from btests.kernels.feature_kernel import FeatureKernel, attainable, regularizer
from btests.plan import Array
from btests.selection.families import kernels_of
from btests.statistics import MMD, plan_for, summarize_all
from btests.statistics.feature_blocks import summarize_features

SIZES = [(60, 60, 60), (61, 61, 20), (60, 41, 41), (41, 60, 41), (90, 60, 20)]


def samples(n_x: int, n_y: int, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, d)), 1.2 * rng.normal(size=(n_y, d)) + 0.1


@pytest.mark.parametrize(("n_x", "n_y", "block_size"), SIZES)
def test_features_equal_gram_matrices(n_x: int, n_y: int, block_size: int) -> None:
    x, y = map(Sample, samples(n_x, n_y))
    family = FisherFamily([Gaussian(1.0), Gaussian(3.0)], (2.0, 8.0), n_landmarks=16, n_rows=40)
    kernels = family.kernels(x, y)
    fast, plain = MMD(kernels), MMD(kernels, plain=True)
    plan = plan_for(fast, n_x, n_y, block_size)
    for found, expected in zip(summarize_all(fast, x, y, plan), summarize_all(plain, x, y, plan), strict=True):
        scale = np.abs(expected.moments).max()
        assert np.allclose(found.values, expected.values, rtol=1e-9, atol=1e-9 * scale)
        assert np.allclose(found.moments, expected.moments, rtol=1e-9, atol=1e-11 * scale)


@pytest.mark.parametrize(("n_x", "n_y", "block_size"), SIZES)
def test_large_blocks_are_read_in_pieces(n_x: int, n_y: int, block_size: int) -> None:
    x, y = map(Sample, samples(n_x, n_y))
    kernel = FisherFamily([Gaussian(2.0)], (4.0,), n_landmarks=16).kernels(x, y)[0]
    features = features_of(kernel)
    assert features is not None
    plan = plan_for(MMD(kernel), n_x, n_y, block_size)
    whole, pieces = (
        summarize_features(features.map, features.weights[None], x, y, BlockRange.of(plan), most_rows=n)[0]
        for n in (4096, 16)
    )
    for one, other in zip(whole, pieces, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_kernel_is_the_fisher_discriminant_of_all_landmarks() -> None:
    """With every row a landmark, the whitened kernel is that of the pooled covariance operator."""
    x, y = samples(20, 20, d=8)
    (kernel,) = FisherFamily([Gaussian(3.0)], (5.0,), n_landmarks=40).kernels(Sample(x), Sample(y))
    rows = np.concatenate([x, y])
    n = len(rows)
    centre = np.eye(n) - 1.0 / n
    gram = centre @ Gaussian(3.0)(rows, rows) @ centre
    eigenvalues, axes = np.linalg.eigh(gram)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    g = regularizer(eigenvalues / n, 5.0)
    expected = (axes * (eigenvalues / (eigenvalues / n + g))) @ axes.T
    found = centre @ kernel(rows, rows) @ centre
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    shares = eigenvalues / n
    assert np.isclose(np.sum(shares / (shares + g)), 5.0)


def test_swaps_leave_the_kernels_alone() -> None:
    x, y = samples(50, 50)
    swapped = np.random.default_rng(1).random(50) < 0.5
    p, q = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
    rows = np.concatenate([x, y])
    before = fisher_family().kernels(Sample(x), Sample(y))
    after = fisher_family().kernels(Sample(p), Sample(q))
    centre = np.eye(100) - 0.01
    for one, other in zip(before, after, strict=True):
        a, b = (centre @ kernel(rows, rows) @ centre for kernel in (one, other))
        assert np.allclose(a, b, rtol=1e-4, atol=1e-6 * np.abs(a).max())


def test_finds_correlations_that_the_mmd_does_not() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 5))
    y = np.sqrt(0.75) * rng.normal(size=(300, 5)) + 0.5 * rng.normal(size=(300, 1))
    fisher = btest(x, y, kernel=Aggregate(fisher_family()), seed=0)
    assert fisher.pvalue < 0.01
    assert repr(fisher.kernel).startswith("Fisher(Gaussian(bandwidth=")


@pytest.mark.parametrize("n", [2, 3, 5, 9, 30])
def test_few_rows(n: int) -> None:
    x, y = samples(n, n)
    assert 0.0 < btest(x, y, kernel=Aggregate(fisher_family()), seed=0).pvalue <= 1.0


@pytest.mark.parametrize("d", [1, 200])
def test_one_and_many_columns(d: int) -> None:
    x, y = samples(40, 30, d)
    assert 0.0 < btest(x, y, kernel=Aggregate(fisher_family()), seed=0).pvalue <= 1.0


@pytest.mark.filterwarnings("ignore::btests.DegenerateDataWarning")
def test_constant_rows() -> None:
    x = np.ones((50, 2))
    assert btest(x, x.copy(), kernel=Aggregate(FisherFamily([Gaussian(1.0)])), seed=0).pvalue == 1.0


def test_other_kernels_and_objects() -> None:
    x, y = samples(40, 40)
    assert btest(x, y + 2.0, kernel=Aggregate(FisherFamily([Energy()])), seed=0).pvalue < 0.01
    words = [["left"] * int(k) for k in np.random.default_rng(0).integers(1, 9, size=60)]
    others = [["left"] * int(k) for k in np.random.default_rng(1).integers(6, 14, size=60)]
    kernel = Pairwise(lambda a, b: float(min(len(a), len(b))))
    assert btest(words, others, kernel=Aggregate(FisherFamily([kernel])), seed=0).pvalue < 0.01


def test_streams_do_not_depend_on_batches() -> None:
    x, y = samples(400, 400)
    found = []
    for cuts in ([(0, 400)], [(0, 150), (150, 160), (160, 400)]):
        stream = Stream(Aggregate(FisherFamily(n_rows=100)), 100, seed=0)
        for first, last in cuts:
            stream.update(x[first:last], y[first:last])
        found.append(stream.result())
    assert found[0].pvalue == found[1].pvalue
    assert found[0].statistic == found[1].statistic


def test_files_agree_with_arrays(tmp_path: Path) -> None:
    x, y = samples(400, 400)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    aggregate = Aggregate(fisher_family())
    stored = btest(tmp_path / "x.npy", tmp_path / "y.npy", kernel=aggregate, block_size=50, seed=0)
    memory = btest(x, y, kernel=aggregate, block_size=50, seed=0)
    assert (stored.pvalue, stored.statistic, stored.kernel) == (memory.pvalue, memory.statistic, memory.kernel)


def test_equal_kernels_are_those_of_equal_features() -> None:
    x, y = map(Sample, samples(30, 30))
    one, other = (kernels_of(fisher_family(), x, y) for _ in range(2))
    assert one == other
    assert hash(one[0]) == hash(other[0])
    assert one[0] != kernels_of(fisher_family(), y, Sample(y.head(30) + 1.0))[0]
    assert isinstance(one[0], FeatureKernel)
    assert features_of(one[0]) is not None
    assert features_of(Gaussian(1.0)) is None


def test_regularizer() -> None:
    eigenvalues = np.array([0.0, 1e-3, 0.1, 1.0, 5.0])
    for dof in (0.5, 1.0, 2.0, 3.5):
        g = regularizer(eigenvalues, dof)
        assert np.isclose(np.sum(eigenvalues / (eigenvalues + g)), dof)
        assert np.isclose(regularizer(1e6 * eigenvalues, dof), 1e6 * g)
    assert regularizer(eigenvalues, 50.0) == pytest.approx(5e-12, rel=1e-3)
    assert regularizer(np.zeros(3), 1.0) == 0.0
    assert attainable(64.0, eigenvalues) == 2.0
    assert attainable(1.5, eigenvalues) == 1.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dof": ()}, "dof must be a number or a list"),
        ({"dof": "4"}, "dof must be a number or a list"),
        ({"dof": (0.0,)}, "without a regulariser"),
        ({"dof": (np.inf,)}, "without a regulariser"),
        ({"dof": (4.0, 4.0)}, "twice"),
        ({"dof": ((4.0,), (-1.0,))}, "positive"),
        ({"n_landmarks": 1}, "n_landmarks"),
        ({"n_rows": 0}, "n_rows"),
        ({"family": []}, "at least one kernel"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        FisherFamily(**arguments)


def test_one_list_of_dof_per_kernel() -> None:
    x, y = samples(30, 30)
    with pytest.raises(ValueError, match="one list of dof per kernel: got 2 lists, 1 kernels"):
        btest(x, y, kernel=Aggregate(FisherFamily([Gaussian(1.0)], ((4.0,), (8.0,)))), seed=0)


@pytest.mark.statistical
def test_level() -> None:
    """Lognormal rows, 40 a side: 1500 trials at .05 reject at most 112 times; more has probability 3e-6."""
    rng, family = np.random.default_rng(11), Aggregate(fisher_family())
    rejected = 0
    for seed in range(1500):
        x, y = np.exp(rng.normal(size=(2, 40, 2)))
        rejected += btest(x, y, kernel=family, null=SignFlip(199), seed=seed).rejects(0.05)
    assert 41 <= rejected <= 112


def test_one_block_only() -> None:
    x, y = samples(100, 100)
    aggregate = Aggregate(MedianFamily((1.0,)), one_block=[Gaussian(7.0)])
    assert len(btest(x, y, kernel=aggregate, seed=0).candidates) == 2
    assert len(btest(x, y, kernel=aggregate, seed=0, block_size=50).candidates) == 1
    assert repr(aggregate) == "Aggregate(MedianFamily(1 factors), one_block=[Gaussian(bandwidth=7.0)])"


def test_features_may_have_members_of_their_own() -> None:
    x, y = (Sample(rows) for rows in samples(100, 100))
    own = FisherFamily(MedianFamily((3.0,)), (2.0, 8.0))
    family = FisherFamily(MedianFamily((1.0,)), (4.0,), by_features=own)
    assert len(family.kernels(x, y)) == 1
    assert family.discriminants(x, y) == own.discriminants(x, y)
    assert "by_features=FisherFamily(MedianFamily(1 factors), dof=(2.0, 8.0))" in repr(family)
    with pytest.raises(TypeError, match="by_features"):
        FisherFamily(MedianFamily((1.0,)), by_features=[4.0])  # type: ignore[arg-type]
