"""Null distribution of the best of several kernels, from shared sign flips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from btests.nulls.distributions import NullDistribution, RankDistribution, ResampledDistribution
from btests.plan import Array
from btests.summary import MIN_SNR, Summary
from btests.symmetries import Draws


@dataclass(frozen=True, slots=True)
class AggregatedOutcome:
    """Outcome of an aggregated test over J kernels.

    Attributes
    ----------
    selected : int
        Index of the kernel with the best score; 0 if no kernel is resolved.
    null_distribution : NullDistribution
        Null distribution of the MMD^2 of the selected kernel, corrected for the number of kernels.
    scores : ndarray of shape (J,)
        Score of each kernel; larger is stronger.
    is_resolved : bool
        Whether at least one kernel exceeds its rounding error.
    """

    selected: int
    null_distribution: NullDistribution
    scores: Array
    is_resolved: bool = True


class Score(Protocol):
    """Increasing, flip-invariant function of the ratio ``z = eta / sd`` of a kernel, with its inverse."""

    def score(self, ratios: Array) -> Array:
        """Return scores that are comparable between kernels: (r,) to (r,)."""
        ...

    def ratio(self, scores: Array) -> Array:
        """Invert ``score``: (r,) to (r,)."""
        ...


@dataclass(frozen=True, slots=True)
class RatioScore:
    """Score equal to the ratio."""

    def score(self, ratios: Array) -> Array:
        """Return the ratios."""
        return ratios

    def ratio(self, scores: Array) -> Array:
        """Return the ratios."""
        return scores


# For a normal score s, -log p = log 2 + _LINEAR s + _SQUARE s^2 within 3 % up to s = 5.
_LINEAR, _SQUARE = 0.736, 0.412

# Distributions of smaller absolute skewness are treated as normal.
_SKEWED = 1e-6


@dataclass(frozen=True, slots=True)
class PValueScore:
    r"""Score ``log w - log p``, p the upper tail of Pearson III with the skewness of all flips, w a prior weight.

    The cube root of Wilson and Hilferty (1931) transforms the ratio into a normal score, and a parabola approximates
    ``-log p`` of it. Both are increasing and have a closed-form inverse. The approximation error affects power, not
    exactness.

    Attributes
    ----------
    skewness : float
        Skewness of the ratio over all flips.
    weight : float
        Prior weight w of the kernel, positive.
    """

    skewness: float
    weight: float

    def score(self, ratios: Array) -> Array:
        """Return weighted tail scores: (r,) to (r,)."""
        s, g = ratios, self.skewness
        if abs(g) >= _SKEWED:
            s = 6.0 / g * (np.cbrt(1.0 + g / 2.0 * ratios) - 1.0) + g / 6.0
        return np.asarray(math.log(self.weight) + _LINEAR * s + _SQUARE * np.maximum(s, 0.0) ** 2)

    def ratio(self, scores: Array) -> Array:
        """Invert ``score``: (r,) to (r,)."""
        v, g = scores - math.log(self.weight), self.skewness
        roots = np.sqrt(_LINEAR**2 + 4.0 * _SQUARE * np.maximum(v, 0.0))
        s = np.where(v >= 0.0, (roots - _LINEAR) / (2.0 * _SQUARE), v / _LINEAR)
        return np.asarray(s if abs(g) < _SKEWED else 2.0 / g * ((1.0 + g / 6.0 * (s - g / 6.0)) ** 3 - 1.0))


def largest_score(
    summaries: Sequence[Summary],
    flips: Draws,
    weights: Array | None = None,
    *,
    sharpness: float = math.inf,
    tie_weight: float = 1.0,
) -> AggregatedOutcome:
    r"""Return the outcome of the largest score over kernels, with the null distribution of that maximum over flips.

    The score is the ratio ``z_j = eta_j / sd_j``, or with ``weights`` a weighted tail probability of it
    (:class:`PValueScore`). Variance and skewness over all flips, ``2 sum C^2`` and ``8 tr C^3`` for a sign-flip matrix
    C, are flip-invariant. The score is a fixed increasing function of eta_j, so the maximum over j gives an exact test.
    Pairs inside a group, which flips do not change, are excluded from eta_j: a very narrow kernel with few other
    nonzero pairs would have a huge ratio in every draw. Kernels that are 0 or constant on these rows are ignored; if
    all are, the p-value is 1.

    Parameters
    ----------
    summaries : sequence of Summary
        One summary per kernel, of the same blocks.
    flips : Draws
        Sign flips shared by all kernels.
    weights : ndarray of shape (J,), optional
        Prior weights of the p-value scores; None for ratio scores.
    sharpness : float
        If finite, the maximum is the soft maximum ``log(sum_j exp(t score_j)) / t``, t the sharpness, as in MMD-FUSE.
        It is exact as well and rewards agreement between kernels.
    tie_weight : float
        Weight of draws equal to the statistic, see :class:`ResampledDistribution`.

    Returns
    -------
    AggregatedOutcome

    References
    ----------
    F. Biggs, A. Schrab, A. Gretton, "MMD-FUSE: Learning and Combining Kernels for Two-Sample Testing Without Data
    Splitting", NeurIPS 2023.
    """
    deviations, resolved = _resolved(summaries)
    if not resolved:
        null_distribution = ResampledDistribution(np.zeros(flips.n_draws), math.inf, flips.exhaustive, tie_weight)
        return AggregatedOutcome(0, null_distribution, np.zeros(len(summaries)), is_resolved=False)
    moving = {j: summaries[j].moving() for j in resolved}
    ratios = np.array(list(moving.values())) / deviations[resolved]
    slack = np.array([summaries[j].tolerance() for j in resolved]) / deviations[resolved]
    scorings = [_score_of(summaries[j], None if weights is None else float(weights[j])) for j in resolved]
    observed, above = (
        np.array([scoring.score(np.array([z]))[0] for scoring, z in zip(scorings, values, strict=True)])
        for values in (ratios, ratios + slack)
    )
    margin = above - observed
    # The first of the kernels that tie within rounding, such as narrow kernels whose only nonzero pairs are the same
    # few duplicates.
    best = int(np.argmax(observed + margin >= (observed - margin).max()))
    draws = np.full(flips.n_draws, -np.inf)
    for j, scoring in zip(resolved, scorings, strict=True):
        still = summaries[j].estimate() - moving[j]
        _accumulate(draws, scoring.score((summaries[j].drawn(flips) - still) / deviations[j]), sharpness)
    if sharpness < math.inf:  # shift: observed soft maximum minus observed best score
        soft = np.full(1, -np.inf)
        for score in observed:
            _accumulate(soft, np.array([score]), sharpness)
        draws += observed[best] - soft[0]
    scores = np.full(len(summaries), min(0.0, float(observed.min())))
    scores[resolved] = observed
    # In units of the best kernel: statistic and threshold are on the scale of its MMD^2.
    selected, unit = resolved[best], float(deviations[resolved[best]])
    still = summaries[selected].estimate() - moving[selected]
    reach = scorings[best].ratio(observed[best] + np.array([2.0 * margin.max()]))[0] - ratios[best]
    tolerance = unit * max(2.0 * float(slack[best]), float(reach))
    null_distribution = ResampledDistribution(
        np.sort(scorings[best].ratio(draws)) * unit + still, tolerance, flips.exhaustive, tie_weight
    )
    return AggregatedOutcome(selected, null_distribution, scores)


def _score_of(summary: Summary, weight: float | None) -> Score:
    if weight is None:
        return RatioScore()
    # Skewness is negative if a few pairs of rows outweigh all others. Pearson III does not fit then: its upper end is
    # close to frequent values of their sum.
    return PValueScore(max(0.0, summary.draw_skewness()), weight)


def _accumulate(best: Array, scores: Array, sharpness: float) -> None:
    """Replace ``best`` (r,) in place by its maximum, or soft maximum, with ``scores`` (r,)."""
    if sharpness < math.inf:
        best[:] = np.logaddexp(best * sharpness, scores * sharpness) / sharpness
    else:
        np.maximum(best, scores, out=best)


def smallest_rank(summaries: Sequence[Summary], flips: Draws, weights: Array) -> AggregatedOutcome:
    r"""Return the outcome of the smallest ``p_j / w_j``, p_j the p-value of kernel j alone, over shared flips.

    This is the correction of MMDAgg as a p-value: the test of kernel j has level ``u w_j``, u as large as the flips
    allow. Ranks do not depend on the scale of a kernel or on the tail of its null distribution. Each of J kernels has
    an outcome of rank 1, so the p-value is seldom less than J over the number of flips.

    Parameters
    ----------
    summaries : sequence of Summary
        One summary per kernel, of the same blocks.
    flips : Draws
        Sign flips shared by all kernels.
    weights : ndarray of shape (J,)
        Share of the level per kernel.

    Returns
    -------
    AggregatedOutcome

    References
    ----------
    A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj, A. Gretton, "MMD Aggregated Two-Sample Test", JMLR 24, 2023.
    """
    n_all = flips.n_draws + (not flips.exhaustive)
    means = np.empty((len(summaries), n_all))
    for row, summary in zip(means, summaries, strict=True):
        row[: flips.n_draws] = summary.drawn(flips)
        row[flips.n_draws :] = summary.estimate()
    # All outcomes of an unresolved kernel are ties.
    tolerances = np.full(len(summaries), np.inf)
    resolved = _resolved(summaries)[1]
    for j in resolved:
        tolerances[j] = summaries[j].tolerance()
    own = [np.sort(row) for row in means]
    # Number of outcomes that are at least as large, ties included.
    counts = np.stack(
        [n_all - np.searchsorted(o, row - t, side="left") for o, row, t in zip(own, means, tolerances, strict=True)]
    )
    observed = np.array([summary.estimate() for summary in summaries])
    ranks = np.array(
        [n_all - int(np.searchsorted(o, m - t)) for o, m, t in zip(own, observed, tolerances, strict=True)]
    )
    selected = int(np.argmin(ranks / weights))
    least = np.sort((counts / weights[:, None]).min(axis=0))
    null_distribution = RankDistribution(own[selected], tolerances[selected], float(weights[selected]), least)
    return AggregatedOutcome(selected, null_distribution, -np.log10(ranks / n_all), is_resolved=bool(resolved))


def _resolved(summaries: Sequence[Summary]) -> tuple[Array, list[int]]:
    """Return standard deviations over all flips (J,) and the indices of kernels that exceed their rounding error."""
    deviations = np.array([summary.deviation() for summary in summaries])
    noise = np.array([summary.rounding for summary in summaries])
    return deviations, [int(j) for j in np.flatnonzero(deviations > MIN_SNR * noise)]
