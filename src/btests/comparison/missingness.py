"""Columns that are missing together, or where another has certain values, in plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from btests.comparison.cells import Cells, Mask
from btests.comparison.words import percent

# Rows of both sides that a condition must hold for to be worth a word.
_LEAST_ROWS = 20

# Levels whose rows are looked at.
_LEVELS = 20


@dataclass(frozen=True, slots=True)
class Holes:
    """How often cells are missing on both sides under some condition, in words, and the change in standard errors."""

    measure: str
    a: float
    b: float
    text: str
    errors: float


def holes(one: Cells, two: Cells) -> Holes | None:
    """Return how the missing cells of two columns go with the other column, where that changed most surely."""
    found = []
    if one.missing.any() and two.missing.any():
        text = f"{one.name} is missing together with {two.name}"
        found.append(_rate("missing together", text, one, one.missing & two.missing, None))
    for x, y in ((one, two), (two, one)):
        if x.missing.any():
            found += [_rate("missing by value", text, x, x.missing, rows) for text, rows in _conditions(x, y)]
    return max((each for each in found if each is not None), key=lambda each: each.errors, default=None)


def _conditions(x: Cells, y: Cells) -> list[tuple[str, Mask]]:
    """Return values that y may have, as masks, with the words for "x is missing where y has them"."""
    start = f"{x.name} is missing where {y.name}"
    if y.kind in ("category", "boolean"):
        counts = np.bincount(y.values[y.present].astype(np.int64), minlength=1)
        frequent = np.argsort(-counts, kind="stable")[:_LEVELS]
        return [(f"{start} is {y.show(float(j))!r}", (y.values == j) & y.present) for j in frequent]
    middle = float(np.median(y.values[y.present])) if y.present.any() else 0.0
    shown = y.show(middle)
    return [
        (f"{start} is above {shown}", (y.values > middle) & y.present),
        (f"{start} is at most {shown}", (y.values <= middle) & y.present),
    ]


def _rate(measure: str, text: str, cells: Cells, holes: Mask, among: Mask | None) -> Holes | None:
    shares, counts = [], []
    for second in (False, True):
        part = holes[cells.side(second)]
        part = part if among is None else part[among[cells.side(second)]]
        if len(part) < _LEAST_ROWS:
            return None
        shares.append(float(part.mean()))
        counts.append(len(part))
    a, b = shares
    pooled = (a * counts[0] + b * counts[1]) / sum(counts)
    if not 0.0 < pooled < 1.0:
        return None
    errors = abs(a - b) / math.sqrt(pooled * (1.0 - pooled) * (1.0 / counts[0] + 1.0 / counts[1]))
    often = "more" if b > a else "less"
    return Holes(measure, a, b, f"{text} {often} often: {percent(a)} -> {percent(b)}", errors)
