"""Encoding of columns as coordinates, fitted on the pooled rows only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.cells import Cells, pool, show_value
from btests.comparison.sources import load
from btests.comparison.text_styles import read_texts
from btests.comparison.tokens import as_categories, mark_missing
from btests.comparison.vectors import vector_scale
from btests.plan import Array, Index
from btests.scaling import robust_scale

#: Maximum number of levels of a category with a coordinate of their own; the others share one.
MOST_LEVELS = 20

#: Levels rarer than this share of the pooled rows have no coordinate of their own.
_RARE = 1e-3

#: Squared distance of two different levels, or of a missing and a present cell: the expected squared difference of two
#: draws of a variable with variance 1, as for numbers.
_SQUARED_DISTANCE = 2.0

#: Periods in seconds, by name.
PERIODS = {"day": 86400.0, "week": 7 * 86400.0, "year": 365.2425 * 86400.0}


@dataclass(frozen=True, slots=True)
class Code:
    """Encoding of one column as coordinates.

    Attributes
    ----------
    name, kind, unit : str
        As in ``Cells``.
    centre, scale : float
        For numbers and times: the pooled median, and the pooled interquartile range in units of a standard normal's (a
        wider range of quantiles if that is 0). The coordinate is ``arcsinh((value - centre) / scale)``.
    periods : tuple of str
        Periods of a time; their sine and cosine are coordinates.
    levels : tuple of str
        Levels of a category or boolean with a coordinate of their own.
    has_other, has_missing : bool
        Whether other levels, and missing cells, have a coordinate.
    n_directions : int
        Coordinates of vectors, which are divided by ``scale``; 0 for other columns.
    """

    name: str
    kind: str
    unit: str = ""
    centre: float = 0.0
    scale: float = 1.0
    periods: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    has_other: bool = False
    has_missing: bool = False
    n_directions: int = 0

    @classmethod
    def fit(cls, cells: Cells) -> Code:
        """Return the code of a column from the cells of both tables together."""
        has_missing = bool(cells.missing.any())
        if cells.vectors is not None:
            k, scale = cells.vectors.shape[1], vector_scale(cells.vectors[cells.present])
            return cls(cells.name, cells.kind, scale=scale, has_missing=has_missing, n_directions=k)
        if cells.has_levels:
            words, counts = cells.words, cells.counts()
            kept = [w for w, c in zip(words[:MOST_LEVELS], counts, strict=False) if c > max(1.0, _RARE * len(cells))]
            kept = kept or list(words[:1])
            has_other = len(kept) < int((counts > 0).sum())
            return cls(cells.name, cells.kind, levels=tuple(kept), has_other=has_other, has_missing=has_missing)
        values = cells.values[cells.present]
        centre, scale = robust_scale(values)
        periods = _periods(values, cells.unit) if cells.kind == "time" else ()
        return cls(cells.name, cells.kind, cells.unit, centre, scale, periods, has_missing=has_missing)

    @property
    def width(self) -> int:
        """Number of coordinates of the column."""
        own = len(self.levels) + self.has_other if self.levels else 1 + 2 * len(self.periods)
        own = self.n_directions or own
        return own + self.has_missing

    def transform(self, cells: Cells) -> Array:
        """Return the coordinates of cells: (n, width)."""
        out = np.zeros((len(cells), self.width))
        half = np.sqrt(_SQUARED_DISTANCE / 2.0)
        if self.levels:
            place = {word: j for j, word in enumerate(self.levels)}
            spot = np.array([place.get(word, len(self.levels)) for word in cells.words] or [0])
            # Levels that were absent when the code was fitted are at 0 if there is no coordinate for other levels.
            hot = spot[cells.values.astype(np.int64)]
            known = cells.present & (hot < len(self.levels) + self.has_other)
            out[np.flatnonzero(known), hot[known]] = half
        elif self.n_directions:
            assert cells.vectors is not None, "other tables have other directions"
            out[:, : self.n_directions] = cells.vectors / self.scale
        else:
            out[:, 0] = self.arcsinh_scaled(cells.values)
            for j, period in enumerate(self.periods):
                angle = 2.0 * np.pi * cells.values / PERIODS[period]
                out[:, 1 + 2 * j], out[:, 2 + 2 * j] = np.sin(angle), np.cos(angle)
            out[cells.missing] = 0.0
        if self.has_missing:
            out[cells.missing, -1] = half if self.levels else np.sqrt(_SQUARED_DISTANCE)
        return out

    def arcsinh_scaled(self, values: Array) -> Array:
        """Return ``arcsinh`` of numbers on the robust scale: (n,) to (n,)."""
        return np.asarray(np.arcsinh((values - self.centre) / self.scale))

    def __str__(self) -> str:
        missing = "; missing cells at the centre, with a coordinate for missing" if self.has_missing else ""
        if self.levels:
            other = ", one for all others" if self.has_other else ""
            missing = "; missing is a level of its own" if self.has_missing else ""
            count = len(self.levels)
            return f"{count} level{'s' * (count > 1)}, one coordinate each{other}{missing}"
        if self.n_directions:
            return f"vectors in {self.n_directions} directions / {self.scale:.4g}{missing}"
        centre = show_value(self.centre, self.kind, self.unit)
        scale = f"{self.scale:.4g}" + (" s" if self.kind == "time" else "")
        periods = f"; sine and cosine of the {' and the '.join(self.periods)}" if self.periods else ""
        return f"arcsinh((value - {centre}) / {scale}){periods}{missing}"


@dataclass(frozen=True, slots=True)
class Encoding:
    """Encoding of the columns of a table as coordinates; fitted on the pooled rows of two tables, reusable on others.

    Attributes
    ----------
    codes : tuple of Code
        One for each column that is compared.
    """

    codes: tuple[Code, ...]
    owners: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owners = tuple(j for j, code in enumerate(self.codes) for _ in range(code.width))
        object.__setattr__(self, "owners", owners)

    @classmethod
    def fit(cls, columns: Sequence[Cells]) -> Encoding:
        """Return the encoding of pooled columns."""
        return cls(tuple(Code.fit(cells) for cells in columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(code.name for code in self.codes)

    def encode(self, columns: Sequence[Cells], orders: tuple[Index, Index]) -> tuple[Array, Array]:
        """Return the coordinates of the rows of both tables, in these orders: (n_x, d) and (n_y, d)."""
        out = tuple(np.empty((len(order), len(self.owners))) for order in orders)
        start = 0
        for code, cells in zip(self.codes, columns, strict=True):
            found = code.transform(cells)
            own = slice(start, start + code.width)
            start += code.width
            out[0][:, own] = found[: cells.n_a][orders[0]]
            out[1][:, own] = found[cells.n_a :][orders[1]]
        return out[0], out[1]

    def transform(self, table: Any, missing: Sequence[str] = ()) -> Array:
        """Return the coordinates of the rows of a table, a data frame or a file: (n, d); ``missing`` as in compare."""
        found = mark_missing(load(table, "the table").table, missing)
        absent = [name for name in self.names if name not in found.column_names]
        if absent:
            raise ValueError(f"the table lacks {', '.join(map(repr, absent))}")
        vectors = next((code.name for code in self.codes if code.n_directions), None)
        if vectors is not None:
            raise ValueError(
                f"column {vectors!r} holds vectors, whose directions are those of the tables of the comparison"
            )
        cells = [_read_as(code.kind, code.name, found[code.name]) for code in self.codes]
        return np.concatenate([code.transform(column) for code, column in zip(self.codes, cells, strict=True)], axis=1)


def _read_as(kind: str, name: str, column: Any) -> Cells:
    """Return an arrow column as cells of a kind."""
    if kind == "category":
        column = as_categories(column)
    if kind in ("time", "number"):
        field = arrow().field(name, column.type)
        column, *_ = read_texts((column, column.slice(0, 0)), (field, field), None, ("the table", ""), [])
    cells = pool(name, column, column.slice(0, 0))
    if cells.kind != kind and cells.present.any():
        raise ValueError(f"column {name!r} of the table is of the kind {cells.kind}, and {kind} where it was learned")
    return cells


def _periods(values: Array, unit: str) -> tuple[str, ...]:
    """Return the periods that times resolve: at least two of them covered, in steps finer than a quarter of one."""
    if values.size == 0:
        return ()
    if unit == "time":
        return ("day",)
    span = float(values.max() - values.min())
    found = []
    for name, period in PERIODS.items():
        rest = values % period
        if span >= 2.0 * period and float(rest.max() - rest.min()) > period / 4.0:
            found.append(name)
    return tuple(found)
