"""Whatever comes in, out comes a p-value in (0, 1] or one helpful sentence."""

from __future__ import annotations

import datetime
import decimal
import math
import pathlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from btests import (
    Aggregate,
    CrossMMD,
    DegenerateDataWarning,
    Energy,
    FewBlocksWarning,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    MedianHeuristic,
    Normal,
    Null,
    Pairwise,
    Polynomial,
    PrecisionWarning,
    RationalQuadratic,
    SignFlip,
    Spectrum,
    ThirdCumulant,
    Weights,
    btest,
    independence_test,
)
from tests.reference import Array

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(size=(60, 2))
NULLS: list[Null] = [SignFlip(), Normal(), ThirdCumulant(), CrossMMD()]


def refused(
    kind: type[Exception] | tuple[type[Exception], ...], fragment: str, x: Any = X, y: Any = Y, **options: Any
) -> None:
    """Assert that a test raises ``kind`` with ``fragment`` in one line of at most 400 characters."""
    with pytest.raises(kind, match=fragment) as caught:
        btest(x, y, seed=1, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400


def with_cell(row: int, column: int, cell: float) -> Array:
    """Return X with one cell replaced."""
    rows = X.copy()
    rows[row, column] = cell
    return rows


# Data


@pytest.mark.parametrize("sample", [None, 3, 2.5, True, 1j, np.float64(3.0), math.nan], ids=repr)
def test_scalars(sample: Any) -> None:
    refused(TypeError, "x must hold at least 2 rows", sample)
    refused(TypeError, "y must hold at least 2 rows", y=sample)


@pytest.mark.parametrize("sample", ["data.csv", pathlib.Path("data.csv"), np.str_("data")], ids=repr)
def test_paths_of_no_file(sample: Any) -> None:
    refused(ValueError, "there is no file .*data", y=sample)
    refused(ValueError, "there is no file .*data", sample)


def test_bytes() -> None:
    refused(TypeError, "y must be the data, not b'data'", y=b"data")
    refused(TypeError, "y must be the data, not 960 bytes; read", y=X.tobytes())


@pytest.mark.parametrize("sample", [{"a": [1, 2]}, {1, 2}], ids=repr)
def test_dicts_and_sets(sample: Any) -> None:
    refused(TypeError, "x must be an array, a data frame or a sequence, got a", sample)


@pytest.mark.parametrize("sample", [[], (), np.zeros((0, 2)), np.zeros(0), pd.DataFrame({"a": []})], ids=repr)
def test_empty(sample: Any) -> None:
    refused(ValueError, "x has 0 rows; a test needs at least 2", sample)
    refused(ValueError, "y has 0 rows; a test needs at least 2", X, sample)


def test_one_row() -> None:
    refused(ValueError, "x has 1 row; a test needs at least 2", X[:1])
    refused(ValueError, "y has 1 row; a test needs at least 2", y=[[1.0, 2.0]])
    refused(ValueError, "x has 1 row", ["a"], ["b", "c"], kernel=Pairwise(lambda a, b: 1.0))


@pytest.mark.parametrize(
    "sample", [np.zeros((60, 0)), [[], []], pd.DataFrame(index=range(5))], ids=["array", "list", "frame"]
)
def test_no_columns(sample: Any) -> None:
    refused(ValueError, "x has no columns", sample, sample)


@pytest.mark.parametrize("shape", [(), (5, 2, 3), (5, 2, 3, 4)])
def test_wrong_number_of_dimensions(shape: tuple[int, ...]) -> None:
    refused(ValueError, r"x must have rows and columns, \(n, d\) or \(n,\), got shape", np.zeros(shape))


@pytest.mark.parametrize(
    ("sample", "fragment"),
    [
        ([[1, 2], [3]] * 30, "rows of different lengths"),
        (np.array(["2020-01-01"] * 60, dtype="M8[D]"), "datetime64"),
        (np.zeros(60, dtype="m8[s]"), "timedelta64"),
        ([datetime.datetime(2020, 1, 1)] * 60, "object"),
        ([decimal.Decimal("1.5")] * 60, "object"),
        (["a", "b"] * 30, "<U1"),
        (["a", 1] * 30, "does not hold numbers"),
        ([b"a"] * 60, "does not hold numbers"),
        (np.zeros(60, dtype=[("a", "f8"), ("b", "f8")]), "does not hold numbers"),
        (X.astype(object), "object"),
        ([10**30] * 60, "object"),
        (pd.Series(["a"] * 60), "does not hold numbers"),
        (object(), "does not hold numbers"),
        (np.ndarray, "does not hold numbers"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_not_numbers(sample: Any, fragment: str) -> None:
    refused(TypeError, fragment, sample)
    refused(TypeError, r"give a kernel for such objects, e\.g\. kernel=btests\.Pairwise", y=sample)
    refused(TypeError, "does not hold numbers", sample, sample, kernel="energy")


def test_complex_numbers_are_two_columns() -> None:
    refused(TypeError, "x holds complex numbers; give their real and imaginary parts as columns", X + 1j)


@pytest.mark.parametrize("missing", [None, pd.NA])
def test_missing_cells_among_objects_are_located(missing: Any) -> None:
    refused(ValueError, "x has a missing cell in row 1; drop or fill", [1.0, missing, *range(58)])
    frame = pd.DataFrame({"a": pd.array([True, False, None] * 20, dtype="boolean")})
    refused(ValueError, "column 'a' of x has a missing cell in row 2; drop or fill", frame, frame)


def test_images_are_told_how_to_become_rows() -> None:
    refused(ValueError, r"got shape \(60, 2, 2\); x\.reshape\(len\(x\), -1\)", np.stack([X, X], axis=2))


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Weights(), Aggregate(), Gaussian(1.0) + Linear(), MedianHeuristic(Gaussian)]
)
@pytest.mark.parametrize("sample", [["a", "b"] * 30, X.astype(object), [[1, 2], [3]] * 30])
def test_kernels_of_points_on_objects(sample: Any, kernel: Any) -> None:
    refused(TypeError, "x does not hold numbers", sample, sample, kernel=kernel)


def test_lazy_frames_are_to_be_collected() -> None:
    import polars as pl

    refused(TypeError, r"x is a lazy frame; pass x\.collect\(\)", pl.DataFrame({"a": X[:, 0]}).lazy())


def test_objects_must_be_a_sequence() -> None:
    refused(
        TypeError, "x must be a sequence of objects, got object", object(), object(), kernel=Pairwise(lambda a, b: 1.0)
    )


def test_numbers_against_objects() -> None:
    refused(TypeError, "one sample holds numbers and the other does not", X[:, 0], ["a"] * 60, kernel=lambda a, b: a)


def test_masked_and_sparse() -> None:
    refused(ValueError, "x has masked cells; drop or fill", np.ma.masked_greater(X, 0.0))
    refused(ValueError, "x has masked cells; drop or fill", list(np.ma.masked_greater(X, 0.0)))
    assert btest(np.ma.array(X), Y, seed=1) == btest(X, Y, seed=1)
    assert btest(list(np.ma.array(X)), Y, seed=1) == btest(X, Y, seed=1)
    from scipy import sparse

    refused(TypeError, r"x is a sparse matrix; pass x\.toarray\(\)", sparse.csr_matrix(X))
    refused(TypeError, r"y is a sparse matrix; pass y\.toarray\(\)", y=sparse.coo_array(X))
    refused(TypeError, r"x is a sparse matrix; pass x\.toarray\(\)", sparse.dok_matrix(X))


@pytest.mark.parametrize(
    ("cell", "fragment"),
    [
        (math.nan, "a NaN cell in row 7, column 1; drop or fill"),
        (math.inf, "an infinite cell in row 7, column 1; drop or fill"),
        (-math.inf, "an infinite cell in row 7, column 1; drop or fill"),
        (1e305, r"a cell in row 7, column 1 beyond 1e300, 1e\+305; scale the data down"),
        (-1.7e308, "a cell in row 7, column 1 beyond 1e300"),
    ],
)
def test_cells_that_are_no_numbers_are_located(cell: float, fragment: str) -> None:
    refused(ValueError, "x has " + fragment, with_cell(7, 1, cell))
    refused(ValueError, "y has " + fragment, y=with_cell(7, 1, cell))
    if not math.isfinite(cell):
        refused(ValueError, "x has " + fragment, with_cell(7, 1, cell).astype(np.float32))


def test_cells_far_into_the_data_are_located() -> None:
    x = np.zeros((1_200_000, 1))
    x[1_100_000] = math.nan
    refused(ValueError, "x has a NaN cell in row 1100000, column 0", x, x)


def test_different_widths() -> None:
    refused(ValueError, "x has 2 columns and y has 3; they must have the same", y=np.zeros((60, 3)))
    refused(ValueError, "x has 1 column and y has 2", X[:, 0])


def frame(columns: list[Any], rows: Array = X) -> pd.DataFrame:
    """Return a data frame with such columns."""
    return pd.DataFrame(rows, columns=columns)


def test_columns() -> None:
    refused(ValueError, "only in x: b; only in y: c", frame(["a", "b"]), frame(["a", "c"]))
    refused(ValueError, "only in x: b", frame(["a", "b"]), frame(["a"], Y[:, :1]))
    refused(ValueError, "x has more than one column called a", frame(["a", "a"]), frame(["a", "a"]))
    refused(ValueError, "y has more than one column called a", frame(["a", "b"]), frame(["a", "a"]))
    refused(ValueError, "y has more than one column called a", X, frame(["a", "a"]))
    words = frame(["a", "b"]).assign(b="word")
    refused(TypeError, "column 'b' of x holds .* not numbers; encode or drop it; btests.compare and", words, words)
    refused(TypeError, "column 'b' of y holds", frame(["a", "b"]), words)
    dates = frame(["a", "b"]).assign(b=pd.Timestamp("2020-01-01"))
    refused(TypeError, "column 'b' of x holds datetime64", dates, dates)
    missing = frame(["a", "b"]).assign(b=pd.array([None] + [1] * 59, dtype="Int64"))
    with pytest.raises((TypeError, ValueError), match="column"):
        btest(missing, missing)


# Options


@pytest.mark.parametrize("block_size", [0, 1, -3, 61, 10**30])
def test_block_sizes(block_size: int) -> None:
    refused(
        ValueError, f"block_size must be between 2 and 60 for 60 observations, got {block_size}", block_size=block_size
    )


@pytest.mark.parametrize("block_size", [2.0, "4", True, [4]])
def test_block_size_types(block_size: Any) -> None:
    refused((TypeError, ValueError), "block_size must be a whole number", block_size=block_size)


def test_fewer_rows_than_a_block() -> None:
    refused(ValueError, "block_size must be between 2 and 5 for 5 observations, got 10", X[:5], Y, block_size=10)


@pytest.mark.parametrize("exponent", [0, 1, -0.5, 1.5, "0.5", math.nan, True])
def test_block_exponent(exponent: Any) -> None:
    refused(ValueError, "block_exponent must be between 0 and 1", block_exponent=exponent)


@pytest.mark.parametrize("budget", [0, -1, "1", math.nan, math.inf, True])
def test_budget(budget: Any) -> None:
    refused(ValueError, "budget must be a positive number of seconds", budget=budget)


@pytest.mark.parametrize(
    "options",
    [
        {"block_size": 10, "budget": 2.0},
        {"block_size": 10, "block_exponent": 0.5},
        {"block_size": "sqrt", "budget": 2.0},
        {"block_exponent": 0.4, "budget": 2.0},
    ],
    ids=str,
)
def test_two_rules_for_the_block_size(options: dict[str, Any]) -> None:
    refused(ValueError, "not both", **options)


@pytest.mark.parametrize("null", ["normal", "permutation", "spectrum", "gamma", "pearson"])
def test_a_budget_that_decides_nothing(null: str) -> None:
    refused(ValueError, "budget decides nothing", null=null, budget=1.0)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1], np.random.default_rng])
