"""One piece of a cell: draw, test, count."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

import numpy as np

from btests._warnings import BTestWarning
from btests.api import btest
from btests.block_size import PAPER_EXPONENT, BlockRule
from btests.data.sample import Sample
from btests.nulls import SignFlip
from btests.nulls.protocol import wants_gram
from btests.pipeline import choose
from btests.selection import Aggregate, Setting
from studies.choices.changes import BY_NAME
from studies.choices.choosers import CHOICES, NULLS, PAIRED, PICKED, RERUN, Choice
from studies.choices.grid import LIMITS, Cell
from studies.choices.tally import LEVEL, Tally

#: Trials that one task does.
PIECE = 50

# The exponent of a block of all rows, also of those that a selector leaves over.
_ALL_ROWS = 1.0 - 1e-9


def run_piece(cell: Cell, piece: int, seed: int) -> list[Tally]:
    """Return the tallies of one piece of a cell: reproducible from its number, wherever it runs."""
    os.environ["BTESTS_THREADS"] = "1"
    change = BY_NAME[cell.problem]
    place = list(BY_NAME).index(cell.problem)
    first, last = piece * PIECE, min((piece + 1) * PIECE, cell.trials)
    found: dict[tuple[str, str], list[float]] = {}
    for trial in range(first, last):
        rng = np.random.default_rng([seed, place, cell.n, int(cell.is_null), trial])
        x, y = change.samples(cell.n, rng, is_null=cell.is_null)
        for name in cell.choices:
            for null, rejects, seconds in _test(cell, name, x, y, trial):
                counted = found.setdefault((name, null), [0, 0, 0.0])
                counted[0] += 1
                counted[1] += rejects
                counted[2] += seconds
    return [
        Tally(cell.study, cell.problem, cell.n, cell.is_null, name, null, int(n), int(hits), seconds)
        for (name, null), (n, hits, seconds) in found.items()
    ]


def _test(cell: Cell, name: str, x: Any, y: Any, trial: int) -> list[tuple[str, bool, float]]:
    """Return for each null whether it rejects, and the processor time."""
    kernel = _named(cell, name)
    whole = cell.study in ("whole", "published")
    size = LIMITS[cell.study].block_size if cell.study in LIMITS else None
    exponent = None if size is not None else _ALL_ROWS if whole else PAPER_EXPONENT
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)
        began = time.process_time()
        if len(cell.nulls) > 1 and not isinstance(kernel, Aggregate):
            # One choice serves all nulls. Fresh rows are in random order already: no shuffle.
            selection = choose(kernel, Sample(x), Sample(y), Setting(BlockRule(size)))
            kernel, x, y = selection.kernel, selection.x.first(len(selection.x)), selection.y.first(len(selection.y))
        for null in cell.nulls:
            if isinstance(kernel, Aggregate) and not isinstance(NULLS[null], SignFlip):
                continue  # it takes no other
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
            raise ValueError(f"nobody has picked a kernel for {cell.problem!r}")
        return picked
    return {"pairs": PAIRED, "published": RERUN, **dict.fromkeys(LIMITS, PAIRED)}.get(cell.study, CHOICES)[name]
