"""Streams by features: any batches and any order of additions give the same bits, and p-values are exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Aggregate, Energy, FeatureMMD, Gaussian, Laplacian, Normal, PartialResult, Stream, btest
from btests.data.keyed_permutation import ShuffledRuns
from btests.kernels.random_fourier import cosines_and_sines, frequencies_of
from btests.statistics.feature_stream import N_FREQUENCIES, RUN, carried
from tests.same import assert_same

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(2010, 3)), RNG.normal(0.1, 1.0, size=(1995, 3))
KERNELS: Any = Aggregate([Gaussian(2.0), Gaussian(1.0), Laplacian(1.0)])
N = 1984  # whole runs


def stream_of(x: Any, y: Any, size: int, kernel: Any = KERNELS, **options: Any) -> Stream:
    stream = Stream(kernel, statistic="features", seed=3, **options)
    for first in range(0, max(len(x), len(y)), size):
        stream.update(x[first : first + size], y[first : first + size])
    return stream


def test_orders_are_permutations_of_each_run() -> None:
    order = ShuffledRuns(RUN, (3, 0))
    found = order.positions(np.arange(7 * RUN))
    assert np.array_equal(np.sort(found.reshape(7, RUN)), np.arange(7 * RUN).reshape(7, RUN))
    assert np.array_equal(order.at(found), np.arange(7 * RUN))
    assert np.array_equal(order.rows(3, 50), order.at(np.arange(3, 50)))
    assert np.array_equal(order.positions(np.array([200, 5])), found[[200, 5]])  # no row depends on others
    groups = ShuffledRuns(RUN, (4, 0)).positions(np.arange(2**16)) % RUN
    # Row 0 of 2048 runs is in group 0 in 64 of them, on average: six standard deviations, 32 groups, 1e-7.
    assert np.abs(np.bincount(groups[::RUN], minlength=RUN) - 64).max() < 6 * 8


@pytest.mark.parametrize("kernel", [None, "gaussian", KERNELS, Gaussian(1.0)], ids=repr)
def test_any_batches_give_the_same_bits(kernel: Any) -> None:
    wanted = stream_of(X, Y, 10_000, kernel).result()
    assert (wanted.n_x, wanted.n_y, wanted.n_pending) == (N, N, (26, 11))
    assert (wanted.block_rule, wanted.n_frequencies) == ("features", N_FREQUENCIES)
    for size in (1, 33, 700):
        assert_same(stream_of(X, Y, size, kernel).result(), wanted)
    apart = Stream(kernel, statistic="features", seed=3)
    apart.update(X)
    apart.update(None, Y)
    assert_same(apart.result(), wanted)
    assert f"{N} partners, 26 and 11 rows pending" in repr(apart)


def test_the_value_is_that_of_plain_numpy() -> None:
    found = stream_of(X, Y, 500, Gaussian(1.0)).result()
    turns, weights = frequencies_of(Gaussian(1.0), N_FREQUENCIES, 3)
    values = [cosines_and_sines(turns, rows[:N], np.zeros(3)) * np.tile(np.sqrt(weights), 2) for rows in (X, Y)]
    groups = ShuffledRuns(RUN, (3, 0)).positions(np.arange(N)) % RUN
    sums = np.stack([(values[0] - values[1])[groups == group].sum(axis=0) for group in range(RUN)])
    total = sums.sum(axis=0)
    pairs = N**2 - RUN * (N // RUN) ** 2
    assert found.statistic == pytest.approx((total @ total - np.sum(sums**2)) / pairs, rel=1e-6)
    assert found.pvalue == pytest.approx(
        btest(X, Y, kernel=Gaussian(1.0), statistic="features", seed=3).pvalue, abs=0.1
    )


def partials() -> list[PartialResult]:
    edges = (0, 320, 1000, 1984)
    parts = enumerate(pairwise(edges))
    return [stream_of(X[a:b], Y[a:b], 100, part=part).partial() for part, (a, b) in parts]


def test_partial_results_add_in_any_order_to_the_same_bits(tmp_path: Path) -> None:
    found = partials()
    assert "672 partners" in repr(found[1])
    wanted = PartialResult.join(found).result()
    assert (wanted.n_x, wanted.n_pending) == (320 + 672 + 960, (8 + 24, 8 + 24))
    for i, j, k in permutations(range(3)):
        assert_same((found[i] + (found[j] + found[k])).result(), wanted)
    loaded = []
    for i, one in enumerate(found):
        one.save(tmp_path / f"{i}.npz")
        loaded.append(PartialResult.load(tmp_path / f"{i}.npz"))
    assert_same((loaded[2] + found[0] + loaded[1]).result(), wanted)
    both = loaded[0] + loaded[1]
    both.save(tmp_path / "both.npz")
    assert_same((PartialResult.load(tmp_path / "both.npz") + found[2]).result(), wanted)
    assert wanted.confidence_interval().low < wanted.statistic < wanted.confidence_interval().high


def test_what_does_not_add_says_why() -> None:
    one = partials()[0]
    blocks = Stream(KERNELS, 32, seed=3, part=7)
    blocks.update(X, Y)
    with pytest.raises(ValueError, match="differ in features do not add"):
        one + blocks.partial()
    with pytest.raises(ValueError, match="different kernels do not add"):
        one + stream_of(X, Y, 100, None, part=7).partial()
    with pytest.raises(ValueError, match="share a block"):
        one + one


def test_carries_keep_sums_exact() -> None:
    # 2^45 rows of cosine 2^-32 each, in steps: a float64 sum of such numbers and of 2^45 would lose bits.
    sums = np.array([[2.0**45], [1.0 - 2.0**-32]])
    found = carried(sums + np.array([[0.0], [3.0 * 2.0**-32]]))
    assert found.tolist() == [[2.0**45 + 1.0], [2.0**-31]]


def batches(rows: Any, size: int) -> Iterator[Any]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def test_iterables_of_batches() -> None:
    options: dict[str, Any] = {"kernel": KERNELS, "statistic": "features", "seed": 3}
    one, other = (btest(batches(X, n), batches(Y, 77), **options) for n in (50, 300))
    assert_same(one, other)
    assert (one.read, one.block_rule) == ("in batches", "features")
    with pytest.raises(ValueError, match="x has 10 rows and y has 10; features of batches need 32"):
        btest(batches(X[:10], 5), batches(Y[:10], 5), **options)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="has no blocks"):
        Stream(Gaussian(1.0), 50, statistic="features")
    with pytest.raises(ValueError, match="no random Fourier features"):
        Stream(Energy(), statistic="features")
    with pytest.raises(ValueError, match="statistic='features'"):
        Stream(FeatureMMD(Gaussian(1.0)))
    with pytest.raises(ValueError, match="statistic='features'"):
        Stream(Gaussian(1.0), statistic=FeatureMMD)
    with pytest.raises(ValueError, match="statistic must be 'blocks'"):
        Stream(Gaussian(1.0), statistic="feature")
    with pytest.raises(ValueError, match="dtype='float32' is for blocks"):
        Stream(Gaussian(1.0), statistic="features", dtype="float32")
    with pytest.raises(ValueError, match="31 and 31 rows came"):
        stream_of(X[:31], Y[:31], 10).partial()
    with pytest.raises(ValueError, match="SignFlip"):
        stream_of(X, Y, 500).result(Normal())


def test_few_rows_are_tested() -> None:
    found = stream_of(X[:40], Y[:33], 7, Gaussian(1.0)).result()
    assert (found.n_x, found.n_pending) == (32, (8, 1))


@pytest.mark.statistical
def test_levels_of_rows_that_drift_together() -> None:
    # 400 p-values at level .05: more than 47 of them have probability 2e-7 by the binomial distribution.
    rejections = 0
    for seed in range(400):
        rng = np.random.default_rng([5, seed])
        x, y = (rng.lognormal(size=(192, 1)) + np.linspace(0.0, 5.0, 192)[:, None] for _ in range(2))
        stream = Stream(Aggregate([Gaussian(0.5), Gaussian(2.0)]), statistic="features", seed=seed)
        stream.update(x, y)
        rejections += stream.result().pvalue <= 0.05
    assert rejections <= 47


def test_results_say_what_sorted_streams_do() -> None:
    stream = Stream(Gaussian(1.0), statistic="features", seed=0)
    x, y = np.sort(np.random.default_rng(0).normal(size=(2, 320, 1)), axis=1)
    stream.update(x, y)
    assert "each sorted" in stream.result().note
