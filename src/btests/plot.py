"""Pictures of results in matplotlib: null distributions, block values, columns of tables, and wealth over time.

Results have them as methods, ``result.plot()`` and ``found["column"].plot()``. Each returns its `matplotlib.axes.Axes`.
Samples differ in line and fill as well as in colour, so that a picture can be printed in black and white.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from btests._imports import optional
from btests._text import printable
from btests.nulls.distributions import NullDistribution
from btests.plan import Array
from btests.report.number_format import percent
from btests.report.ticks import moments, number_marks, time_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours, which all kinds of colour vision tell apart.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#C3C9CF", "#222222"

_BINS = 40

# Thresholds of this size are beyond every value: no statistic would be significant.
_FAR = 1e300

# Columns of a table in one picture, and characters of a name on an axis.
_MOST_COLUMNS, _LONGEST_NAME = 30, 28

_DASHES = (0, (4, 3))


class Tested(Protocol):
    """What the picture of a null distribution needs of a result."""

    @property
    def statistic(self) -> float:
        """Observed value."""

    @property
    def pvalue(self) -> float:
        """P-value."""

    @property
    def null_distribution(self) -> NullDistribution:
        """Distribution of the statistic under the null hypothesis."""


def new_axes(ax: Axes | None, figsize: tuple[float, float] = (6.4, 3.6)) -> Axes:
    """Return the given axes, or those of a new figure of pyplot, which notebooks show."""
    if ax is not None:
        return ax
    found = optional("matplotlib.pyplot", "python -m pip install 'btests[plot]'")
    if isinstance(found, str):
        raise ImportError(f"plots need matplotlib; {found}")
    axes: Axes = found.subplots(figsize=figsize, layout="constrained")[1]
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def plot_null(
    result: Tested, ax: Axes | None = None, *, alpha: float = 0.05, title: str = "", label: str = "MMD²"
) -> Axes:
    """Plot the null distribution of a test, with the observed value and the threshold at level ``alpha``."""
    axes = new_axes(ax)
    edges, shares = null_histogram(result.null_distribution, result.statistic)
    axes.stairs(100.0 * shares, edges, fill=True, color=GREY, label="if there were no difference")
    axes.set_ylim(0.0, 135.0 * float(shares.max(initial=1e-9)))  # room for the legend
    threshold = result.null_distribution.threshold(alpha)
    if abs(threshold) < _FAR:
        axes.axvline(threshold, 0, 0.76, color=INK, linestyle=_DASHES, linewidth=1.4, label=f"threshold at {alpha:g}")
    color = ORANGE if result.pvalue <= alpha else BLUE
    axes.axvline(result.statistic, 0, 0.76, color=color, linewidth=2.8, label="observed")
    verdict = "different" if result.pvalue <= alpha else "no difference found"
    begin = f"{title}: " if title else ""
    axes.set(title=f"{begin}{verdict}, p = {result.pvalue:.4g}", xlabel=label, ylabel="share of draws (%)")
    axes.margins(x=0.08)
    axes.ticklabel_format(axis="x", scilimits=(-3, 4))
    axes.legend(
        loc="upper center", ncols=3, fontsize=9, handlelength=1.4, columnspacing=1.4, borderaxespad=0.0, frameon=False
    )
    return axes


def null_histogram(distribution: NullDistribution, statistic: float, bins: int = _BINS) -> tuple[Array, Array]:
    """Return edges (bins + 1,) of a null distribution and the share of it in each bin (bins,).

    Of draws it is their histogram. Of another distribution, differences of its p-values between quantiles.
    """
    draws = getattr(distribution, "draws", getattr(distribution, "own", None))
    if draws is not None:
        low, high = float(draws[0]), float(draws[-1])
        if not high > low:
            half = 0.5 * abs(low) if abs(low) > 1e-300 else 0.5
            low, high = low - half, high + half
        counts, edges = np.histogram(draws, bins=bins, range=(low, high))
        return edges, counts / max(1, len(draws))
    quantiles = [distribution.threshold(alpha) for alpha in (0.999, 0.001)]
    low, high = (q if math.isfinite(q) else statistic for q in quantiles)
    edges = np.linspace(low, high, bins + 1) if high > low else np.array([low - 0.5, low + 0.5])
    tail = np.array([distribution.pvalue(float(edge)) for edge in edges])
    return edges, np.maximum(0.0, -np.diff(tail))


def plot_blocks(values: Array, ax: Axes | None = None) -> Axes:
    """Plot a histogram of block values (n_blocks,), with zero and their mean."""
    if len(values) < 2:
        raise ValueError("one block has no histogram of block values; plot(kind='null') has the null distribution")
    axes = new_axes(ax)
    axes.hist(values, bins=min(_BINS, max(5, round(math.sqrt(len(values))))), color=GREY, edgecolor="white", lw=0.4)
    axes.axvline(0.0, color=INK, linestyle=_DASHES, linewidth=1.4, label="0")
    axes.axvline(float(values.mean()), color=BLUE, linewidth=2.8, label="mean")
    axes.set(title=f"{len(values)} blocks", xlabel="MMD² of a block", ylabel="blocks")
    axes.legend(frameon=False)
    return axes


def plot_distributions(chart: Mapping[str, Any], names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Plot the distributions of a column in two samples: bars of levels, or histograms."""
    axes = new_axes(ax)
    a, b = (100.0 * np.asarray(chart[side], dtype=np.float64) for side in ("a", "b"))
    if chart["type"] == "bars":
        labels = [_fitted(str(label)) for label in chart["labels"]]
        if any(chart["missing"] or ()):
            labels.append("missing")
            a, b = (np.append(shares, 100.0 * share) for shares, share in zip((a, b), chart["missing"], strict=True))
        places = np.arange(len(labels))
        axes.barh(places - 0.2, a, 0.4, color=BLUE, label=_fitted(names[0]))
        axes.barh(places + 0.2, b, 0.4, facecolor="white", edgecolor=ORANGE, hatch="///", label=_fitted(names[1]))
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
        axes.set(xlabel="share of rows (%)", ylabel=_fitted(str(chart["axis"])))
    else:
        times = moments(chart)
        edges = np.asarray(times or chart["edges"], dtype=np.float64)
        shares = chart.get("missing") or (0.0, 0.0)
        one, two = (
            f"{_fitted(name)}, {percent(share)} missing" if any(shares) else _fitted(name)
            for name, share in zip(names, shares, strict=True)
        )
        axes.stairs(a, edges, fill=True, color=BLUE, alpha=0.35, label=one)
        axes.stairs(b, edges, color=ORANGE, linewidth=2.0, linestyle=_DASHES, label=two)
        if times:
            axes.set_xticks(*zip(*time_ticks(times[0], times[-1]), strict=True))
        elif chart.get("form") in ("year", "duration"):
            axes.set_xticks(*zip(*number_marks(edges[0], edges[-1], form=chart["form"]), strict=True))
        axes.set(xlabel=_fitted(str(chart["axis"])), ylabel="share of rows (%)")
    axes.legend(frameon=False)
    return axes


