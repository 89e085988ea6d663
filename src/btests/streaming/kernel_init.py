"""Kernels of a stream, selected from its first rows if they depend on the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from btests.data.sample import Sample
from btests.data.source import Rows
from btests.kernels.kernel import Kernel
from btests.plan import Plan
from btests.scaling import warn_of_scales
from btests.selection import KERNELS, Aggregate, MedianHeuristic, Selector, Setting, check_choice, default_family
from btests.selection.families import MakesKernels, kernels_of
from btests.statistics import Statistic, StatisticFactory, is_statistic, make_statistic, require_rows
from btests.statistics.checks import check_kernel
from btests.statistics.feature_mmd import check_features

# Default number of rows of each sample from which kernels are selected.
_ROWS = 100


@dataclass(frozen=True, slots=True)
class KernelInitializer:
    """One kernel or several, given or selected from the first rows of each sample."""

    kernel: Kernel | MedianHeuristic | Aggregate | Statistic
    dtype: str
    statistic: StatisticFactory | None = None

    @classmethod
    def of(cls, kernel: object, dtype: str, statistic: StatisticFactory | None = None) -> KernelInitializer:
        """Return the initializer of a kernel, a name or None; raise for selectors that a stream cannot have.

        ``dtype`` and ``statistic`` were checked.
        """
        if is_statistic(kernel):
            if statistic is not None:
                raise _named_twice(kernel)
            return cls(kernel, dtype)
        check_choice(kernel)
        chosen = KERNELS[kernel] if isinstance(kernel, str) else kernel
        if isinstance(chosen, Selector) and not isinstance(chosen, (Aggregate, MedianHeuristic)):
            raise TypeError(
                f"{chosen!r} needs rows of its own to choose a kernel on, and a stream has none to spare; choose with "
                "btest on some rows, and give the stream the kernel of that result"
            )
        return cls(Aggregate(default_family()) if chosen is None else chosen, dtype, statistic)  # type: ignore[arg-type]

    @property
    def aggregate(self) -> Aggregate:
        """How several kernels are tested at once."""
        return self.kernel if isinstance(self.kernel, Aggregate) else Aggregate()

    @property
    def depends_on_rows(self) -> bool:
        """Whether the kernels depend on the data."""
        initializer = self.kernel.family if isinstance(self.kernel, Aggregate) else self.kernel
        return isinstance(initializer, (MedianHeuristic, MakesKernels))

    def check_features(self) -> None:
        """Raise ``ValueError`` unless all kernels that do not depend on the data have random Fourier features."""
        if is_statistic(self.kernel):
            raise _named_twice(self.kernel)
        given = self.kernel.family if isinstance(self.kernel, Aggregate) else self.kernel
        if not self.depends_on_rows:
            check_features(given if isinstance(given, (tuple, list)) else (given,))

    @property
    def n_rows(self) -> int:
        """Rows of each sample from which kernels are selected."""
        initializer = self.kernel.family if isinstance(self.kernel, Aggregate) else self.kernel
        return int(getattr(initializer, "n_rows", _ROWS))

    def kernels_for(self, x: Rows, y: Rows, plan: Plan, names: Sequence[str] | None = None) -> Statistic:
        """Return the kernels for the first rows (m, d) of both samples, as many as the blocks of a plan hold."""
        if is_statistic(self.kernel):
            return _streamed(self.kernel)
        # Pairs of rows that sign flips swap: a swap does not change the selection, and the flips stay exact.
        of_x, of_y = plan.partners(np.arange(min(self.n_rows, plan.n_partners)))
        samples = Sample(x[of_x]), Sample(y[of_y])
        warn_of_scales(*samples, names)
        kernels: tuple[Kernel, ...]
        if isinstance(self.kernel, Aggregate):
            kernels = kernels_of(self.kernel.family, *samples)
        elif isinstance(self.kernel, MedianHeuristic):
            kernels = (self.kernel.select(*samples, Setting()).kernel,)
        else:
            kernels = (cast(Kernel, self.kernel),)
        for kernel in kernels:
            check_kernel(kernel, *samples)
        return _streamed(make_statistic(self.statistic, kernels, self.dtype))


def _streamed(statistic: Statistic) -> Statistic:
    require_rows(statistic, in_memory=False)
    return statistic


def _named_twice(statistic: object) -> ValueError:
    return ValueError(f"{type(statistic).__name__} is a statistic already; name it or statistic=, not both")
