"""The kernel Fisher discriminant of blocks, beside brute force and the published form."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import FisherFamily, Gaussian, KernelFisher, Normal, Permutation, Stream, btest
from btests.data.sample import Sample
from btests.kernels.feature_kernel import regularizer
from btests.plan import Array
from btests.statistics import in_memory, plan_for


def samples(n_x: int, n_y: int, d: int = 2, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, d)), 1.3 * rng.normal(size=(n_y, d))


def whitened_gram(rows: Array, bandwidth: float, dof: float) -> Array:
    """Return the Gram matrix of the discriminant by a solve in place of eigenvectors."""
    n = len(rows)
    centre = np.eye(n) - 1.0 / n
    gram = centre @ Gaussian(bandwidth)(rows, rows) @ centre
    g = regularizer(np.maximum(np.linalg.eigvalsh(gram), 0.0) / n, dof)
    return np.asarray(np.linalg.solve(gram / n + g * np.eye(n), gram))


def brute_force(gram: Array, b: int, *, paired: bool) -> float:
    """Return the unbiased MMD^2 of a block by a double loop."""
    n = len(gram)
    total = 0.0
    for i in range(n):
        for j in range(n):
            same = (i < b) == (j < b)
            if i == j or (paired and not same and (i - j) % b == 0):
                continue
            m, c = (b, b) if i < b and j < b else (n - b, n - b) if same else (b, n - b)
            pairs = m * (m - 1) if same else b * (b - 1) if paired else m * c
            total += gram[i, j] / pairs * (1.0 if same else -1.0)
    return total


@pytest.mark.parametrize(("n_x", "n_y"), [(12, 12), (14, 9), (9, 14)])
def test_brute_force(n_x: int, n_y: int) -> None:
    x, y = samples(n_x, n_y)
    statistic = KernelFisher(Gaussian(1.5), 3.0)
    plan = plan_for(statistic, n_x, n_y, min(n_x, n_y))
    (summary,) = in_memory(statistic, Sample(x), Sample(y), plan)
    gram = whitened_gram(np.concatenate([x, y]), 1.5, 3.0)
    assert summary.values[0] == pytest.approx(brute_force(gram, n_x, paired=n_x == n_y), rel=1e-6)


def test_swapping_rows_is_flipping_signs() -> None:
    """The value after a swap, computed anew, is that of the flipped moments: the covariance does not change."""
    x, y = samples(12, 12)
    statistic = KernelFisher(Gaussian(1.5), (3.0, 6.0))
    plan = plan_for(statistic, 12, 12, 12)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=12)
    swapped = signs[:, None] < 0
    p, q = np.where(swapped, y, x), np.where(swapped, x, y)
    before, after = (in_memory(statistic, Sample(a), Sample(b), plan) for a, b in ((x, y), (p, q)))
    for one, other in zip(before, after, strict=True):
        (moments,) = one.moments
        change = signs @ moments @ signs - moments.sum()
        assert other.values[0] == pytest.approx(one.values[0] + change, rel=1e-9)


def test_published_form_is_an_increasing_function() -> None:
    """With S_W in place of S_P, delta' (S_W + g)^-1 delta = q / (1 - b^2 q / N^2), q that of S_P."""
    b, g, found = 15, 0.05, []
    for seed in range(6):
        x, y = samples(b, b, seed=seed)
        rows = np.concatenate([x, y])
        phi = np.linalg.cholesky(Gaussian(1.0)(rows, rows) + 1e-12 * np.eye(2 * b))
        delta = phi[:b].mean(axis=0) - phi[b:].mean(axis=0)
        pooled = np.cov(phi.T, bias=True)
        within = (np.cov(phi[:b].T, bias=True) + np.cov(phi[b:].T, bias=True)) / 2.0
        q, w = (delta @ np.linalg.solve(s + g * np.eye(2 * b), delta) for s in (pooled, within))
        assert w == pytest.approx(q / (1.0 - q / 4.0), rel=1e-6)
        found.append((q, w))
    assert sorted(found) == sorted(found, key=lambda pair: pair[1])


def test_members_and_automatic_blocks() -> None:
    x, y = samples(60, 60)
    result = btest(x, y, kernel=Gaussian(1.0), statistic=partial(KernelFisher, dof=(2.0, 8.0, 16.0)), seed=0)
    assert [repr(candidate.kernel) for candidate in result.candidates] == [
        f"Fisher(Gaussian(bandwidth=1.0), dof={dof})" for dof in (2, 8, 16)
    ]
    assert (result.n_blocks, result.block_size) == (1, 60)
    assert KernelFisher.largest_block == 512


def test_more_rows_than_a_block() -> None:
    x, y = samples(1100, 1030, d=1)
    assert btest(x, y, kernel=Gaussian(1.0), statistic=partial(KernelFisher, dof=4.0), seed=0).block_size == 515


def test_files_and_streams(tmp_path: Path) -> None:
    x, y = samples(200, 200)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "statistic": KernelFisher, "block_size": 50, "seed": 0}
    memory, stored = btest(x, y, **options), btest(tmp_path / "x.npy", tmp_path / "y.npy", **options)
    assert (memory.pvalue, memory.statistic) == (stored.pvalue, stored.statistic)
    stream = Stream(KernelFisher(Gaussian(1.0)), 50, seed=0)
    stream.update(x, y)
    assert stream.result().statistic == btest(x, y, shuffle=False, **options).statistic


def test_features_of_all_rows_are_the_block() -> None:
    x, y = samples(30, 30, d=6)
    block = btest(x, y, kernel=Gaussian(2.0), statistic=partial(KernelFisher, dof=6.0), seed=0, shuffle=False)
    (kernel,) = FisherFamily([Gaussian(2.0)], (6.0,), n_landmarks=60).kernels(Sample(x), Sample(y))
    assert btest(x, y, kernel=kernel, seed=0, shuffle=False).statistic == pytest.approx(block.statistic, rel=1e-4)


def test_constant_rows() -> None:
    x = np.ones((30, 2))
    assert btest(x, x.copy(), kernel=Gaussian(1.0), statistic=KernelFisher, seed=0).pvalue == 1.0


@pytest.mark.parametrize("null", [Permutation(), Normal()])
def test_other_nulls(null: Any) -> None:
    x, y = samples(30, 30)
    with pytest.raises(ValueError, match=r"must be SignFlip\(\)|take null=SignFlip\(\)"):
        btest(x, y, kernel=Gaussian(1.0), statistic=KernelFisher, null=null, seed=0)


def test_no_regulariser() -> None:
    with pytest.raises(ValueError, match="without a regulariser"):
        KernelFisher(Gaussian(1.0), 0.0)


@pytest.mark.statistical
def test_level() -> None:
    """1500 trials at .05 reject between 41 and 112 times; else has probability 6e-6."""
    rng, rejected = np.random.default_rng(5), 0
    for seed in range(1500):
        x, y = np.exp(rng.normal(size=(2, 40, 2)))
        rejected += btest(x, y, kernel=Gaussian(1.0), statistic=KernelFisher, block_size=20, seed=seed).rejects(0.05)
    assert 41 <= rejected <= 112
