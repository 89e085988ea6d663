"""Every kernel against its formula, and what every kernel must be: symmetric and positive."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Energy, Gaussian, Kernel, Laplacian, Matern, Polynomial, RationalQuadratic
from btests.kernels import terms_of
from tests.kernels.formulas import Case, plain, radial
from tests.reference import Array

ALL = radial(1.3) + plain(1.3)


@pytest.mark.parametrize("case", ALL, ids=lambda case: repr(case.kernel))
@pytest.mark.parametrize("d", [1, 2, 36, 37, 100])
def test_formula(case: Case, d: int) -> None:
    rng = np.random.default_rng(d)
    x, y = rng.normal(size=(5, d)) / d**0.5, rng.normal(size=(7, d)) / d**0.5
    wanted = [[case.formula(a, b) for b in y.tolist()] for a in x.tolist()]
    np.testing.assert_allclose(case.kernel(x, y), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", ALL, ids=lambda case: repr(case.kernel))
@pytest.mark.parametrize("d", [2, 50])
def test_stacks_are_the_same_as_one_by_one(case: Case, d: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(3, 4, d)), rng.normal(size=(3, 6, d))
    stack = case.kernel(x, y)
    assert stack.shape == (3, 4, 6)
    for i in range(3):
        np.testing.assert_allclose(stack[i], case.kernel(x[i], y[i]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", ALL, ids=lambda case: repr(case.kernel))
@pytest.mark.parametrize("d", [1, 3, 60])
def test_symmetric_and_positive(case: Case, d: int) -> None:
    x = np.random.default_rng(2).normal(size=(40, d))
    gram = case.kernel(x, x)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-12)
    if isinstance(case.kernel, Energy):  # positive on weights that sum to zero, which is all that MMD needs
        centre = np.eye(40) - 1.0 / 40
        gram = centre @ gram @ centre
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] > -1e-10 * max(1.0, eigenvalues[-1])


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0), Matern(2.0), RationalQuadratic(2.0)], ids=repr)
def test_lists_and_whole_numbers_are_points(kernel: Kernel) -> None:
    assert kernel([[0], [3]], [[3]])[1, 0] == 1.0


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("index", range(11))
def test_scale_of_data_and_bandwidth_cancel(scale: float, index: int) -> None:
    """Squares of such coordinates leave the range of floats; distances in bandwidths do not."""
    x: Array = np.random.default_rng(3).normal(size=(6, 2))
    kernel, scaled = radial(1.3)[index].kernel, radial(1.3 * scale)[index].kernel
    factor = scale if isinstance(kernel, Energy) else 1.0
    np.testing.assert_allclose(scaled(x * scale, x * scale), factor * kernel(x, x), rtol=1e-12)


def test_which_kernels_the_compiled_loops_know() -> None:
    for case in radial(1.0):
        rare = isinstance(case.kernel, RationalQuadratic) and case.kernel.alpha > 1.0  # may or may not be compiled
        assert rare or terms_of(case.kernel), case.kernel
    for case in plain(1.0):
        assert terms_of(case.kernel) is None


def test_far_points_give_zero_not_nan() -> None:
    for case in radial(1e-3):
        if not isinstance(case.kernel, Energy):
            value = case.kernel([[0.0]], [[1e8]])[0, 0]
            assert 0.0 <= value < 1e-9, case.kernel


def test_polynomial_depends_on_the_origin() -> None:
    zero, one, two = np.zeros((1, 1)), np.ones((1, 1)), np.full((1, 1), 2.0)
    assert Polynomial()(zero, one) != Polynomial()(one, two)
