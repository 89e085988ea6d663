"""Cells of the study, and the trials of each: all tests of a trial get the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from btests.plan import Array
from studies.features.methods import CHOICES, EQUAL, LARGE, SLOW, UNEQUAL, Test, few_frequencies, runs
from studies.features.problems import NULLS, PROBLEMS
from studies.harness.counts import Row
from studies.harness.rejections import ProblemCell, count_rejections

#: Levels by the names of their columns.
LEVELS = {"rejections": 0.05, "at_01": 0.01, "at_001": 0.001}

#: Rows of y by those of x, where samples have different lengths.
SHORT = {600: 30, 10_000: 300, 100_000: 1000}

#: Trials by rows of x, of samples of one length and of different lengths.
EQUAL_TRIALS = {16_384: 200, 65_536: 100}
SHORT_TRIALS = {600: 400, 10_000: 50, 100_000: 8}

#: Trials by rows of x, for a choice of discriminants.
CHOICE_TRIALS = {600: 60, 10_000: 20, 16_384: 60}

#: Trials by rows a side, where they are many.
LARGE_TRIALS = {100_000: 40, 1_000_000: 5}

# Trials of tests that take most of the time, by the rows of x.
_SLOW_TRIALS = {600: 100, 10_000: 100, 16_384: 40, 65_536: 20, 100_000: 10, 1_000_000: 3}

# The test that others are compared with, on the same rows.
_REFERENCE = "default"


def equal_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the problems with samples of one length."""
    for n, trials in EQUAL_TRIALS.items():
        for place, problem in enumerate(PROBLEMS):
            # Of the larger number of rows, the problems that are also tested with different lengths.
            few = (place < 2 and n == min(EQUAL_TRIALS)) if quick else (n == min(EQUAL_TRIALS) or problem.short > 0.0)
            if few:
                yield ProblemCell(place, problem.name, n, 2 if quick else trials)


def short_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the problems with samples of different lengths."""
    for n, trials in SHORT_TRIALS.items():
        for place, problem in enumerate(PROBLEMS):
            if problem.short and not (quick and (n > 600 or place > 1)):
                yield ProblemCell(place, problem.name, n, 2 if quick else trials)


def large_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield all problems with many rows a side."""
    for n, trials in LARGE_TRIALS.items():
        for place, problem in enumerate(PROBLEMS):
            if not (quick and (n > min(LARGE_TRIALS) or place > 0)):
                yield ProblemCell(place, problem.name, n, 1 if quick else trials)


def choice_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the problems, with samples of one length and of different lengths, for a choice of discriminants."""
    for n, trials in CHOICE_TRIALS.items():
        for place, problem in enumerate(PROBLEMS):
            if (n not in SHORT or problem.short) and not (quick and (n > 600 or place > 0)):
                yield ProblemCell(place, problem.name, n, 2 if quick else trials)


def null_cells(quick: bool) -> Iterator[ProblemCell]:
    """Yield the samples without a difference."""
    for place, (name, (_, n_x, _, trials)) in enumerate(NULLS.items()):
        yield ProblemCell(100 + place, name, n_x, 3 if quick else trials)


def _tests(methods: Mapping[str, Test], x: Array, y: Array, seed: int) -> dict[str, Callable[[], float]]:
    return {name: partial(test, x, y, seed) for name, test in methods.items() if runs(name)}


def count_equal(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the tests of samples of one length."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        slow = SLOW if trial >= _SLOW_TRIALS[cell.n] else ()
        methods = {name: test for name, test in EQUAL[cell.n].items() if name not in slow}
        return _tests(methods, *PROBLEMS[cell.place].samples(cell.n, cell.n, rng), trial)

    return count_rejections(cell, tests, trials, seed, LEVELS, reference=_REFERENCE)


def count_large(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the tests of many rows a side."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        slow = SLOW if trial >= _SLOW_TRIALS[cell.n] else ()
        methods = {name: test for name, test in LARGE.items() if name not in slow}
        return _tests(methods, *PROBLEMS[cell.place].samples(cell.n, cell.n, rng), trial)

    return count_rejections(cell, tests, trials, seed, LEVELS, reference=_REFERENCE)


def count_short(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the tests of samples of different lengths."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        left_out = set(SLOW if trial >= _SLOW_TRIALS[cell.n] else ())
        if cell.n > 600:
            left_out.add("all permutations, exact values")
        methods = {name: test for name, test in UNEQUAL.items() if name not in left_out}
        return _tests(methods, *PROBLEMS[cell.place].samples(cell.n, SHORT[cell.n], rng), trial)

    return count_rejections(cell, tests, trials, seed, LEVELS, reference=_REFERENCE)


def count_choices(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the default, with its discriminants and with those of one block."""

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        n_y = SHORT.get(cell.n, cell.n)
        return _tests(CHOICES, *PROBLEMS[cell.place].samples(cell.n, n_y, rng), trial)

    return count_rejections(cell, tests, trials, seed, LEVELS, reference=_REFERENCE)


def count_null(cell: ProblemCell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of the default by features where there is no difference."""
    draw, n_x, n_y, _ = NULLS[cell.problem]

    def tests(rng: np.random.Generator, trial: int) -> dict[str, Callable[[], float]]:
        return _tests({"default": few_frequencies}, draw(n_x, rng), draw(n_y, rng), trial)

    found = count_rejections(cell, tests, trials, seed, LEVELS)
    return [{"problem": row.pop("problem"), "n": row.pop("n"), "m": n_y} | row for row in found]