def test_seeds(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0 or None"):
        btest(X, Y, seed=seed)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.1, "0.05", None, True, math.nan, 1j, np.complex128(0.05), [0.05]])
def test_alpha(alpha: Any) -> None:
    result = btest(X, Y, seed=1)
    for method in (result.rejects, result.threshold, result.confidence_interval):
        with pytest.raises(ValueError, match="a level must be between 0 and 1, both excluded, got"):
            method(alpha)


@pytest.mark.parametrize("tau", [-1.0, math.nan, math.inf])
def test_tau(tau: float) -> None:
    with pytest.raises(ValueError, match="tau must be a finite number of at least 0"):
        btest(X, Y, seed=1).pvalue_above(tau)


@pytest.mark.parametrize("tau", ["1", None, True, 1j])
def test_tau_types(tau: Any) -> None:
    with pytest.raises(TypeError, match="tau must be a number"):
        btest(X, Y, seed=1).pvalue_above(tau)


def test_nulls() -> None:
    refused(TypeError, r"null must be an object, not the class: write SignFlip\(\)", null=SignFlip)
    refused(ValueError, "null must be one of bootstrap, cross-mmd, gamma, jackknife, normal", null="exact")
    refused(TypeError, r"null must be a null such as SignFlip\(\), got int", null=3)
    refused(TypeError, "null must be a null", null=[SignFlip()])
    refused(
        ValueError, "Normal.. learns the variance from the blocks and needs at least 2", null=Normal(), block_size=60
    )
    refused(ValueError, "CrossMMD.. needs at least 2 blocks", X[:3], Y[:3], null=CrossMMD(), block_size=3)


