"""Scores and p-values of several statistics under shared sign flips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from btests.plan import Array

# Relative tolerance of ties: equal outcomes differ by rounding of sums in another order.
_TIE = 1e-9

# Normal scores above which the correction for several statistics uses the upper tail.
_FAR = 7.0

# Approximate number of features per matrix product.
_FEATURES = 512


@dataclass(frozen=True, slots=True)
class ColumnFeatures:
    """Features of one column or pair, and statistics that are weighted sums of their squares.

    Attributes
    ----------
    moving, still : ndarray of shape (u, k) and (k,)
        D and c of the features (see ``SwapUnits``).
    weights : ndarray of shape (k, g)
        Weights of the squares of the k features in each of g statistics.
    counts : ndarray of shape (g,)
        Number of similar statistics of which the largest is used. Scores are corrected for it (Sidak's correction), so
        that groups of many statistics do not dominate single ones.
    """

    moving: Array
    still: Array
    weights: Array
    counts: Array

    @classmethod
    def of_one(cls, moving: Array, still: Array) -> ColumnFeatures:
        """Return features with the sum of all their squares as the one statistic."""
        return cls(moving, still, np.ones((len(still), 1)), np.ones(1))


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of m statistics under r draws of signs, and last for the observed data: (m, r + 1); large if unlikely.

    ``exhaustive`` if the draws are all sign patterns, including the observed one.
    """

    scores: Array
    exhaustive: bool

    @property
    def observed(self) -> Array:
        """Scores of the observed data: (m,)."""
        return self.scores[:, -1]

    def pvalues(self) -> Array:
        """Return the p-value of each statistic alone: (m,)."""
        return _share_above(self.scores, self.exhaustive)

    def corrected(self) -> Array:
        r"""Return p-values corrected for the number of statistics: (m,).

        Step-down (Westfall and Young 1993, algorithm 2.8 with scores in place of p-values): the largest score is
        compared with the largest score of each draw, the second with the largest without the first, and so on.
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


def quadratic_scores(features: Sequence[ColumnFeatures], signs: Array, exhaustive: bool) -> Scored:
    r"""Return scores of ``sum_j w_j (c_j + sum_u s_u D_uj)^2``, all statistics in turn: signs (u, r + 1) to (m, r + 1).

    Mean and variance over all signs are sign-invariant and in closed form: with features times the roots of their
    weights, ``|c|^2 + sum |D_u|^2`` and ``4 sum_{u<v} <D_u, D_v>^2 + 4 sum_u <c, D_u>^2``. The score is the normal
    score of the scaled chi-squared distribution with these two moments (Satterthwaite), so that statistics of one and
    of many features are on one scale. P-values remain exact, since the score is a sign-invariant increasing function.
    """
    out = np.empty((sum(part.weights.shape[1] for part in features), signs.shape[1]))
    done = 0
    for portion in _portions(features):
        totals = signs.T @ np.concatenate([part.moving for part in portion], axis=1)
        totals += np.concatenate([part.still for part in portion])
        totals *= totals
        start = 0
        for part in portion:
            k, g = part.weights.shape
            squares = totals[:, start : start + k] @ part.weights
            out[done : done + g] = _of_many(_normal_scores(squares, *_moments(part)), part.counts)
            start, done = start + k, done + g
    return Scored(out, exhaustive)


def _portions(features: Sequence[ColumnFeatures]) -> Iterator[list[ColumnFeatures]]:
    """Yield portions of about ``_FEATURES`` features, to bound number and size of the matrix products."""
    portion: list[ColumnFeatures] = []
    width = 0
    for part in features:
        portion.append(part)
        width += len(part.still)
        if width >= _FEATURES:
            yield portion
            portion, width = [], 0
    if portion:
        yield portion


def _moments(part: ColumnFeatures) -> tuple[Array, Array]:
    """Return mean and variance of each statistic over all signs: (g,) twice."""
    d, c, w = part.moving, part.still, part.weights
    lengths = (d**2) @ w
    # The sum over u != v of <D_u, D_v>^2.
    across = ((d.T @ d) ** 2 @ w * w).sum(axis=0) - (lengths**2).sum(axis=0)
    mean = (c**2) @ w + lengths.sum(axis=0)
    return mean, 2.0 * across + 4.0 * (((d * c) @ w) ** 2).sum(axis=0)


def _normal_scores(squares: Array, mean: Array, variance: Array) -> Array:
    """Return the normal scores of squares with these means and variances: (r, m) and (m,) twice to (m, r).

    Those of the scaled chi-squared distribution with the same moments, by the cube root of Wilson and Hilferty (1931).
    """
    varies = (mean > 0.0) & (variance > 1e-24 * mean**2)  # otherwise sign-invariant, without information
    ninth = np.where(varies, variance / np.where(varies, 9.0 * mean**2, 1.0), 1.0)
    ratio = squares / np.where(varies, mean, 1.0)
    scores = (np.cbrt(ratio) - (1.0 - ninth)) / np.sqrt(ninth)
    return np.where(varies, scores, 0.0).T


def _of_many(scores: Array, counts: Array) -> Array:
    """Return normal scores corrected for the maximum of ``counts`` independent ones: (m, r) and (m,) to (m, r)."""
    if (counts == 1.0).all():
        return scores
    from scipy.special import log_ndtr, ndtri_exp

    counts = counts[:, None]
    # By the lower tail, P(all below) = P(one below)^k; far out by the upper one, where k p equals 1 - (1 - p)^k.
    far = scores > _FAR
    near = ndtri_exp(counts * log_ndtr(np.where(far, 0.0, scores)))
    return np.where(far, -ndtri_exp(np.log(counts) + log_ndtr(-np.where(far, scores, 9.0 * _FAR))), near)


def combine(tests: Sequence[Scored], weights: Sequence[float] | None = None) -> tuple[float, Array]:
    """Return the corrected p-value of the strongest of several tests, and the p-value of each; one statistic per test.

    The smallest p-value over tests is compared with the smallest of each draw (the correction of MMDAgg); with weights,
    each p-value is first divided by the weight of its test.
    """
    own = np.stack([_share_above_all(test.scores[0], test.exhaustive) for test in tests])
    weighed = own if weights is None else own / np.array(weights)[:, None]
    strongest = -np.log(weighed.min(axis=0))
    pvalue = float(_share_above(strongest[None, :], tests[0].exhaustive)[0])
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
