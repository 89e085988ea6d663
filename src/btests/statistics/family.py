"""Several kernels on the same blocks."""

from __future__ import annotations

from dataclasses import dataclass

from btests.kernels.protocol import Kernel


@dataclass(frozen=True, slots=True)
class Family:
    """Kernels whose statistics are wanted on the same blocks; ``summarize_family`` computes them together."""

    kernels: tuple[Kernel, ...]
    dtype: str = "float64"
    plain: bool = False
