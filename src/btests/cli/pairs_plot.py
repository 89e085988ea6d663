"""Heatmap of the dependence of all pairs of columns."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from btests.comparison.format import fitted
from btests.plan import Array

# Any: the types of these keys differ between versions of matplotlib.
_STYLE: Any = {"font.size": 10, "svg.hashsalt": "btests", "axes.titlelocation": "left", "text.parse_math": False}

# Inches of a cell and of the margins; numbers stand in cells of at least _NUMBERS inches.
_CELL, _MARGIN, _LARGEST, _NUMBERS = 0.62, 3.4, 24.0, 0.42

_LONGEST_NAME = 24

# Shade of cells, from white to dark; text in darker cells than this is white.
_DARK = 0.55


def render(document: Mapping[str, Any], file_format: str) -> bytes:
    """Return the picture of all pairs as a file of the given format.

    The shade is the distance correlation, in greys that differ in print. A frame and a star mark dependent pairs.
    """
    names = [column["name"] for column in document["columns"]]
    side = min(_LARGEST, _CELL * len(names))
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(max(side, 2.4) + _MARGIN, max(side, 2.4) + _MARGIN - 0.6), layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow(_strengths(document, names), cmap="Greys", vmin=0.0, vmax=1.0)
        _mark(axes, document, names, side / len(names))
        _label(axes, names, side / len(names))
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
        bar.set_label("distance correlation")
        n_found = sum(pair["dependent"] for pair in document["pairs"])
        axes.set_title(
            f"{fitted(document['table'], 40).rstrip()}: {n_found} of {len(document['pairs'])} pairs dependent\n"
            f"* corrected p <= {document['alpha']:g} (Holm), {document['rows']['tested']} rows",
            fontsize=11,
        )
        buffer = io.BytesIO()
        figure.savefig(buffer, format=file_format, dpi=150)
    return buffer.getvalue()


def _strengths(document: Mapping[str, Any], names: list[str]) -> Array:
    """Return distance correlations below the diagonal, NaN elsewhere: (c, c)."""
    grid = np.full((len(names), len(names)), np.nan)
    for pair in document["pairs"]:
        grid[_place(pair, names)] = pair["distance_correlation"]
    return grid


def _place(pair: Mapping[str, Any], names: list[str]) -> tuple[int, int]:
    """Return row and column of a pair, below the diagonal."""
    first, second = sorted(names.index(name) for name in pair["columns"])
    return second, first


def _mark(axes: Axes, document: Mapping[str, Any], names: list[str], cell: float) -> None:
    """Write the distance correlation into each cell that has room, and a star if the pair is dependent."""
    for pair in document["pairs"]:
        row, column = _place(pair, names)
        strength = pair["distance_correlation"]
        number = f"{strength:.2f}\n" if cell >= _NUMBERS else ""
        text = f"{number}{'*' if pair['dependent'] else ''}"
        color = "white" if strength > _DARK else "black"
        weight = "bold" if pair["dependent"] else "normal"
        axes.text(column, row, text, ha="center", va="center", color=color, fontsize=min(9.0, 22 * cell), weight=weight)


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
    axes.set_xticks(np.arange(-0.5, len(names) - 1), minor=True)
    axes.set_yticks(np.arange(0.5, len(names)), minor=True)
    axes.grid(which="minor", color="#BBBBBB", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
