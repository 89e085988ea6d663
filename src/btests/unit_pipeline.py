"""The test of samples of units, or of weighted rows, by the pipeline of all tests."""

from __future__ import annotations

from dataclasses import replace

from btests._validation import column_names
from btests.designs.units import UnitDesign
from btests.pipeline import Procedure
from btests.result import TestResult
from btests.statistics.cost import affordable_rows

# Kernels of a family that depends on the data, for an estimate of time before it is made.
_SEVERAL = 10


def run_units(procedure: Procedure, design: UnitDesign, *, n_kernels: int, shuffle: bool) -> TestResult:
    """Return the test of samples of units, or of weighted rows; ``n_kernels`` is 0 if it depends on the data."""
    x, y, paired, weighting = design.samples(procedure.seed, shuffle=shuffle, paired=procedure.paired)
    rule = procedure.setting.rule
    rule.check(min(len(x), len(y)))
    thinning = ""
    if rule.size is None and rule.exponent is None:
        most = affordable_rows(n_kernels or _SEVERAL, x, y, rule.budget)
        if most is not None:
            x, y = x.thinned(most), y.thinned(most)
            thinning = f"of larger units, {most} rows each were tested, evenly spaced, to keep within the budget"
    found = replace(procedure, paired=paired).run(x, y)
    n_rows = None if design.labels is None else (len(design.x), len(design.y))
    return replace(found, unit_rows=n_rows, note="; ".join(filter(None, (found.note, weighting, thinning))))


def check_in_memory(x: object, y: object, workers: object) -> None:
    """Raise unless both samples are arrays, sequences or data frames in memory, to be tested here."""
    for name, value in (("x", x), ("y", y)):
        here = hasattr(type(value), "__len__") and (hasattr(value, "__array__") or column_names(value) is not None)
        on_cluster = workers is not None or type(value).__module__.startswith("dask")
        if on_cluster or not (here or isinstance(value, (list, tuple))):
            raise ValueError(
                f"units and weights are for arrays and data frames in memory, and {name} is in files or "
                "on a cluster; load it first"
            )
