"""Cells of the study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from btests.selection import Aggregate
from studies.choices.problems import BY_NAME, PROBLEMS, PUBLISHED_PROBLEMS
from studies.choices.selectors import BLOCK_NULLS, CHOICES, CURVES, EXACT_NULLS, PAIRED, PICKED, QUADRATIC_NULLS, RERUN


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows and block size (None: all rows) at which asymptotic nulls should hold their level, the nulls, and trials."""

    n: int
    block_size: int | None
    nulls: tuple[str, ...]
    trials: int


def _inexact(nulls: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(null for null in nulls if null not in EXACT_NULLS)


#: Where every pair of a choice and an asymptotic null should hold its level. Values of blocks of two rows are not
#: skewed, so that even the paper's null is accurate; those of four are, a little.
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
    """A problem and the tests of it.

    Attributes
    ----------
    study : str
        The part of the study, one of STUDIES.
    problem : str
        Name of the problem.
    n : int
        Rows of y.
    is_null : bool
        Whether both samples come from the first distribution.
    choices, nulls : tuple of str
        Names of the choices and nulls, each tested with each.
    trials : int
        Number of draws.
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
        """Name for files."""
        place = list(BY_NAME).index(self.problem)
        return f"{self.study}-{place}-{self.n}-{'H0' if self.is_null else 'HA'}-{self.nulls[0]}"


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the cells, those that the recommendation rests on first."""
    flips = ("SignFlip",)
    for problem in PROBLEMS:
        for is_null, trials in ((False, 400), (True, 250)):
            names = _with_picked(problem.name)
            yield Cell("ranking", problem.name, problem.n, is_null, names, flips, 10 if quick else trials)
    for name in PAIRS_PROBLEMS:
        yield Cell("pairs", name, PAIRS_N, True, tuple(PAIRED), BLOCK_NULLS, 20 if quick else 2000)
    for n in CURVE_NS[::4] if quick else CURVE_NS:
        yield Cell("curve", "blobs", n, False, CURVES, flips, 20 if quick else 800)
    for problem in PUBLISHED_PROBLEMS:
        if not quick or problem.n <= 500:
            yield Cell("published", problem.name, problem.n, False, tuple(RERUN), flips, 20 if quick else 500)
    for name in WHOLE_PROBLEMS:
        # Half of the rows: blocks of all rows have more power.
        yield Cell("whole", name, BY_NAME[name].n // 2, False, _with_picked(name), flips, 5 if quick else 300)
    chosen = tuple(name for name, choice in PAIRED.items() if not isinstance(choice, Aggregate))
    for name in PAIRS_PROBLEMS:
        yield Cell("pairs", name, PAIRS_N, True, chosen, QUADRATIC_NULLS, 10 if quick else 600)
    for study, limit in LIMITS.items():
        for name in PAIRS_PROBLEMS:
            yield Cell(study, name, limit.n, True, chosen, limit.nulls, 10 if quick else limit.trials)


def _with_picked(problem: str) -> tuple[str, ...]:
    """Return all choices, the hand-picked kernel first if the problem has one."""
    return tuple(CHOICES) if BY_NAME[problem].picked is None else (PICKED, *CHOICES)
