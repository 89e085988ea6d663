"""The block MMD: one unbiased estimate of MMD^2 per block, and the core that sign flips act on."""

from __future__ import annotations

from dataclasses import dataclass

from btests.data.sample import AnySample, Sample
from btests.kernels.protocol import Kernel
from btests.plan import Plan
from btests.statistics.multi_kernel import Family
from btests.summary import Summary


@dataclass(frozen=True, slots=True)
class MMD:
    r"""Unbiased estimate of the squared MMD on each block (Zaremba et al. 2013, eq. 3).

    ``h(z, z') = k(x, x') + k(y, y') - k(x, y') - k(x', y)`` changes its sign when x and y swap places in one of the
    pairs z, z': the symmetry that the sign-flip null rests on.

    Attributes
    ----------
    kernel
        Any kernel.
    dtype
        The arithmetic of the compiled loops, ``float64`` or ``float32``. Sums are always in float64.
    plain
        Take the plain numpy path even where compiled loops could.
    """

    kernel: Kernel
    dtype: str = "float64"
    plain: bool = False

    def engine(self, x: AnySample) -> str:
        """Return the name of what computes the Gram blocks of such data: ``numpy`` or ``compiled (...)``."""
        return self.family().engine(x)

    def summarize(
        self,
        x: Sample,
        y: Sample,
        plan: Plan,
        first: int = 0,
        last: int | None = None,
        *,
        n_threads: int | None = 1,
    ) -> Summary:
        """Return the summary of blocks ``first .. last - 1``, or of all of them."""
        return self.family().summarize(x, y, plan, first, last, n_threads=n_threads)[0]

    def family(self) -> Family:
        """Return this statistic as a family of one kernel."""
        return Family((self.kernel,), self.dtype, self.plain)
