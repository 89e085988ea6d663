"""Which choice is best for one who knows nothing about the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studies.choices.choosers import BASELINE, PICKED
from studies.choices.tally import Tally

#: A level whose 99 % interval lies above this does not hold.
MOST = 0.055


@dataclass(frozen=True, slots=True)
class Rank:
    """How a choice does over all problems of the ranking.

    Attributes
    ----------
    choice
        Its name.
    mean_power
        The average of its powers.
    mean_regret, worst_regret, worst_problem
        What it lacks to the best choice of each problem: on average, at most, and where.
    level
        Its tallies under the null hypothesis, all problems together.
    time
        Its time over that of the baseline, on the same draws.
    """

    choice: str
    mean_power: float
    mean_regret: float
    worst_regret: float
    worst_problem: str
    level: Tally
    time: float

    @property
    def holds(self) -> bool:
        """Whether its level does."""
        return self.level.interval()[0] <= MOST


def rank(tallies: Sequence[Tally], study: str = "ranking") -> list[Rank]:
    """Return the choices that every problem was tried with, the smallest mean regret first."""
    powers = _powers(tallies, study)
    best = {problem: max(row.values()) for problem, row in powers.items()}
    seconds = _seconds(tallies, study)
    ranks = []
    for choice in next(iter(powers.values())):
        regrets = {problem: best[problem] - row[choice] for problem, row in powers.items()}
        worst = max(regrets, key=lambda problem: regrets[problem])
        ranks.append(
            Rank(
                choice,
                math.fsum(row[choice] for row in powers.values()) / len(powers),
                math.fsum(regrets.values()) / len(regrets),
                regrets[worst],
                worst,
                _level(tallies, study, choice),
                seconds[choice] / seconds[BASELINE],
            )
        )
    return sorted(ranks, key=lambda r: r.mean_regret)


def recommend(ranks: Sequence[Rank]) -> Rank:
    """Return the smallest mean regret where the level holds; where two are equal, the smaller worst regret."""
    return min((r for r in ranks if r.holds), key=lambda r: (r.mean_regret, r.worst_regret))


def standard_error(tallies: Sequence[Tally], choice: str, study: str = "ranking") -> float:
    """Return the standard error of the mean power of a choice; that of a difference is less, for draws are shared."""
    own = [t for t in tallies if t.study == study and not t.is_null and t.choice == choice]
    return math.sqrt(math.fsum(t.rate * (1.0 - t.rate) / t.trials for t in own)) / len(own)


def _powers(tallies: Sequence[Tally], study: str) -> dict[str, dict[str, float]]:
    """Return the power of each choice on each problem."""
    powers: dict[str, dict[str, float]] = {}
    for t in tallies:
        if t.study == study and not t.is_null and t.choice != PICKED:
            powers.setdefault(t.problem, {})[t.choice] = t.rate
    return powers


def _seconds(tallies: Sequence[Tally], study: str) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for t in tallies:
        if t.study == study:
            seconds[t.choice] = seconds.get(t.choice, 0.0) + t.seconds
    return seconds


def _level(tallies: Sequence[Tally], study: str, choice: str) -> Tally:
    own = [t for t in tallies if t.study == study and t.is_null and t.choice == choice]
    n_trials, n_rejections = sum(t.trials for t in own), sum(t.rejections for t in own)
    return Tally(study, "all", 0, True, choice, "SignFlip", n_trials, n_rejections, sum(t.seconds for t in own))
