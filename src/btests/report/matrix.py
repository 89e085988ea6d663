"""Matrix of numbers in shades, with names of rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from btests.report.axes import SHADES, shade
from btests.report.svg import Caption, PlotArea, element, shortened

#: Width of the drawing, and of the names of rows.
_WIDTH, _NAMES = 760.0, 132.0

# Largest and smallest cell, and its height at most.
_LARGEST, _HIGHEST = 58.0, 30.0

# Room for names of columns that stand upright, and the width of a character of a name.
_UPRIGHT, _CHARACTER = 96.0, 6.9

# Text on this shade or a stronger one is in the colour of the page.
_STRONG = 5


class Shaded(NamedTuple):
    """One cell: a value of at least 0, its text, a title for pointers and screen readers, and whether it is marked."""

    value: float
    text: str
    title: str
    marked: bool


def matrix(
    caption: Caption, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Shaded | None]]
) -> Markup:
    """Return the drawing of a matrix; the shade of a cell is its value as a share of the largest, None is empty.

    All shades differ in lightness, and every cell has its number: the drawing can be read without colours.
    """
    width = min(_LARGEST, (_WIDTH - _NAMES - 4.0) / len(columns))
    height = min(_HIGHEST, max(width, 22.0))
    upright = max(map(len, columns)) * _CHARACTER > width - 4.0
    top = _UPRIGHT if upright else 24.0
    frame = PlotArea(_WIDTH, top + height * len(rows) + 4.0, left=_NAMES, top=top, right=4.0, bottom=4.0)
    largest = max((cell.value for row in cells for cell in row if cell is not None), default=0.0)
    parts = []
    for j, name in enumerate(columns):
        parts.append(_column_name(name, frame.left + (j + 0.5) * width, top - 8.0, upright=upright))
    for i, (name, row) in enumerate(zip(rows, cells, strict=True)):
        y = top + i * height
        shown, full = element("tspan", shortened(name, _NAMES - 14.0)), element("title", name)
        parts.append(element("text", shown, full, class_="tick end", x=_NAMES - 8.0, y=y + height / 2.0 + 4.0))
        for j, cell in enumerate(row):
            if cell is not None:
                parts.append(_cell(cell, (frame.left + j * width, y), (width, height), shade(cell.value, largest)))
    return frame.drawing(caption, *parts)


def _cell(cell: Shaded, place: tuple[float, float], size: tuple[float, float], level: int) -> Markup:
    """Return a rectangle with its number; a border of the page's colour is between neighbours."""
    fill = f"wa{level}" if level else "w0"
    words = "value middle" + " strong" * (level >= _STRONG) + " marked" * cell.marked
    return element(
        "g",
        element("title", cell.title),
        element("rect", class_=fill, x=place[0], y=place[1], width=size[0] - 1.5, height=size[1] - 1.5),
        element("text", cell.text, class_=words, x=place[0] + size[0] / 2.0 - 0.7, y=place[1] + size[1] / 2.0 + 3.5),
    )


def _column_name(name: str, x: float, y: float, *, upright: bool) -> Markup:
    full = element("title", name)
    if not upright:
        return element("text", element("tspan", name), full, class_="tick middle", x=x, y=y)
    shown = element("tspan", shortened(name, _UPRIGHT - 14.0))
    return element("text", shown, full, class_="tick", x=x + 4.0, y=y, transform=f"rotate(-90 {x + 4.0:.1f} {y:.1f})")


def steps() -> Markup:
    """Return the shades from none to the largest."""
    names = ["w0", *(f"wa{level}" for level in range(1, SHADES + 1))]
    cells = [element("rect", class_=name, x=i * 20, y=0, width=20.5, height=20) for i, name in enumerate(names)]
    size = f"0 0 {20 * len(names)} 20"
    return element("svg", *cells, viewBox=size, preserveAspectRatio="none", class_="ramp", aria_hidden="true")
