"""Change of the relation of two columns in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from btests.comparison.cells import Cells, Mask
from btests.comparison.changes import share_errors, shown_pair
from btests.comparison.features import pooled_ranks, relation_scores
from btests.comparison.format import percent
from btests.plan import Array

# Scores of a column in the association.
_SCORES = 4

# Scores of a number without the indicator of missing cells.
_PLAIN_SCORES = 2

# Minimum standard errors of a change of missing cells to be the measure of a relation.
_ENOUGH = 3.0


def relation_measure(one: Cells, two: Cells) -> tuple[str, float, float, str]:
    """Return the name of a measure, its value on both sides, and both in words.

    If missing cells changed more significantly than present ones: how often both are missing, or one is missing given
    values of the other. Otherwise, for two numbers, the correlation of their pooled ranks if that changed clearly; or,
    as for categories, the root of the summed squared correlations between their scores, which has no sign.
    """
    both = one.present & two.present
    sides = (one.side(False), one.side(True))
    ranks = pooled_ranks(one), pooled_ranks(two)
    scores = _scores((one, two), ranks, _PLAIN_SCORES)
    empty = holes(one, two)
    values = _change([[score[s][both[s]] for score in scores] for s in sides])
    if empty is not None and empty.errors > max(_ENOUGH, values):
        return empty.measure, empty.a, empty.b, empty.text
    if ranks[0] is not None and ranks[1] is not None:
        a, b = (correlation(ranks[0][s][both[s]], ranks[1][s][both[s]]) for s in sides)
        if abs(a - b) > 0.02:
            return _worded("rank correlation", a, b)
    elif one.kind == two.kind == "boolean":
        return _worded("correlation", *(correlation(*(c.values[s][both[s]] for c in (one, two))) for s in sides))
    given = _by_value(one, two)
    if given is not None:
        return given.measure, given.a, given.b, given.text
    scores = _scores((one, two), ranks, _SCORES)
    return _worded("association", *(_association(*(score[s] for score in scores)) for s in sides))


@dataclass(frozen=True, slots=True)
class ByValue:
    """Change of a column among the rows with some value of another column, in words, and in standard errors."""

    measure: str
    a: float
    b: float
    text: str
    errors: float


def _by_value(one: Cells, two: Cells) -> ByValue | None:
    """Return the most significant change of a column given the other one; None if none has three standard errors."""
    found = (
        change
        for x, y in ((one, two), (two, one))
        for condition in _conditions(y)
        for change in _given(x, y, condition, one.present & two.present)
    )
    best = max(found, key=lambda change: change.errors, default=None)
    return None if best is None or best.errors < _ENOUGH else best


def _given(x: Cells, y: Cells, condition: Condition, both: Mask) -> Iterator[ByValue]:
    """Yield the changes of the values of x among the rows that fulfil a condition on y."""
    values = [x.values[x.side(k)][(both & condition.rows)[x.side(k)]] for k in (False, True)]
    n, m = map(len, values)
    if min(n, m) < _LEAST_ROWS:
        return
    if not x.has_levels:
        a, b = (float(side.mean()) for side in values)
        error = math.sqrt(sum(float(side.var(ddof=1)) / len(side) for side in values))
        shown = shown_pair(x, a, b)
        text = f"mean {x.name} {shown[0]} -> {shown[1]} where {y.name} {condition.text}"
        yield ByValue("mean by value", a, b, text, abs(a - b) / error if error > 0.0 else 0.0)
        return
    for j in np.argsort(-x.counts(), kind="stable")[:_LEVELS]:
        a, b = (float((side == j).mean()) for side in values)
        own = _word(x.show(float(j)))
        text = f"{x.name} {own} {percent(a)} -> {percent(b)} where {y.name} {condition.text}"
        if y.has_levels:
            text = f"{y.name} by {x.name}: {condition.level} {percent(a)} -> {percent(b)} {own}"
        yield ByValue("share by value", a, b, text, share_errors(a, b, n, m))


def _word(level: str) -> str:
    """Return a level, in quotes unless it is one word of letters."""
    return level if level.isalpha() else repr(level)


def _worded(measure: str, a: float, b: float) -> tuple[str, float, float, str]:
    return measure, a, b, f"{measure} {a:.3f} -> {b:.3f}"


def _change(sides: list[list[Array]]) -> float:
    """Return the largest change of a correlation between scores of two columns, in approximate standard errors."""
    if min(len(side[0]) for side in sides) < 2:
        return 0.0
    a, b = (_correlations(*side) for side in sides)
    return float(np.abs(a - b).max(initial=0.0) / np.sqrt(sum(1.0 / len(side[0]) for side in sides)))


def _scores(columns: Sequence[Cells], ranks: Sequence[Array | None], most: int) -> list[Array]:
    """Return the scores of columns that have products: (n, k) each."""
    found = [relation_scores(cells, rank, most) for cells, rank in zip(columns, ranks, strict=True)]
    return [score[:, :k] for score, k in found]


def correlation(x: Array, y: Array) -> float:
    """Return the correlation of two scores, 0 where one is constant: (n,) and (n,)."""
    if len(x) < 2 or x.std() == 0.0 or y.std() == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _association(x: Array, y: Array) -> float:
    """Return the root mean square of the canonical correlations of scores, which are nearly uncorrelated: 0 to 1."""
    squares = float(np.sum(_correlations(x, y) ** 2))
    return math.sqrt(min(1.0, squares / max(1, min(x.shape[1], y.shape[1]))))


def _correlations(x: Array, y: Array) -> Array:
    """Return the correlations of all scores of two columns: (n, k) and (n, l) to (k, l), 0 where one is constant."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.outer(x.std(axis=0), y.std(axis=0)) * len(x)
    return np.asarray((x.T @ y) / np.where(scale > 0.0, scale, np.inf))


