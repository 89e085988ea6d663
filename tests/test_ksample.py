"""More than two samples: all at once, and pair by pair."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

import btests
from btests import Gaussian, MedianFamily, ksample_test


def samples(*scales: float, n: int = 120, trial: int = 0) -> list[Any]:
    rng = np.random.default_rng(trial)
    return [scale * rng.normal(size=(n + 10 * i, 2)) for i, scale in enumerate(scales)]


def test_the_sample_that_differs_is_named() -> None:
    found = ksample_test(*samples(1.0, 1.0, 2.0), names=["a", "b", "c"], seed=1)
    statistic, pvalue = found
    assert (statistic, pvalue) == (found.result.statistic, 0.0005)
    assert {(p.first, p.second) for p in found.pairs if p.pvalue <= 0.05} == {(0, 2), (1, 2)}
    assert "B-test of 3 samples: not all of one distribution" in str(found)
    sizes = [f"{name}: {size}" for name, size in zip(found.names, found.sizes, strict=True)]
    assert f"  rows      {', '.join(sizes)}, in one block" in str(found)
    assert json.loads(found.to_json())["sizes"] == [120, 130, 140]
    assert found == ksample_test(*samples(1.0, 1.0, 2.0), names=["a", "b", "c"], seed=1)
    assert r"\x1b[2J: 120" in str(ksample_test(*samples(1.0, 1.0), names=["\x1b[2J", "b"], seed=1))


def test_the_statistic_is_a_weighted_sum_of_biased_mmds() -> None:
    """The HSIC of rows and labels of two samples is MMD^2 times a constant, but for the bias of few rows."""
    x, y = samples(1.0, 2.0, n=2000)
    found = ksample_test(x, y[:2000], kernel=Gaussian(1.0), block_size=2000, seed=1, pairwise=False)
    mmd = btests.btest(x, y[:2000], kernel=Gaussian(1.0), block_size=2000, seed=1).statistic
    assert found.pairs == ()
    assert found.statistic == pytest.approx(mmd / 8.0, rel=0.05)


@pytest.mark.parametrize("n", [8, 40])
def test_level(n: int) -> None:
    """Of 300 trials, rejections at 5 % exceed the bound with probability 1e-6 at most."""
    tests = (ksample_test(*samples(1.0, 1.0, 1.0, n=n, trial=k), seed=k, pairwise=False) for k in range(300))
    assert sum(test.rejects() for test in tests) <= binom.isf(1e-6, 300, 0.05)


def test_frames_are_matched_by_name_and_scaled() -> None:
    a, b, c = (pd.DataFrame(rows, columns=["u", "v"]) for rows in samples(1.0, 1.0, 1.5))
    wanted = ksample_test(a, b, c, seed=1)
    assert ksample_test(a, b[["v", "u"]], c, seed=1).pvalue == wanted.pvalue
    thousand = [frame.assign(v=1000.0 * frame.v) for frame in (a, b, c)]
    assert ksample_test(*thousand, seed=1).pvalue == wanted.pvalue


def test_kernels_and_families() -> None:
    for kernel in ("energy", Gaussian(1.0), MedianFamily((0.5, 1.0)), [Gaussian(1.0), Gaussian(2.0)]):
        assert ksample_test(*samples(1.0, 2.5), kernel=kernel, seed=1).rejects()


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([np.ones((9, 2))], {}, r"as separate arguments, ksample_test\(\*samples\), got 1"),
        ([np.ones((9, 2)), np.ones((9, 3))], {}, "sample 1 has 3 columns"),
        ([np.ones((9, 2)), np.ones((1, 2))], {}, "sample 1 has 1 row"),
        ([np.ones((9, 2)), np.ones((9, 2))], {"names": ["a", "a"]}, "names must be one for each"),
        ([np.ones((3, 1)), np.ones((3, 1))], {}, "at least 8 pairs"),
        ([np.ones((9, 2)), np.full((9, 2), np.nan)], {}, "sample 1"),
        ([np.ones((9, 2)), np.ones((9, 2))], {"kernel": "gausian"}, "^kernel must be one of .*, got 'gausian'"),
    ],
)
def test_bad_input_gets_a_sentence(given: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ksample_test(*given, **options)


def test_lazy_frames_are_refused_without_a_warning_of_theirs() -> None:
    lazy = pl.DataFrame({"a": [1.0] * 9}).lazy()
    with pytest.raises(TypeError, match="sample 0 is a lazy frame"):
        ksample_test(lazy, lazy)


def test_a_null_for_one_kernel_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def permuted(*_: object) -> None:
        raise AssertionError("permutations are drawn")

    monkeypatch.setattr("btests.statistics.paired_gram.PairedGram.permuted", permuted)
    x, y = np.random.default_rng(0).normal(size=(2, 100, 2))
    several: list[Any] = [Gaussian(1.0), btests.Energy()]
    with pytest.raises(ValueError, match="null must be SignFlip"):
        ksample_test(x, y, seed=1, null="permutation", kernel=several)
    with pytest.raises(ValueError, match="null must be SignFlip"):
        btests.independence_test(x, y, seed=1, null="permutation", kernel_x=several)


def test_messages_escape_the_names_of_samples() -> None:
    with pytest.raises(ValueError, match=r"^sample a\\x1b\[2J has no columns$"):
        ksample_test(np.zeros((0, 0)), np.zeros((3, 1)), names=["a\x1b[2J", "b"])


def test_bandwidths_so_small_that_scaled_distances_overflow() -> None:
    # Warnings are errors here: numpy has one for each overflow.
    x, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    for kernel in (Gaussian(1e-200), btests.Laplacian(1e-200), btests.Matern(1e-200)):
        assert 0.0 < ksample_test(1e-200 * x, y, kernel=kernel, seed=0).pvalue <= 1.0


def test_a_flag_of_a_null_is_checked() -> None:
    with pytest.raises(TypeError, match="skewed must be True or False, got NotImplemented"):
        btests.ExactMoments(NotImplemented)
