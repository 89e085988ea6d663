"""The picture of the demo: the data, and where each statistic lies in its null distribution."""

from __future__ import annotations

import io
import math
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from btests.cli.demo_result import LEVEL, Outcome
from btests.datasets import BLOB_SPACING
from btests.nulls import ResampledDistribution
from btests.plan import Array
from btests.result import TestResult

# Any: what types these keys have differs between versions of matplotlib.
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#777777",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "btests",  # the same picture, the same file
}


# Okabe and Ito's colours, which any colour vision tells apart; the markers differ as well.
_BLUE, _ORANGE, _GREY, _INK = "#0072B2", "#D55E00", "#C3C9CF", "#222222"

# More points than this are a smear, not a picture.
_POINTS = 2000

# The cell around the blob in the middle of the grid, shown enlarged.
_LOW, _HIGH = 2.5 * BLOB_SPACING, 3.5 * BLOB_SPACING


def render(outcome: Outcome, file_format: str) -> bytes:
    """Return the picture as a file of the given format."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(13.0, 5.2), layout="constrained")
        figure.suptitle("B-test on the blobs: one distribution or two?", fontsize=15, fontweight="bold")
        cells = figure.add_gridspec(2, 3, width_ratios=[1.0, 1.0, 1.4])
        _draw_data(figure.add_subplot(cells[:, 0]), figure.add_subplot(cells[:, 1]), outcome.p, outcome.q)
        exponent = _exponent(outcome.same, outcome.different)
        above = figure.add_subplot(cells[0, 2])
        below = figure.add_subplot(cells[1, 2], sharex=above)
        _draw_null(above, outcome.same, "P against P", exponent)
        _draw_null(below, outcome.different, "P against Q", exponent)
        below.set_xlabel(rf"average of the block MMD² (in $10^{{{exponent}}}$, no unit)")
        buffer = io.BytesIO()
        figure.savefig(buffer, format=file_format, dpi=150)
    return buffer.getvalue()


def _draw_data(grid: Axes, blob: Axes, p: Array, q: Array) -> None:
    """Draw both samples: the whole grid, and one blob of it enlarged."""
    n = min(len(p), _POINTS)
    grid.set_title(f"{n} rows of each sample" if n == len(p) else f"{n} of {len(p)} rows of each sample")
    blob.set_title("one blob, enlarged")
    for axes, size in ((grid, 3.0), (blob, 22.0)):
        axes.scatter(p[:n, 0], p[:n, 1], s=size, c=_BLUE, marker="o", alpha=0.6, linewidths=0, label="P, long blobs")
        axes.scatter(q[:n, 0], q[:n, 1], s=size, c=_ORANGE, marker="^", alpha=0.6, linewidths=0, label="Q, round blobs")
        axes.set_aspect("equal")
        axes.set_xlabel("first coordinate (sd of a blob of Q)")
    grid.set_ylabel("second coordinate (sd of a blob of Q)")
    grid.add_patch(
        Rectangle((_LOW, _LOW), BLOB_SPACING, BLOB_SPACING, fill=False, edgecolor=_INK, linewidth=1.2, zorder=3)
    )
    edge = (0.35 * BLOB_SPACING, 5.65 * BLOB_SPACING)
    grid.set(xlim=edge, ylim=edge)
    blob.set(xlim=(_LOW, _HIGH), ylim=(_LOW, _HIGH), xticks=(40, 45, 50), yticks=(40, 45, 50))
    for side in ("top", "right"):
        blob.spines[side].set_visible(True)
    blob.legend(loc="upper left", markerscale=1.2, handletextpad=0.1, borderaxespad=0.2)


def _draw_null(axes: Axes, result: TestResult, title: str, exponent: int) -> None:
    """Draw the null distribution, and in it the statistic and the threshold, all in units of 10^exponent."""
    unit = 10.0**exponent
    verdict = "different" if result.rejects(LEVEL) else "no difference found"
    axes.set_title(f"{title}: {verdict}, p = {result.pvalue:.4g}")
    axes.set_ylabel("share of the draws (%)")
    if isinstance(result.null_distribution, ResampledDistribution):
        draws = result.null_distribution.draws / unit
        axes.hist(
            draws,
            bins=40,
            weights=np.full(draws.size, 100.0 / draws.size),
            color=_GREY,
            edgecolor="white",
            linewidth=0.4,
            label=f"null, {draws.size} sign flips",
        )
    # Room for the legend above the bars; the lines stop below it.
    axes.set_ylim(0.0, 1.35 * axes.get_ylim()[1])
    threshold = result.threshold(LEVEL) / unit
    if math.isfinite(threshold):
        dashes = (0, (4, 3))
        axes.axvline(threshold, 0, 0.76, color=_INK, linestyle=dashes, linewidth=1.4, label=f"threshold at {LEVEL:g}")
    color = _ORANGE if result.rejects(LEVEL) else _BLUE
    axes.axvline(result.statistic / unit, 0, 0.76, color=color, linewidth=2.8, label="observed")
    axes.margins(x=0.08)
    axes.legend(loc="upper center", ncols=3, fontsize=9, handlelength=1.4, columnspacing=1.4, borderaxespad=0.0)


def _exponent(*results: TestResult) -> int:
    """Return the power of ten in whose units the statistics have one digit before the point."""
    largest = max(max(abs(r.statistic), abs(r.threshold(0.5))) for r in results)
    return math.floor(math.log10(largest)) if largest > 0.0 else 0
