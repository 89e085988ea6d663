"""Trials of the study: draw, test, count."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from btests._warnings import BTestWarning
from btests.api import btest
from btests.block_size import PAPER_EXPONENT, BlockRule
from btests.data.sample import Sample
from btests.nulls import SignFlip
from btests.nulls.null import wants_gram
from btests.selection import Aggregate, Setting, choose
from studies.choices.cells import LIMITS, Cell
from studies.choices.problems import BY_NAME
from studies.choices.selectors import CHOICES, NULLS, PAIRED, PICKED, RERUN, Choice
from studies.harness.counts import Row

#: The level of all tests in the study.
LEVEL = 0.05

#: Trials of one task.
TASK_TRIALS = 50

# The exponent of a block of all rows, also of those that a selector holds out.
_ALL_ROWS = 1.0 - 1e-9


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return rejections and CPU seconds of every choice with every null, on the same draws."""
    problem = BY_NAME[cell.problem]
    place = list(BY_NAME).index(cell.problem)
    sums: dict[tuple[str, str], list[float]] = {}
    for trial in trials:
        rng = np.random.default_rng([seed, place, cell.n, int(cell.is_null), trial])
        x, y = problem.samples(cell.n, rng, is_null=cell.is_null)
        for name in cell.choices:
            for null, rejects, seconds in _test(cell, name, x, y, trial):
                own = sums.setdefault((name, null), [0, 0.0])
                own[0] += rejects
                own[1] += seconds
    return [
        {
            "study": cell.study,
            "problem": cell.problem,
            "n": cell.n,
            "is_null": cell.is_null,
            "choice": name,
            "null": null,
            "trials": len(trials),
            "rejections": int(hits),
            "seconds": round(seconds, 3),
        }
        for (name, null), (hits, seconds) in sums.items()
    ]


def _test(cell: Cell, name: str, x: Any, y: Any, trial: int) -> list[tuple[str, bool, float]]:
    """Return for each null whether it rejects, and the CPU seconds."""
    kernel = _named(cell, name)
    whole = cell.study in ("whole", "published")
    size = LIMITS[cell.study].block_size if cell.study in LIMITS else None
    exponent = None if size is not None else _ALL_ROWS if whole else PAPER_EXPONENT
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)
        began = time.process_time()
        if len(cell.nulls) > 1 and not isinstance(kernel, Aggregate):
            # One selection serves all nulls. Fresh rows are in random order already: no shuffle.
            selection = choose(kernel, Sample(x), Sample(y), Setting(BlockRule(size)))
            kernel, x, y = selection.kernel, selection.x.first(len(selection.x)), selection.y.first(len(selection.y))
        for null in cell.nulls:
            if isinstance(kernel, Aggregate) and not isinstance(NULLS[null], SignFlip):
                continue  # no other null is supported
            rule: dict[str, Any] = {} if wants_gram(NULLS[null]) else {"block_size": size, "block_exponent": exponent}
            result = btest(x, y, kernel=kernel, null=NULLS[null], seed=trial, shuffle=False, **rule)
            ended = time.process_time()
            outcomes.append((null, result.rejects(LEVEL), ended - began))
            began = ended
    return outcomes


def _named(cell: Cell, name: str) -> Choice:
    if name == PICKED:
        picked = BY_NAME[cell.problem].picked
        if picked is None:
            raise ValueError(f"there is no hand-picked kernel for {cell.problem!r}")
        return picked
    return {"pairs": PAIRED, "published": RERUN, **dict.fromkeys(LIMITS, PAIRED)}.get(cell.study, CHOICES)[name]
