"""Maps of numbered columns and of columns of vectors, such as the pixels of images: where along them tables differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from btests.report.heatmap import Axis, regions
from btests.report.number_format import number, percent
from btests.report.svg import Caption
from btests.report.ticks import number_marks

# Fewest columns of a map, and their share of all columns.
_LEAST, _SHARE = 16, 0.5

# Characters of a name with a number at most: longer ones take long, and Python reads no numbers of 4301 digits.
_LONGEST = 200

# A name with one number, such as pixel17, or with two, such as pixel_0_12 or 3x4.
_NUMBERED = re.compile(r"(.*?)(?:(\d+)([_x,:]))?(\d+)\D*", re.DOTALL)

_HINT = (
    "The stronger the colour, the more rows would have to change in that column; which colour says on which side its "
    "mean is larger. Columns that were not compared are left without colour."
)

_VECTOR_HINT = (
    "The stronger the colour, the more standard deviations the means are apart; differences of less than four standard "
    "errors are left without colour."
)

# Values of a strip, whose single row is drawn so many times.
_STRIP = 4


class CoordinateMap(NamedTuple):
    """A drawing with its heading and title, a sentence on the place of its largest value, and what its colours are."""

    heading: str
    title: str
    text: str
    hint: str
    drawing: Markup


def coordinate_maps(columns: Sequence[Mapping[str, Any]], excluded: Sequence[Mapping[str, Any]]) -> list[CoordinateMap]:
    """Return the map of numbered columns, if they are most of all, and of each column of vectors."""
    found = coordinate_map(columns, excluded)
    vectors = (vector_map(place, column) for place, column in enumerate(columns))
    return ([] if found is None else [found]) + [own for own in vectors if own is not None]


def vector_map(place: int, column: Mapping[str, Any]) -> CoordinateMap | None:
    """Return the map of the differences of the means of a column of vectors; None for another column, or if all are 0.

    Parameters
    ----------
    place : int
        Place of the column, which makes the map's identifier.
    column : dict
        The column, of :meth:`Comparison.to_dict`.
    """
    means = (column["chart"] or {}).get("coordinates")
    if means is None or not any(value for row in means["differences"] for value in row):
        return None
    grid = [[-value for value in row] for row in means["differences"]]
    n_rows, n_columns = means["shape"]
    is_image = n_rows > 1
    n_cells = len(grid) * len(grid[0])
    one = "part" if n_cells < n_rows * n_columns else "pixel" if is_image else "number"
    shape = f"{n_rows} x {n_columns} pixels" if is_image else f"{n_columns} numbers in their order"
    among = f" in {n_cells} parts" if one == "part" else ""
    n_differ = sum(value != 0.0 for row in grid for value in row)
    largest = means["largest"]
    row, across = largest["row"] * n_rows // len(grid), largest["column"] * n_columns // len(grid[0])
    where = f"row {row}, column {across}" if is_image else f"number {across}"
    text = (
        f"The means of {n_differ} of {n_cells} {one}s differ by more than chance, most at {where} (counted from 0): "
        f"{number(largest['a'])} \u2192 {number(largest['b'])}."
    )
    caption = Caption(f"coordinates-map-{place}", f"Difference of the means of {column['name']}, {shape}{among}", text)
    drawing = _drawing(caption, grid, (n_rows, n_columns), "number of the vector")
    return CoordinateMap(f"Where along {column['name']}", caption.title, text, _VECTOR_HINT, drawing)


def coordinate_map(columns: Sequence[Mapping[str, Any]], excluded: Sequence[Mapping[str, Any]]) -> CoordinateMap | None:
    """Return the map of the effects of numbered columns, None if most columns are not numbers with numbered names.

    A grid where the names have two numbers, or one and the columns, constant ones included, are a square; else a strip.
    The value of a column is its effect, with the sign of the difference of the means of a and b.
    """
    effects = {column["name"]: _signed(column) for column in columns if column["kind"] == "number"}
    places = _places([*effects, *(column["name"] for column in excluded)])
    effects = {name: effect for name, effect in effects.items() if name in places}
    if len(effects) < max(_LEAST, _SHARE * len(columns)) or not any(effects.values()):
        return None
    n_rows, n_columns = (1 + max(place[k] for place in places.values()) for k in (0, 1))
    if n_rows * n_columns > 2 * len(places):  # a map of gaps
        return None
    grid = [[0.0] * n_columns for _ in range(n_rows)]
    for name, effect in effects.items():
        row, column = places[name]
        grid[row][column] = effect
    strongest = max(effects, key=lambda name: abs(effects[name]))
    n_changed = sum(effect != 0.0 for effect in effects.values())
    shape = f"{n_rows} x {n_columns} of them" if n_rows > 1 else f"{n_columns} in their order"
    among = f"{n_changed} of {len(effects)} numbered columns changed"
    text = f"{among}, {strongest} the most: {percent(abs(effects[strongest]))}."
    caption = Caption("coordinates-map", f"How much each column changed, {shape}", text)
    drawing = _drawing(caption, grid, (n_rows, n_columns), "number of the column")
    return CoordinateMap("Where along the numbered columns", caption.title, text, _HINT, drawing)


def _drawing(caption: Caption, grid: Sequence[Sequence[float]], shape: tuple[int, int], what: str) -> Markup:
    """Return the map of a grid; a single row is a strip, whose axis has the label ``what``."""
    n_rows, n_columns = shape
    across = _axis("column" if n_rows > 1 else what, n_columns)
    # Rows are drawn upwards, and those of an image go down.
    low, high = (-0.5, n_rows - 0.5) if n_rows > 1 else (0.0, 1.0)
    marks = [(n_rows - 1 - value, text) for value, text in number_marks(low, high)] if n_rows > 1 else []
    up: Axis = ("row" if n_rows > 1 else "", (low, high), marks, False)
    rows = grid[::-1] if n_rows > 1 else [grid[0]] * _STRIP
    return regions(caption, across, up, rows, None)


def _axis(label: str, n: int) -> Axis:
    return label, (-0.5, n - 0.5), number_marks(-0.5, n - 0.5), False


def _signed(column: Mapping[str, Any]) -> float:
    """Return the effect of a column, negative where the mean of b is larger."""
    a, b = column["a"]["mean"], column["b"]["mean"]
    effect = float(column["effect"] or 0.0)
    return -effect if a is not None and b is not None and b > a else effect


def _places(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return row and column of each numbered name, those with the most frequent beginning, counted from 0.

    Examples
    --------
    >>> _places(["p1", "p2", "p3", "p4", "id"])
    {'p1': (0, 0), 'p2': (0, 1), 'p3': (1, 0), 'p4': (1, 1)}
    >>> _places(["x_0_0", "x_0_1", "x_0_2"])
    {'x_0_0': (0, 0), 'x_0_1': (0, 1), 'x_0_2': (0, 2)}
    """
    short = [name for name in names if len(name) <= _LONGEST]
    found = {name: match.groups() for name in short if (match := _NUMBERED.fullmatch(name))}
    if not found:
        return {}
    kinds = Counter((start, between) for start, _, between, _ in found.values())
    kind = kinds.most_common(1)[0][0]
    numbers = {
        name: (int(first or 0), int(last))
        for name, (start, first, between, last) in found.items()
        if (start, between) == kind
    }
    least = [min(own[k] for own in numbers.values()) for k in (0, 1)]
    places = {name: (own[0] - least[0], own[1] - least[1]) for name, own in numbers.items()}
    side = math.isqrt(len(places))
    if kind[1] is None and side * side == len(places) == 1 + max(place for _, place in places.values()):
        return {name: divmod(place, side) for name, (_, place) in places.items()}
    return places