# Minimum rows of each side that satisfy a reported condition.
_LEAST_ROWS = 20

# Levels that are considered as conditions.
_LEVELS = 20


@dataclass(frozen=True, slots=True)
class Holes:
    """Rate of missing cells on both sides under some condition, in words, and the change in standard errors."""

    measure: str
    a: float
    b: float
    text: str
    errors: float


def holes(one: Cells, two: Cells) -> Holes | None:
    """Return the most significant change of the missing cells of one column given the other column."""
    found = []
    if one.missing.any() and two.missing.any():
        text = f"{one.name} is missing together with {two.name}"
        found.append(_rate("missing together", text, one, one.missing & two.missing, None))
    for x, y in ((one, two), (two, one)):
        if x.missing.any():
            start = f"{x.name} is missing where {y.name}"
            found += [
                _rate("missing by value", f"{start} {own.text}", x, x.missing, own.rows) for own in _conditions(y)
            ]
    return max((each for each in found if each is not None), key=lambda each: each.errors, default=None)


@dataclass(frozen=True, slots=True)
class Condition:
    """Values of a column: in words, "is 'card'" or "is above 3", the level if it is one, and the rows with them."""

    text: str
    level: str
    rows: Mask


def _conditions(y: Cells) -> list[Condition]:
    """Return values that a column may have: each of its frequent levels, or the upper and the lower half."""
    if y.has_levels:
        frequent = np.argsort(-y.counts(), kind="stable")[:_LEVELS]
        levels = {int(j): _word(y.show(float(j))) for j in frequent}
        return [Condition(f"is {level}", level, (y.values == j) & y.present) for j, level in levels.items()]
    middle = float(np.median(y.values[y.present])) if y.present.any() else 0.0
    shown = y.show(middle)
    return [
        Condition(f"is above {shown}", "", (y.values > middle) & y.present),
        Condition(f"is at most {shown}", "", (y.values <= middle) & y.present),
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
