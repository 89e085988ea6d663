"""The cells of the study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from btests.selection import Aggregate
from studies.choices.changes import BY_NAME, CHANGES, PUBLISHED_CHANGES
from studies.choices.choosers import (
    BLOCK_NULLS,
    CHOICES,
    CURVES,
    EXACT_NULLS,
    PAIRED,
    PICKED,
    QUADRATIC_NULLS,
    RERUN,
)


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows, and rows of a block, at which nulls that are right in the limit should be; None: all rows, or sqrt(n)."""

    n: int
    block_size: int | None
    nulls: tuple[str, ...]
    trials: int


def _inexact(nulls: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(null for null in nulls if null not in EXACT_NULLS)


#: Where every pair of a choice and a null that is not exact should hold its level. Values of blocks of two rows are not
#: skewed, so that even the paper's null has nothing to miss; those of four are, a little.
LIMITS = {
    "pairs-of-2": Limit(2000, 2, _inexact(BLOCK_NULLS), 2000),
    "pairs-of-4": Limit(2000, 4, _inexact(BLOCK_NULLS), 2000),
    "pairs-of-all": Limit(400, None, _inexact(QUADRATIC_NULLS), 600),
}

#: The parts of the study.
STUDIES = ("ranking", "whole", "pairs", "curve", "published", *LIMITS)

#: Rows of the table of levels of pairs, and its problems.
PAIRS_N = 200
PAIRS_PROBLEMS = ("blobs", "mean, d = 10")

#: The problems that are also tested in quadratic time.
WHOLE_PROBLEMS = ("blobs", "mean, d = 10", "scale, d = 10", "Gaussian or Laplace", "uniform, 2 bumps")

#: Rows of the curve.
CURVE_NS = (200, 300, 400, 600, 800, 1000, 1400, 2000, 2800)


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem by its name, rows of its second sample, and what is tried on it.

    Attributes
    ----------
    study
        The part of the study it belongs to.
    problem, n
        The problem and the rows of y.
    is_null
        Whether both samples come from the first distribution.
    choices, nulls
        Names of what is tried, each with each.
    trials
        How many draws.
    """

    study: str
    problem: str
    n: int
    is_null: bool
    choices: tuple[str, ...]
    nulls: tuple[str, ...]
    trials: int

    @property
    def name(self) -> str:
        """A name for files."""
        place = list(BY_NAME).index(self.problem)
        return f"{self.study}-{place}-{self.n}-{'H0' if self.is_null else 'HA'}-{self.nulls[0]}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the cells, those that the recommendation rests on first."""
    flips = ("SignFlip",)
    for change in CHANGES:
        picked = (PICKED,) if change.picked is not None else ()
        for is_null, trials in ((False, 400), (True, 250)):
            names = (*picked, *CHOICES)
            yield Cell("ranking", change.name, change.n, is_null, names, flips, 10 if quick else trials)
    for problem in PAIRS_PROBLEMS:
        yield Cell("pairs", problem, PAIRS_N, True, tuple(PAIRED), BLOCK_NULLS, 20 if quick else 2000)
    for n in CURVE_NS[::4] if quick else CURVE_NS:
        yield Cell("curve", "blobs", n, False, CURVES, flips, 20 if quick else 800)
    for change in PUBLISHED_CHANGES:
        if not quick or change.n <= 500:
            yield Cell("published", change.name, change.n, False, tuple(RERUN), flips, 20 if quick else 500)
    for problem in WHOLE_PROBLEMS:
        picked = (PICKED,) if BY_NAME[problem].picked is not None else ()
        # Half of the rows: blocks of all of them are worth more.
        yield Cell("whole", problem, BY_NAME[problem].n // 2, False, (*picked, *CHOICES), flips, 5 if quick else 300)
    chosen = tuple(name for name, choice in PAIRED.items() if not isinstance(choice, Aggregate))
    for problem in PAIRS_PROBLEMS:
        yield Cell("pairs", problem, PAIRS_N, True, chosen, QUADRATIC_NULLS, 10 if quick else 600)
    for study, limit in LIMITS.items():
        for problem in PAIRS_PROBLEMS:
            trials = 10 if quick else limit.trials
            yield Cell(study, problem, limit.n, True, chosen, limit.nulls, trials)
