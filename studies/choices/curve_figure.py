"""The figure of the Type II error over n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from studies.choices.curve import TARGET, curves, size_needed
from studies.choices.selectors import BASELINE, PICKED
from studies.harness.counts import Row
from studies.harness.estimates import proportion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, safe for colour-blind readers; markers and dashes differ as well.
_STYLES = {
    PICKED: ("#000000", "s", (0, (4, 2)), "Gaussian(2), hand-picked"),
    "Aggregate()": ("#0072B2", "o", "-", "Aggregate(), 26 bandwidths"),
    "Aggregate(), rank": ("#56B4E9", "^", "-", "Aggregate(), rank"),
    "Aggregate, m/32 .. 32m": ("#009E73", "D", "-", "Aggregate, m/32 .. 32m"),
    "MaxRatio()": ("#CC79A7", "v", "-", "MaxRatio()"),
    "Weights()": ("#D55E00", "P", "-", "Weights(), the paper's"),
    BASELINE: ("#777777", "X", "-", "MedianHeuristic()"),
}


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """Draw the error of each choice with its 95 % interval over n (logarithmic); errors on a square-root scale."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes = figure.add_subplot()
    found = curves(rows)
    for i, (choice, curve) in enumerate(sorted(found.items(), key=lambda item: size_needed(item[1]) or math.inf)):
        color, marker, dashes, label = _STYLES[choice]
        size = size_needed(curve)
        needed = f"more than {curve[-1]['n']}" if size is None else f"n = {size:.0f}"
        # A little beside one another, so that no interval hides another.
        n = [row["n"] * (1.0 + 0.006 * (i - len(found) / 2.0)) for row in curve]
        errors = [proportion(row["trials"] - row["rejections"], row["trials"]) for row in curve]
        axes.plot(
            n, [e.value for e in errors], color=color, marker=marker, markersize=6, linestyle=dashes, clip_on=False,
            zorder=3, label=f"{label}: {needed}",
        )  # fmt: skip
        axes.vlines(n, [e.low for e in errors], [e.high for e in errors], color=color)
    axes.axhline(TARGET, color="#444444", linewidth=0.9, linestyle=(0, (1, 2)))
    sizes = sorted({row["n"] for curve in found.values() for row in curve})
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(n) for n in sizes])
    axes.set_yscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0.0)), np.square))
    ticks = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.set_yticklabels([f"{100 * tick:g} %" for tick in ticks])
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("rows of each sample, n (logarithmic)")
    axes.set_ylabel("Type II error at level .05 (square-root scale)")
    axes.set_title("Blobs, blocks of sqrt(n) rows: how many rows a choice of the kernel needs", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        loc="lower left", frameon=False, labelcolor="linecolor", title="rows for a Type II error of 5 %:",
        alignment="left", bbox_to_anchor=(0.0, 0.0),
    )  # fmt: skip
