"""Sign flips against all ways to swap x and y, done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests import Gaussian, SignFlip, _core
from btests.plan import Plan
from btests.summary import Summary
from btests.symmetries.swap_groups import all_signs, flip_plain, random_words, unpack
from tests import reference
from tests.bounds import count_bounds
from tests.kernels.formulas import radial
from tests.nulls.summaries import summarize, two_samples
from tests.reference import Array

GAUSSIAN = radial(1.0)[0].formula


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("n", "n_blocks"), [(2, 1), (4, 1), (4, 2), (6, 2), (6, 3), (8, 4), (9, 3), (10, 1), (10, 5)])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_exhaustive_law_is_every_swap(n: int, n_blocks: int, shift: float, plain: bool) -> None:
    x, y = two_samples(n, n, shift)
    summary = summarize(x, y, n_blocks, Gaussian(1.0), plain=plain)
    null_distribution = SignFlip().distribution(summary, seed=0)
    swapped = reference.flipped_values(GAUSSIAN, x.tolist(), y.tolist(), n_blocks)
    assert null_distribution.exhaustive
    np.testing.assert_allclose(null_distribution.draws, np.sort(swapped), rtol=1e-12, atol=1e-13)
    share = float(np.mean(swapped >= swapped[0] - 1e-12))
    assert null_distribution.pvalue(summary.mean()) == share


@pytest.mark.parametrize(("n", "n_blocks"), [(7, 2), (7, 3), (11, 4), (40, 1)])
def test_blocks_with_a_remainder_flip_groups(n: int, n_blocks: int) -> None:
    """Row r of a block flips with group r mod g: what moves is the core, and the rest shifts all draws."""
    x, y = two_samples(n, n, 0.5)
    summary = summarize(x, y, n_blocks)
    if summary.moments.shape[0] * summary.moments.shape[1] > 12:
        summary = Summary.of(summary.plan, summary.values, summary.moments[:, :10, :10])
    moments = reference.moments(GAUSSIAN, x.tolist(), y.tolist(), n_blocks, min(32, n // n_blocks))[:, :10, :10]
    flipped = (reference.sign_sums(moments) - moments.sum()) / n_blocks + summary.mean()
    null_distribution = SignFlip(4095).distribution(summary, seed=0)
    np.testing.assert_allclose(null_distribution.draws, np.sort(flipped), rtol=1e-11, atol=1e-13)


@given(st.integers(1, 3), st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from([1e-120, 1.0, 1e100]))
def test_closed_moments(n_strata: int, n_groups: int, seed: int, scale: float) -> None:
    """Over all signs, s' C s has mean 0, variance 2 sum C^2 and third cumulant 8 tr C^3."""
    moments = scale * random_moments(n_strata, n_groups, seed)
    sums = reference.sign_sums(moments) / scale
    unit = moments / scale
    assert np.mean(sums) == pytest.approx(0.0, abs=1e-10)
    assert np.mean(sums**2) == pytest.approx(2.0 * np.sum(unit**2), rel=1e-10)
    third = 8.0 * sum(np.trace(c @ c @ c) for c in unit)
    assert np.mean(sums**3) == pytest.approx(third, rel=1e-9, abs=1e-9)


def random_moments(n_strata: int, n_groups: int, seed: int) -> Array:
    """Return symmetric matrices with zero diagonals."""
    moments = np.random.default_rng(seed).normal(size=(n_strata, n_groups, n_groups))
    moments += np.swapaxes(moments, 1, 2)
    moments[:, np.arange(n_groups), np.arange(n_groups)] = 0.0
    return moments


@pytest.mark.parametrize("n_groups", [2, 3, 5, 8, 13, 16, 31, 32])
@pytest.mark.parametrize(("n_strata", "n_draws"), [(1, 1), (1, 63), (3, 64), (7, 65), (40, 1999)])
def test_compiled_flip_is_the_plain_one(instruction_set: str, n_groups: int, n_strata: int, n_draws: int) -> None:
    moments = random_moments(n_strata, n_groups, 1)
    words = random_words(5, n_strata, n_groups, n_draws)
    wanted = flip_plain(moments, words, n_draws)
    found = _core.flip(moments, words, n_draws)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-14 * np.abs(moments).sum())