def plot_effects(columns: Sequence[Any], ax: Axes | None = None, *, title: str = "") -> Axes:
    """Plot how much each column changed, the largest change first; columns without a change found are 0 and hollow."""
    shown = list(columns)[:_MOST_COLUMNS]
    axes = new_axes(ax, (6.4, 1.4 + 0.28 * len(shown)))
    places = np.arange(len(shown))
    effects = [100.0 * column.effect for column in shown]
    axes.barh(places, effects, color=BLUE, height=0.6)
    names = [f"{_fitted(column.name)}{' *' * column.changed}" for column in shown]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    more = f" ({len(shown)} of {len(columns)} columns)" if len(columns) > len(shown) else ""
    axes.set(xlabel="share of rows that changed (%), * significant", title=f"{title}{more}")
    axes.set_xlim(0.0, max(1.0, 1.1 * max(effects, default=0.0)))
    return axes


def plot_wealth(n_pairs: Array, log_wealth: Array, ax: Axes | None = None, *, alpha: float = 0.05) -> Axes:
    """Plot the wealth of a sequential test over pairs of rows, with the wealth that rejects at level ``alpha``."""
    axes = new_axes(ax)
    axes.plot(n_pairs, log_wealth / math.log(10.0), color=BLUE, linewidth=2.0, label="wealth")
    limit = -math.log10(alpha)
    axes.axhline(limit, color=INK, linestyle=_DASHES, linewidth=1.4, label=f"rejection at {alpha:g}")
    axes.set(xlabel="pairs of rows", ylabel="wealth (powers of ten)")
    axes.legend(frameon=False)
    return axes


def _fitted(text: str) -> str:
    """Return text for an axis: short, without control characters and the dollar signs that begin a formula."""
    text = printable(text)
    text = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")
