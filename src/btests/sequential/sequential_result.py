"""Result of a sequential test."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from btests._option_checks import check_alpha
from btests.kernels.combination import shortened
from btests.kernels.kernel import Kernel
from btests.selection.selector import Candidate

#: Levels for which the number of pairs until rejection is recorded.
LEVELS = (0.1, 0.05, 0.01, 0.001)

# The logarithm of the largest float, rounded down.
_LARGEST = 709.0


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """Evidence of a :class:`btests.SequentialTest` at some time; valid whenever, and however often, it is computed.

    Attributes
    ----------
    log_wealth, log_max_wealth : float
        Logarithm of the wealth now, and of the maximum so far; the initial wealth is 1.
    n_x, n_y : int
        Rows so far.
    n_pairs : int
        Pairs of rows that were used.
    n_train : int
        The first of these pairs, from which the kernels were selected. They were not bet on.
    n_pending : (int, int)
        Rows of x and of y without a partner, or whose round is not full.
    rejected_at : tuple of (float, int or None)
        Usual levels, and the number of pairs until rejection at each; None if not rejected.
    kernel : Kernel, optional
        Kernel with the largest wealth; None before the first round.
    candidates : tuple of Candidate
        All kernels; ``score`` is the logarithm of the wealth, ``weight`` the initial wealth.
    """

    log_wealth: float
    log_max_wealth: float
    n_x: int
    n_y: int
    n_pairs: int
    n_train: int
    n_pending: tuple[int, int]
    rejected_at: tuple[tuple[float, int | None], ...]
    kernel: Kernel | None
    candidates: tuple[Candidate, ...] = field(repr=False)

    @property
    def evalue(self) -> float:
        """Wealth now: an e-value, whose mean is at most 1 at any stopping time if x and y have one distribution."""
        return math.exp(min(self.log_wealth, _LARGEST))

    @property
    def pvalue(self) -> float:
        """Inverse of the maximum of the wealth so far: an anytime-valid p-value, greater than 0."""
        return pvalue_of(self.log_max_wealth)

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether the test has rejected at level ``alpha``, now or before."""
        return self.pvalue <= check_alpha(alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names of this result as plain Python values."""
        return {
            "evalue": self.evalue,
            "pvalue": self.pvalue,
            "log_wealth": self.log_wealth,
            "log_max_wealth": self.log_max_wealth,
            "n_x": self.n_x,
            "n_y": self.n_y,
            "n_pairs": self.n_pairs,
            "n_train": self.n_train,
            "n_pending": list(self.n_pending),
            "rejected_at": {str(level): n for level, n in self.rejected_at},
            "kernel": None if self.kernel is None else repr(self.kernel),
            "candidates": [{"kernel": repr(c.kernel), "score": c.score, "weight": c.weight} for c in self.candidates],
        }

    def to_json(self) -> str:
        """Return ``to_dict()`` as one line of JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        verdict = "different (p <= 0.05)" if self.rejects(0.05) else "no difference found so far at level 0.05"
        rejected = ", ".join(f"{level:g} after {n} pairs" for level, n in self.rejected_at if n is not None)
        kernel = "none yet" if self.kernel is None else shortened(self.kernel)
        several = f", the best of {len(self.candidates)}" if len(self.candidates) > 1 else ""
        train = f", {self.n_train} of them for kernel selection" if self.n_train else ""
        lines = [
            f"Sequential test: {verdict}",
            f"  p-value   {self.pvalue:.4g}",
            f"  wealth    {self.evalue:.4g} now, {math.exp(min(self.log_max_wealth, _LARGEST)):.4g} at most",
            f"  rejected  {rejected or 'at none of the usual levels'}",
            f"  rows      {self.n_x} and {self.n_y}, {self.n_pairs} pairs{train}",
            f"  kernel    {kernel}{several}",
        ]
        if any(self.n_pending):
            lines.insert(-1, f"  pending   {self.n_pending[0]} and {self.n_pending[1]} rows")
        return "\n".join(lines)


def pvalue_of(log_max_wealth: float) -> float:
    """Return the p-value of the maximum of the wealth so far, between the smallest positive floats and 1."""
    return min(1.0, math.exp(-min(log_max_wealth, _LARGEST)))
