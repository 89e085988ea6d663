"""Aggregate: what a user sees of it, its level, its power, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from btests import Aggregate, Gaussian, Laplacian, MedianFamily, Normal, SignFlip, TestResult, bandwidths, btest
from btests.datasets import blobs
from tests.bounds import count_bounds

CHOICES = [Aggregate(), Aggregate(MedianFamily()), Aggregate(bandwidths(-2, 3), correction="rank")]


def test_it_finds_what_the_median_misses() -> None:
    rng = np.random.default_rng(0)
    x, y = blobs(1200, rng), blobs(1200, rng, rotated=False)
    for choice in CHOICES:
        result = btest(x, y, kernel=choice, seed=1)
        assert result.rejects(0.01)
        assert isinstance(result.kernel, Gaussian)
        assert 0.2 < result.kernel.bandwidth < 5.0
        assert result.n_x == 1200
        assert result.n_train == (0, 0)
    assert not btest(x, y, kernel="gaussian", seed=1).rejects(0.05)


def test_the_result_names_the_kernel_that_spoke() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(300, 2)), rng.normal(0.4, 1.0, size=(300, 2))
    result = btest(x, y, kernel=Aggregate(), seed=5)
    assert len(result.candidates) == 26
    best = max(result.candidates, key=lambda c: c.score)
    assert (best.kernel, best.weight) == (result.kernel, 1.0)
    assert sum(c.weight for c in result.candidates) == 1.0
    assert result.statistic == result.summary.mean() == pytest.approx(float(result.block_values.mean()))
    assert (result.statistic > result.threshold(0.05)) == result.rejects(0.05)
    assert result.confidence_interval().low < result.statistic < result.confidence_interval().high
    assert "the strongest of 26" in str(result)
    assert json.loads(result.to_json())["selector"] == "Aggregate(26 kernels)"


def test_seeds_threads_and_engines_agree() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(500, 2)), rng.normal(0.1, 1.0, size=(500, 2))

    def run(n_threads: int | None = None) -> TestResult:
        return btest(x, y, kernel=Aggregate(), seed=11, n_threads=n_threads)

    assert run() == run(1) == run(3)
    by_hand = [lambda p, q, k=kernel: k(p, q) for kernel in bandwidths(-2, 2)]
    plain = btest(x, y, kernel=Aggregate(by_hand), seed=11)
    assert plain.engine == "numpy"
    assert plain.pvalue == btest(x, y, kernel=Aggregate(bandwidths(-2, 2)), seed=11).pvalue


def test_it_takes_any_kernels_and_objects() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(100, 1)), rng.normal(2.0, 1.0, size=(160, 1))
    assert btest(x, y, kernel=Aggregate([Gaussian(1.0), Laplacian(2.0)]), seed=0).rejects(0.01)
    words = [["a", "b"][int(b)] * 3 for b in rng.integers(0, 2, 60)]

    def same(p: list[str], q: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.array([[float(a == b) for b in q] for a in p])

    assert btest(words, ["b"] * 60, kernel=Aggregate([same]), seed=0).rejects(0.01)


@pytest.mark.parametrize("choice", CHOICES, ids=repr)
@pytest.mark.parametrize("lengths", [(60, 60), (90, 30)], ids=str)
def test_level(choice: Aggregate, lengths: tuple[int, int]) -> None:
    n_trials, rejections = 600, 0
    for trial in range(n_trials):
        rng = np.random.default_rng([lengths[1], trial])
        x, y = (rng.standard_t(3.0, (n, 2)) for n in lengths)
        rejections += btest(x, y, kernel=choice, null=SignFlip(199), seed=trial, n_threads=1).rejects(0.05)
    low, high = count_bounds(n_trials, 0.05, 0.05)
    assert rejections <= high
    assert rejections >= (low if choice.correction == "max" else 0)  # ranks tie, and ties count against rejection


def test_constant_data_and_underflow_have_an_answer() -> None:
    constant = np.ones((40, 2))
    assert btest(constant, constant, kernel=Aggregate(), seed=0).pvalue == 1.0
    far = 1e6 * np.arange(40.0)[:, None]
    assert btest(far, far + 3e5, kernel=Aggregate(bandwidths(-15, 0)), seed=0).pvalue == 1.0
    assert btest(far, far + 3e5, kernel=Aggregate(MedianFamily()), seed=0).pvalue > 0.05


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Aggregate([]), "at least one kernel"),
        (lambda: Aggregate([Gaussian(1.0), Gaussian(1.0)]), "twice"),
        (lambda: Aggregate(correction="bonferroni"), "correction must be"),  # type: ignore[arg-type]
        (lambda: Aggregate(correction="max", weights=[1.0] * 26), "correction='pvalue'"),
        (lambda: Aggregate([Gaussian(1.0)], correction="rank", weights=[0.0]), "weight of a kernel"),
    ],
)
def test_bad_parameters(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_bad_calls() -> None:
    x = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="null must be SignFlip"):
        btest(x, x + 1.0, kernel=Aggregate(), null=Normal())
    with pytest.raises(ValueError, match="one weight per kernel: got 1 weights, 26 kernels"):
        btest(x, x + 1.0, kernel=Aggregate(correction="rank", weights=[1.0]))
    with pytest.raises(TypeError, match="not the class"):
        btest(x, x + 1.0, kernel=Aggregate)  # type: ignore[arg-type]
