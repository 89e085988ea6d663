"""What the draws of Figure 1 show: moments, normality, thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from btests.diagnostics import Normality, ks_normality, skewness
from btests.plan import Array
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.reproduce.music.trends import Trend, decide, is_below
from studies.reproduce.music.trials import LEVEL

# The normal quantile of 1 - LEVEL, and of the 95 % intervals.
_ONE_SIDED = 1.6448536269514722
_TWO_SIDED = 1.959963984540054

# Critical value at .05 of the distance times (sqrt(m) - 0.01 + 0.85 / sqrt(m)), for estimated mean and variance.
_STEPHENS = 0.895

_BINS = 45


@dataclass(frozen=True, slots=True)
class Law:
    """Draws of the statistic, (m,), and how many of them the test itself found significant."""

    truth: str
    block_size: int
    draws: Array
    rejections: int = 0

    @property
    def label(self) -> str:
        """A name for the legend."""
        return "$H_0$" if self.truth == "H0" else "$H_A$"

    @property
    def mean(self) -> float:
        """The average of the draws."""
        return float(self.draws.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the draws."""
        return float(self.draws.std(ddof=1))

    def normality(self) -> Normality:
        """Return the Kolmogorov-Smirnov test of the draws against a normal law with their mean and variance."""
        return ks_normality(self.draws)

    def is_normal(self) -> bool:
        """Whether they pass it, as in the paper."""
        return self.normality().pvalue > LEVEL

    def is_normal_corrected(self) -> bool:
        """Whether they pass with the critical value that knows of the estimated mean and variance."""
        root = math.sqrt(self.draws.size)
        return self.normality().statistic * (root - 0.01 + 0.85 / root) <= _STEPHENS

    def cells(self, *, is_last: bool) -> tuple[str, ...]:
        """Return a line of the table; the paper has all but one law pass."""
        published = "fails" if is_last and self.truth == "H0" else "passes"
        return (
            str(self.block_size),
            self.truth,
            f"{self.mean:.3e}",
            f"{self.deviation:.3e}",
            f"{skewness(self.draws):.2f}",
            published,
            _passes(self.is_normal()),
            f"{self.normality().pvalue:.2g}",
            _passes(self.is_normal_corrected()),
        )


def threshold(null: Law) -> float:
    """Return the threshold at .05 of a normal law with mean 0 and the variance of the draws."""
    return _ONE_SIDED * null.deviation


def histogram(null: Law, alternative: Law) -> list[Row]:
    """Return how many draws of each law are in each of the bins that span both."""
    both = np.concatenate([null.draws, alternative.draws])
    edges = np.linspace(both.min(), both.max(), _BINS + 1)
    h0, ha = (np.histogram(law.draws, edges)[0] for law in (null, alternative))
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


def check(laws: Mapping[tuple[str, int], Law], sizes: tuple[int, int]) -> list[Trend]:
    """Return what the paper says of this figure, in its caption and its discussion."""
    small, large = sizes
    lines = []
    for (truth, b), law in laws.items():
        passes = not (truth == "H0" and b == large)
        p = law.normality().pvalue
        said = f"{truth} at B = {b} {'passes' if passes else 'fails'} a KS test of normality"
        holds = "yes" if law.is_normal() == passes else "no"
        lines.append(Trend(said, _passes(passes), _passes(law.is_normal()), f"p = {p:.2g}", holds))
    null = laws["H0", large]
    beyond = proportion(int(np.sum(null.draws > threshold(null))), null.draws.size)
    said = f"the normal threshold is conservative at B = {large}: less than .05 of the H0 draws beyond it"
    lines.append(is_below(said, "conservative", beyond, LEVEL))
    for b in sizes:
        said = f"the test itself, with the variance of its own blocks, is conservative at B = {b}"
        lines.append(is_below(said, "", proportion(laws["H0", b].rejections, null.draws.size), LEVEL))
    for truth in ("H0", "H_A"):
        ratio, low, high = variance_ratio(laws[truth, small], laws[truth, large])
        said = f"the variance under {truth} falls from B = {small} to B = {large}"
        holds = decide(low, high, 1.0, above=True)
        lines.append(Trend(said, "falls", f"{ratio:.3g} times", f"{low:.3g} to {high:.3g} times", holds))
    ratio, low, high = variance_ratio(laws["H0", small], laws["H0", large])
    # Of a block under H0 it is 8 sum lambda^2 / (B (B - 1)), over n / B blocks.
    expected = (large - 1) / (small - 1)
    said = f"under H0 it falls as 1 / (n (B - 1)), {expected:.0f} times (corrected from the paper's 1 / (n B))"
    holds = "yes" if low <= expected <= high else "no"
    lines.append(Trend(said, "", f"{ratio:.3g} times", f"{low:.3g} to {high:.3g} times", holds))
    return lines


def variance_ratio(first: Law, second: Law) -> tuple[float, float, float]:
    """Return the ratio of two variances with a 95 % interval, which allows for tails that are not normal."""
    ratio = (first.deviation / second.deviation) ** 2
    error = math.sqrt(sum((_kurtosis(law.draws) - 1.0) / law.draws.size for law in (first, second)))
    return ratio, ratio * math.exp(-_TWO_SIDED * error), ratio * math.exp(_TWO_SIDED * error)


def _kurtosis(values: Array) -> float:
    deviations = (values - values.mean()) / values.std()
    return float(np.mean(deviations**4))


def _passes(is_normal: bool) -> str:
    return "passes" if is_normal else "fails"
