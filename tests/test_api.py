"""The front door: what it takes, what it gives, and that it gives the same again."""

from __future__ import annotations

import json
import math
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import btests
from btests import (
    CrossMMD,
    Energy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normal,
    Null,
    Pairwise,
    SignFlip,
    TestResult,
    ThirdCumulant,
    _core,
    btest,
    default_aggregate,
    median_bandwidth,
)
from btests._core import engine_name
from btests.data.sample import Sample
from btests.statistics import MMD
from tests import reference
from tests.kernels.formulas import radial
from tests.reference import Array

NULLS: list[Null] = [SignFlip(), Normal(), ThirdCumulant(), CrossMMD()]


def two_samples(n_x: int = 200, n_y: int = 200, shift: float = 0.3, d: int = 2) -> tuple[Array, Array]:
    """Return two normal samples."""
    rng = np.random.default_rng([n_x, n_y, d])
    return rng.normal(size=(n_x, d)), rng.normal(shift, 1.0, size=(n_y, d))


def assert_same(one: TestResult, other: TestResult) -> None:
    """Assert equality to the bit, of everything but the time it took."""
    assert one == other
    np.testing.assert_array_equal(one.block_values, other.block_values)
    np.testing.assert_array_equal(one.summary.moments, other.summary.moments)
    assert one.threshold(0.05) == other.threshold(0.05)


# Repetition


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(20_000, 20_000, 20), (3000, 4000, 300), (2000, 2000, 2000)])
def test_threads_leave_no_trace(null: Null, n_x: int, n_y: int, block_size: int) -> None:
    x, y = two_samples(n_x, n_y, 0.02)
    if isinstance(null, Normal) and block_size == n_x:
        null = SignFlip(99)
    if n_x // block_size < 30 and not isinstance(null, SignFlip):
        null = CrossMMD() if n_x == n_y else ThirdCumulant()
    one, two, five = (
        btest(x, y, kernel=Gaussian(1.0), block_size=block_size, null=null, seed=4, n_threads=n) for n in (1, 2, 5)
    )
    assert_same(one, two)
    assert_same(one, five)


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(200, 200, 2), (200, 200, 6), (205, 230, 5)])
def test_the_plain_path_gives_the_same_pvalue(
    monkeypatch: pytest.MonkeyPatch, null: Null, n_x: int, n_y: int, block_size: int
) -> None:
    x, y = two_samples(n_x, n_x if isinstance(null, CrossMMD) else n_y, 0.1)  # those refuse different lengths
    compiled = btest(x, y, block_size=block_size, null=null, seed=1)
    monkeypatch.setattr(_core.library, "_library", None)
    assert not _core.is_available()
    plain = btest(x, y, block_size=block_size, null=null, seed=1)
    assert plain.engine == "numpy"
    assert plain.statistic == pytest.approx(compiled.statistic, rel=1e-11, abs=1e-15)
    assert plain.pvalue == pytest.approx(compiled.pvalue, rel=1e-9)
    if isinstance(null, SignFlip):
        assert plain.pvalue == compiled.pvalue


def test_the_seed_is_reported_and_can_be_used_again() -> None:
    x, y = two_samples()
    fresh, other = btest(x, y), btest(x, y)
    assert fresh.seed != other.seed
    assert_same(btest(x, y, seed=fresh.seed), fresh)
    assert 0 <= fresh.seed < 2**53, "it survives JSON"


@pytest.mark.parametrize("seed", [0, 2**40, 2**70, np.int64(7), np.uint8(3)])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    x, y = two_samples()
    assert btest(x, y, seed=seed).seed == int(seed)
    assert_same(btest(x, y, seed=seed), btest(x, y, seed=int(seed)))


def test_seeds_that_cannot_be_written_are_refused() -> None:
    with pytest.raises(ValueError, match=r"seed must be less than 2\^1024, got a number of 20001 bits"):
        btest(*two_samples(), seed=16**5000)


@pytest.mark.parametrize(
    ("number", "options"),
    [
        (np.uint8(255), lambda n: {"null": btests.SignFlip(n)}),
        (np.int8(127), lambda n: {"null": btests.Permutation(n)}),
        (np.uint8(255), lambda n: {"null": btests.Spectrum(n), "kernel": btests.Gaussian(1.0)}),
        (np.uint8(3), lambda n: {"n_threads": n}),
        (np.int8(100), lambda n: {"kernel": btests.MedianHeuristic(n_rows=n)}),
        (np.uint8(3), lambda n: {"kernel": btests.Polynomial(n), "block_size": 9}),
    ],
)
def test_whole_numbers_of_numpy_are_those_of_python(number: Any, options: Any) -> None:
    x, y = two_samples()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of sums that overflow
        found = btest(x, y, seed=1, **options(number))
    assert_same(found, btest(x, y, seed=1, **options(int(number))))


