"""The Gram matrix of both samples together: what the quadratic-time nulls learn from."""

from __future__ import annotations

from dataclasses import dataclass

from btests.kernels.protocol import Kernel
from btests.statistics.sample import Sample


@dataclass(frozen=True, slots=True)
class Gram:
    """The kernel between all rows of both samples, those of x first."""

    kernel: Kernel
    x: Sample
    y: Sample
