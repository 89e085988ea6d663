"""Offsets, tiny and huge scales, very narrow and very wide kernels: arithmetic must not show."""

from __future__ import annotations

import numpy as np
import pytest

from btests import Energy, Gaussian, Laplacian, Linear, Matern, RationalQuadratic
from btests.data.sample import Sample
from btests.statistics import MMD, summarize_blocks
from btests.summary import Summary
from tests.kernels.formulas import radial
from tests.reference import Array
from tests.statistics.shapes import Shape

SHAPES = [
    Shape(120, 120, 4, 2),
    Shape(60, 60, 30, 3),
    Shape(60, 90, 20, 3),
    Shape(80, 80, 40, 60),
    Shape(90, 90, 9, 60),
    Shape(180, 180, 15, 8),
]


def two_samples(shape: Shape) -> tuple[Array, Array]:
    """Return samples of multiples of 2^-20, so that adding a power of two loses nothing."""
    rng = np.random.default_rng(sum(shape))
    x, y = rng.normal(size=(shape.n_x, shape.d)), rng.normal(0.3, 1.2, size=(shape.n_y, shape.d))
    return np.round(x * 2**20) / 2**20, np.round(y * 2**20) / 2**20


def summarize(statistic: MMD, x: Array, y: Array, shape: Shape) -> Summary:
    """Return the summary of all blocks."""
    return summarize_blocks(statistic, Sample(x), Sample(y), shape.plan)[0]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("kernel", range(12))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_offset_of_a_million_costs_no_digits(shape: Shape, kernel: int, plain: bool) -> None:
    x, y = two_samples(shape)
    statistic = MMD(radial(shape.d**0.5)[kernel].kernel, plain=plain)
    near, far = summarize(statistic, x, y, shape), summarize(statistic, x + 2.0**20, y + 2.0**20, shape)
    np.testing.assert_allclose(far.values, near.values, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(far.moments, near.moments, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_offset_in_float32(shape: Shape) -> None:
    """The rows keep float32's digits after the shift; the loops take the offset off before they round."""
    x, y = (np.round(s * 16) / 16 for s in two_samples(shape))
    statistic = MMD(Gaussian(shape.d**0.5), "float32")
    near = summarize(statistic, x, y, shape)
    far = summarize(statistic, (x + 2.0**16).astype(np.float32), (y + 2.0**16).astype(np.float32), shape)
    np.testing.assert_allclose(far.values, near.values, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("kernel", range(12))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scale_of_data_and_bandwidth_cancel(shape: Shape, kernel: int, scale: float, plain: bool) -> None:
    x, y = two_samples(shape)
    one, other = radial(shape.d**0.5)[kernel].kernel, radial(shape.d**0.5 * scale)[kernel].kernel
    wanted = summarize(MMD(one, plain=plain), x, y, shape)
    found = summarize(MMD(other, plain=plain), x * scale, y * scale, shape)
    factor = scale if isinstance(one, Energy) else 1.0
    np.testing.assert_allclose(found.values, factor * wanted.values, rtol=1e-10, atol=1e-13 * factor)
    np.testing.assert_allclose(found.moments, factor * wanted.moments, rtol=1e-10, atol=1e-13 * factor)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "kernel", [Gaussian(1e-9), Laplacian(1e-9), Matern(1e-9), Matern(1e-9, 0.5), Matern(1e-9, 2.5), Gaussian(1e-150)]
)
def test_very_narrow_kernels_see_nothing(kernel: Gaussian, shape: Shape, plain: bool, dtype: str) -> None:
    summary = summarize(MMD(kernel, dtype, plain=plain), *two_samples(shape), shape)
    assert not summary.values.any()
    assert not summary.moments.any()


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kernel", [Gaussian(1e4), RationalQuadratic(1e4)], ids=repr)
def test_very_wide_kernels_are_linear(kernel: Gaussian | RationalQuadratic, shape: Shape, plain: bool) -> None:
    """1 - k is then |x - y|^2 / (2 bandwidth^2), whose MMD is that of the linear kernel over bandwidth^2."""
    x, y = two_samples(shape)
    found = summarize(MMD(kernel, plain=plain), x, y, shape).values * kernel.bandwidth**2
    wanted = summarize(MMD(Linear()), x, y, shape).values
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * shape.d)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("size", [1e3, 1e8, 1e100])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_far_row_costs_the_others_no_digits(shape: Shape, place: int, size: float, plain: bool) -> None:
    """Its own kernel values are 0 (the bandwidth is small beside it), and all others are as if it were elsewhere."""
    x, y = two_samples(shape)
    statistic = MMD(Gaussian(shape.d**0.5), plain=plain)
    near, far = x.copy(), x.copy()
    near[place], far[place] = 1e3, size
    wanted, found = summarize(statistic, near, y, shape), summarize(statistic, far, y, shape)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.moments, wanted.moments, rtol=1e-11, atol=1e-13)
