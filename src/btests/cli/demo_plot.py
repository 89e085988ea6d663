"""The picture of the demo: the data, and where each statistic lies in its null distribution."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from btests.cli.demo_result import LEVEL, Outcome
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
        above = figure.add_subplot(cells[0, 2])
        below = figure.add_subplot(cells[1, 2], sharex=above)
        label = "average of the block MMD² (no unit)"
        plot_null(outcome.same, above, alpha=LEVEL, title="P against P", label="")
        plot_null(outcome.different, below, alpha=LEVEL, title="P against Q", label=label)
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