@pytest.mark.parametrize("option", ["float16", "f4", None, np.float32, 32])
def test_dtype(option: Any) -> None:
    refused(ValueError, "dtype must be 'float64' or 'float32'", dtype=option)


@pytest.mark.parametrize("option", [0, -1, 1.5, "2", True])
def test_n_threads(option: Any) -> None:
    refused(ValueError, "n_threads must be a whole number of at least 1 or None", n_threads=option)


@pytest.mark.parametrize("option", [0, 1, "yes", None])
def test_shuffle(option: Any) -> None:
    refused(TypeError, "shuffle must be True, False or 'buffered'", shuffle=option)


# Kernels

FEW: dict[str, float] = {}


def product(a: Array, b: Array) -> Array:
    """Return the linear kernel."""
    return np.asarray(a @ b.T)


@pytest.mark.parametrize(
    ("kernel", "fragment"),
    [
        (lambda a, b: np.ones(3), r"must return a matrix of shape \(4, 3\) .* got shape \(3,\)"),
        (lambda a, b: 1.0, r"got shape \(\); a function of two single rows is wrapped as btests\.Pairwise"),
        (lambda a, b: product(a, b).T, r"must return a matrix of shape \(4, 3\) .* got shape \(3, 4\)"),
        (lambda a, b: product(a, b) + np.arange(len(a))[:, None], "the kernel is not symmetric"),
        (lambda a, b: product(a, b) * math.nan, "must return finite real numbers"),
        (lambda a, b: product(a, b) * 1j, "must return finite real numbers"),
        (lambda a, b: np.full((len(a), len(b)), "a"), "must return finite real numbers"),
        (lambda a, b: FEW["key"], "the kernel failed on 4 and 3 rows .KeyError: 'key'.; it must take two arrays"),
        (lambda: 1.0, "the kernel failed on 4 and 3 rows .TypeError"),
        (math.dist, "btests.Pairwise"),
        (Polynomial(3), "must return finite real numbers"),
    ],
)
def test_kernels_that_are_none(kernel: Any, fragment: str) -> None:
    x = X * 1e120 if isinstance(kernel, Polynomial) else X
    refused(ValueError, fragment, x, kernel=kernel)


