"""The Gram matrix of both samples, tile by tile, against double loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from btests import Energy, Gaussian, Kernel, Laplacian, Linear, Pairwise, Polynomial
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, Gram, summarize_blocks, tiled_gram
from tests import reference
from tests.kernels.formulas import radial
from tests.reference import Array

GAUSSIAN = radial(1.0)[0].formula
SIZES = [(2, 2), (2, 5), (7, 3), (8, 8), (11, 11)]


def gram_of(x: Any, y: Any, kernel: Kernel) -> Gram:
    """Return the Gram matrix of rows in the order in which they stand."""
    return Gram(kernel, Sample(np.asarray(x)), Sample(np.asarray(y)))


def two_samples(n_x: int, n_y: int) -> tuple[Array, Array]:
    """Return two normal samples in the plane."""
    rng = np.random.default_rng([n_x, n_y])
    return rng.normal(size=(n_x, 2)), rng.normal(0.5, 1.0, size=(n_y, 2))


def outer(p: Array, q: Array) -> Array:
    """A user's kernel of two arrays."""
    return np.asarray(np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1)))


@pytest.fixture(params=[2, 3, 256])
def tile(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a test with tiles of several sizes."""
    side: int = request.param
    monkeypatch.setattr(tiled_gram, "TILE", side)
    return side


@pytest.mark.parametrize(("n_x", "n_y"), SIZES)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(2.0), Energy(), Linear(), outer], ids=range(5))
def test_matrix_is_the_kernel_less_a_constant(tile: int, kernel: Kernel, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y)
    # All radial kernels are the same wherever the origin is; the linear one is not, but its MMD^2 is.
    rows = np.concatenate([x, y]) - Sample(x).location.origin
    found = gram_of(x, y, kernel).matrix()
    constant = kernel(rows[:1], rows[n_x : n_x + 1])[0, 0]
    np.testing.assert_allclose(found, kernel(rows, rows) - constant, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("n_x", "n_y"), SIZES)
def test_statistics_are_double_loops(tile: int, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y)
    margins = gram_of(x, y, Gaussian(1.0)).margins()
    p, q = x.tolist(), y.tolist()
    assert margins.unbiased() == pytest.approx(reference.mmd_unpaired(GAUSSIAN, p, q), rel=1e-11)
    means = [math.fsum(GAUSSIAN(a, b) for a in s for b in t) / (len(s) * len(t)) for s, t in ((p, p), (q, q), (p, q))]
    assert margins.biased() == pytest.approx(means[0] + means[1] - 2.0 * means[2], rel=1e-11)
    if n_x == n_y:
        assert margins.paired() == pytest.approx(reference.mmd_paired(GAUSSIAN, p, q), rel=1e-11)
    rows = [*p, *q]
    squares = [(GAUSSIAN(a, b) - GAUSSIAN(p[0], q[0])) ** 2 for a in rows for b in rows if a is not b]
    assert margins.norm == pytest.approx(math.sqrt(math.fsum(squares)), rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_core_is_h(tile: int, n: int) -> None:
    x, y = two_samples(n, n)
    p, q = x.tolist(), y.tolist()
    wanted = [[reference.h(GAUSSIAN, p, q, a, b) if a != b else 0.0 for b in range(n)] for a in range(n)]
    np.testing.assert_allclose(gram_of(x, y, Gaussian(1.0)).h_matrix(), wanted, atol=1e-14)


@pytest.mark.parametrize(("n_x", "n_y"), [*SIZES, (40, 40), (70, 33), (35, 80)])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Energy(), Linear()], ids=repr)
def test_summary_is_that_of_one_block(tile: int, kernel: Kernel, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y)
    plan = Plan(n_x, n_y, 1)
    wanted = summarize_blocks(MMD(kernel, plain=True), Sample(x), Sample(y), plan, (0, 1))[0]
    found = gram_of(x, y, kernel).summary()
    assert found.plan == plan
    assert found.is_complete
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.moments, wanted.moments, rtol=1e-9, atol=1e-14)


def test_rows_come_in_the_order_of_the_samples() -> None:
    x, y = two_samples(5, 4)
    order, other = np.array([3, 1, 4, 0]), np.array([2, 0])
    found = Gram(Gaussian(1.0), Sample(x, order), Sample(y, other)).matrix()
    np.testing.assert_array_equal(found, gram_of(x[order], y[other], Gaussian(1.0)).matrix())


def test_objects_and_a_function_of_two_of_them(tile: int) -> None:
    """Each pair is asked for once, and one more time for the constant; the diagonal is there, too."""
    asked: list[tuple[str, str]] = []

    def shared(a: str, b: str) -> float:
        asked.append((a, b))
        return float(len(set(a) & set(b)))

    words = np.array(["abc", "bcd", "x", "abcd", "q", "xyz", "aq"], dtype=object)
    gram = gram_of(words[:4], words[4:], Pairwise(shared))
    wanted = [[len(set(a) & set(b)) for b in words] for a in words]
    np.testing.assert_array_equal(gram.matrix(), np.array(wanted) - wanted[0][4])
    assert len(asked) == 1 + 7 * 8 // 2
    gram.margins()
    assert len(asked) == 1 + 7 * 8 // 2, "one pass leaves the margins behind"


def test_lists_reach_a_users_function_as_lists() -> None:
    def by_length(p: list[str], q: list[str]) -> Array:
        assert isinstance(p, list)
        assert isinstance(q, list)
        return np.array([[float(len(a) * len(b)) for b in q] for a in p])

    words = np.array(["a", "bb", "ccc", "dd"], dtype=object)
    lengths = np.array([1.0, 2.0, 3.0, 2.0])
    np.testing.assert_array_equal(gram_of(words[:2], words[2:], by_length).matrix(), np.outer(lengths, lengths) - 3.0)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Energy(), Linear(), Polynomial(3)], ids=repr)
def test_of_equal_rows_nothing_is_left(kernel: Kernel) -> None:
    """Without the constant, sums of equal numbers would be rounded apart, and pass for a difference."""
    x, y = np.full((700, 40), 0.1), np.full((533, 40), 0.1)
    margins = gram_of(x, y, kernel).margins()
    assert margins.norm == 0.0
    assert margins.unbiased() == margins.biased() == margins.tolerance() == 0.0


@pytest.mark.parametrize("scale", [1e-250, 1e200])
def test_squares_do_not_leave_the_range(scale: float) -> None:
    x, y = two_samples(6, 7)
    one, other = (gram_of(x, y, s * Gaussian(1.0)).margins() for s in (1.0, scale))
    assert other.norm == pytest.approx(scale * one.norm, rel=1e-12)


def test_a_kernel_that_overflows_is_refused() -> None:
    x, y = two_samples(4, 4)
    with pytest.raises(ValueError, match="the kernel overflowed or gave NaN"):
        gram_of(1e200 * x, y * 1e200, Polynomial(3)).margins()


def test_gram_is_a_value() -> None:
    x, y = two_samples(3, 3)
    gram = gram_of(x, y, Gaussian(1.0))
    before = repr(gram)
    gram.margins()
    assert repr(gram) == before
    assert gram.matrix() is not gram.matrix()
