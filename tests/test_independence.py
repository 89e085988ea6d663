"""Tests of independence: verdicts, levels, nulls, sources and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import btests
from btests import ExactMoments, Gaussian, KernelPair, PartialResult, Permutation, SignFlip, Stream, independence_test

N = 300


def data(noise: float = 0.5, n: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    return x, x[:, :1] ** 2 + noise * rng.normal(size=(n, 1))


@pytest.mark.parametrize("statistic", ["hsic", "dcov"])
@pytest.mark.parametrize("null", [None, "swap", "normal", "pearson", "permutation"])
def test_every_null_finds_a_dependence_without_correlation(statistic: str, null: str | None) -> None:
    options: dict[str, Any] = {} if statistic == "dcov" else {"kernel_x": "gaussian"}
    if null == "normal":
        options["block_size"] = 8
    found = independence_test(*data(), statistic=statistic, null=null, seed=1, **options)
    assert found.pvalue < 0.01
    assert "dependent (p <= 0.05)" in str(found)
    assert ("dCov^2" if statistic == "dcov" else "HSIC") in str(found)


def test_several_bandwidths_are_tested_at_once_by_default() -> None:
    found = independence_test(*data(), seed=1)
    assert found.pvalue == 0.0005
    assert len(found.candidates) == 25
    assert len(independence_test(*data(), seed=1, budget=0.0005).candidates) == 9
    assert isinstance(found.kernel, KernelPair)
    assert "300 pairs, in one block" in str(found)


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (10, {}),
        (27, {"kernel_x": "gaussian"}),
        (50, {}),
        (100, {"block_size": 20, "statistic": "dcov"}),
        (60, {"null": "pearson", "kernel_x": "laplacian", "kernel_y": "energy"}),
    ],
)
def test_level(n: int, options: dict[str, Any]) -> None:
    """Of 400 trials with skewed data, rejections at 5 % exceed the bound with probability 1e-6 at most."""
    trials, rejected = 400, 0
    for trial in range(trials):
        rng = np.random.default_rng([n, trial])
        x, y = rng.exponential(size=(n, 2)), rng.standard_t(3, size=n)
        rejected += independence_test(x, y, seed=trial, shuffle=False, **options).pvalue <= 0.05
    bound = 0.06 if "null" in options else 0.05  # Pearson III is not exact
    assert rejected <= binom.isf(1e-6, trials, bound)


def test_the_swaps_are_as_powerful_as_all_permutations() -> None:
    """Mean p-values over 40 data sets are alike: within 0.1, some six standard errors of the difference."""
    found = {}
    for null in ("swap", "permutation"):
        pvalues = []
        for trial in range(40):
            rng = np.random.default_rng(trial)
            x = rng.normal(size=200)
            y = 0.25 * np.sin(3.0 * x) + rng.normal(size=200)
            pvalues.append(independence_test(x, y, kernel_x="gaussian", null=null, seed=trial).pvalue)
        found[null] = np.mean(pvalues)
    assert abs(found["swap"] - found["permutation"]) < 0.1


def test_the_same_seed_repeats_and_threads_change_nothing() -> None:
    x, y = data(3.0, 2000)
    wanted = independence_test(x, y, block_size=90, seed=4)
    for n_threads in (1, 2):
        assert independence_test(x, y, block_size=90, seed=4, n_threads=n_threads) == wanted
    assert independence_test(x, y, block_size=90, seed=5).statistic != wanted.statistic


@pytest.mark.parametrize("suffix", ["npy", "csv", "parquet"])
def test_files_give_the_result_of_arrays(tmp_path: Path, suffix: str) -> None:
    x, y = data(3.0)
    paths = []
    for name, rows in (("x", x), ("y", y)):
        path = tmp_path / f"{name}.{suffix}"
        frame = pd.DataFrame(rows, columns=[f"{name}{j}" for j in range(rows.shape[1])])
        if suffix == "npy":
            np.save(path, rows)
        elif suffix == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        paths.append(path)
    wanted = independence_test(x, y, block_size=40, seed=2, scale=False)
    found = independence_test(*paths, block_size=40, seed=2, scale=False)
    assert found == wanted
    assert found.read == "in chunks"


def test_a_checkpoint_is_of_one_test(tmp_path: Path) -> None:
    x, y = data(3.0)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    paths, kept = (tmp_path / "x.npy", tmp_path / "y.npy"), tmp_path / "run.npz"
    wanted = independence_test(*paths, block_size=40, seed=2, checkpoint=kept)
    assert independence_test(*paths, block_size=40, checkpoint=kept) == wanted
    with pytest.raises(ValueError, match="another"):
        independence_test(*paths, block_size=40, statistic="dcov", checkpoint=kept)


def test_frames_are_scaled_and_units_do_not_matter() -> None:
    x, y = data()
    frame = pd.DataFrame(x, columns=["a", "b"])
    wanted = independence_test(frame, y, seed=1)
    assert wanted.scale is not None
    assert len(wanted.scale) == 3
    found = independence_test(frame.assign(b=frame.b * 1000.0), y, seed=1)
    assert found.pvalue == wanted.pvalue
    assert "each column by its robust scale\n" in str(found)


def test_a_stream_adds_and_is_saved(tmp_path: Path) -> None:
    x, y = data(3.0)
    statistic = btests.HSIC((KernelPair(Gaussian(1.0), Gaussian(1.0)),))
    streams = [Stream(statistic, 20, seed=3, part=part) for part in (0, 1)]
    for part, stream in enumerate(streams):
        for start in range(part * 150, part * 150 + 150, 47):
            stop = min(start + 47, part * 150 + 150)
            stream.update(x[start:stop], y[start:stop])
    partials = [stream.partial() for stream in streams]
    partials[1].save(tmp_path / "one.npz")
    found = (partials[0] + PartialResult.load(tmp_path / "one.npz")).result()
    assert found == (partials[1] + partials[0]).result()
    assert found.n_blocks == 14
    assert "HSIC" in str(found)


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (np.ones(9), np.ones(8), {}, "x has 9 rows and y has 8"),
        (np.arange(7.0), np.arange(7.0), {}, "at least 8 pairs"),
        (np.array([1.0, np.nan] * 5), np.arange(10.0), {}, "NaN"),
        (np.arange(10.0), np.arange(10.0), {"statistic": "pearson"}, "'hsic' or 'dcov'"),
        (np.arange(10.0), np.arange(10.0), {"statistic": "dcov", "exponent": 2.0}, "between 0 and 2"),
        (np.arange(10.0), np.arange(10.0), {"statistic": "dcov", "kernel_x": "gaussian"}, "kernels are for"),
        (np.arange(10.0), np.arange(10.0), {"exponent": 0.5}, "exponent is for statistic='dcov'"),
        (np.arange(10.0), np.arange(10.0), {"kernel_x": "rbf2"}, "kernel_x must be one of"),
        (np.arange(10.0), np.arange(10.0), {"null": "gamma"}, "null must be one of"),
        (np.arange(10.0), np.arange(10.0), {"null": btests.Gamma()}, "SignFlip"),
        (np.arange(10.0), np.arange(10.0), {"block_size": 3}, "at least 4"),
        (np.arange(10.0), np.arange(10.0), {"block_size": 11}, "between 4 and 10"),
        (np.arange(10.0), np.arange(10.0), {"null": Permutation(9), "block_size": 5}, "all rows at once"),
    ],
)
def test_bad_input_gets_a_sentence(x: Any, y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        independence_test(x, y, **options)


def test_a_constant_column_depends_on_nothing() -> None:
    with pytest.warns(btests.DegenerateDataWarning):
        found = independence_test(np.ones(50), np.arange(50.0), seed=1)
    assert found.pvalue == 1.0
    assert "x or y is constant" in found.note


def test_closed_forms_agree_with_draws() -> None:
    x, y = data(15.0, 1600)
    drawn = independence_test(x, y, kernel_x="gaussian", block_size=40, null=SignFlip(20_000), seed=2).pvalue
    for null in (ExactMoments(), ExactMoments(skewed=False)):
        closed = independence_test(x, y, kernel_x="gaussian", block_size=40, null=null, seed=2).pvalue
        assert closed == pytest.approx(drawn, abs=0.1)


def test_few_rows_are_permuted_as_a_whole() -> None:
    x = np.arange(8.0)
    assert independence_test(x, x, seed=1).pvalue < 0.01
    assert independence_test(x, x, null="swap", seed=1).pvalue > 0.05
    found = independence_test(*data(n=40), seed=1)
    assert "of all permutations of y" in str(found)
    assert found == independence_test(*data(n=40), seed=1, n_threads=2)


def test_draws_of_permutations_are_those_of_the_permutation_test() -> None:
    """P-values of 1999 draws each differ by less than six standard errors."""
    x, y = data(3.0, 40)
    wanted = independence_test(x, y, statistic="dcov", null=Permutation(1999), seed=1)
    found = independence_test(x, y, statistic="dcov", seed=2)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(wanted.pvalue, abs=6.0 * (0.5 / 1999) ** 0.5)


def test_pairs_are_not_taken_apart(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(100.0)[:, None])
    with pytest.raises(ValueError, match="belong together"):
        independence_test(tmp_path / "x.npy", tmp_path / "x.npy", shuffle="buffered")


def test_what_closed_forms_cannot_do_is_said() -> None:
    x, y = data(n=60)
    with pytest.raises(ValueError, match="out of the range of closed forms"):
        independence_test(x * 1e-80, y * 1e-80, statistic="dcov", null="pearson")
    with pytest.raises(ValueError, match="at least 6 rows"):
        independence_test(x, y, null="pearson", block_size=5)
    with pytest.raises(ValueError, match="at least 2 blocks"):
        independence_test(x, y, seed=1).confidence_interval()


def test_columns_of_other_units_are_named() -> None:
    x, y = data()
    with pytest.warns(btests.ScaleWarning, match="column 0"):
        independence_test(x * [1.0, 1e6], y, seed=1)