def test_seeds_matter() -> None:
    x, y = two_samples()
    assert btest(x, y, seed=1).statistic != btest(x, y, seed=2).statistic


def test_global_random_state_is_neither_used_nor_changed() -> None:
    x, y = two_samples()
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    one = btest(x, y, seed=1)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert_same(btest(x, y, seed=1), one)


def test_data_are_not_changed() -> None:
    x, y = two_samples()
    copies = x.copy(), y.copy()
    for kernel in (None, Linear(), Energy(0.5), Gaussian(1.0) + Linear()):
        btest(x, y, kernel=kernel, seed=1)
    np.testing.assert_array_equal(x, copies[0])
    np.testing.assert_array_equal(y, copies[1])


# Symmetries


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Energy(), Linear()], ids=repr)
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(200, 200, 14), (201, 201, 2), (60, 95, 6), (90, 90, 90)])
def test_x_and_y_may_be_swapped(kernel: Kernel, n_x: int, n_y: int, block_size: int) -> None:
    x, y = two_samples(n_x, n_y, 0.1)
    one = btest(x, y, kernel=kernel, block_size=block_size, shuffle=False, seed=1)
    two = btest(y, x, kernel=kernel, block_size=block_size, shuffle=False, seed=1)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-10, abs=1e-14)
    assert two.pvalue == one.pvalue


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0), Laplacian(1.0), Energy(), "matern"])
@pytest.mark.parametrize("shift", [-3.0, 1e3, 2.0**20])
def test_adding_a_constant_to_both_changes_nothing(kernel: Kernel | str | None, shift: float) -> None:
    x, y = (np.round(s * 1024) / 1024 for s in two_samples(shift=0.1))
    one, two = btest(x, y, kernel=kernel, seed=1), btest(x + shift, y + shift, kernel=kernel, seed=1)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-10, abs=1e-14)
    assert two.pvalue == one.pvalue


@pytest.mark.parametrize("factor", [1e-100, 0.125, 1e100])
@pytest.mark.parametrize("kernel", [None, "laplacian", "matern", "energy"])
def test_units_do_not_matter_with_a_median_bandwidth(kernel: str | None, factor: float) -> None:
    x, y = two_samples(shift=0.1)
    one, two = btest(x, y, kernel=kernel, seed=1), btest(x * factor, y * factor, kernel=kernel, seed=1)
    assert two.pvalue == one.pvalue
    scale = factor if kernel == "energy" else 1.0
    assert two.statistic == pytest.approx(one.statistic * scale, rel=1e-9)


def test_shuffle_deals_the_rows_in_an_order_of_the_seed() -> None:
    """Rows that are permuted first give other blocks; rows that are permuted back give the same."""
    x, y = two_samples()
    shuffled = btest(x, y, kernel=Gaussian(1.0), seed=3)
    straight = btest(x, y, kernel=Gaussian(1.0), seed=3, shuffle=False)
    assert shuffled.statistic != straight.statistic
    values = reference.block_values(radial(1.0)[0].formula, x.tolist(), y.tolist(), straight.n_blocks)
    np.testing.assert_allclose(straight.block_values, values, rtol=1e-10, atol=1e-13)


def test_one_block_does_not_depend_on_the_order_of_unpaired_rows() -> None:
    x, y = two_samples(40, 50)
    rng = np.random.default_rng(0)
    one = btest(x, y, kernel=Gaussian(1.0), block_size=40, seed=1)
    two = btest(rng.permutation(x), rng.permutation(y), kernel=Gaussian(1.0), block_size=40, seed=1)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-11)


# What goes in


@pytest.mark.parametrize("lengths", [(4, 4), (10, 12), (100, 100), (1000, 800)], ids=str)
def test_default_is_one_block_where_the_budget_affords_it(lengths: tuple[int, int]) -> None:
    x, y = two_samples(*lengths)
    result = btest(x, y, seed=1)
    assert (result.n_blocks, result.block_size, result.block_rule) == (1, min(lengths), "one block")
    assert btest(x, y, seed=1, block_size="auto") == result
    assert btest(x, y, seed=1, block_size=min(lengths)) == result


