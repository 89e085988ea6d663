"""Heatmap of the dependence of all pairs of columns."""

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

from btests.comparison.format import counted, fitted

# Any: the types of these keys differ between versions of matplotlib.
_STYLE: Any = {"font.size": 10, "svg.hashsalt": "btests", "text.parse_math": False}

# Inches of a cell, of the margins, and of the largest and smallest map; cells of at least _NUMBERS hold numbers.
_CELL, _MARGIN, _LARGEST, _NARROWEST, _NUMBERS = 0.62, 2.6, 24.0, 3.0, 0.42

_LONGEST_NAME = 24

# Shades of cells: no dependence is visible against the page. Text in cells of more than _DARK is white.
_GREYS = LinearSegmentedColormap.from_list("greys", ["#EEEEEE", "black"])
_DARK = 0.45


def render(document: Mapping[str, Any], file_format: str) -> bytes:
    """Return the picture of all pairs as a file of the given format.

    The shade is the distance correlation, in greys that differ in print. A star marks dependent pairs.
    """
    names = [column["name"] for column in document["columns"]]
    side = min(_LARGEST, _CELL * len(names))
    width = max(side, _NARROWEST) + _MARGIN
    with mpl.rc_context(_STYLE):
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
        buffer = io.BytesIO()
        figure.savefig(buffer, format=file_format, dpi=150)
    return buffer.getvalue()


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
