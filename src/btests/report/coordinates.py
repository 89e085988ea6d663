"""Map of numbered columns, such as the pixels of an image: where along them two tables differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from btests.report.heatmap import Axis, regions
from btests.report.number_format import percent
from btests.report.svg import Caption
from btests.report.ticks import number_marks

# Fewest columns of a map, and their share of all columns.
_LEAST, _SHARE = 16, 0.5

# A name with one number, such as pixel17, or with two, such as pixel_0_12 or 3x4.
_NUMBERED = re.compile(r"(.*?)(?:(\d+)([_x,:]))?(\d+)\D*", re.DOTALL)

# Values of a strip, whose single row is drawn so many times.
_STRIP = 4


class CoordinateMap(NamedTuple):
    """A drawing, its title, and a sentence on the place of its largest value."""

    title: str
    text: str
    drawing: Markup


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
    across = _axis("column" if n_rows > 1 else "number of the column", n_columns)
    # Rows are drawn upwards, and those of an image go down.
    low, high = (-0.5, n_rows - 0.5) if n_rows > 1 else (0.0, 1.0)
    marks = [(n_rows - 1 - value, text) for value, text in number_marks(low, high)] if n_rows > 1 else []
    up: Axis = ("row" if n_rows > 1 else "", (low, high), marks, False)
    rows = grid[::-1] if n_rows > 1 else grid * _STRIP
    return CoordinateMap(caption.title, text, regions(caption, across, up, rows, None))


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
    found = {name: match.groups() for name in names if (match := _NUMBERED.fullmatch(name))}
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
