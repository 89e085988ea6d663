"""A kernel on some of the coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from btests import Gaussian, Kernel, Laplacian, Linear, OnColumns, PrecisionWarning, btest
from btests.data.sample import Sample
from btests.kernels import Radial
from btests.statistics import MMD, summarize_blocks
from tests.kernels.formulas import plain, radial
from tests.statistics.shapes import SHAPES, Shape

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.normal(0.5, 1.0, size=(30, 4))


@pytest.mark.parametrize("case", radial(1.3) + plain(1.3), ids=lambda case: repr(case.kernel))
@pytest.mark.parametrize("columns", [(0,), (3, 1), (0, 1, 2, 3)])
def test_it_sees_these_columns_and_no_others(case: Any, columns: tuple[int, ...]) -> None:
    found = OnColumns(case.kernel, columns)(X, Y)
    np.testing.assert_array_equal(found, case.kernel(X[:, columns], Y[:, columns]))
    other = Y.copy()
    other[:, [c for c in range(4) if c not in columns]] = 1e9
    np.testing.assert_array_equal(found, OnColumns(case.kernel, columns)(X, other))


NESTED: list[Kernel] = [
    OnColumns(Gaussian(1.0), (1,)),
    OnColumns(Laplacian(1.0), (3, 0)),
    OnColumns(OnColumns(Gaussian(1.0), (1,)), (2, 3)),
    OnColumns(Gaussian(1.0), (0,)) + 2.0 * OnColumns(Gaussian(2.0), (1, 2)) + Gaussian(3.0),
    OnColumns(Gaussian(1.0) + 3.0 * OnColumns(Laplacian(2.0), (1,)), (3, 2)),
]


@pytest.mark.parametrize("kernel", NESTED, ids=repr)
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.d > 3], ids=str)
@pytest.mark.parametrize("shuffled", [False, True])
def test_compiled_is_plain(instruction_set: str, kernel: Kernel, shape: Shape, shuffled: bool) -> None:
    rng = np.random.default_rng(sum(shape))
    x, y = rng.normal(3.0, 1.0, size=(shape.n_x, shape.d)), rng.normal(3.1, 1.2, size=(shape.n_y, shape.d))
    orders = (rng.permutation(shape.n_x), rng.permutation(shape.n_y)) if shuffled else (None, None)
    p, q = Sample(x, orders[0]), Sample(y, orders[1])
    assert MMD(kernel).engine(p) != "numpy"
    found = summarize_blocks(MMD(kernel), p, q, shape.plan)[0]
    wanted = summarize_blocks(MMD(kernel, plain=True), p, q, shape.plan)[0]
    np.testing.assert_allclose(found.values, wanted.values, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.moments, wanted.moments, rtol=0.0, atol=1e-10)


def test_columns_of_columns() -> None:
    nested = OnColumns(OnColumns(Gaussian(1.0), (2, 0)), (5, 3, 1))
    assert [term.columns for term in nested.terms() or ()] == [(1, 5)]
    assert isinstance((nested.terms() or ())[0], Radial)
    assert OnColumns(Linear(), (0,)).terms() is None


def test_a_users_function_may_have_columns_too() -> None:
    seen: list[int] = []

    def linear(x: Any, y: Any) -> Any:
        seen.append(x.shape[1])
        return x @ y.T

    result = btest(X, Y, kernel=OnColumns(linear, [1, 2]), seed=1)
    assert set(seen) == {2}
    assert result.pvalue == btest(X[:, 1:3], Y[:, 1:3], kernel=linear, seed=1).pvalue


def test_they_add_and_scale() -> None:
    one, two = OnColumns(Gaussian(1.0), [0]), OnColumns(Gaussian(1.0), [1])
    np.testing.assert_allclose((one + 2 * two)(X, Y), one(X, Y) + 2.0 * two(X, Y))
    assert one == OnColumns(Gaussian(1.0), np.array([0])) != two  # type: ignore[arg-type]
    assert len({one, two, OnColumns(Gaussian(1.0), (0,))}) == 2


@pytest.mark.parametrize("columns", ["ab", 3, None, {0: 1}, [0.5], ["a"], [True], [None], [[0]]], ids=repr)
def test_columns_must_be_whole_numbers(columns: Any) -> None:
    with pytest.raises(TypeError, match="columns must be"):
        OnColumns(Gaussian(1.0), columns)


@pytest.mark.parametrize("columns", [[], [-1], [0, 0], [1, 0, 1]], ids=repr)
def test_columns_must_make_sense(columns: Any) -> None:
    with pytest.raises(ValueError, match="columns must"):
        OnColumns(Gaussian(1.0), columns)


@pytest.mark.parametrize("kernel", [3, None, "gaussian", Gaussian], ids=repr)
def test_it_takes_a_kernel(kernel: Any) -> None:
    with pytest.raises(TypeError, match="OnColumns takes a kernel object"):
        OnColumns(kernel, [0])


@pytest.mark.parametrize("inner", [Gaussian(1.0), Linear(), lambda x, y: x @ y.T])
def test_columns_must_be_there(inner: Any) -> None:
    for kernel in (OnColumns(inner, [4]), OnColumns(inner, [0]) + OnColumns(inner, [0, 4])):
        with pytest.raises(ValueError, match="columns must be between 0 and 3 for data of 4 columns, got 4"):
            btest(X, Y, kernel=kernel, seed=1)


def test_objects_have_no_columns() -> None:
    with pytest.raises(TypeError, match="x does not hold numbers"):
        btest(["a", "b", "c"], ["a", "b", "d"], kernel=OnColumns(Gaussian(1.0), [0]), seed=1)


def test_too_flat_for_float32_is_asked_of_these_columns() -> None:
    scales = [1.0, 1e4, 1.0, 1.0]
    btest(X * scales, Y * scales, kernel=OnColumns(Gaussian(3e3), [1]), dtype="float32", seed=1)
    with pytest.warns(PrecisionWarning):
        btest(X * scales, Y * scales, kernel=OnColumns(Gaussian(3e3), [0]), dtype="float32", seed=1)