@pytest.mark.parametrize("n_groups", [2, 5, 16, 31, 32])
def test_flips_have_the_same_bits_with_all_instruction_sets(n_groups: int) -> None:
    moments, words = random_moments(40, n_groups, 1), random_words(5, 40, n_groups, 1999)
    found = [_core.flip(moments, words, 1999, instructions=name) for name in _core.instruction_sets()]
    assert len({draws.tobytes() for draws in found}) <= 1


def test_plain_flip_is_the_definition() -> None:
    moments, words = random_moments(3, 4, 2), random_words(1, 3, 4, 100)
    signs = unpack(words, 100)
    wanted = [sum(float(s[:, r] @ c @ s[:, r]) for s, c in zip(signs, moments, strict=True)) for r in range(100)]
    np.testing.assert_allclose(flip_plain(moments, words, 100), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("n_strata", "n_groups"), [(1, 2), (2, 3), (1, 8), (5, 2)])
def test_all_signs_are_all_and_the_observed_comes_first(n_strata: int, n_groups: int) -> None:
    n = n_strata * n_groups
    signs = unpack(all_signs(n_strata, n_groups), 2**n).reshape(n, -1)
    assert signs.shape == (n, 2**n)
    assert (signs[:, 0] == 1.0).all()
    assert len({tuple(column) for column in signs.T}) == 2**n


def test_random_signs_are_fair_and_belong_to_the_seed() -> None:
    """A count of 200,000 fair bits, and of equal pairs; false alarm 1e-6 each."""
    words = random_words(7, 10, 10, 2000)
    signs = unpack(words, 2000)
    low, high = count_bounds(signs.size, 0.5, 0.5)
    assert low <= int((signs > 0).sum()) <= high
    low, high = count_bounds(signs[:, 1:].size, 0.5, 0.5)
    assert low <= int((signs[:, 1:] == signs[:, :-1]).sum()) <= high
    np.testing.assert_array_equal(words, random_words(7, 10, 10, 2000))
    assert (words != random_words(8, 10, 10, 2000)).mean() > 0.99


@pytest.mark.parametrize("n_resamples", [1, 19, 499, 1999])
def test_drawn_law(n_resamples: int) -> None:
    x, y = two_samples(60, 60, 3.0)
    summary = summarize(x, y, 6)
    null_distribution = SignFlip(n_resamples).distribution(summary, seed=3)
    assert not null_distribution.exhaustive
    assert null_distribution.draws.size == n_resamples
    assert (np.diff(null_distribution.draws) >= 0.0).all()
    assert null_distribution.pvalue(summary.mean()) == 1.0 / (n_resamples + 1)
    assert null_distribution.pvalue(-math.inf) == 1.0


def test_draws_have_the_closed_moments() -> None:
    """Mean and variance of 20,000 draws; bounds of 5.5 standard errors, false alarm below 1e-6 in all."""
    summary = summarize(*two_samples(300, 300), 10)
    null_distribution = SignFlip(20_000).distribution(summary, seed=1)
    centre = summary.mean() - float(summary.moments.sum()) / 10
    sd = math.sqrt(2.0 * float((summary.moments**2).sum())) / 10
    z = (null_distribution.draws - centre) / sd
    assert abs(z.mean()) < 5.5 / math.sqrt(20_000)
    fourth = float(np.mean(z**4))
    assert abs(np.mean(z**2) - 1.0) < 5.5 * math.sqrt((fourth - 1.0) / 20_000)


@pytest.mark.parametrize("n_resamples", [0, -1, 1.5, True, "99", None])
def test_number_of_resamples(n_resamples: int) -> None:
    with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 1"):
        SignFlip(n_resamples)


def test_ties_count_against_rejection() -> None:
    """Equal differences in every pair: half of all signs within a block give the observed value again."""
    plan = Plan(8, 8, 4)
    moments = np.tile(np.array([[0.0, 0.1], [0.1, 0.0]]), (4, 1, 1))
    summary = Summary.of(plan, np.full(4, 0.2), moments)
    assert SignFlip().distribution(summary, 0).pvalue(summary.mean()) == (1 / 2) ** 4