def test_budget_decides_the_block_size() -> None:
    x, y = two_samples(1000, 1000)
    results = [btest(x, y, seed=1, budget=budget, statistic="blocks") for budget in (1e-6, 1e-3, 3e-3, 1.0)]
    assert [r.block_rule for r in results] == ["n^0.5", "budget", "budget", "one block"]
    sizes = [r.block_size for r in results]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == btest(x, y, seed=1, block_size="sqrt").block_size
    assert "by the budget of operations" in str(results[1])


def test_a_null_that_needs_many_blocks_has_the_square_root() -> None:
    x, y = two_samples(1000, 1000)
    result = btest(x, y, null="normal", seed=1)
    assert (result.n_blocks, result.block_rule) == (31, "n^0.5")


@pytest.mark.parametrize("n", [4, 10, 100, 886, 2000, 2001])
def test_square_root_of_the_paper(n: int) -> None:
    x, y = two_samples(n, n)
    result = btest(x, y, seed=1, block_size="sqrt")
    asked = max(2, round(math.sqrt(n)))
    assert result.n_blocks == n // asked
    assert result.block_size == n // (n // asked)


@pytest.mark.parametrize("exponent", [0.01, 0.3, 0.5, 2 / 3, 0.99])
def test_block_exponent(exponent: float) -> None:
    x, y = two_samples(1000, 1500)
    result = btest(x, y, seed=1, block_exponent=exponent)
    assert result.n_blocks == 1000 // max(2, round(1000**exponent))
    assert result.block_rule == f"n^{exponent:g}"


@pytest.mark.parametrize(("n", "block_size", "n_blocks"), [(10, 3, 3), (10, 4, 2), (10, 6, 1), (11, 2, 5), (7, 7, 1)])
def test_left_over_rows_are_used(n: int, block_size: int, n_blocks: int) -> None:
    x, y = two_samples(n, n)
    result = btest(x, y, kernel=Gaussian(1.0), block_size=block_size, seed=1, shuffle=False)
    assert result.n_blocks == n_blocks
    moved = x.copy()
    moved[-1] += 5.0
    other = btest(moved, y, kernel=Gaussian(1.0), block_size=block_size, seed=1, shuffle=False)
    assert other.statistic != result.statistic, "the last row counts"


def test_vectors_lists_tuples_and_columns_are_the_same() -> None:
    x, y = (s[:, 0] for s in two_samples())
    wanted = btest(x[:, None], y[:, None], seed=1)
    for p, q in [(x, y), (x.tolist(), y.tolist()), (tuple(x), list(y)), (x[:, None].tolist(), y), (pd.Series(x), y)]:
        assert_same(btest(p, q, seed=1), wanted)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, bool, ">f8", ">i4"]
)
def test_numbers_of_any_type(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, size=(100, 3)).astype(dtype), rng.integers(0, 2, size=(100, 3)).astype(dtype)
    wanted = btest(x.astype(float), y.astype(float), seed=1)
    assert btest(x, y, seed=1).pvalue == wanted.pvalue
    assert btest(x, y.astype(np.float64), seed=1).pvalue == wanted.pvalue


def test_strided_and_read_only_arrays() -> None:
    x, y = two_samples(d=4)
    wanted = btest(x[:, ::2].copy(), y[:, ::2].copy(), seed=1)
    frozen = np.asfortranarray(y)[:, ::2]
    frozen.flags.writeable = False
    assert_same(btest(x[:, ::2], frozen, seed=1), wanted)


def test_data_frames_are_matched_by_name() -> None:
    x, y = two_samples(d=3)
    wanted = btest(x, y, scale=True, seed=1)
    frame_x, frame_y = pd.DataFrame(x, columns=["a", "b", "c"]), pd.DataFrame(y, columns=["a", "b", "c"])
    assert_same(btest(frame_x, frame_y, seed=1), wanted)
    assert_same(btest(frame_x, frame_y[["c", "a", "b"]], seed=1), wanted)
    assert_same(btest(frame_x, y, seed=1), wanted)
    assert_same(btest(x, frame_y.set_index(np.arange(200)[::-1]), seed=1), wanted)


