"""Scores and weights against the definitions, by double loops and a general solver."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import pytest

from btests import Combination, CrossValidation, Gaussian, MaxMMD, MaxRatio, SignFlip, Weights, btest
from btests.block_size import BlockRule
from btests.data.sample import Sample
from btests.plan import Plan
from btests.selection import Selection, Setting
from btests.selection.cross_validation import folds_of_groups
from btests.selection.training import BlockStatistics, has_enough_pairs
from btests.selection.weights import best_weights
from btests.summary import Summary
from tests import reference
from tests.kernels.formulas import radial
from tests.reference import Array, Scalar
from tests.selection.test_quadratic import by_slsqp

WIDTHS = (0.3, 1.0, 3.0)
FAMILY = [Gaussian(width) for width in WIDTHS]
FORMULAS: list[Scalar] = [radial(width)[0].formula for width in WIDTHS]


def samples(n_x: int, n_y: int, shift: float = 0.7, seed: int = 0) -> tuple[Sample, Sample]:
    """Return two samples in the plane, as they stand: the first half is that of the choice."""
    rng = np.random.default_rng([n_x, n_y, seed])
    return Sample(rng.normal(size=(n_x, 2))), Sample(rng.normal(shift, 1.3, size=(n_y, 2)))


def by_loops(x: Sample, y: Sample, n_blocks: int) -> Array:
    """Return block values of the first halves, by double loops: (J, m)."""
    p, q = x.rows[: len(x) // 2].tolist(), y.rows[: len(y) // 2].tolist()
    return np.stack([reference.block_values(formula, p, q, n_blocks) for formula in FORMULAS])


def scores(selection: Selection) -> list[float]:
    """Return the scores of all candidates."""
    return [candidate.score for candidate in selection.candidates]


def check_best(selection: Selection, wanted: Array) -> None:
    """Assert scores, and that the largest won."""
    np.testing.assert_allclose(scores(selection), wanted, rtol=1e-9)
    assert selection.kernel == FAMILY[int(np.argmax(wanted))]
    assert [c.weight for c in selection.candidates] == [float(j == np.argmax(wanted)) for j in range(len(wanted))]


@pytest.mark.parametrize(("n_x", "n_y", "block_size", "n_blocks"), [(96, 96, 6, 8), (98, 98, 6, 8), (80, 110, 4, 10)])
def test_scores_are_the_definitions(n_x: int, n_y: int, block_size: int, n_blocks: int) -> None:
    x, y = samples(n_x, n_y)
    values = by_loops(x, y, n_blocks)
    sums = values * block_size * (block_size - 1) / 2.0
    check_best(MaxMMD(FAMILY).select(x, y, Setting(BlockRule(block_size))), values.mean(axis=1))
    for regulariser in (1e-3, 10.0):
        ratios = sums.mean(axis=1) / np.sqrt(sums.var(axis=1, ddof=1) + regulariser)
        check_best(MaxRatio(FAMILY, regulariser).select(x, y, Setting(BlockRule(block_size))), ratios)


@pytest.mark.parametrize("regulariser", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_the_programme(regulariser: float, seed: int) -> None:
    x, y = samples(96, 96, seed=seed)
    sums = by_loops(x, y, 8) * 6 * 5 / 2.0
    wanted = by_slsqp(np.cov(sums) + regulariser * np.eye(3), sums.mean(axis=1))
    found = Weights(FAMILY, regulariser).select(x, y, Setting(BlockRule(6)))
    weights = np.array([candidate.weight for candidate in found.candidates])
    np.testing.assert_allclose(weights, wanted / wanted.sum(), rtol=0.0, atol=1e-6)
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    kept = [(w, k) for w, k in zip(weights.tolist(), FAMILY, strict=True) if w > 0.0]
    assert found.kernel == (
        kept[0][1] if len(kept) == 1 else Combination(tuple(w for w, _ in kept), tuple(k for _, k in kept))
    )


def test_the_regulariser_acts_on_sums() -> None:
    """Of blocks twice as large, sums have four times the pairs: on averages 1e-3 would be something else."""
    values = np.random.default_rng(0).normal(1e-4, 1e-3, size=(3, 50))
    small, large = BlockStatistics(values, 45.0), BlockStatistics(values / 4.0, 4.0 * 45.0)
    one, two = best_weights(small, 1e-3), best_weights(large, 1e-3)
    assert one is not None
    assert two is not None
    np.testing.assert_allclose(one, two, rtol=1e-9)
    np.testing.assert_allclose(small.ratios(1e-3), large.ratios(1e-3), rtol=1e-12)


def uncorrelated(second: float, scale: float = 1.0) -> BlockStatistics:
    """Return two kernels with spreads 1 and ``scale``, means 1 and ``second`` of them, and no correlation."""
    one, two = np.tile([1.0, 1.0, -1.0, -1.0], 10), np.tile([1.0, -1.0, 1.0, -1.0], 10)
    return BlockStatistics(np.stack([1.0 + one, scale * (second + two)]), 1.0)


@pytest.mark.parametrize(("second", "kept"), [(1e-5, True), (2e-7, True), (5e-8, False), (1e-12, False)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_small_weights_are_dropped_at_any_scale(second: float, kept: bool, scale: float) -> None:
    weights = best_weights(uncorrelated(second, scale), 1e-12)
    assert weights is not None
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert weights[1] == pytest.approx((second / scale) / (1.0 + second / scale) if kept else 0.0, rel=1e-5, abs=0.0)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e6, 1e200])
def test_no_scale_of_a_kernel_leaves_the_range_of_floats(scale: float) -> None:
    values = np.random.default_rng(0).normal(0.5, 1.0, size=(3, 50)) * np.array([[1.0], [scale], [1.0]])
    weights = best_weights(BlockStatistics(values, 45.0), 1e-3)
    assert weights is not None
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1.0)


def witness_score(k: Scalar, x: Array, y: Array, n_folds: int) -> float:
    """Return the average over folds of mean f(x) - mean f(y), f the witness of the other folds, point by point."""
    member = folds_of_groups(len(x), n_folds)
    fold_of_row = [int(np.argmax(member[:, r % member.shape[1]])) for r in range(len(x))]
    found = []
    for fold in range(member.shape[0]):
        inside = [r for r in range(len(x)) if fold_of_row[r] == fold]
        others = [r for r in range(len(x)) if fold_of_row[r] != fold]

        def witness(z: Array, others: list[int] = others) -> float:
            return math.fsum(k(x[r], z) - k(y[r], z) for r in others) / len(others)

        found.append(math.fsum(witness(x[r]) - witness(y[r]) for r in inside) / len(inside))
    return math.fsum(found) / len(found)


@pytest.mark.parametrize(("n", "n_folds"), [(8, 2), (8, 4), (8, 5), (20, 5), (60, 5), (70, 3), (90, 32), (9, 32)])
def test_cross_validation_is_the_loss_of_a_witness(n: int, n_folds: int) -> None:
    x, y = samples(n, n)
    half = n // 2
    wanted = [witness_score(k, x.rows[:half], y.rows[:half], n_folds) for k in FORMULAS]
    check_best(CrossValidation(FAMILY, n_folds).select(x, y, Setting()), np.array(wanted))


@pytest.mark.parametrize("n_rows", [4, 5, 31, 32, 100])
@pytest.mark.parametrize("n_folds", [2, 5, 32])
def test_folds_hold_every_group_once(n_rows: int, n_folds: int) -> None:
    member = folds_of_groups(n_rows, n_folds)
    assert (member.sum(axis=0) == 1.0).all()
    assert member.sum(axis=1).min() >= 1.0
    assert np.ptp(member.sum(axis=1)) <= 1.0


@pytest.mark.filterwarnings("ignore::btests.SelectionWarning")
@pytest.mark.parametrize("selector", [MaxMMD(), MaxRatio(), Weights(), CrossValidation()], ids=repr)
def test_underflow_never_wins(selector: MaxMMD) -> None:
    """Bandwidths of 2^-15 give 0, which is more than what an unlucky kernel has under H0."""
    unlucky = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = Sample(rng.normal(size=(60, 2))), Sample(rng.normal(size=(60, 2)))
        found = selector.select(x, y, Setting())
        dead = [c for c in found.candidates if c.score == 0.0]
        assert dead
        assert all(c.weight == 0.0 for c in dead)
        unlucky += max(scores(found)) == 0.0
        assert found.note or max(scores(found)) > 0.0
    assert unlucky


def test_it_finds_the_scale_that_matters() -> None:
    """Points on a fine grid, shifted by half its step: the best bandwidth is that of the step, far below the median."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, size=(1200, 1)) + rng.normal(0.0, 0.1, size=(1200, 1))
    y = rng.integers(0, 8, size=(1200, 1)) + rng.normal(0.0, 0.1, size=(1200, 1))
    y[rng.random(1200) < 0.6] += 0.5
    for selector in (MaxMMD(), MaxRatio(), CrossValidation()):
        chosen = selector.select(Sample(x), Sample(y), Setting()).kernel
        assert isinstance(chosen, Gaussian)
        assert 0.06 <= chosen.bandwidth <= 0.5
    # A weight is not a share: narrow kernels have small values. What each adds to the statistic is.
    shares = []
    for c in Weights().select(Sample(x), Sample(y), Setting()).candidates:
        mean = btest(x, y, kernel=c.kernel, null=SignFlip(1), seed=1).statistic
        shares.append(c.weight * mean if 0.06 <= cast(Gaussian, c.kernel).bandwidth <= 0.5 else 0.0)
    chosen = Weights().select(Sample(x), Sample(y), Setting()).kernel
    assert sum(shares) > 0.9 * btest(x, y, kernel=chosen, null=SignFlip(1), seed=1).statistic


