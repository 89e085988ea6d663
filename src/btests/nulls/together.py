"""One null for several kernels on the same rows: sign flips that all of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.blocks import Array
from btests.nulls.laws import DrawnLaw, Law
from btests.nulls.signs import Flips
from btests.summary import LOUD, Summary


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which kernel spoke, the law of its MMD^2 among all of them, and what each of them scored: (J,).

    Where nothing ``is_heard`` none of them spoke, and the first stands for all.
    """

    spoke: int
    law: Law
    scores: Array
    is_heard: bool = True


def largest_ratio(summaries: Sequence[Summary], flips: Flips) -> Verdict:
    r"""Compare the largest ``z_j = eta_j / sd_j`` with the largest that each flip gives.

    The variance of all flips is closed, ``2 sum C^2`` for a core C, and no flip changes it: z_j is eta_j in a unit that
    is the same for every draw, so the maximum over j is as exact as a single kernel. Pairs inside a group, which no
    flip moves, are left out of eta_j here: a kernel so narrow that it sees one of them and little else would have a
    huge ratio in every draw, and outshout all others. A kernel that no flip moves at all, 0 or constant on these rows,
    has nothing to say; where all are such, the p-value is 1.
    """
    deviations, alive = _heard(summaries)
    if not alive:
        law = DrawnLaw(np.zeros(flips.n_draws), math.inf, flips.exhaustive)
        return Verdict(0, law, np.zeros(len(summaries)), is_heard=False)
    units = deviations[alive]
    still = np.array([summaries[j].mean() - _moving(summaries[j]) for j in alive])
    observed = np.array([_moving(summaries[j]) for j in alive]) / units
    slack = np.array([flips.tolerance(summaries[j]) for j in alive]) / units
    draws = np.full(flips.n_draws, -np.inf)
    for j, unit, constant in zip(alive, units, still, strict=True):
        np.maximum(draws, (flips.means(summaries[j]) - constant) / unit, out=draws)
    # The first of those that are equal but for rounding: narrow kernels that see the same few duplicates, say.
    best = int(np.argmax(observed + slack >= (observed - slack).max()))
    scores = np.zeros(len(summaries))
    scores[alive] = observed
    # In the unit of the kernel that spoke: the statistic is its MMD^2, and the threshold one for that.
    law = DrawnLaw(np.sort(draws) * units[best] + still[best], 2.0 * slack.max() * units[best], flips.exhaustive)
    return Verdict(alive[best], law, scores)


def smallest_rank(summaries: Sequence[Summary], flips: Flips, weights: Array) -> Verdict:
    r"""Compare the smallest ``p_j / w_j`` with the smallest that each flip gives, p_j the p-value of kernel j alone.

    It is the correction of MMDAgg (Schrab et al. 2023) as a p-value: each kernel's own test has the level ``u w_j``, u
    as large as the flips allow. Ranks are the same whatever the unit of a kernel and however long the tail of its null;
    but of J kernels each has an outcome of rank 1, so the p-value is seldom less than J over the number of flips.
    """
    n_all = flips.n_draws + (not flips.exhaustive)
    means = np.empty((len(summaries), n_all))
    for row, summary in zip(means, summaries, strict=True):
        row[: flips.n_draws] = flips.means(summary)
        row[flips.n_draws :] = summary.mean()
    # Of a kernel that has nothing to say all outcomes are equal.
    tolerances = np.full(len(summaries), np.inf)
    alive = _heard(summaries)[1]
    for j in alive:
        tolerances[j] = flips.tolerance(summaries[j])
    own = [np.sort(row) for row in means]
    # How many of all outcomes are at least as large, ties included.
    counts = np.stack(
        [n_all - np.searchsorted(o, row - t, side="left") for o, row, t in zip(own, means, tolerances, strict=True)]
    )
    observed = np.array([summary.mean() for summary in summaries])
    ranks = np.array(
        [n_all - int(np.searchsorted(o, m - t)) for o, m, t in zip(own, observed, tolerances, strict=True)]
    )
    spoke = int(np.argmin(ranks / weights))
    least = np.sort((counts / weights[:, None]).min(axis=0))
    law = RankLaw(own[spoke], tolerances[spoke], float(weights[spoke]), least)
    return Verdict(spoke, law, -np.log10(ranks / n_all), is_heard=bool(alive))


@dataclass(frozen=True, slots=True)
class RankLaw:
    """The law of the smallest weighted rank, as a law of the MMD^2 of one kernel.

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


def _heard(summaries: Sequence[Summary]) -> tuple[Array, list[int]]:
    """Return the deviation of each kernel over all flips, and which of them are more than noise."""
    deviations = np.array([summary.deviation() for summary in summaries])
    noise = np.array([summary.rounding for summary in summaries])
    return deviations, [int(j) for j in np.flatnonzero(deviations > LOUD * noise)]


def _moving(summary: Summary) -> float:
    """Return the part of the average block value that flips move."""
    return float(summary.cores.sum()) / summary.blocks.n_blocks