@pytest.mark.parametrize(
    ("late", "fragment"),
    [
        (lambda a, b: FEW["key"], "the kernel failed on 10 and 10 rows .KeyError: 'key'."),
        (lambda a, b: np.ones((2, 2)), r"must return a matrix of shape \(10, 10\) .* got shape \(2, 2\)"),
        (lambda a, b: 1.0, r"got shape \(\)"),
        (lambda a, b: product(a, b) * math.inf, "must return finite real numbers; on 10 and 10 rows"),
    ],
)
def test_kernels_that_fail_only_after_the_first_rows(late: Any, fragment: str) -> None:
    def kernel(a: Array, b: Array) -> Any:
        return product(a, b) if len(a) <= 4 else late(a, b)

    with np.errstate(invalid="ignore"):
        refused(ValueError, fragment, kernel=kernel, block_size=10)


@pytest.mark.parametrize(
    "function", [lambda a, b: "z", lambda a, b: None, lambda a, b: np.ones(2), lambda a: 1.0, lambda a, b: math.nan]
)
def test_functions_of_two_objects_that_are_no_kernels(function: Any) -> None:
    refused(
        ValueError,
        r"the (function in Pairwise\(.*\) failed|kernel must return)",
        list("ab" * 30),
        list("ba" * 30),
        kernel=Pairwise(function),
    )