def with_moments(entries: list[float], n_rows: int = 12) -> Summary:
    """Return the summary of one block whose core holds these entries above the diagonal, and zeros."""
    core = np.zeros((n_rows, n_rows))
    core[np.triu_indices(n_rows, 1)] = entries + [0.0] * (n_rows * (n_rows - 1) // 2 - len(entries))
    return Summary.of(Plan(n_rows, n_rows, 1), np.ones(1), (core + core.T)[None])


def test_pairs_that_tell_are_counted() -> None:
    assert with_moments([]).n_effective_pairs() == 0.0
    assert with_moments([1e-200]).n_effective_pairs() == pytest.approx(1.0)
    assert with_moments([1.0, -1.0, 1.0]).n_effective_pairs() == pytest.approx(3.0)
    assert with_moments([1.0, 1e-3, 1e-3]).n_effective_pairs() == pytest.approx(1.0, abs=1e-5)
    normal = np.random.default_rng(0).normal(size=32 * 31 // 2)
    assert with_moments(normal.tolist(), 32).n_effective_pairs() == pytest.approx(normal.size / 3.0, rel=0.2)


def test_a_kernel_that_sees_four_pairs_is_not_asked() -> None:
    few, enough = with_moments([1.0] * 4), with_moments([1.0] * 5)
    heard = np.array([True, True, False])
    assert has_enough_pairs(heard, [few, enough, enough]).tolist() == [False, True, False]
    assert has_enough_pairs(heard, [few, few, enough]).tolist() == [True, True, False]  # one must be chosen


@pytest.mark.parametrize("selector", [MaxMMD, MaxRatio, Weights, CrossValidation])
def test_one_pair_does_not_win(selector: type[MaxRatio]) -> None:
    """One duplicate among the rows of x is all that the narrow kernel sees, and by that it has the largest score."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    x[9] = x[0]  # in one block, and in different folds
    narrow, wide = Gaussian(1e-3), Gaussian(1.0)
    found = selector([narrow, wide]).select(Sample(x), Sample(y), Setting(BlockRule(10)))
    assert found.kernel == wide
    assert selector([narrow]).select(Sample(x), Sample(y), Setting(BlockRule(10))).kernel == narrow


def test_weights_may_ask_all_kernels_as_the_paper_does() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    x[9] = x[0]
    family = [Gaussian(1e-3), Gaussian(1.0)]
    asked = Weights(family, ask_all=True).select(Sample(x), Sample(y), Setting(BlockRule(10)))
    assert asked.candidates[0].weight > 0.0
    assert repr(Weights(family, ask_all=True)).endswith("fraction=0.5, ask_all=True)")
    with pytest.raises(TypeError, match="ask_all must be True or False, got 1"):
        Weights(family, ask_all=1)  # type: ignore[arg-type]
