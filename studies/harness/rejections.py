"""Rejections and CPU time of several tests on the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from studies.harness.counts import Row

#: From random numbers and the number of a trial to tests by name, which return their p-values.
Tests = Callable[[np.random.Generator, int], Mapping[str, Callable[[], float]]]


@dataclass(frozen=True, slots=True)
class ProblemCell:
    """A problem by its place in a list and its name, a number of rows or units, and trials."""

    place: int
    problem: str
    n: int
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.place}-{self.n}"


#: Columns of the trials in which a test rejects at the first level and the reference does not, and of the opposite.
ONLY_HERE, ONLY_REFERENCE = "only_here", "only_reference"


def count_rejections(
    cell: ProblemCell,
    tests: Tests,
    trials: range,
    seed: int,
    levels: Mapping[str, float],
    *,
    reference: str | None = None,
) -> list[Row]:
    """Return trials, rejections and CPU seconds of every test that was run.

    Parameters
    ----------
    cell : ProblemCell
        Problem and number of rows.
    tests : callable
        Draws the rows of a trial, and returns the tests of them.
    trials : range
        Numbers of the trials.
    seed : int
        Seed of all draws.
    levels : mapping of str to float
        Levels by the names of their columns.
    reference : str, optional
        First test of every trial. Rows have the trials in which a test and this one differ, too: that tells two tests
        of the same rows apart in far fewer trials than their powers do.
    """
    rows: dict[str, Row] = {}
    first = next(iter(levels.values()))
    columns = (*levels, *(() if reference is None else (ONLY_HERE, ONLY_REFERENCE)))
    for trial in trials:
        rng = np.random.default_rng([seed, cell.place, cell.n, trial])
        expected = False
        for name, test in tests(rng, trial).items():
            own = {"problem": cell.problem, "n": cell.n, "method": name, "trials": 0}
            row = rows.setdefault(name, own | dict.fromkeys(columns, 0) | {"seconds": 0.0})
            began = time.process_time()
            pvalue = test()
            row["seconds"] += time.process_time() - began
            row["trials"] += 1
            for level, alpha in levels.items():
                row[level] += int(pvalue <= alpha)
            if reference is not None:
                rejects = pvalue <= first
                expected = rejects if name == reference else expected
                row[ONLY_HERE] += int(rejects and not expected)
                row[ONLY_REFERENCE] += int(expected and not rejects)
    return [row | {"seconds": round(row["seconds"], 4)} for row in rows.values()]