@pytest.mark.parametrize("given", [None, "z"])
def test_kernels_that_return_no_matrix(given: Any) -> None:
    refused(ValueError, r"must return a matrix of shape \(4, 3\) .*, got something else", kernel=lambda a, b: given)


def test_options_that_are_no_kernels() -> None:
    refused(TypeError, r"kernel must be an object, not the class: write Gaussian\(\.\.\.\)", kernel=Gaussian)
    refused(TypeError, "not the class: write Pairwise", kernel=Pairwise)
    refused(ValueError, "kernel must be one of energy, gaussian, laplacian, linear, matern", kernel="cosine")
    refused(ValueError, "kernel must be one of", kernel="")
    refused(TypeError, "kernel must be a kernel, a function of two samples or a selector such as .*, got int", kernel=3)
    refused(TypeError, "kernel must be one kernel, got several; .*Weights", kernel=[Gaussian(1.0)])


def test_overflow_says_so() -> None:
    refused(ValueError, "the kernel overflowed", X * 1e170, Y * 1e170, kernel=Energy())


@pytest.mark.parametrize("kernel", [Energy(), Energy(0.5), Linear(), Polynomial(2), Gaussian(1.0) + Energy()])
def test_underflow_says_so(kernel: Any) -> None:
    for null in ("sign-flip", "permutation"):
        refused(
            ValueError, "takes squares that vanish; scale the data up", X * 1e-170, Y * 1e-170, kernel=kernel, null=null
        )


def test_underflow_of_float32_says_so() -> None:
    for scale in (1e-17, 1e-30):
        refused(
            ValueError,
            "scale the data up or take dtype='float64'",
            X * scale,
            Y * scale,
            kernel="energy",
            dtype="float32",
        )
    pvalues = {btest(X * scale, Y * scale, kernel="energy", seed=1).pvalue for scale in (1.0, 1e-30, 1e-140)}
    assert len(pvalues) == 1


def test_what_is_too_much_for_memory_is_refused() -> None:
    refused(ValueError, "sign flips need .* of memory, and .* are free; take fewer", null=SignFlip(10**12))
    refused(ValueError, "Spectrum.* needs .* of memory", null=Spectrum(10**13))


def test_kernels_whose_values_are_too_large_for_their_digits_say_so() -> None:
    with pytest.warns(PrecisionWarning, match="rounding hides most of their differences; subtract a common offset"):
        btest(X + 1e8, Y + 1e8, kernel=Polynomial(3), block_size="sqrt", seed=1)
    assert "so far from 0 that rounding hides" in btest(X + 1e8, Y + 1e8, kernel=Polynomial(2), seed=1).note


def test_tests_that_cannot_reject_say_so() -> None:
    x = np.arange(7.0)
    result = btest(x, x + 1e5, block_size=3, seed=1)
    assert "no p-value here is below 0.062: take larger samples, or larger blocks" in result.note
    assert result.pvalue == 0.0625
    assert btest(x, x + 1e5, seed=1).note == ""


def test_threads_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ("abc", "0", "-1", "1.5"):
        monkeypatch.setenv("BTESTS_THREADS", asked)
        refused(
            ValueError,
            "BTESTS_THREADS must be a whole number of at least 1, got",
            block_size=2,
            x=np.tile(X, (9000, 1)),
            y=np.tile(Y, (9000, 1)),
        )
    refused(ValueError, "must be at least 1e-300.*scale the data up", X * 1e-310, Y * 1e-310)


# Data without anything to see: defined, never NaN, never 0