@pytest.mark.parametrize(
    "names", [["column_names", "columns"], ["nnz", "toarray"], [0, 1], [("a", 1), ("a", 2)], ["", 3]]
)
def test_columns_may_have_any_name(names: list[Any]) -> None:
    x, y = two_samples()
    frame_x, frame_y = (
        pd.DataFrame(dict(zip(names, x.T, strict=True))),
        pd.DataFrame(dict(zip(names, y.T, strict=True))),
    )
    assert_same(btest(frame_x, frame_y, seed=1), btest(x, y, scale=True, seed=1))
    assert_same(btest(frame_x, frame_y, scale=False, seed=1), btest(x, y, seed=1))


def test_columns_of_whole_and_missing_aware_numbers() -> None:
    frame = pd.DataFrame({"a": pd.array([1, 2, 3, 4], dtype="Int64"), "b": [True, False, True, False]})
    wanted = btest(frame.to_numpy(dtype=float), frame.to_numpy(dtype=float), scale=True, seed=1)
    assert_same(btest(frame, frame, seed=1), wanted)


def test_the_default_aggregates_and_is_the_median_where_flips_are_not_asked_for() -> None:
    x, y = two_samples(90, 90)
    assert btest(x, y, seed=1) == btest(x, y, kernel=default_aggregate(), seed=1)
    one, other = (btest(x, y, kernel=k, null="third-cumulant", block_size=2, seed=1) for k in (None, "gaussian"))
    assert one == other


@pytest.mark.parametrize(("name", "make"), [("gaussian", Gaussian), ("laplacian", Laplacian), ("matern", Matern)])
def test_names_of_kernels_take_the_median(name: str, make: Any) -> None:
    x, y = two_samples(90, 90)
    bandwidth = median_bandwidth(np.concatenate([x, y]))
    result = btest(x, y, kernel=name, seed=1)
    assert isinstance(result.kernel, make)
    assert result.kernel.bandwidth == pytest.approx(bandwidth, rel=1e-12)
    assert_same(btest(x, y, kernel=result.kernel, seed=1), result)


@pytest.mark.parametrize(("name", "kernel"), [("energy", Energy()), ("linear", Linear())])
def test_names_of_kernels_without_bandwidth(name: str, kernel: Kernel) -> None:
    x, y = two_samples()
    assert_same(btest(x, y, kernel=name, seed=1), btest(x, y, kernel=kernel, seed=1))


@pytest.mark.parametrize(
    ("name", "null"),
    [
        ("normal", Normal()),
        ("third-cumulant", ThirdCumulant()),
        ("sign-flip", SignFlip()),
        ("cross-mmd", CrossMMD()),
        (None, SignFlip()),
    ],
)
def test_names_of_nulls(name: str | None, null: Null) -> None:
    x, y = two_samples()
    assert_same(btest(x, y, block_size=2, null=name, seed=1), btest(x, y, block_size=2, null=null, seed=1))


def test_energy_distance_of_one_block() -> None:
    """One block, unequal sizes: 2 E|x - y| - E|x - x'| - E|y - y'|, without the pairs of a row with itself."""
    x, y = two_samples(30, 41)
    wanted = reference.mmd_unpaired(lambda a, b: -math.dist(a, b), x.tolist(), y.tolist())
    assert btest(x, y, kernel="energy", block_size=30, seed=1).statistic == pytest.approx(wanted, rel=1e-11)


def test_kernels_on_strings() -> None:
    rng = np.random.default_rng(0)
    x = ["".join(rng.choice(list("abc"), 5)) for _ in range(60)]
    y = ["".join(rng.choice(list("abd"), 5)) for _ in range(60)]

    def shared(a: str, b: str) -> float:
        return float(sum(p == q for p, q in zip(a, b, strict=True)))

    result = btest(x, y, kernel=Pairwise(shared), block_size=10, seed=1, shuffle=False)
    np.testing.assert_allclose(result.block_values, reference.block_values(shared, x, y, 6), rtol=1e-12)
    assert result.pvalue == 1 / 2000
    assert result.engine == "numpy"

    def matrix(a: list[str], b: list[str]) -> Any:
        assert isinstance(a, list)
        return [[shared(p, q) for q in b] for p in a]

    assert btest(x, y, kernel=matrix, block_size=10, seed=1, shuffle=False).pvalue == result.pvalue


def test_kernels_on_rows_of_different_lengths() -> None:
    x = [[1.0] * (i % 3 + 1) for i in range(20)]
    result = btest(x, x[::-1], kernel=Pairwise(lambda a, b: float(len(a) * len(b))), seed=1)
    assert 0.0 < result.pvalue <= 1.0


