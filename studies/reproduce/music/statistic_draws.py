"""Draws of the statistic for Figure 1: moments, normality, thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from btests.diagnostics import Normality, ks_normality, skewness
from btests.plan import Array
from studies.harness.counts import Row
from studies.harness.estimates import NORMAL_95, proportion
from studies.reproduce.music.trends import Trend, decide, is_below
from studies.reproduce.music.trials import LEVEL

# The normal quantile of 1 - LEVEL, and of the 95 % intervals.
_ONE_SIDED = 1.6448536269514722

# Critical value at .05 of the distance times (sqrt(m) - 0.01 + 0.85 / sqrt(m)), for estimated mean and variance.
_STEPHENS = 0.895

_BINS = 45


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws of the statistic, (m,), under one hypothesis, and how many of them the test rejects."""

    truth: str
    block_size: int
    values: Array
    rejections: int = 0

    @property
    def label(self) -> str:
        """Name for the legend."""
        return "$H_0$" if self.truth == "H0" else "$H_A$"

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation of the draws."""
        return float(self.values.std(ddof=1))

    def normality(self) -> Normality:
        """Return the Kolmogorov-Smirnov test against a normal distribution with the mean and variance of the draws."""
        return ks_normality(self.values)

    def is_normal(self) -> bool:
        """Return whether they pass it, as in the paper."""
        return self.normality().pvalue > LEVEL

    def is_normal_corrected(self) -> bool:
        """Return whether they pass with the critical value for estimated mean and variance."""
        root = math.sqrt(self.values.size)
        return self.normality().statistic * (root - 0.01 + 0.85 / root) <= _STEPHENS

    def cells(self, *, is_last: bool) -> tuple[str, ...]:
        """Return a line of the table; in the paper all but one pass."""
        published = "fails" if is_last and self.truth == "H0" else "passes"
        return (
            str(self.block_size),
            self.truth,
            f"{self.mean:.3e}",
            f"{self.deviation:.3e}",
            f"{skewness(self.values):.2f}",
            published,
            _passes(self.is_normal()),
            f"{self.normality().pvalue:.2g}",
            _passes(self.is_normal_corrected()),
        )


def threshold(null: Draws) -> float:
    """Return the threshold at .05 of a normal distribution with mean 0 and the variance of the draws."""
    return _ONE_SIDED * null.deviation


def histogram(null: Draws, alternative: Draws) -> list[Row]:
    """Return how many draws of both hypotheses are in each of the bins that span both."""
    both = np.concatenate([null.values, alternative.values])
    edges = np.linspace(both.min(), both.max(), _BINS + 1)
    h0, ha = (np.histogram(own.values, edges)[0] for own in (null, alternative))
    return [
        {
            "block_size": null.block_size,
            "low": float(f"{low:.6g}"),
            "high": float(f"{high:.6g}"),
            "H0": int(a),
            "H_A": int(b),
        }
        for low, high, a, b in zip(edges[:-1], edges[1:], h0, ha, strict=True)
    ]


def check(draws: Mapping[tuple[str, int], Draws], sizes: tuple[int, int]) -> list[Trend]:
    """Return what the paper says of this figure, in its caption and its discussion."""
    small, large = sizes
    lines = []
    for (truth, b), own in draws.items():
        passes = not (truth == "H0" and b == large)
        p = own.normality().pvalue
        said = f"{truth} at B = {b} {'passes' if passes else 'fails'} a KS test of normality"
        holds = "yes" if own.is_normal() == passes else "no"
        lines.append(Trend(said, _passes(passes), _passes(own.is_normal()), f"p = {p:.2g}", holds))
    null = draws["H0", large]
    beyond = proportion(int(np.sum(null.values > threshold(null))), null.values.size)
    said = f"the normal threshold is conservative at B = {large}: less than .05 of the H0 draws beyond it"
    lines.append(is_below(said, "conservative", beyond, LEVEL))
    for b in sizes:
        said = f"the test itself, with the variance of its own blocks, is conservative at B = {b}"
        lines.append(is_below(said, "", proportion(draws["H0", b].rejections, null.values.size), LEVEL))
    for truth in ("H0", "H_A"):
        ratio, low, high = variance_ratio(draws[truth, small], draws[truth, large])
        said = f"the variance under {truth} falls from B = {small} to B = {large}"
        holds = decide(low, high, 1.0, above=True)
        lines.append(Trend(said, "falls", f"{ratio:.3g} times", f"{low:.3g} to {high:.3g} times", holds))
    ratio, low, high = variance_ratio(draws["H0", small], draws["H0", large])
    # Of a block under H0 it is 8 sum lambda^2 / (B (B - 1)), over n / B blocks.
    expected = (large - 1) / (small - 1)
    said = f"under H0 it falls as 1 / (n (B - 1)), {expected:.0f} times (corrected from the paper's 1 / (n B))"
    holds = "yes" if low <= expected <= high else "no"
    lines.append(Trend(said, "", f"{ratio:.3g} times", f"{low:.3g} to {high:.3g} times", holds))
    return lines


def variance_ratio(first: Draws, second: Draws) -> tuple[float, float, float]:
    """Return the ratio of two variances with a 95 % interval, which allows for tails that are not normal."""
    ratio = (first.deviation / second.deviation) ** 2
    error = math.sqrt(sum((_kurtosis(own.values) - 1.0) / own.values.size for own in (first, second)))
    return ratio, ratio * math.exp(-NORMAL_95 * error), ratio * math.exp(NORMAL_95 * error)


def _kurtosis(values: Array) -> float:
    deviations = (values - values.mean()) / values.std()
    return float(np.mean(deviations**4))


def _passes(is_normal: bool) -> str:
    return "passes" if is_normal else "fails"