KERNELS: list[Any] = [
    Gaussian(1.0),
    Laplacian(0.1),
    Matern(3.0),
    RationalQuadratic(1.0, 0.3),
    Energy(),
    Energy(0.5),
    Linear(),
    Polynomial(),
    product,
    Pairwise(lambda a, b: float(a @ b)),
]


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize("kernel", KERNELS, ids=range(len(KERNELS)))
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(60, 60, 2), (66, 66, 2), (64, 90, 2), (90, 300, 3)])
def test_constant_data_are_not_different(kernel: Any, null: Null, n_x: int, n_y: int, block_size: int) -> None:
    n_y = n_x if isinstance(null, CrossMMD) else n_y  # those refuse different lengths
    for cell in (0.0, 0.1, 1e6 + 0.1):
        x, y = np.full((n_x, 3), cell), np.full((n_y, 3), cell)
        result = btest(x, y, kernel=kernel, block_size=block_size, null=null, seed=1)
        assert (result.statistic, result.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("null", NULLS, ids=repr)
def test_constant_data_warn_that_there_is_no_bandwidth(null: Null) -> None:
    x = np.full((60, 2), 3.0)
    with pytest.warns(DegenerateDataWarning):
        result = btest(x, x, block_size=2, null=null, seed=1)
    assert result.pvalue == 1.0
    assert not result.rejects(0.999)
    assert str(result)


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Linear(), Energy(0.5)], ids=repr)
def test_identical_samples_are_not_different(kernel: Any, null: Null) -> None:
    result = btest(X, X, kernel=kernel, block_size=2, null=null, seed=1, shuffle=False)
    assert result.statistic == pytest.approx(0.0, abs=1e-15)
    assert result.pvalue == 1.0


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize("kernel", [None, Gaussian(1.0), Linear(), Energy(), Gaussian(1e-3)])
@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (62, 90)])
def test_two_constants(kernel: Any, null: Null, n_x: int, n_y: int) -> None:
    n_y = n_x if isinstance(null, CrossMMD) else n_y  # those refuse different lengths
    result = btest(np.zeros((n_x, 1)), np.ones((n_y, 1)), kernel=kernel, block_size=2, null=null, seed=1)
    assert result.statistic > 0.0
    assert 0.0 < result.pvalue <= 0.001
    low, high = result.confidence_interval()
    assert low * (1.0 - 1e-12) <= result.statistic <= high * (1.0 + 1e-12)
    assert math.isnan(result.skewness()) or abs(result.skewness()) < 1e3


def test_two_rows() -> None:
    assert btest(X[:2], Y[:2], seed=1).pvalue in (0.5, 1.0)
    with pytest.warns(FewBlocksWarning):
        assert 0.0 < btest(X[:2], Y[:2], null=ThirdCumulant(), seed=1).pvalue <= 1.0


CELLS = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-300, -1e-160, 1e-20, 3.0, 1e10, 1e150, -1e155, 1e300, 5e-324])
ANY_KERNEL = st.sampled_from(
    [None, "laplacian", "matern", "energy", "linear", Gaussian(1.0), RationalQuadratic(2.0, 0.3)]
)


@given(
    st_numpy.arrays(np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=CELLS),
    st_numpy.arrays(np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=CELLS),
    ANY_KERNEL,
    st.sampled_from(NULLS),
    st.sampled_from(["float64", "float32"]),
)
@pytest.mark.filterwarnings("ignore::btests.BTestWarning")
def test_a_pvalue_or_a_sentence(x: Array, y: Array, kernel: Any, null: Null, dtype: str) -> None:
    """Extreme cells: a p-value in (0, 1], or a ValueError; no NaN, no numpy warning, nothing else."""
    try:
        result = btest(x, y, kernel=kernel, null=null, block_size=2, seed=1, dtype=dtype)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert 0.0 < result.pvalue <= 1.0
        assert math.isfinite(result.statistic)
        assert not math.isnan(result.threshold(0.05))


def test_whole_numbers_that_floats_cannot_hold() -> None:
    x = 2**60 + np.arange(20)
    with pytest.warns(PrecisionWarning, match=r"x has whole numbers up to 1\.15e\+18; beyond 2\^53"):
        btest(x, np.arange(20), seed=1)
    btest(x - 2**60, np.arange(20), seed=1)  # and here not a word


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exponent", [140, 150, 154.5, 155, 158, 160])
def test_samples_of_very_different_scales_have_a_pvalue(exponent: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20, 2))
    for options in ({"block_size": 2}, {}):
        assert 0.0 < btest(x, y * 10.0**exponent, seed=1, **options).pvalue <= 1.0  # type: ignore[arg-type]


def test_huge_budgets() -> None:
    assert btest(X[:20], Y[:5], budget=1e300, seed=1).n_x == 20


def test_rows_whose_kernel_values_overflow_in_numpy_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="overflow"):
            independence_test(X, Y * 1e200, kernel_y=Polynomial(3), method="blocks", seed=1)
        with pytest.raises(ValueError, match="overflow"):
            btest(X, Y * 1e200, units=(np.arange(60) // 2, np.arange(60) // 2 + 60), kernel=Polynomial(3), seed=1)
