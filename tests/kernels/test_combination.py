"""Sums and multiples of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from btests import Combination, Gaussian, Kernel, Laplacian, Linear, Pairwise

X = np.random.default_rng(0).normal(size=(5, 3))


def test_sum_and_multiple() -> None:
    kernel = Gaussian(1.0) + 2 * Laplacian(3.0) * 0.5 + Linear()
    wanted = Gaussian(1.0)(X, X) + Laplacian(3.0)(X, X) + Linear()(X, X)
    np.testing.assert_allclose(kernel(X, X), wanted, rtol=1e-14)


def test_sums_are_flat_and_keep_their_weights() -> None:
    kernel = 2.0 * (Gaussian(1.0) + 3.0 * Laplacian(2.0)) + Gaussian(4.0)
    assert kernel == Combination((2.0, 6.0, 1.0), (Gaussian(1.0), Laplacian(2.0), Gaussian(4.0)))
    assert repr(kernel) == "2 * Gaussian(bandwidth=1.0) + 6 * Laplacian(bandwidth=2.0) + Gaussian(bandwidth=4.0)"


def test_terms_only_where_all_members_have_them() -> None:
    known, unknown = Gaussian(1.0) + 2.0 * Laplacian(2.0), Gaussian(1.0) + Linear()
    assert [term.weight for term in known.terms() or ()] == [1.0, 2.0]
    assert unknown.terms() is None


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Gaussian(1.0) + Linear(), Pairwise(lambda a, b: 1.0)])
@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_weights_must_be_positive(kernel: Any, weight: float) -> None:
    with pytest.raises(ValueError, match="the weight of a kernel must be positive"):
        weight * kernel


def test_weights_must_be_numbers() -> None:
    with pytest.raises(TypeError, match="the weight of a kernel must be a number"):
        Gaussian(1.0) * "2"  # type: ignore[arg-type]


def test_only_kernels_add() -> None:
    with pytest.raises(TypeError, match="only a kernel adds to a kernel"):
        Gaussian(1.0) + 3  # type: ignore[arg-type]


@pytest.mark.parametrize(("weights", "kernels"), [((), ()), ((1.0,), ()), ((1.0, 2.0), (Gaussian(1.0),))])
def test_one_weight_a_kernel(weights: tuple[float, ...], kernels: tuple[Kernel, ...]) -> None:
    with pytest.raises(ValueError, match="one weight per kernel"):
        Combination(weights, kernels)


def test_a_users_function_adds_too() -> None:
    def ones(x: Any, y: Any) -> Any:
        return np.ones((len(x), len(y)))

    np.testing.assert_allclose((Gaussian(1.0) + ones)(X, X), Gaussian(1.0)(X, X) + 1.0)
