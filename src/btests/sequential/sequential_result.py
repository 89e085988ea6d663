"""What a watched test has found so far."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from btests._validation import check_alpha
from btests.kernels.combination import shortened
from btests.kernels.protocol import Kernel
from btests.selection.protocol import Candidate

#: Levels of which a watch notes when it rejected_at them.
LEVELS = (0.1, 0.05, 0.01, 0.001)

# The logarithm of the largest float, rounded down.
_LARGEST = 709.0


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """Evidence of a :class:`btests.SequentialTest` at some time; it may be inspected, and acted upon, at any time.

    Attributes
    ----------
    log_wealth, log_largest
        Logarithm of the wealth now, and of the largest so far; the gambler began with 1.
    n_x, n_y
        Rows that came.
    n_pairs
        Pairs of rows that were looked at.
    n_train
        The first of these pairs, which kernels were learned from. They were not bet on.
    n_pending
        Rows of x and of y that wait for a partner, or for their round to be full.
    rejected_at
        Each of the usual levels, and how many pairs it took to reach it; None if it was not.
    kernel
        The kernel that has won the most; None as long as there is none.
    candidates
        All kernels, with the logarithm of what each has now and with its share at the beginning.
    """

    log_wealth: float
    log_largest: float
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
        """The wealth now: at most 1 on average, at any time, if both samples have the same distribution."""
        return math.exp(min(self.log_wealth, _LARGEST))

    @property
    def pvalue(self) -> float:
        """One over the largest wealth so far: a p-value whenever one looks, and however often. Never 0."""
        return pvalue_of(self.log_largest)

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether a difference was found at level ``alpha``, now or before."""
        return self.pvalue <= check_alpha(alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names of this result as plain Python values."""
        return {
            "evalue": self.evalue,
            "pvalue": self.pvalue,
            "log_wealth": self.log_wealth,
            "log_largest": self.log_largest,
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
        passed = ", ".join(f"{level:g} after {n} pairs" for level, n in self.rejected_at if n is not None)
        kernel = "none yet" if self.kernel is None else shortened(self.kernel)
        several = f", the richest of {len(self.candidates)}" if len(self.candidates) > 1 else ""
        spent = f", {self.n_train} of them not bet on" if self.n_train else ""
        lines = [
            f"Watched test: {verdict}",
            f"  p-value   {self.pvalue:.4g}",
            f"  wealth    {self.evalue:.4g} now, {math.exp(min(self.log_largest, _LARGEST)):.4g} at most",
            f"  rejected_at   {passed or 'none of the usual levels'}",
            f"  rows      {self.n_x} and {self.n_y}, {self.n_pairs} pairs{spent}",
            f"  kernel    {kernel}{several}",
        ]
        if any(self.n_pending):
            lines.insert(-1, f"  waiting   {self.n_pending[0]} and {self.n_pending[1]} rows")
        return "\n".join(lines)


def pvalue_of(log_largest: float) -> float:
    """Return the p-value of the largest wealth so far, between the smallest positive floats and 1."""
    return min(1.0, math.exp(-min(log_largest, _LARGEST)))
