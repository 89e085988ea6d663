"""One null for several kernels on the same rows: sign flips that all of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from btests.nulls.distributions import NullDistribution, ResampledDistribution
from btests.plan import Array
from btests.summary import MIN_SNR, Summary
from btests.symmetries import Draws


@dataclass(frozen=True, slots=True)
class Verdict:
    """Strongest kernel, null distribution of its MMD^2 among all kernels, and the score of each: (J,).

    If no kernel ``is_resolved``, the first one stands for all.
    """

    selected: int
    null_distribution: NullDistribution
    scores: Array
    is_resolved: bool = True


class Score(Protocol):
    """An increasing function of the ratio ``z = eta / sd`` of a kernel, which no flip changes, and its inverse."""

    def score(self, ratios: Array) -> Array:
        """Return scores that compare between kernels: (r,) to (r,)."""
        ...

    def ratio(self, scores: Array) -> Array:
        """Return the ratios that have these scores: (r,) to (r,)."""
        ...


@dataclass(frozen=True, slots=True)
class RatioScore:
    """The ratio itself."""

    def score(self, ratios: Array) -> Array:
        """Return the ratios."""
        return ratios

    def ratio(self, scores: Array) -> Array:
        """Return the ratios."""
        return scores


# -log p of a normal score s is log 2 + this much times s, and times s^2: within 3 % up to s = 5.
_LINEAR, _SQUARE = 0.736, 0.412

# A distribution of a smaller skewness is as good as normal.
_SKEWED = 1e-6


@dataclass(frozen=True, slots=True)
class PValueScore:
    r"""``log w - log p``, p the upper tail of Pearson III with the skewness of all flips, w a prior weight.

    The cube root of Wilson and Hilferty (1931) makes a normal score of the ratio, and a parabola ``-log p`` of that.
    Both are increasing and have a closed inverse. How close they are matters for power; exactness does not depend on
    it.

    Attributes
    ----------
    skewness : float
        Of the ratio over all flips.
    weight : float
        Positive.
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
        """Return the ratios that have these scores: (r,) to (r,)."""
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
) -> Verdict:
    r"""Compare the largest score of a kernel with the largest that each flip gives.

    The score is the ratio ``z_j = eta_j / sd_j``, or with ``weights`` (J,) a weighted tail probability of it
    (:class:`PValueScore`). Variance and skewness over all flips, ``2 sum C^2`` and ``8 tr C^3`` for a core C, are not
    changed by a flip. The score is a fixed increasing function of eta_j, so the maximum over j is as exact as a
    single kernel. Pairs inside a group, which no flip moves, are left out of eta_j here: a kernel so narrow that it
    sees one of them and little else would have a huge ratio in every draw. A kernel that no flip moves at all, 0 or
    constant on these rows, takes no part; where all are such, the p-value is 1.

    With a finite ``sharpness`` t the maximum is the soft one, ``log(sum_j exp(t score_j)) / t``, as in MMD-FUSE (Biggs,
    Schrab, Gretton 2023): as exact, and several kernels that agree count for more than one.
    """
    deviations, alive = _resolved(summaries)
    if not alive:
        null_distribution = ResampledDistribution(np.zeros(flips.n_draws), math.inf, flips.exhaustive, tie_weight)
        return Verdict(0, null_distribution, np.zeros(len(summaries)), is_resolved=False)
    ratios = np.array([summaries[j].moving() for j in alive]) / deviations[alive]
    slack = np.array([summaries[j].tolerance() for j in alive]) / deviations[alive]
    scales = [_score_of(summaries[j], None if weights is None else float(weights[j])) for j in alive]
    observed, above = (
        np.array([scale.score(np.array([z]))[0] for scale, z in zip(scales, values, strict=True)])
        for values in (ratios, ratios + slack)
    )
    margin = above - observed
    # The first of those that are equal but for rounding: narrow kernels that see the same few duplicates, say.
    best = int(np.argmax(observed + margin >= (observed - margin).max()))
    draws = np.full(flips.n_draws, -np.inf)
    for j, scale in zip(alive, scales, strict=True):
        still = summaries[j].estimate() - summaries[j].moving()
        _accumulate(draws, scale.score((summaries[j].drawn(flips) - still) / deviations[j]), sharpness)
    if sharpness < math.inf:  # as much above the best kernel as the soft maximum of the data is
        soft = np.full(1, -np.inf)
        for score in observed:
            _accumulate(soft, np.array([score]), sharpness)
        draws += observed[best] - soft[0]
    scores = np.full(len(summaries), min(0.0, float(observed.min())))
    scores[alive] = observed
    # In the unit of the best kernel: the statistic is its MMD^2, and the threshold one for that.
    selected, unit = alive[best], float(deviations[alive[best]])
    still = summaries[selected].estimate() - summaries[selected].moving()
    reach = scales[best].ratio(observed[best] + np.array([2.0 * margin.max()]))[0] - ratios[best]
    tolerance = unit * max(2.0 * float(slack[best]), float(reach))
    null_distribution = ResampledDistribution(
        np.sort(scales[best].ratio(draws)) * unit + still, tolerance, flips.exhaustive, tie_weight
    )
    return Verdict(selected, null_distribution, scores)


