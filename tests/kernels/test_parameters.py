"""Bad parameters are refused when the kernel is made, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from btests import Energy, Gaussian, InverseMultiquadric, Laplacian, Matern, Pairwise, Polynomial, RationalQuadratic

WITH_BANDWIDTH: list[Callable[[Any], object]] = [Gaussian, Laplacian, Matern, RationalQuadratic, InverseMultiquadric]

NOT_POSITIVE = [0, 0.0, -1.0, float("nan"), float("inf"), -float("inf"), pytest.param(10**400, id="1e400")]


@pytest.mark.parametrize("make", WITH_BANDWIDTH)
@pytest.mark.parametrize("bandwidth", NOT_POSITIVE)
def test_bandwidth_must_be_positive(make: Callable[[Any], object], bandwidth: float) -> None:
    with pytest.raises(ValueError, match="bandwidth must be positive and finite"):
        make(bandwidth)


@pytest.mark.parametrize("make", WITH_BANDWIDTH)
@pytest.mark.parametrize("bandwidth", ["1", None, True, [1.0], np.ones(2), 1j])
def test_bandwidth_must_be_a_number(make: Callable[[Any], object], bandwidth: object) -> None:
    with pytest.raises(TypeError, match="bandwidth must be a number"):
        make(bandwidth)


@pytest.mark.parametrize("make", WITH_BANDWIDTH)
@pytest.mark.parametrize("bandwidth", [2, np.float32(2.0), np.int64(2), np.float64(2.0)])
def test_any_real_number_is_a_bandwidth(make: Callable[[Any], Any], bandwidth: Any) -> None:
    np.testing.assert_allclose(make(bandwidth)([[0.0]], [[1.5]]), make(2.0)([[0.0]], [[1.5]]))


@pytest.mark.parametrize("nu", [0.0, 1.0, 3.5, -0.5, "1.5"])
def test_matern_smoothness(nu: Any) -> None:
    with pytest.raises(ValueError, match=r"nu must be 0\.5, 1\.5 or 2\.5"):
        Matern(1.0, nu)


@pytest.mark.parametrize("exponent", [0.0, 2.0, -1.0, float("nan"), 3.0])
def test_distance_exponent(exponent: float) -> None:
    with pytest.raises(ValueError, match="exponent must be"):
        Energy(exponent)


@pytest.mark.parametrize("exponent", ["1", None, True])
def test_distance_exponent_type(exponent: Any) -> None:
    with pytest.raises(TypeError, match="exponent must be a number"):
        Energy(exponent)


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
def test_rational_alpha(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must be positive"):
        RationalQuadratic(1.0, alpha)


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_polynomial_degree(degree: Any) -> None:
    with pytest.raises(ValueError, match="degree must be a whole number"):
        Polynomial(degree)


def test_polynomial_offset_and_gamma() -> None:
    with pytest.raises(ValueError, match="offset must be"):
        Polynomial(2, -1.0)
    with pytest.raises(ValueError, match="gamma must be positive"):
        Polynomial(2, 1.0, 0.0)


def test_pairwise_takes_a_function() -> None:
    with pytest.raises(TypeError, match="Pairwise takes a function"):
        Pairwise(3)  # type: ignore[arg-type]


def test_kernels_are_values() -> None:
    assert Gaussian(2.0) == Gaussian(2.0) != Gaussian(3.0)
    assert len({Gaussian(2.0), Gaussian(2.0), Laplacian(2.0)}) == 2
    with pytest.raises(AttributeError):
        Gaussian(2.0).bandwidth = 3.0  # type: ignore[misc]
