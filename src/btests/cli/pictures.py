"""Pictures of commands: the demo, and a heatmap of the dependence of all pairs of columns."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

from btests.cli.demo import LEVEL, Outcome
from btests.comparison.format import counted, fitted
from btests.datasets import BLOB_SPACING
from btests.plan import Array
from btests.plot import BLUE, INK, ORANGE, plot_null

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
_PAIRS_STYLE: Any = {"font.size": 10, "svg.hashsalt": "btests", "text.parse_math": False}

# More points than this are a smear, not a picture.
_POINTS = 2000

# The cell around the blob in the middle of the grid, shown enlarged.
_LOW, _HIGH = 2.5 * BLOB_SPACING, 3.5 * BLOB_SPACING

# Inches of a cell, of the margins, and of the largest and smallest map; cells of at least _NUMBERS hold numbers.
_CELL, _MARGIN, _LARGEST, _NARROWEST, _NUMBERS = 0.62, 2.6, 24.0, 3.0, 0.42

_LONGEST_NAME = 24

# Shades of cells: no dependence is visible against the page. Text in cells of more than _DARK is white.
_GREYS = LinearSegmentedColormap.from_list("greys", ["#EEEEEE", "black"])
_DARK = 0.45


def draw_demo(outcome: Outcome, file_format: str) -> bytes:
    """Return the picture of the demo, data and null distributions, as a file of the given format."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(13.0, 5.2), layout="constrained")
        figure.suptitle("B-test on the blobs: one distribution or two?", fontsize=15, fontweight="bold")
        cells = figure.add_gridspec(2, 3, width_ratios=[1.0, 1.0, 1.4])
        _draw_data(figure.add_subplot(cells[:, 0]), figure.add_subplot(cells[:, 1]), outcome.p, outcome.q)
        above = figure.add_subplot(cells[0, 2])
        below = figure.add_subplot(cells[1, 2], sharex=above)
        label = "average of the block MMD² (no unit)"
        plot_null(outcome.same, above, alpha=LEVEL, title="P against P", label="")
        plot_null(outcome.different, below, alpha=LEVEL, title="P against Q", label=label)
        return _saved(figure, file_format)


def _saved(figure: Figure, file_format: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=file_format, dpi=150)
    return buffer.getvalue()


def _draw_data(grid: Axes, blob: Axes, p: Array, q: Array) -> None:
    """Draw both samples: the whole grid, and one blob of it enlarged."""
    n = min(len(p), _POINTS)
    grid.set_title(f"{n} rows of each sample" if n == len(p) else f"{n} of {len(p)} rows of each sample")
    blob.set_title("one blob, enlarged")
    for axes, size in ((grid, 3.0), (blob, 22.0)):
        axes.scatter(p[:n, 0], p[:n, 1], s=size, c=BLUE, marker="o", alpha=0.6, linewidths=0, label="P, long blobs")
        axes.scatter(q[:n, 0], q[:n, 1], s=size, c=ORANGE, marker="^", alpha=0.6, linewidths=0, label="Q, round blobs")
        axes.set_aspect("equal")
        axes.set_xlabel("first coordinate (sd of a blob of Q)")
    grid.set_ylabel("second coordinate (sd of a blob of Q)")
    grid.add_patch(
        Rectangle((_LOW, _LOW), BLOB_SPACING, BLOB_SPACING, fill=False, edgecolor=INK, linewidth=1.2, zorder=3)
    )
    edge = (0.35 * BLOB_SPACING, 5.65 * BLOB_SPACING)
    grid.set(xlim=edge, ylim=edge)
    blob.set(xlim=(_LOW, _HIGH), ylim=(_LOW, _HIGH), xticks=(40, 45, 50), yticks=(40, 45, 50))
    for side in ("top", "right"):
        blob.spines[side].set_visible(True)
    blob.legend(loc="upper left", markerscale=1.2, handletextpad=0.1, borderaxespad=0.2)


def draw_pairs(document: Mapping[str, Any], file_format: str) -> bytes:
    """Return the picture of all pairs as a file of the given format.

    The shade is the distance correlation, in greys that differ in print. A star marks dependent pairs.
    """
    names = [column["name"] for column in document["columns"]]
    side = min(_LARGEST, _CELL * len(names))
    width = max(side, _NARROWEST) + _MARGIN
    with mpl.rc_context(_PAIRS_STYLE):
        figure = Figure(figsize=(width, width), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
        axes = figure.add_subplot()
        edges = np.arange(len(names) + 1) - 0.5
        image = axes.pcolormesh(
            edges,
            edges,
            _strengths(document, names),
            cmap=_GREYS,
            vmin=0.0,
            vmax=1.0,
            edgecolors="white",
            linewidth=1.2,
        )
        axes.set_aspect("equal")
        _mark(axes, document, names, side / len(names))
        _label(axes, names, side / len(names))
        figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02, aspect=30).set_label("distance correlation")
        figure.suptitle(_title(document), fontsize=11, x=0.02, ha="left")
        return _saved(figure, file_format)


def _title(document: Mapping[str, Any]) -> str:
    n_found, n_pairs = sum(pair["dependent"] for pair in document["pairs"]), len(document["pairs"])
    return (
        f"{fitted(document['table'], _LONGEST_NAME).rstrip()}: {n_found} of {counted(n_pairs, 'pair')} dependent\n"
        f"* p <= {document['alpha']:g}, corrected by Holm's method; {document['rows']['tested']} rows"
    )


def _strengths(document: Mapping[str, Any], names: list[str]) -> Any:
    """Return distance correlations below the diagonal, masked elsewhere: (c, c)."""
    grid = np.full((len(names), len(names)), np.nan)
    for pair in document["pairs"]:
        grid[_place(pair, names)] = pair["distance_correlation"]
    return np.ma.masked_invalid(grid)


def _place(pair: Mapping[str, Any], names: list[str]) -> tuple[int, int]:
    """Return row and column of a pair, below the diagonal."""
    first, second = sorted(names.index(name) for name in pair["columns"])
    return second, first


def _mark(axes: Axes, document: Mapping[str, Any], names: list[str], cell: float) -> None:
    """Write the distance correlation into each cell that has room, and a star if the pair is dependent."""
    for pair in document["pairs"]:
        row, column = _place(pair, names)
        strength = pair["distance_correlation"]
        number = f"{strength:.2f}" if cell >= _NUMBERS else ""
        text = f"{number}{'*' if pair['dependent'] else ''}"
        color = "white" if strength > _DARK else "black"
        weight = "bold" if pair["dependent"] else "normal"
        axes.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            color=color,
            fontsize=min(9.0, (22.0 if number else 45.0) * cell),
            weight=weight,
        )


def _label(axes: Axes, names: list[str], cell: float) -> None:
    shown = [fitted(name, _LONGEST_NAME).rstrip() for name in names]
    size = min(10.0, 60.0 * cell)  # a line of text takes 1.2 of its size in points, 72 of which are an inch
    axes.set_xticks(range(len(names)), shown, rotation=90, fontsize=size)
    axes.set_yticks(range(len(names)), shown, fontsize=size)
    # The first row and the last column hold no pair.
    axes.set_xlim(-0.5, len(names) - 1.5)
    axes.set_ylim(len(names) - 0.5, 0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