def _score_of(summary: Summary, weight: float | None) -> Score:
    if weight is None:
        return RatioScore()
    # Negative where a few pairs of rows outweigh all others. The distribution of so few is not Pearson III, which ends
    # where their sum often is.
    return PValueScore(max(0.0, summary.draw_skewness()), weight)


def _accumulate(best: Array, scores: Array, sharpness: float) -> None:
    """Replace ``best`` by the maximum with ``scores``, or by the soft one: (r,) both."""
    if sharpness < math.inf:
        best[:] = np.logaddexp(best * sharpness, scores * sharpness) / sharpness
    else:
        np.maximum(best, scores, out=best)


def smallest_rank(summaries: Sequence[Summary], flips: Draws, weights: Array) -> Verdict:
    r"""Compare the smallest ``p_j / w_j`` with the smallest that each flip gives, p_j the p-value of kernel j alone.

    It is the correction of MMDAgg (Schrab et al. 2023) as a p-value: each kernel's own test has the level ``u w_j``, u
    as large as the flips allow. Ranks are the same whatever the unit of a kernel and however long the tail of its null;
    but of J kernels each has an outcome of rank 1, so the p-value is seldom less than J over the number of flips.
    """
    n_all = flips.n_draws + (not flips.exhaustive)
    means = np.empty((len(summaries), n_all))
    for row, summary in zip(means, summaries, strict=True):
        row[: flips.n_draws] = summary.drawn(flips)
        row[flips.n_draws :] = summary.estimate()
    # Of a kernel that has nothing to say all outcomes are equal.
    tolerances = np.full(len(summaries), np.inf)
    alive = _resolved(summaries)[1]
    for j in alive:
        tolerances[j] = summaries[j].tolerance()
    own = [np.sort(row) for row in means]
    # How many of all outcomes are at least as large, ties included.
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
    return Verdict(selected, null_distribution, -np.log10(ranks / n_all), is_resolved=bool(alive))


@dataclass(frozen=True, slots=True)
class RankDistribution:
    """The distribution of the smallest weighted rank, as a distribution of the MMD^2 of one kernel.

    Attributes
    ----------
    own
        All outcomes of that kernel, the observed one among them, increasing.
    tolerance
        Outcomes within this of each other are ties.
    weight
        The weight of the kernel.
    least
        For each outcome the smallest weighted rank over all kernels, increasing.
    """

    own: Array
    tolerance: float
    weight: float
    least: Array

    def pvalue(self, statistic: float) -> float:
        """Return the share of outcomes whose smallest weighted rank is at most that of ``statistic``."""
        rank = self.own.size - int(np.searchsorted(self.own, statistic - self.tolerance, side="left"))
        n_below = int(np.searchsorted(self.least, max(rank, 1) / self.weight, side="right"))
        return max(n_below, 1) / self.own.size

    def threshold(self, alpha: float) -> float:
        """Return the outcome that the statistic must exceed, infinity where there are too few for ``alpha``."""
        n = self.own.size
        # The p-value falls as the rank does: the largest rank that is still significant, by bisection.
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            n_below = max(1, int(np.searchsorted(self.least, middle / self.weight, side="right")))
            low, high = (middle, high) if n_below / n <= alpha else (low, middle - 1)
        # At least 1, the statistic itself; above the outcome of rank low + 1 the statistic has rank low at most.
        return math.inf if low < 1 else float(self.own[n - 1 - low]) + self.tolerance if low < n else -math.inf


def _resolved(summaries: Sequence[Summary]) -> tuple[Array, list[int]]:
    """Return the deviation of each kernel over all flips, and which of them are more than noise."""
    deviations = np.array([summary.deviation() for summary in summaries])
    noise = np.array([summary.rounding for summary in summaries])
    return deviations, [int(j) for j in np.flatnonzero(deviations > MIN_SNR * noise)]
