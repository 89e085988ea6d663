"""Ranking of kernel choices over all problems, by regret."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studies.choices.selectors import BASELINE, PICKED
from studies.harness.counts import Row
from studies.harness.estimates import Estimate, proportion

#: A level holds if its 99 % interval reaches below this.
MOST = 0.055


@dataclass(frozen=True, slots=True)
class Rank:
    """Performance of a choice over all problems of the ranking.

    Attributes
    ----------
    choice : str
        Its name.
    mean_power : float
        Mean of its powers.
    mean_regret, worst_regret : float
        Its deficit to the best choice of each problem: mean and largest.
    worst_problem : str
        The problem of the largest deficit.
    level : Estimate
        Its level over all problems, with a 99 % interval.
    time : float
        Its CPU time over that of the baseline, on the same draws.
    """

    choice: str
    mean_power: float
    mean_regret: float
    worst_regret: float
    worst_problem: str
    level: Estimate
    time: float

    @property
    def holds(self) -> bool:
        """Whether its level holds."""
        return self.level.low <= MOST


def rank(rows: Sequence[Row]) -> list[Rank]:
    """Return the choices tested on every problem, the smallest mean regret first."""
    rows = [row for row in rows if row["study"] == "ranking"]
    powers: dict[str, dict[str, float]] = {}
    for row in rows:
        if not row["is_null"] and row["choice"] != PICKED:
            powers.setdefault(row["problem"], {})[row["choice"]] = row["rejections"] / row["trials"]
    best = {problem: max(own.values()) for problem, own in powers.items()}
    ranks = []
    for choice in next(iter(powers.values())):
        regrets = {problem: best[problem] - own[choice] for problem, own in powers.items()}
        worst = max(regrets, key=lambda problem: regrets[problem])
        null = [row for row in rows if row["is_null"] and row["choice"] == choice]
        ranks.append(
            Rank(
                choice,
                math.fsum(own[choice] for own in powers.values()) / len(powers),
                math.fsum(regrets.values()) / len(regrets),
                regrets[worst],
                worst,
                proportion(sum(row["rejections"] for row in null), sum(row["trials"] for row in null), 0.99),
                _seconds(rows, choice) / _seconds(rows, BASELINE),
            )
        )
    return sorted(ranks, key=lambda r: r.mean_regret)


def recommend(ranks: Sequence[Rank]) -> Rank:
    """Return the smallest mean regret where the level holds; of equal ones, the smaller worst regret."""
    return min((r for r in ranks if r.holds), key=lambda r: (r.mean_regret, r.worst_regret))


def standard_error(rows: Sequence[Row], choice: str) -> float:
    """Return the standard error of the mean power of a choice; that of a difference is less, since draws are shared."""
    own = [row for row in rows if row["study"] == "ranking" and not row["is_null"] and row["choice"] == choice]
    rates = [(row["rejections"] / row["trials"], row["trials"]) for row in own]
    return math.sqrt(math.fsum(rate * (1.0 - rate) / trials for rate, trials in rates)) / len(own)


def _seconds(rows: Sequence[Row], choice: str) -> float:
    return float(sum(row["seconds"] for row in rows if row["choice"] == choice))
