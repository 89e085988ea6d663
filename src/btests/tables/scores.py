"""From differences of features to p-values: several statistics under signs that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.blocks import Array

# Outcomes that differ by less than this share are equal on paper: sums made in another order.
_TIE = 1e-9

# Features in one product of matrices, about.
_FEATURES = 512


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of m statistics under r draws of signs, large if unlikely, and last for the data as they are: (m, r + 1).

    ``exhaustive`` if the draws are all that there are, the observed one among them.
    """

    scores: Array
    exhaustive: bool

    @property
    def observed(self) -> Array:
        """The scores of the data as they are: (m,)."""
        return self.scores[:, -1]

    def pvalues(self) -> Array:
        """Return the p-value of each statistic alone: (m,)."""
        return _share_above(self.scores, self.exhaustive)

    def corrected(self) -> Array:
        r"""Return p-values corrected for the number of statistics: (m,).

        Step-down (Westfall and Young 1993, algorithm 2.8 with scores in place of p-values): the largest score is
        compared with the largest of all that a draw gives, the second with the largest of those but the first, and so
        on.
        """
        order = np.argsort(-self.observed, kind="stable")
        out = np.empty(len(order))
        running = np.full(self.scores.shape[1], -np.inf)
        for j in order[::-1]:
            running = np.maximum(running, self.scores[j])
            # The observed column must hold the score of j itself, the largest of those from j on.
            out[j] = _share_above(running[None, :], self.exhaustive)[0]
        out[order] = np.maximum.accumulate(out[order])
        return out

    def grouped(self, owners: Sequence[int]) -> Scored:
        """Return the largest score of each owner: statistic j belongs to ``owners[j]``, which increase."""
        starts = np.searchsorted(owners, np.unique(owners))
        return Scored(np.maximum.reduceat(self.scores, starts, axis=0), self.exhaustive)

    def largest(self) -> Scored:
        """Return the largest of all scores as one statistic."""
        return Scored(self.scores.max(axis=0, keepdims=True), self.exhaustive)


def quadratic_scores(moving: Array, still: Array, signs: Array, groups: list[slice], exhaustive: bool) -> Scored:
    r"""Return scores of ``|c + sum_u s_u D_u|^2`` over m groups of features: (u, k), (k,), (u, r + 1) to (m, r + 1).

    Mean and variance over all signs are closed and no sign changes them: ``|c|^2 + sum |D_u|^2`` and ``4 sum_{u<v}
    <D_u, D_v>^2 + 4 sum_u <c, D_u>^2``. The score is the normal score of the scaled chi-squared law with these two
    moments (Satterthwaite): statistics of one feature and of many are then on one scale, and any increasing function
    of a statistic that signs do not change leaves the p-values exact.
    """
    out = np.zeros((len(groups), signs.shape[1]))
    for first, last in _portions(groups):
        begin = groups[first].start
        part = slice(begin, groups[last - 1].stop)
        totals = signs.T @ moving[:, part] + still[part]
        squares = np.add.reduceat(totals**2, [group.start - begin for group in groups[first:last]], axis=1)
        moments = [_moments(moving[:, group], still[group]) for group in groups[first:last]]
        out[first:last] = _normal_scores(squares, moments)
    return Scored(out, exhaustive)


def _portions(groups: list[slice]) -> list[tuple[int, int]]:
    """Return ranges of groups with some hundred features each: few products of matrices, and none that is huge."""
    found, first = [], 0
    for j, group in enumerate(groups):
        if group.stop - groups[first].start >= _FEATURES or j == len(groups) - 1:
            found.append((first, j + 1))
            first = j + 1
    return found


def _moments(d: Array, c: Array) -> tuple[float, float]:
    """Return mean and variance of ``|c + sum_u s_u D_u|^2`` over all signs: (u, k) and (k,) to two numbers."""
    lengths = np.einsum("uk,uk->u", d, d)
    across = float(((d.T @ d) ** 2).sum() - (lengths**2).sum())  # sum over u != v of <D_u, D_v>^2
    return float(c @ c + lengths.sum()), 2.0 * across + 4.0 * float(((d @ c) ** 2).sum())


def _normal_scores(squares: Array, moments: Sequence[tuple[float, float]]) -> Array:
    """Return the normal scores of squares with these means and variances: (r, m) to (m, r).

    Those of the scaled chi-squared law with the same moments, by the cube root of Wilson and Hilferty (1931).
    """
    mean, variance = (np.array(part)[:, None] for part in zip(*moments, strict=True))
    moves = (mean > 0.0) & (variance > 1e-24 * mean**2)  # else no sign moves it, and it has nothing to say
    ninth = np.where(moves, variance / np.where(moves, 9.0 * mean**2, 1.0), 1.0)
    ratio = squares.T / np.where(moves, mean, 1.0)
    return np.asarray(np.where(moves, (np.cbrt(ratio) - (1.0 - ninth)) / np.sqrt(ninth), 0.0))


def combine(looks: list[Scored]) -> tuple[float, Array]:
    """Return the p-value of the strongest of several looks, and the p-value of each; every look is one statistic.

    The smallest p-value over looks is compared with the smallest that each draw gives (the correction of MMDAgg).
    """
    own = np.stack([_share_above_all(look.scores[0], look.exhaustive) for look in looks])
    strongest = -np.log(own.min(axis=0))
    pvalue = float(_share_above(strongest[None, :], looks[0].exhaustive)[0])
    return max(pvalue, float(own[:, -1].min())), own[:, -1]


def _share_above(scores: Array, exhaustive: bool) -> Array:
    """Return the share of outcomes that are at least as large as the last: (m, r + 1) to (m,)."""
    level = scores[:, -1:] - _TIE * (1.0 + np.abs(scores[:, -1:]))
    draws = scores[:, :-1] if exhaustive else scores
    counts = np.maximum((draws >= level).sum(axis=1), 1)
    return np.asarray(counts / draws.shape[1])


def _share_above_all(scores: Array, exhaustive: bool) -> Array:
    """Return for each outcome the share that are at least as large: (r + 1,) to (r + 1,)."""
    among = np.sort(scores[:-1] if exhaustive else scores)
    below = np.searchsorted(among, scores - _TIE * (1.0 + np.abs(scores)), side="left")
    return np.asarray(np.maximum(among.size - below, 1) / among.size)
