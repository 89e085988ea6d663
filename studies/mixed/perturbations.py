"""Known perturbations of one column, or of one relation, in the second of two tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from btests.comparison.cells import Cells
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A function of columns, size and generator, the column it perturbs, and the sizes of the study."""

    apply: Callable[[list[Cells], float, np.random.Generator], list[Cells]]
    column: str
    sizes: tuple[float, ...]


def shift(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Add ``size`` interquartile ranges to the air time."""
    return _altered(columns, "air_time", lambda values: values + size * _range(values))


def spread(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Move air times away from their median by the share ``size``."""
    return _altered(columns, "air_time", lambda values: values + size * (values - np.median(values)))


def category(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Assign the share ``size`` of all flights to the carrier UA."""
    cells = _named(columns, "carrier")
    return _put(columns, _assigned(cells, cells.levels.index("UA"), size, rng))


def new_level(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Assign the share ``size`` of all flights to a new carrier."""
    cells = _named(columns, "carrier")
    cells = _assigned(cells, len(cells.levels), size, rng)
    return _put(columns, replace(cells, levels=(*cells.levels, "new")))


def missing(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Remove the share ``size`` of the arrival delays."""
    cells = _named(columns, "arr_delay")
    lost = cells.missing.copy()
    lost[cells.n_a :] |= rng.random(len(cells) - cells.n_a) < size
    return _put(columns, replace(cells, missing=lost, values=np.where(lost, 0.0, cells.values)))


def relation(columns: list[Cells], size: float, rng: np.random.Generator) -> list[Cells]:
    """Shuffle the distances of the share ``size`` of the flights among them: no margin changes."""
    cells = _named(columns, "distance")
    values = cells.values.copy()
    chosen = cells.n_a + np.flatnonzero(rng.random(len(cells) - cells.n_a) < size)
    values[chosen] = values[rng.permutation(chosen)]
    return _put(columns, replace(cells, values=values))


#: The perturbations of the study by name.
PERTURBATIONS = {
    "shift": Perturbation(shift, "air_time", (0.05, 0.1, 0.2)),
    "spread": Perturbation(spread, "air_time", (0.1, 0.2, 0.4)),
    "category": Perturbation(category, "carrier", (0.04, 0.08, 0.12)),
    "new level": Perturbation(new_level, "carrier", (0.01, 0.02, 0.03)),
    "missing": Perturbation(missing, "arr_delay", (0.02, 0.04, 0.06)),
    "relation": Perturbation(relation, "distance", (0.05, 0.1, 0.2)),
}


def _altered(columns: list[Cells], name: str, change: Callable[[Array], Array]) -> list[Cells]:
    cells = _named(columns, name)
    values = cells.values.copy()
    second = np.zeros(len(cells), dtype=bool)
    second[cells.n_a :] = True
    second &= cells.present
    values[second] = np.rint(change(values[second]))  # whole minutes, as in the data
    return _put(columns, replace(cells, values=values))


def _assigned(cells: Cells, level: int, size: float, rng: np.random.Generator) -> Cells:
    values = cells.values.copy()
    chosen = np.flatnonzero(rng.random(len(cells)) < size)
    values[chosen[chosen >= cells.n_a]] = level
    return replace(cells, values=values)


def _range(values: Array) -> float:
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def _named(columns: list[Cells], name: str) -> Cells:
    return next(cells for cells in columns if cells.name == name)


def _put(columns: list[Cells], changed: Cells) -> list[Cells]:
    return [changed if cells.name == changed.name else cells for cells in columns]
