"""One null for several kernels: exactness by enumeration, and the parts that must agree with one another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from btests import Gaussian
from btests.data.sample import Sample
from btests.nulls.aggregation import AggregatedOutcome, largest_score, smallest_rank
from btests.nulls.distributions import RankDistribution
from btests.plan import Array, Plan
from btests.statistics import MMD, summarize_all
from btests.summary import Summary

KERNELS = (Gaussian(0.3), Gaussian(1.0), Gaussian(4.0))


def summaries_of(x: Array, y: Array, block_size: int) -> tuple[Summary, ...]:
    plan = Plan.of_size(len(x), len(y), block_size, len(KERNELS))
    return summarize_all(MMD(KERNELS), Sample(x), Sample(y), plan)


def two_samples(n_x: int, n_y: int, shift: float) -> tuple[Array, Array]:
    rng = np.random.default_rng([n_x, n_y])
    return rng.normal(size=(n_x, 2)), rng.normal(shift, 1.0, size=(n_y, 2))


def swapped(x: Array, y: Array, rows: tuple[int, ...], partners: tuple[int, ...]) -> tuple[Array, Array]:
    p, q = x.copy(), y.copy()
    p[list(rows)], q[list(partners)] = y[list(partners)], x[list(rows)]
    return p, q


def conclude(summaries: tuple[Summary, ...], correction: str, n_resamples: int = 4095) -> AggregatedOutcome:
    flips = summaries[0].draw(n_resamples, 0)
    if correction == "max":
        return largest_score(summaries, flips)
    return smallest_rank(summaries, flips, np.array([0.2, 0.5, 0.3]))


def pvalue(summaries: tuple[Summary, ...], correction: str) -> float:
    verdict = conclude(summaries, correction)
    return verdict.null_distribution.pvalue(summaries[verdict.selected].mean())


@pytest.mark.parametrize("correction", ["max", "rank"])
@pytest.mark.parametrize(("n_x", "n_y", "block_size"), [(6, 6, 3), (7, 7, 7), (9, 4, 2)])
def test_over_all_swaps_the_level_is_exact(correction: str, n_x: int, n_y: int, block_size: int) -> None:
    """Every swap of partners is as likely under the null hypothesis: the p-values of all data sets that they give."""
    x, y = two_samples(n_x, n_y, 0.8)
    plan = Plan.of_size(n_x, n_y, block_size)
    partners = [
        (run.start_x + i * run.b_x + a, run.start_y + i * run.b_y + a)
        for run in plan.runs(0, plan.n_blocks)
        for i in range(run.n_blocks)
        for a in range(min(run.b_x, run.b_y))
    ]
    found = []
    for chosen in itertools.product((False, True), repeat=len(partners)):
        pairs = [pair for pair, swap in zip(partners, chosen, strict=True) if swap]
        rows, others = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        found.append(pvalue(summaries_of(*swapped(x, y, rows, others), block_size), correction))
    for alpha in sorted(set(found)):
        assert np.mean(np.array(found) <= alpha) <= alpha + 1e-12
    assert min(found) <= 4.0 / len(found)  # and it is not empty: the strongest data sets are found


def test_the_largest_score_by_hand() -> None:
    x, y = two_samples(5, 5, 1.0)
    summaries = summaries_of(x, y, 5)
    ratios, units = [], []
    for summary in summaries:
        core = summary.moments[0]
        draws = [float(np.array(s) @ core @ np.array(s)) for s in itertools.product((1.0, -1.0), repeat=5)]
        units.append(float(np.std(draws)))
        ratios.append(np.array(draws) / units[-1])
    observed = np.array([r[0] for r in ratios])
    verdict = conclude(summaries, "max")
    assert verdict.selected == int(np.argmax(observed))
    np.testing.assert_allclose(verdict.scores, observed, rtol=1e-12)
    wanted = np.mean(np.max(ratios, axis=0) >= observed.max() - 1e-9)
    assert verdict.null_distribution.pvalue(summaries[verdict.selected].mean()) == pytest.approx(wanted)


@pytest.mark.parametrize("correction", ["max", "rank"])
@pytest.mark.parametrize("n_resamples", [99, 999])
def test_pvalue_and_threshold_agree(correction: str, n_resamples: int) -> None:
    x, y = two_samples(60, 60, 0.3)
    verdict = conclude(summaries_of(x, y, 8), correction, n_resamples)
    own = summaries_of(x, y, 8)[verdict.selected]
    for alpha in (0.001, 0.01, 0.05, 0.2, 0.5):
        threshold = verdict.null_distribution.threshold(alpha)
        for statistic in (own.mean(), *np.linspace(-0.05, 0.2, 200)):
            assert (verdict.null_distribution.pvalue(float(statistic)) <= alpha) == (statistic > threshold)


def test_kernels_that_nothing_moves_are_left_out() -> None:
    x, y = np.arange(40.0)[:, None], np.arange(40.0)[:, None] + 0.5
    kernels = (Gaussian(1e-4), Gaussian(10.0))
    plan = Plan.of_size(40, 40, 5, 2)
    for used in (kernels, kernels[:1]):
        summaries = summarize_all(MMD(used), Sample(x), Sample(y), plan)
        for correction in ("max", "rank"):
            flips = summaries[0].draw(199, 0)
            one = np.full(len(used), 1.0 / len(used))
            verdict = largest_score(summaries, flips) if correction == "max" else smallest_rank(summaries, flips, one)
            p = verdict.null_distribution.pvalue(summaries[verdict.selected].mean())
            assert 0.0 < p <= 1.0
            if len(used) == 1:
                assert p == 1.0


def test_one_kernel_is_the_sign_flip_test() -> None:
    from btests import SignFlip

    x, y = two_samples(80, 80, 0.2)
    plan = Plan.of_size(80, 80, 8)
    summaries = summarize_all(MMD(KERNELS[:1]), Sample(x), Sample(y), plan)
    flips = summaries[0].draw(999, 7)
    wanted = SignFlip(999).distribution(summaries[0], 7).pvalue(summaries[0].mean())
    assert largest_score(summaries, flips).null_distribution.pvalue(summaries[0].mean()) == wanted
    assert smallest_rank(summaries, flips, np.ones(1)).null_distribution.pvalue(summaries[0].mean()) == pytest.approx(
        wanted
    )


def test_a_rank_law_with_too_few_outcomes_never_rejects() -> None:
    null_distribution = RankDistribution(np.array([0.0, 1.0, 2.0]), 0.0, 1.0, np.array([1.0, 2.0, 3.0]))
    assert null_distribution.threshold(0.1) == math.inf
    assert null_distribution.pvalue(5.0) == pytest.approx(1.0 / 3.0)


def test_pairs_that_no_flip_moves_do_not_outshout_the_others() -> None:
    """Rows 0 and 32 of a block share a group: a kernel that sees this pair alone must not decide anything."""
    rng = np.random.default_rng(5)
    x, y = 10.0 * rng.normal(size=(400, 2)), 10.0 * rng.normal(size=(400, 2)) + 6.0
    x[32] = x[0] + 1e-6
    kernels = (Gaussian(1e-6), Gaussian(0.5), Gaussian(10.0))
    plan = Plan.of_size(400, 400, 40, 3)
    summaries = summarize_all(MMD(kernels), Sample(x), Sample(y), plan)
    verdict = largest_score(summaries, summaries[0].draw(999, 0))
    assert verdict.selected == 2
    assert verdict.null_distribution.pvalue(summaries[2].mean()) == 0.001
