"""A kernel of x and one of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from btests.kernels.energy import Energy
from btests.kernels.kernel import Kernel, Properties
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class KernelPair:
    """The kernels of x and of y in a test of independence.

    Attributes
    ----------
    x : Kernel
        Kernel of the rows of x.
    y : Kernel
        Kernel of the rows of y.
    """

    properties: ClassVar[Properties] = Properties(takes_stacks=False, centers_rows=True)
    is_serializable: ClassVar[bool] = True

    x: Kernel
    y: Kernel

    @property
    def label(self) -> str:
        """Name of the statistic of this pair."""
        return "dCov^2" if isinstance(self.x, Energy) and isinstance(self.y, Energy) else "HSIC"

    def __call__(self, x: Any, y: Any, /) -> Array:
        """Raise: a pair of kernels is no kernel of two samples."""
        raise TypeError("a KernelPair is for tests of independence; call its kernels x and y")

    def __repr__(self) -> str:
        return f"KernelPair({self.x!r}, {self.y!r})"
