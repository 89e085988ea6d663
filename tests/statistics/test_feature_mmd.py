"""MMD by random Fourier features: sums, values and moments against plain twins, in any order of rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests import (
    Aggregate,
    Energy,
    FeatureMMD,
    FisherFamily,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Matern,
    Normal,
    OnColumns,
    RationalQuadratic,
    SignFlip,
    btest,
)
from btests._core import RowGroups
from btests._core.library import is_available
from btests.data.sample import Sample
from btests.execution import out_of_core
from btests.kernels.kernel import Kernel
from btests.kernels.random_fourier import Discriminant, cosines_and_sines, frequencies_of
from btests.pipeline import run_test
from btests.plan import Array, Plan
from btests.statistics import in_memory, plan_for, summarize_all
from btests.statistics.fourier_features import bits_for, chains_of, float32_errors, fourier_sums
from btests.symmetries import Bins, RelabelBins

KERNELS: list[Kernel] = [
    Gaussian(1.3),
    Laplacian(2.0),
    Matern(1.0, 0.5),
    Matern(1.0, 1.5),
    Matern(1.0, 2.5),
    RationalQuadratic(1.0, 0.5),
    RationalQuadratic(1.5, 1.0),
    InverseMultiquadric(2.0),
    Gaussian(1.0) + 2 * Laplacian(1.0),
    OnColumns(Gaussian(0.7), (1,)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_frequencies_give_the_kernel(kernel: Any) -> None:
    turns, weights = frequencies_of(kernel, 50_000, 3)
    points = np.random.default_rng(0).normal(size=(6, 3)) * 0.5
    found = np.cos(2.0 * np.pi * points @ turns.T) @ weights
    # An average of 50,000 cosines: six standard deviations, six points, ten kernels: 1e-7.
    assert np.abs(found - kernel(points, np.zeros((1, 3)))[:, 0]).max() < 6.0 * weights.sum() * np.sqrt(0.5 / 50_000)


def test_terms_of_next_to_no_weight_have_a_frequency_each() -> None:
    kernel = sum((1e-9 * Gaussian(2.0**k) for k in range(20)), start=Gaussian(1.0) + 0.999 * Laplacian(1.0))
    turns, weights = frequencies_of(kernel, 64, 2)
    assert len(turns) == 64
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1.999, abs=1e-7)


def test_frequencies_of_rows_of_many_numbers_are_orthogonal() -> None:
    turns, _ = frequencies_of(Gaussian(1.0), 64, 20_000)  # of 20,000 x 20,000 numbers they would take minutes
    assert turns.shape == (64, 20_000)
    squares = turns @ turns.T * (2.0 * np.pi) ** 2
    # Chi-squared of 20,000 degrees of freedom: six standard deviations.
    np.testing.assert_allclose(np.diag(squares), 20_000, atol=6.0 * np.sqrt(40_000))
    np.testing.assert_allclose(squares, np.diag(np.diag(squares)), atol=1e-9)


def grouped(n: int, n_groups: int, seed: int) -> tuple[Any, Any]:
    groups = np.random.default_rng(seed).integers(0, n_groups, n)
    return np.argsort(groups, kind="stable"), np.append(0, np.cumsum(np.bincount(groups, minlength=n_groups)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_sums_are_those_of_numpy(dtype: Any, instruction_set: str) -> None:
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(1003, 5)) * 30.0).astype(dtype)
    own = [frequencies_of(kernel, 20, 5) for kernel in (Gaussian(8.0), Gaussian(2.0), Gaussian(0.5))]
    (chain,), places = chains_of(own)
    assert (chain.doublings, places) == ((0, 2, 4), [(0, 0), (0, 1), (0, 2)])
    order, edges = grouped(1003, 7, 2)
    origin, bits = rng.normal(size=5), bits_for(1003)
    found = fourier_sums(chain, RowGroups(rows, order, edges), origin, bits)
    plain = fourier_sums(chain, RowGroups(rows, order, edges, plain=True), origin, bits)
    # Of some cosines the last of 40 bits is rounded the other way.
    np.testing.assert_allclose(found, plain, atol=1e-10)
    for level, frequencies in enumerate(own):
        values = cosines_and_sines(frequencies.turns, rows, origin)
        exact = np.stack([values[order[a:b]].sum(axis=0) for a, b in pairwise(edges)])
        np.testing.assert_allclose(found[:, level], exact, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0])
def test_sums_in_float32_are_within_their_bound(dtype: Any, scale: float, instruction_set: str) -> None:
    rng = np.random.default_rng(2)
    # 3000 rows of one group: sums of 32 bits would overflow. Rows are within four standard deviations.
    rows = (np.clip(rng.normal(size=(3000, 5)), -4.0, 4.0) * scale).astype(dtype)
    (chain,), _ = chains_of([frequencies_of(Gaussian(32.0 * 0.5**k), 20, 5) for k in range(8)])
    order, edges = np.arange(3000), np.array([0, 1, 3000])
    options = np.zeros(5), bits_for(3000, in_float32=True)
    sums = fourier_sums(replace(chain, in_float32=True), RowGroups(rows, order, edges), *options)
    plain = fourier_sums(chain, RowGroups(rows, order, edges, plain=True), *options)
    errors = np.abs(sums - plain) / np.diff(edges)[:, None, None]
    bounds = float32_errors(chain, np.full(5, scale**2))
    assert (errors.max(axis=(0, 2)) < np.array(bounds) + 2.0**-20).all()
    assert (errors[0].max(axis=1) > 0.0).any()


@pytest.mark.parametrize("plain", [True, False])
def test_doublings_of_small_angles_keep_their_digits(plain: bool) -> None:
    own = [frequencies_of(Gaussian(1024.0 * 0.5**k), 20, 1) for k in (0, 10)]
    (chain,), _ = chains_of(own)
    rows = np.random.default_rng(6).normal(size=(200, 1)) * 0.1
    order, edges = np.arange(200), np.arange(201)
    found = fourier_sums(chain, RowGroups(rows, order, edges, plain), np.zeros(1), 40)
    # 2^10 roundings, and that to 40 bits. By 2 cos^2 a - 1 they would be some 1e-11.
    exact = cosines_and_sines(own[1].turns, rows, np.zeros(1))
    assert np.abs(found[:, 1] - exact).max() < 2.0**-41 + 2.0**-42


@pytest.mark.skipif(not is_available(), reason="no compiled loops")
def test_features_are_in_float32_where_that_is_accurate() -> None:
    rng = np.random.default_rng(5)
    x, y = Sample(rng.normal(size=(500, 3)), np.arange(500)), Sample(rng.normal(size=(500, 3)) + 0.2, np.arange(500))
    kernels = Gaussian(2.0), Gaussian(1.0), Gaussian(1e-5)
    statistic, wanted = (FeatureMMD(kernels, 32, dtype=dtype).prepare(x, y) for dtype in ("float32", "float64"))
    assert statistic.prepared is not None
    assert [value.chain.in_float32 for value in statistic.prepared.values] == [True, False]  # type: ignore[attr-defined]
    assert [a.abs_error < 1e-5 for a in statistic.accuracy(x, y)] == [True, True, True]
    plan = plan_for(statistic, 500, 500, 100)
    found, exact = (summarize_all(one, x, y, plan) for one in (statistic, wanted))
    assert found[0].mean() != exact[0].mean()
    assert found[0].mean() == pytest.approx(exact[0].mean(), abs=1e-6)
    assert found[2].mean() == exact[2].mean()


@pytest.mark.skipif(not is_available(), reason="no compiled loops")
def test_tests_in_float32_have_the_bits_of_files(tmp_path: Path) -> None:
    x, y = np.random.default_rng(9).normal(size=(2, 3000, 3)).astype(np.float32)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "statistic": "features", "seed": 1}
    single, double = (btest(x, y, dtype=dtype, **options) for dtype in ("float32", "float64"))
    assert single.statistic != double.statistic
    assert single.statistic == pytest.approx(double.statistic, abs=1e-6)
    for name, rows in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", rows)
    found = btest(tmp_path / "x.npy", tmp_path / "y.npy", dtype="float32", **options)
    assert (found.statistic, found.pvalue) == (single.statistic, single.pvalue)


@pytest.mark.parametrize(("plain", "in_float32"), [(True, False), (False, False), (False, True)])
def test_sums_do_not_depend_on_order_chunks_or_threads(plain: bool, in_float32: bool) -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_cauchy(size=(5000, 4))
    chains, _ = chains_of([frequencies_of(kernel, 48, 4) for kernel in (Gaussian(1.0), Gaussian(0.25), Laplacian(1.0))])
    chains = [replace(chain, in_float32=in_float32) for chain in chains]
    groups = rng.integers(0, 9, 5000)
    bits = bits_for(5000, in_float32=in_float32)

    def sums(chosen: Any, n_threads: int = 1) -> Array:
        turn = np.argsort(groups[chosen], kind="stable")
        edges = np.append(0, np.cumsum(np.bincount(groups[chosen], minlength=9)))
        own = RowGroups(rows, chosen[turn], edges, plain, n_threads)
        found = [fourier_sums(c, own, np.zeros(4), bits) for c in chains]
        return np.concatenate(found, axis=1)

    wanted = sums(np.arange(5000))
    assert np.array_equal(sums(rng.permutation(5000), 2), wanted)
    cuts = np.split(rng.permutation(5000), [17, 1800, 1801])
    assert np.array_equal(sum(sums(cut) for cut in cuts), wanted)


def test_rows_far_away_count_as_at_the_origin() -> None:
    rows = np.array([[1e300], [-1e200], [0.0]])
    (chain,), _ = chains_of([frequencies_of(Gaussian(1e-5), 16, 1)])
    for plain in (True, False):
        found = fourier_sums(chain, RowGroups(rows, np.arange(3), np.array([0, 3]), plain), np.zeros(1), bits_for(3))
        assert np.array_equal(found[0, 0], np.repeat([3.0, 0.0], 16))


def members(n_x: int, n_y: int, *, plain: bool = False) -> tuple[Any, Any, FeatureMMD]:
    rng = np.random.default_rng(n_x + n_y)
    x = Sample(rng.normal(size=(n_x, 2)), rng.permutation(n_x))
    y = Sample(rng.normal(size=(n_y, 2)) + 0.3, rng.permutation(n_y))
    kernels = (Gaussian(1.0), Laplacian(0.5), Discriminant(Gaussian(1.0), 4.0))
    return x, y, FeatureMMD(kernels, 32, plain).prepare(x, y)


def brute(statistic: FeatureMMD, member: int, x: Array, y: Array) -> float:
    """Return the unbiased MMD^2 of rows by the Gram matrix of their features."""
    kernel = statistic.kernels[member]
    if member < 2:
        own = frequencies_of(kernel, statistic.n_frequencies, x.shape[1])
        values = [cosines_and_sines(own.turns, rows, np.zeros(2)) * np.tile(np.sqrt(own.weights), 2) for rows in (x, y)]
        xx, yy, xy = (values[i] @ values[j].T for i, j in ((0, 0), (1, 1), (0, 1)))
    else:
        xx, yy, xy = kernel(x, x), kernel(y, y), kernel(x, y)
    n, m = len(x), len(y)
    within = (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1))
    return float(within - 2.0 * xy.mean())


@pytest.mark.parametrize("plain", [True, False])
def test_values_are_those_of_the_gram_matrix_of_features(plain: bool) -> None:
    x, y, statistic = members(150, 70, plain=plain)
    found = summarize_all(statistic, x, y, plan_for(statistic, 150, 70, 40))
    assert [summary.plan.n_blocks for summary in found] == [1, 1, 1]
    for i in range(2):
        assert found[i].mean() == pytest.approx(brute(statistic, i, x.rows, y.rows), abs=1e-10)


def test_values_of_discriminants_are_those_of_rows_in_different_bins() -> None:
    x, y, statistic = members(40, 25)  # a bin for each row
    found = summarize_all(statistic, x, y, plan_for(statistic, 40, 25, 25))
    assert found[2].mean() == pytest.approx(brute(statistic, 2, x.rows, y.rows), abs=1e-10)


@pytest.mark.parametrize("plain", [True, False])
def test_values_of_samples_of_one_length_are_those_of_pairs_of_groups(plain: bool) -> None:
    x, y, statistic = members(150, 150, plain=plain)
    found = summarize_all(statistic, x, y, plan_for(statistic, 150, 150, 40))
    group = np.arange(150) % 32
    apart = group[:, None] != group[None, :]
    for i in range(2):
        own = frequencies_of(statistic.kernels[i], 32, 2)
        phi, psi = (
            cosines_and_sines(own.turns, rows, np.zeros(2)) * np.tile(np.sqrt(own.weights), 2)
            for rows in (x.first(150), y.first(150))
        )
        h = (phi - psi) @ (phi - psi).T
        assert found[i].mean() == pytest.approx(h[apart].mean(), abs=1e-10)
        assert found[i].mean() == pytest.approx(brute(statistic, i, x.rows, y.rows), abs=2e-3)


def test_swaps_of_groups_are_swaps_of_rows() -> None:
    x, y, statistic = members(96, 96)
    found = summarize_all(statistic, x, y, plan_for(statistic, 96, 96, 40))
    rows_x, rows_y = x.first(96), y.first(96)
    swapped = np.isin(np.arange(96) % 32, [0, 3, 17, 30])[:, None]
    signs = np.where(np.isin(np.arange(32), [0, 3, 17, 30]), -1.0, 1.0)
    other_x, other_y = np.where(swapped, rows_y, rows_x), np.where(swapped, rows_x, rows_y)
    for i, summary in enumerate(found):
        change = signs @ summary.moments[0] @ signs - summary.moments[0].sum()
        wanted = brute(statistic, i, other_x, other_y) - brute(statistic, i, rows_x, rows_y)
        # Pairs of a row of x and one of y at the same position are in one value and not in the other: 1 / n of all.
        assert change == pytest.approx(wanted, rel=0.06, abs=2e-4)


def test_pairs_of_rows_of_one_subject_do_not_count() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 2))
    y = x + rng.normal(size=(3000, 2)) * 0.01
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "paired": True, "seed": 1}
    features, blocks = (btest(x, y, statistic=one, **options) for one in ("features", "blocks"))
    assert features.statistic == pytest.approx(blocks.statistic, abs=1e-5)


def test_labels_of_bins_are_labels_of_rows() -> None:
    x, y, statistic = members(200, 70)
    bins = Bins.of(200, 70)
    assert (bins.size, bins.many, bins.few, bins.counts().sum()) == (2, 100, 32, 270)
    found = summarize_all(statistic, x, y, plan_for(statistic, 200, 70, 70))
    rows = np.concatenate([x.first(200), y.first(70)])
    of_rows = np.append(bins.numbers(np.arange(200), 0), bins.numbers(np.arange(70), 1))
    draws = RelabelBins(bins).draw(Plan(200, 70, 1), (1, 134, 134), 20, 5)
    for i in range(2):
        drawn = found[i].drawn(draws)
        for labels, value in zip(draws.labels, drawn, strict=True):
            of_y = np.isin(of_rows, labels)
            assert of_y.sum() == 70
            assert value == pytest.approx(brute(statistic, i, rows[~of_y], rows[of_y]), abs=1e-10)


def test_pvalues_of_all_assignments_of_tiny_samples_are_uniform() -> None:
    rows = np.random.default_rng(6).normal(size=(8, 2))
    found = []
    for chosen in combinations(range(8), 3):
        y = np.isin(np.arange(8), chosen)
        statistic = FeatureMMD((Gaussian(1.0), Gaussian(0.25)), 16)
        samples = Sample(rows[~y], np.arange(5)), Sample(rows[y], np.arange(3))
        found.append(run_test(statistic, samples, plan_for(statistic, 5, 3, 3), in_memory, SignFlip(), seed=0).pvalue)
    assert sorted(found) == pytest.approx(np.arange(1, 57) / 56, abs=1e-12)


@pytest.mark.parametrize("n_y", [3000, 500])
def test_files_give_the_bits_of_arrays(n_y: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    x, y = np.sort(rng.normal(size=(3000, 2)), axis=0), np.sort(rng.normal(size=(n_y, 2)), axis=0)
    monkeypatch.setattr("btests.statistics.feature_mmd._CHUNK", 500)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 4000)
    wanted = btest(x, y, statistic="features", seed=3)
    assert (wanted.n_blocks, wanted.block_rule) == (1, "features")
    for name, rows in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", rows)
    found = btest(tmp_path / "x.npy", tmp_path / "y.npy", statistic="features", seed=3, progress=lambda *_: None)
    assert (found.statistic, found.pvalue, found.kernel) == (wanted.statistic, wanted.pvalue, wanted.kernel)


@pytest.mark.parametrize("n_y", [600, 300])
def test_sorted_rows_do_no_harm(n_y: int) -> None:
    # Groups of sorted rows, one after another, would be too much alike: every second test rejects at .05 then.
    rng = np.random.default_rng(11)
    found = []
    for k in range(60):
        x, y = np.sort(rng.normal(size=600))[:, None], np.sort(rng.normal(size=n_y))[:, None]
        options: dict[str, Any] = {"statistic": "features", "kernel": Gaussian(1.0), "null": SignFlip(199)}
        found.append(btest(x, y, shuffle=False, seed=k, **options).pvalue)
    # 17 of 60 at .05: a probability of 1e-8.
    assert sum(p <= 0.05 for p in found) < 17


def test_a_difference_is_found_and_has_an_interval() -> None:
    rng = np.random.default_rng(9)
    for n_y in (4000, 900):
        x, y = rng.normal(size=(4000, 3)), rng.normal(size=(n_y, 3)) * [1.0, 1.0, 1.4]
        result = btest(x, y, kernel=Gaussian(1.0), statistic="features", seed=1)
        exact = btest(x, y, kernel=Gaussian(1.0), statistic="blocks", seed=1)
        assert result.pvalue == 1 / 2000
        low, high = result.confidence_interval()
        assert 0.0 < low < exact.statistic < high
        assert "random features" in str(result)


def test_the_default_takes_features_where_one_block_is_too_much() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 400, 2))
    assert btest(x, y, seed=0).block_rule == "one block"
    assert btest(x, y, seed=0, budget=1e-5).block_rule == "features"
    assert btest(x, y, seed=0, budget=1e-5, statistic="blocks").block_rule == "n^0.5"
    assert btest(x, y, seed=0, budget=1e-5, kernel=Energy()).block_rule == "features"
    assert btest(x, y, seed=0, budget=1e-5, kernel=Aggregate(FisherFamily())).block_rule == "n^0.5"


def test_bad_input() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 40, 2))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"block_size": 10}, "no blocks"),
        ({"block_exponent": 0.4}, "no blocks"),
        ({"null": Normal()}, r"takes null=SignFlip\(\)"),
        ({"units": ([1] * 40, [2] * 40)}, "no other statistic"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            btest(x, y, statistic="features", seed=0, **options)
    with pytest.raises(ValueError, match=r"budget .*need the number of rows"):
        btest(iter([x]), iter([y]), statistic="features", budget=2.0, seed=0)
    constant = btest(x * 0.0, y * 0.0, statistic="features", kernel=Gaussian(1.0), seed=0)
    assert (constant.pvalue, constant.statistic) == (1.0, 0.0)
    assert "no swap of x and y changes anything" in constant.note
    assert btests.btest(x, y[:3], statistic="features", kernel=Gaussian(1.0), seed=0).pvalue > 0.0
