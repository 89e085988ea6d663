"""Bad families, too few rows, and data that no kernel sees anything in: one sentence, or a documented answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from btests import (
    Aggregate,
    Combination,
    CrossMMD,
    CrossValidation,
    Gaussian,
    Laplacian,
    Linear,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    MedianHeuristic,
    Normal,
    Null,
    OnColumns,
    Pairwise,
    PerCoordinate,
    Polynomial,
    SelectionWarning,
    SignFlip,
    ThirdCumulant,
    Weights,
    bandwidths,
    btest,
)
from btests.block_size import BlockRule
from btests.data.sample import Sample
from btests.selection import Setting
from btests.selection.training import gather
from tests.reference import Array
from tests.test_bad_input import refused

Make = Callable[..., Any]
SELECTORS: list[Make] = [MaxMMD, MaxRatio, Weights, CrossValidation]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(size=(60, 2))

each_selector = pytest.mark.parametrize("make", SELECTORS)


@each_selector
@pytest.mark.parametrize("family", [[], (), np.zeros(0)], ids=repr)
def test_empty(make: Make, family: Any) -> None:
    with pytest.raises(ValueError, match="a family must have at least one kernel, got none"):
        make(family)


@each_selector
@pytest.mark.parametrize("family", [[0.5, 1.0], np.array([0.5, 1.0]), [Gaussian(1.0), 0.5]], ids=repr)
def test_numbers(make: Make, family: Any) -> None:
    with pytest.raises(TypeError, match=r"got the number 0\.5; write Gaussian\(0\.5\) for a bandwidth"):
        make(family)


@each_selector
@pytest.mark.parametrize(
    "family",
    [None, 3, "gaussian", Gaussian(1.0), Gaussian(1.0) + Linear(), {Gaussian(1.0)}, {"a": Gaussian(1.0)}],
    ids=repr,
)
def test_not_a_list(make: Make, family: Any) -> None:
    with pytest.raises(TypeError, match="a family must be a list of kernels such as"):
        make(family)


@each_selector
def test_members_that_are_no_kernels(make: Make) -> None:
    with pytest.raises(TypeError, match=r"not classes: write Gaussian\(\.\.\.\)"):
        make([Gaussian])
    with pytest.raises(TypeError, match="a family holds kernels, got 'gaussian'"):
        make(["gaussian"])
    with pytest.raises(TypeError, match="a family holds kernels, got None"):
        make([Gaussian(1.0), None])
    with pytest.raises(TypeError, match=r"not the class: write MedianFamily\(\)"):
        make(MedianFamily)


@each_selector
def test_repeated_kernels(make: Make) -> None:
    for family in ([Gaussian(1.0), Gaussian(2.0), Gaussian(1.0)], [Gaussian(1), Gaussian(1.0)]):
        with pytest.raises(ValueError, match=r"must not hold a kernel twice, and Gaussian\(bandwidth=1\.0\) is there"):
            make(family)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, math.nan, math.inf])
def test_zero_bandwidths(bandwidth: float) -> None:
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        MaxMMD([Gaussian(1.0), Gaussian(bandwidth)])
    with pytest.raises(ValueError, match="a factor of the median bandwidth must be positive"):
        MedianFamily([1.0, bandwidth])


def test_families_of_the_data() -> None:
    with pytest.raises(ValueError, match="at least one kernel"):
        MedianFamily([])
    with pytest.raises(ValueError, match="twice"):
        MedianFamily([1.0, 1.0])
    with pytest.raises(TypeError, match="make must turn a bandwidth into a kernel"):
        PerCoordinate(make=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="make must turn a bandwidth into a kernel"):
        bandwidths(make="gaussian")  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high"), [(0.5, 1), (0, "1"), (True, 3), (-1000, 0), (0, 1000), (None, 1)])
def test_exponents(low: Any, high: Any) -> None:
    with pytest.raises(ValueError, match="must be a whole number between -900 and 900"):
        bandwidths(low, high)


def test_exponents_in_order() -> None:
    with pytest.raises(ValueError, match="low must not be more than high, got 3 and 2"):
        bandwidths(3, 2)


@each_selector
@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, 2, math.nan, True, "0.5", None])
def test_fraction(make: Make, fraction: Any) -> None:
    with pytest.raises(ValueError, match="fraction must be between 0 and 1"):
        make(fraction=fraction)


@pytest.mark.parametrize("make", [MaxRatio, Weights])
def test_regulariser(make: Make) -> None:
    for regulariser in (0.0, -1e-3, math.nan, math.inf):
        with pytest.raises(ValueError, match="regulariser must be positive"):
            make(regulariser=regulariser)
    with pytest.raises(TypeError, match="regulariser must be a number"):
        make(regulariser="1e-3")


@pytest.mark.parametrize("n_folds", [0, 1, 33, 2.0, True, None])
def test_n_folds(n_folds: Any) -> None:
    with pytest.raises(ValueError, match="n_folds must be a whole number between 2 and 32"):
        CrossValidation(n_folds=n_folds)


@each_selector
def test_classes_and_lists_instead_of_selectors(make: Any) -> None:
    refused(TypeError, rf"kernel must be an object, not the class: write {make.__name__}\(\.\.\.\)", kernel=make)
    refused(TypeError, "kernel must be one kernel, got several; .* kernel=Weights", kernel=bandwidths())
    refused(TypeError, "kernel must be one kernel, got several; .* kernel=Weights", kernel=bandwidths)


# Too few rows


@each_selector
@pytest.mark.parametrize("n", [2, 3, 7])
def test_too_few_rows_to_split(make: Make, n: int) -> None:
    refused(
        ValueError, f"of {n} rows leaves .* to choose the kernel and .* each needs at least 4", X[:n], Y, kernel=make()
    )


@each_selector
def test_the_fewest_rows(make: Make) -> None:
    family = [Gaussian(1.0), Gaussian(2.0)]
    result = btest(X[:8], Y[:8] + 5.0, kernel=make(family), seed=1)
    assert (result.n_x, result.n_train) == (4, (4, 4))
    refused(ValueError, "leaves 36 to choose the kernel and 3 to test", X[:39], Y[:39], kernel=make(fraction=0.94))


@each_selector
def test_blocks_larger_than_what_is_left(make: Make) -> None:
    refused(ValueError, "block_size must be between 2 and 30, the rows that are left", kernel=make(), block_size=31)
    assert btest(X, Y + 1.0, kernel=make(), block_size=30, seed=1).n_blocks == 1
    assert btest(X, Y + 1.0, kernel=make(fraction=0.2), block_size=40, seed=1).block_size == 48


@pytest.mark.parametrize(
    ("n", "block_size", "n_blocks"), [(4, 2, 2), (4, 4, 2), (30, 30, 10), (200, 100, 8), (200, 5, 40)]
)
def test_a_spread_needs_blocks(n: int, block_size: int, n_blocks: int) -> None:
    """Blocks of the choice are smaller than those of the test where there would be fewer than 8."""
    x, y = (Sample(RNG.normal(size=(n, 2))) for _ in range(2))
    evidence = gather((Gaussian(1.0),), x, y, Setting(BlockRule(block_size)))
    assert evidence.values.shape == (1, n_blocks)
    assert np.isfinite(evidence.ratios(1e-3)).all()


# Data that the kernels do not suit


@each_selector
def test_words_need_a_kernel_for_words(make: Make) -> None:
    x, y = list("abcdefgh" * 3), list("hgfedcba" * 3)
    for family in ((), (MedianFamily(),), (PerCoordinate(),), ([OnColumns(Gaussian(1.0), [0])],)):
        refused(
            TypeError, "x does not hold numbers .*; encode it as numbers, or give a kernel", x, y, kernel=make(*family)
        )


@each_selector
def test_kernels_of_objects_keep_lists_as_objects(make: Make) -> None:
    """Tuples of two lengths, and tuples of numbers, which an array would take for columns."""
    kernel = Pairwise(lambda a, b: float(len(set(a) & set(b))))
    double = Pairwise(lambda a, b: float(len(set(a) & set(b))) ** 2)
    x, y = [(1, 2), (2, 3)] * 10, [(7, 8), (8, 9)] * 10
    assert btest(x, y, kernel=make([kernel, double]), seed=1).rejects(0.05)


@each_selector
def test_members_that_fail_are_named(make: Make) -> None:
    refused(ValueError, "columns must be between 0 and 1", kernel=make([Gaussian(1.0), OnColumns(Gaussian(1.0), [2])]))
    refused(ValueError, "the kernel must return a matrix", kernel=make([Gaussian(1.0), lambda x, y: 1.0]))
    large = Polynomial(9)
    refused(ValueError, r"(Polynomial\(.*overflow|not finite|not defined)", X * 1e40, Y * 1e40, kernel=make([large]))


# Nothing to see


@pytest.mark.parametrize("null", [SignFlip(), Normal(), ThirdCumulant(), CrossMMD()], ids=repr)
@each_selector
def test_all_kernels_underflow(make: Make, null: Null) -> None:
    family = bandwidths(-15, -13)
    x, y = (np.arange(120.0) + shift for shift in (0.0, 0.3))
    with pytest.warns(SelectionWarning, match="no kernel tells any rows apart.*; taking all with the same weight"):
        result = btest(x, y, kernel=make(family), block_size=2, null=null, seed=1)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert [c.weight for c in result.candidates] == [pytest.approx(1.0 / 3.0)] * 3
    assert [c.score for c in result.candidates] == [0.0] * 3
    assert "no kernel tells any rows apart" in str(result)


@each_selector
@pytest.mark.parametrize("family", [bandwidths(), [Linear(), Laplacian(1.0)], PerCoordinate()], ids=["26", "2", "each"])
@pytest.mark.parametrize("cell", [0.0, 0.1, 1e6 + 0.1])
def test_constant_data(make: Make, family: Any, cell: float) -> None:
    x = np.full((60, 3), cell)
    with pytest.warns(SelectionWarning, match="no kernel tells any rows apart"):
        result = btest(x, x, kernel=make(family), seed=1)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)


@each_selector
def test_one_kernel_that_sees_is_taken(make: Make) -> None:
    x, y = np.arange(120.0), np.arange(120.0) + 40.0
    result = btest(x, y, kernel=make([*bandwidths(-15, -10), Gaussian(30.0)]), seed=1)
    assert result.kernel == Gaussian(30.0)


@each_selector
def test_equal_block_values_have_a_defined_ratio(make: Make) -> None:
    """Two constants: every block has the same value, and no spread."""
    result = btest(np.zeros((60, 1)), np.ones((60, 1)), kernel=make(), seed=1)
    assert result.rejects(0.001)
    assert all(math.isfinite(c.score) for c in result.candidates)


CELLS = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-300, -1e-160, 1e-20, 3.0, 1e10, 1e150, -1e155, 1e300, 5e-324])


@pytest.mark.filterwarnings("ignore::btests.BTestWarning")
@given(
    st_numpy.arrays(np.float64, st.tuples(st.integers(6, 12), st.just(2)), elements=CELLS),
    st_numpy.arrays(np.float64, st.tuples(st.integers(6, 12), st.just(2)), elements=CELLS),
    st.sampled_from(SELECTORS),
    st.sampled_from([bandwidths(-15, 10), (Gaussian(1.0), Linear()), MedianFamily(), PerCoordinate()]),
    st.sampled_from(["float64", "float32"]),
)
def test_a_pvalue_or_a_sentence(x: Array, y: Array, make: Make, family: Any, dtype: str) -> None:
    """Extreme cells: a p-value in (0, 1] and finite scores, or a ValueError; no NaN, no numpy warning."""
    try:
        result = btest(x, y, kernel=make(family), seed=1, dtype=dtype)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert 0.0 < result.pvalue <= 1.0
        assert all(math.isfinite(c.score) and math.isfinite(c.weight) for c in result.candidates)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: MedianFamily(n_rows=-5), ValueError, "n_rows must be a whole number of at least 2"),
        (lambda: PerCoordinate(n_rows=0), ValueError, "n_rows must be a whole number of at least 2"),
        (lambda: MedianFamily(5), TypeError, "factors must be a list"),  # type: ignore[arg-type]
        (lambda: MedianHeuristic(Gaussian(1.0)), TypeError, "make must turn a bandwidth into a kernel"),  # type: ignore[arg-type]
        (lambda: PerCoordinate(lambda _: None), TypeError, "make must turn a bandwidth"),  # type: ignore[arg-type, return-value]
        (lambda: Gaussian(1.0) + Gaussian, TypeError, "kernel objects"),  # type: ignore[arg-type]
        (lambda: Combination(1, Gaussian(1.0)), TypeError, "a tuple of weights"),  # type: ignore[arg-type]
        (lambda: Aggregate(correction="rank", weights=3), TypeError, "weights must be a list"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_are_named(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_family_is_no_kernel() -> None:
    refused(TypeError, "kernel=Aggregate", kernel=MedianFamily())


def test_multiples_of_pairwise_kernels_take_objects_too() -> None:
    words = [(1, 2), (2, 3)] * 10
    kernel = 2 * Pairwise(lambda a, b: float(a == b))
    assert btest(words, words[::-1], kernel=kernel, seed=0).pvalue > 0.05
    assert btest(words, words[::-1], kernel=Aggregate([kernel]), seed=0).pvalue > 0.05
