"""The picture of the Type II error over n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from studies.choices.choosers import BASELINE, PICKED
from studies.choices.curve import TARGET, curves, size_needed
from studies.choices.tally import Tally

# Okabe and Ito's colours, which any colour vision tells apart; the markers and dashes differ as well.
_STYLES = {
    PICKED: ("#000000", "s", (0, (4, 2)), "Gaussian(2), hand-picked"),
    "Aggregate()": ("#0072B2", "o", "-", "Aggregate(), 26 bandwidths"),
    "Aggregate(), rank": ("#56B4E9", "^", "-", "Aggregate(), rank"),
    "Aggregate, m/32 .. 32m": ("#009E73", "D", "-", "Aggregate, m/32 .. 32m"),
    "MaxRatio()": ("#CC79A7", "v", "-", "MaxRatio()"),
    "Weights()": ("#D55E00", "P", "-", "Weights(), the paper's"),
    BASELINE: ("#777777", "X", "-", "MedianHeuristic()"),
}


def draw_curve(path: Path, tallies: Sequence[Tally]) -> None:
    """Draw the error of each choice with its 95 % interval, on scales where the sizes that matter can be read."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator

    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    axes = figure.add_subplot()
    found = curves(tallies)
    for i, (choice, curve) in enumerate(sorted(found.items(), key=lambda item: size_needed(item[1]) or math.inf)):
        color, marker, dashes, label = _STYLES[choice]
        size = size_needed(curve)
        # A little to the side of one another, so that no interval hides another one.
        n = [t.n * (1.0 + 0.006 * (i - len(found) / 2.0)) for t in curve]
        error = [1.0 - t.rate for t in curve]
        axes.plot(
            n,
            error,
            color=color,
            marker=marker,
            markersize=6,
            linestyle=dashes,
            clip_on=False,
            zorder=3,
            label=f"{label}: {f'more than {curve[-1].n}' if size is None else f'n = {size:.0f}'}",
        )
        axes.vlines(n, *zip(*((1.0 - high, 1.0 - low) for low, high in _intervals(curve)), strict=True), color=color)
    axes.axhline(TARGET, color="#444444", linewidth=0.9, linestyle=(0, (1, 2)))
    sizes = sorted({t.n for curve in found.values() for t in curve})
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(n) for n in sizes])
    axes.set_yscale("function", functions=(_root, _square))
    ticks = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.set_yticklabels([f"{100 * tick:g} %" for tick in ticks])
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("rows of each sample, n (logarithmic)")
    axes.set_ylabel("Type II error at level .05 (square-root scale)")
    axes.set_title("Blobs, blocks of sqrt(n) rows: how many rows a choice of the kernel needs", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        loc="lower left",
        frameon=False,
        labelcolor="linecolor",
        title="rows for a Type II error of 5 %:",
        alignment="left",
        bbox_to_anchor=(0.0, 0.0),
    )
    figure.savefig(path, dpi=130)


def _intervals(curve: Sequence[Tally]) -> list[tuple[float, float]]:
    return [t.interval(0.95) for t in curve]


def _root(values: object) -> object:
    import numpy as np

    return np.sqrt(np.maximum(np.asarray(values, dtype=np.float64), 0.0))


def _square(values: object) -> object:
    import numpy as np

    return np.square(np.asarray(values, dtype=np.float64))
