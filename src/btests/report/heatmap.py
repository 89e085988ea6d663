"""Heat maps of pairs of columns, and matrices of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from btests.report.svg import (
    SHADES,
    Caption,
    PlotArea,
    Scale,
    bottom_axis,
    bottom_label,
    bottom_line,
    clipped,
    element,
    left_label,
    points,
    shade,
    shortened,
)

# Room below for names on a slant.
_SLANT = 64.0

Point = tuple[float, float]

#: Label, first and last edge, ticks, and whether these are names that must all be shown.
Axis = tuple[str, tuple[float, float], Sequence[tuple[float, str]], bool]

# Values below this share of the largest are level: there is no line between them, which would be that of noise.
_LEVEL = 0.02

# Text on this shade or a stronger one is in the colour of the page.
_STRONG = 5


def zero_line(grid: Sequence[Sequence[float]]) -> list[tuple[Point, Point]]:
    """Return pieces of the line where the values of a grid pass zero, in rows and columns of the grid.

    Marching squares: on each square of four neighbours the line enters and leaves through sides whose ends differ in
    sign, at the point where a straight line between them is zero.

    Examples
    --------
    >>> zero_line([[-1.0, 1.0], [-1.0, 1.0]])
    [((0.0, 0.5), (1.0, 0.5))]
    """
    pieces = []
    least = _LEVEL * max((abs(value) for row in grid for value in row), default=0.0)
    for r in range(len(grid) - 1):
        for c in range(len(grid[r]) - 1):
            corners = ((r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c))
            if max(abs(grid[i][j]) for i, j in corners) <= least:
                continue  # the sign is noise where both sides have almost no rows
            crossings = []
            for (r0, c0), (r1, c1) in zip(corners, corners[1:] + corners[:1], strict=True):
                first, second = grid[r0][c0], grid[r1][c1]
                if (first < 0) != (second < 0):
                    part = first / (first - second)
                    crossings.append((r0 + part * (r1 - r0), c0 + part * (c1 - c0)))
            crossings.sort()
            pieces += list(zip(crossings[::2], crossings[1::2], strict=True))
    return pieces


def _cells(grid: Sequence[Sequence[float]], frame: PlotArea) -> Markup:
    """Return one rectangle for each run of equal shades in a row; row 0 is at the bottom."""
    largest = max((abs(value) for row in grid for value in row), default=0.0)
    left, right = frame.x
    bottom, top = frame.y
    width, height = (right - left) / len(grid[0]), (bottom - top) / len(grid)
    found = []
    for r, row in enumerate(grid):
        shades = [shade(value, largest) for value in row]
        start = 0
        for c in range(1, len(row) + 1):
            if c == len(row) or shades[c] != shades[start]:
                colour = shades[start]
                side = "a" if colour > 0 else "b" if colour < 0 else ""
                # Half a pixel of overlap avoids visible hairlines between the cells.
                found.append(
                    element(
                        "rect",
                        class_=f"w{side}{abs(colour)}",
                        x=left + start * width,
                        y=bottom - (r + 1) * height,
                        width=(c - start) * width + 0.5,
                        height=height + 0.5,
                    )
                )
                start = c
    return Markup().join(found)


def regions(
    caption: Caption, across: Axis, up: Axis, grid: Sequence[Sequence[float]], smooth: tuple[int, int] | None
) -> Markup:
    """Return the map of a grid, whose rows go upwards.

    The zero contour is drawn in the first ``smooth`` rows and columns, where neighbours are similar.
    """
    slanted = across[3] and not _fits(across[2])
    frame = PlotArea(
        height=330.0 + _SLANT * slanted, left=92.0 if up[3] else 74.0, top=8.0, bottom=42.0 + _SLANT * slanted
    )
    x, y = Scale(across[1], frame.x), Scale(up[1], frame.y)
    n_rows, n_columns = len(grid), len(grid[0])

    def place(point: Point) -> Point:
        column = frame.x[0] + (point[1] + 0.5) * (frame.x[1] - frame.x[0]) / n_columns
        row = frame.y[0] + (point[0] + 0.5) * (frame.y[1] - frame.y[0]) / n_rows
        return column, row

    inner = [row[: smooth[1]] for row in grid[: smooth[0]]] if smooth else []
    line = "".join(points([place(start), place(end)]) for start, end in zero_line(inner))
    letters = [
        element("text", letter, class_="note middle", x=place(point)[0], y=place(point)[1] + 4)
        for letter, point in _extremes(grid)
    ]
    return frame.drawing(
        caption,
        _cells(grid, frame),
        element("path", class_="even", d=line) if line else Markup(),
        *letters,
        _left(frame, up[0], up[2], y),
        _slanted(frame, across[0], across[2], x) if slanted else bottom_axis(frame, across[0], across[2], x),
    )


def _fits(marks: Sequence[tuple[float, str]]) -> bool:
    """Return whether names fit side by side."""
    return max((len(text) for _, text in marks), default=0) * 7.4 * len(marks) < 240


def _slanted(
    frame: PlotArea, label: str, marks: Sequence[tuple[float, str]], place: Callable[[float], float]
) -> Markup:
    """Return the axis below with all its names, on a slant."""
    parts = [bottom_line(frame)]
    for value, text in marks:
        x, y = place(value) + 4, frame.y[0] + 12
        shown, full = element("tspan", clipped(text, 1.6 * _SLANT)), element("title", text)
        parts.append(
            element("text", shown, full, class_="tick end", x=x, y=y, transform=f"rotate(-40 {x:.1f} {y:.1f})")
        )
    return Markup().join([*parts, bottom_label(frame, label)])


def _extremes(grid: Sequence[Sequence[float]]) -> Sequence[tuple[str, Point]]:
    """Return the extremes of each side, for readers who cannot distinguish the colours."""
    cells = [(value, (r, c)) for r, row in enumerate(grid) for c, value in enumerate(row)]
    most, least = max(value for value, _ in cells), min(value for value, _ in cells)
    # The middle one of equal places.
    here, there = ([place for value, place in cells if value == end] for end in (most, least))
    return [("A", here[len(here) // 2])] * (most > 0) + [("B", there[len(there) // 2])] * (least < 0)


def _left(frame: PlotArea, label: str, marks: Sequence[tuple[float, str]], place: Callable[[float], float]) -> Markup:
    """Return the axis to the left without lines across the map."""
    parts = [
        element(
            "text",
            element("tspan", clipped(text, frame.left - 22)),
            element("title", text),
            class_="tick end",
            x=frame.left - 5,
            y=place(value) + 4,
        )
        for value, text in _thinned(marks, place)
    ]
    return Markup().join([*parts, left_label(frame, label)])


def _thinned(marks: Sequence[tuple[float, str]], place: Callable[[float], float]) -> list[tuple[float, str]]:
    """Return the marks whose labels do not overlap."""
    kept: list[tuple[float, str]] = []
    for value, text in marks:
        if not kept or abs(place(value) - place(kept[-1][0])) >= 13:
            kept.append((value, text))
    return kept


#: Width of the drawing, and of the names of rows.
_WIDTH, _NAMES = 760.0, 132.0

# Largest and smallest cell, and its height at most.
_LARGEST, _HIGHEST = 58.0, 30.0

# Room for names of columns that stand upright, and the width of a character of a name.
_UPRIGHT, _CHARACTER = 96.0, 6.9


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
    frame = PlotArea(
        _NAMES + width * len(columns) + 4.0, top + height * len(rows) + 4.0, left=_NAMES, top=top, right=4.0, bottom=4.0
    )
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
    return frame.drawing(caption, *parts, fixed=True)


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
    return _strip(["w0", *(f"wa{level}" for level in range(1, SHADES + 1))])


def ramp() -> Markup:
    """Return the colours of the map from one side to the other."""
    sides = [f"wa{level}" for level in range(SHADES, 0, -1)], [f"wb{level}" for level in range(1, SHADES + 1)]
    return _strip([*sides[0], "w0", *sides[1]])


def _strip(shades: Sequence[str]) -> Markup:
    """Return shades side by side, each given by its CSS class."""
    cells = [element("rect", class_=shade, x=i * 20, y=0, width=20.5, height=20) for i, shade in enumerate(shades)]
    size = f"0 0 {20 * len(shades)} 20"
    return element("svg", *cells, viewBox=size, preserveAspectRatio="none", class_="ramp", aria_hidden="true")