def test_a_function_of_two_matrices() -> None:
    x, y = two_samples(100, 130)
    seen = []

    def kernel(p: Array, q: Array) -> Array:
        seen.append((p.shape, q.shape))
        return np.asarray(np.exp(-((p[:, None] - q[None]) ** 2).sum(axis=-1) / 2.0))

    result = btest(x, y, kernel=kernel, block_size=10, seed=1)
    assert all(len(p) == len(q) == 2 for p, q in seen)
    assert result.pvalue == btest(x, y, kernel=Gaussian(1.0), block_size=10, seed=1).pvalue


def test_float32_is_close() -> None:
    x, y = two_samples(2000, 2000, 0.05)
    one, two = btest(x, y, kernel=Gaussian(1.0), seed=1), btest(x, y, kernel=Gaussian(1.0), seed=1, dtype="float32")
    assert two.statistic == pytest.approx(one.statistic, rel=1e-3)
    assert two.pvalue == pytest.approx(one.pvalue, abs=2 / 2000)


def test_float32_warns_of_very_wide_kernels() -> None:
    x, y = two_samples()
    with pytest.warns(btests.PrecisionWarning, match="too flat for float32") as caught:
        btest(x, y, kernel=Gaussian(1000.0), seed=1, dtype="float32")
    assert caught[0].filename == __file__


# What comes out


def test_unpacking_printing_and_json() -> None:
    x, y = two_samples(shift=1.0)
    result = btest(x, y, kernel=Gaussian(1.5), block_size="sqrt", seed=1)
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)
    assert tuple(result) == (statistic, pvalue)
    text = str(result)
    for part in (
        "B-test: different (p <= 0.05)",
        "200 and 200, in 14 blocks of 14 or more (by the square root",
        "Gaussian(bandwidth=1.5)",
    ):
        assert part in text
    assert "SignFlip(n_resamples=1999), seed 1" in text
    assert "95 % interval" in text
    loaded = json.loads(result.to_json())
    assert loaded == result.to_dict()
    assert loaded["pvalue"] == result.pvalue
    assert loaded["n_blocks"] == 14
    assert "\n" not in result.to_json()
    assert "summary" not in repr(result)


def test_printing_without_an_interval_or_a_difference() -> None:
    x, y = two_samples(4, 4, 0.0)
    text = str(btest(x, y, block_size=4, seed=1))
    assert "no difference found at level 0.05" in text
    assert "interval" not in text
    assert "4 and 4, in one block" in text


def test_results_are_frozen_values() -> None:
    x, y = two_samples()
    result = btest(x, y, seed=1)
    with pytest.raises(AttributeError):
        result.pvalue = 0.0  # type: ignore[misc]
    assert result == btest(x, y, seed=1)
    assert result != btest(x, y, seed=2)
    assert len({result, btest(x, y, seed=1)}) == 1
    assert pickle.loads(pickle.dumps(result)) == result


def test_pvalue_and_threshold_agree() -> None:
    x, y = two_samples(shift=0.1)
    for null in NULLS:
        result = btest(x, y, block_size=6, null=null, seed=1)
        for alpha in (0.001, 0.01, 0.05, 0.1, 0.5, result.pvalue):
            assert result.rejects(alpha) == (result.statistic > result.threshold(alpha)) or alpha == result.pvalue


def test_statistic_is_the_average_of_the_blocks() -> None:
    x, y = two_samples()
    for null in (SignFlip(), Normal(), ThirdCumulant()):
        result = btest(x, y, block_size=4, null=null, seed=1)
        assert result.statistic == pytest.approx(result.block_values.mean(), rel=1e-14)
        assert result.block_values.shape == (result.n_blocks,) == (50,)


def test_engine_and_time() -> None:
    x, y = two_samples()
    result = btest(x, y, seed=1)
    assert result.engine == engine_name(MMD(Gaussian(1.0)).engine(Sample(x)))
    assert 0.0 < result.seconds < 60.0
    assert btest(x, y, kernel="linear", seed=1).engine == "numpy"


def test_a_null_of_ones_own() -> None:
    class Always:
        def statistic(self, summary: Any) -> float:
            return float(np.median(summary.values))

        def distribution(self, summary: Any, seed: int, n_threads: int | None = None) -> Any:
            return btests.nulls.NormalDistribution(1.0)

    x, y = two_samples()
    result = btest(x, y, null=Always(), seed=1)
    assert result.statistic == np.median(result.block_values)
