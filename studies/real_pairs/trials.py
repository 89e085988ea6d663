"""Trials of the study: what each tool says about draws of a pair of tables."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from studies.harness.counts import Row, add_up
from studies.real_pairs.methods import METHODS, Method, warm_up
from studies.real_pairs.pairs import PAIRS, Frame, Pair

#: Trials of one task.
TASK_TRIALS = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """A pair by its place in ``PAIRS``, whether all of its rows are taken, and trials."""

    place: int
    whole: bool
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.place}-{'whole' if self.whole else 'draws'}"


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return the sums of what each tool says: verdicts, columns, p-values and CPU seconds."""
    pair = PAIRS[cell.place]
    if pair.missing:
        return []
    warm_up()
    return add_up(row for trial in trials for row in _trial(cell, pair, trial, seed))


def _trial(cell: Cell, pair: Pair, trial: int, seed: int) -> Iterator[Row]:
    a, b = pair.draw(np.random.default_rng([seed, cell.place, int(cell.whole), trial]), whole=cell.whole)
    own = {"pair": pair.name, "truth": pair.truth, "whole": cell.whole, "n_a": len(a), "n_b": len(b)}
    for method in METHODS:
        if not method.missing:
            yield own | {"columns": len(a.columns)} | _answer(method, a, b, trial)


def _answer(method: Method, a: Frame, b: Frame, seed: int) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages about their own dependencies
        began = time.process_time()
        found = method.find(a, b, seed)
        seconds = time.process_time() - began
    return {
        "method": method.name,
        "release": method.release,
        "trials": 1,
        "different": int(found.different),
        "any": int(found.n_marked > 0),
        "marked": found.n_marked,
        "tested": found.n_columns,
        "pvalue": found.pvalue,
        "seconds": round(seconds, 4),
    }
