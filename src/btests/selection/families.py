"""Families of kernels: protocol, validation, and those over bandwidths or coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from btests._option_checks import is_finite
from btests._text import brief
from btests.data.sample import AnySample
from btests.kernels import Gaussian, Kernel, Laplacian, OnColumns, median_bandwidth
from btests.kernels.combination import Combination
from btests.kernels.kernel import require_positive
from btests.selection.median_heuristic import check_maker, check_rows, name_of, pooled_bandwidth

# Columns of a sum over margins, at most: each has a share of the 64 random frequencies or more that a kernel has.
_MOST_MARGINS = 32

# Rows of each sample for the median bandwidths of margins.
_MARGIN_ROWS = 100


@runtime_checkable
class MakesKernels(Protocol):
    """Family of kernels that depends on the data, but only on the rows used for selection."""

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return the kernels of the family for these rows."""
        ...


AnyFamily = Sequence[Kernel] | MakesKernels


def check_family(family: object) -> Any:
    """Return a valid family, lists as tuples; raise for anything else."""
    if isinstance(family, MakesKernels) and not isinstance(family, type) and callable(family.kernels):
        return family  # not a Combination, whose ``kernels`` is a tuple
    if isinstance(family, type):
        made = f"{family.__name__}()" if isinstance(family, MakesKernels) else f"[{family.__name__}(1.0), ...]"
        raise TypeError(f"a family must be an object, not the class: write {made}")
    if isinstance(family, np.ndarray):
        family = family.tolist()
    if not isinstance(family, (list, tuple)):
        raise TypeError(
            f"a family must be a list of kernels such as [Gaussian(1.0), Gaussian(2.0)], got {brief(family)}"
        )
    if not family:
        raise ValueError("a family must have at least one kernel, got none")
    for i, kernel in enumerate(family):
        _check_member(kernel)
        if kernel in family[:i]:
            raise ValueError(f"a family must not hold a kernel twice, and {kernel!r} is there again")
    return tuple(family)


def kernels_of(family: AnyFamily, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
    """Return the kernels of a family, computed from these rows if the family depends on the data."""
    made = family.kernels(x, y) if isinstance(family, MakesKernels) else family
    kernels: tuple[Kernel, ...] = check_family(made)
    return kernels


def shown(family: AnyFamily) -> str:
    """Return a short repr of a family; long lists are shown by their length."""
    if isinstance(family, MakesKernels):
        return repr(family)
    return repr(list(family)) if len(family) <= 3 else f"{len(family)} kernels"


def _check_member(kernel: object) -> None:
    if isinstance(kernel, Real):
        number = f"{kernel:g}" if is_finite(kernel) else brief(kernel)
        raise TypeError(f"a family holds kernels, got the number {number}; write Gaussian({number}) for a bandwidth")
    if isinstance(kernel, type):
        raise TypeError(f"a family holds kernel objects, not classes: write {kernel.__name__}(...) with its parameters")
    if not callable(kernel):
        raise TypeError(f"a family holds kernels, got {brief(kernel)}")


def bandwidths(low: int = -15, high: int = 10, make: Callable[[float], Kernel] = Gaussian) -> tuple[Kernel, ...]:
    """Return kernels of the bandwidths ``2^low, 2^(low + 1) .. 2^high``; by default the paper's 26.

    Parameters
    ----------
    low, high : int
        Exponents of the smallest and the largest bandwidth.
    make : callable
        Constructor of a kernel from a bandwidth.

    Examples
    --------
    >>> from btests.selection import bandwidths
    >>> bandwidths(-1, 1)
    (Gaussian(bandwidth=0.5), Gaussian(bandwidth=1.0), Gaussian(bandwidth=2.0))
    >>> len(bandwidths())
    26
    """
    for name, power in (("low", low), ("high", high)):
        if isinstance(power, bool) or not isinstance(power, (int, np.integer)) or abs(power) > 900:
            raise ValueError(
                f"{name} must be a whole number between -900 and 900, an exponent of 2, got {brief(power)}"
            )
    if low > high:
        raise ValueError(f"low must not be more than high, got {low} and {high}")
    check_maker(make)
    return tuple(make(2.0**power) for power in range(int(low), int(high) + 1))


@dataclass(frozen=True, slots=True)
class MedianFamily:
    """Kernels of the median bandwidth times each of ``factors``, for data of any scale.

    Attributes
    ----------
    factors : sequence of float
        Multiples of the median bandwidth; by default ``2^-5 .. 2^5``.
    make : callable
        Constructor of a kernel from a bandwidth.
    n_rows : int
        Rows of each sample from which the median is computed.
    """

    factors: Sequence[float] = tuple(2.0**p for p in range(-5, 6))
    make: Callable[[float], Kernel] = Gaussian
    n_rows: int = 100

    def __post_init__(self) -> None:
        check_maker(self.make)
        object.__setattr__(self, "n_rows", check_rows(self.n_rows))
        if not isinstance(self.factors, (Sequence, np.ndarray)) or isinstance(self.factors, str):
            raise TypeError(f"factors must be a list of multiples of the median bandwidth, got {brief(self.factors)}")
        for factor in self.factors:
            require_positive("a factor of the median bandwidth", factor)
        check_family([self.make(float(factor)) for factor in self.factors])
        object.__setattr__(self, "factors", tuple(float(factor) for factor in self.factors))

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return one kernel per factor."""
        return self.around(pooled_bandwidth(x, y, self.n_rows))

    def around(self, bandwidth: float) -> tuple[Kernel, ...]:
        """Return one kernel per factor, multiplied with ``bandwidth``."""
        return tuple(self.make(factor * bandwidth) for factor in self.factors)

    def __repr__(self) -> str:
        make = "" if self.make is Gaussian else f", make={name_of(self.make)}"
        rows = "" if self.n_rows == 100 else f", n_rows={self.n_rows}"
        return f"MedianFamily({len(self.factors)} factors{make}{rows})"


@dataclass(frozen=True, slots=True)
class JoinedFamily:
    """Concatenation of several families.

    Attributes
    ----------
    families : sequence of AnyFamily
        Lists of kernels, or families that depend on the data.
    name : str
        The repr, if not empty.

    Examples
    --------
    >>> from btests import JoinedFamily, Laplacian, MedianFamily
    >>> JoinedFamily([MedianFamily((0.5, 1, 2)), MedianFamily((1, 4), Laplacian)])
    JoinedFamily([MedianFamily(3 factors), MedianFamily(2 factors, make=Laplacian)])
    """

    families: Sequence[AnyFamily]
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.families, (list, tuple)) or not self.families:
            raise TypeError(f"families must be a list of families, got {brief(self.families)}")
        object.__setattr__(self, "families", tuple(check_family(family) for family in self.families))

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return the kernels of all families."""
        medians: dict[int, float] = {}  # the median is the expensive part: one for each number of rows
        found: list[Kernel] = []
        for family in self.families:
            if isinstance(family, MedianFamily):
                if family.n_rows not in medians:
                    medians[family.n_rows] = pooled_bandwidth(x, y, family.n_rows)
                found.extend(family.around(medians[family.n_rows]))
            else:
                found.extend(kernels_of(family, x, y))
        return tuple(found)

    @property
    def n_rows(self) -> int:
        """Largest number of rows of each sample that a family uses."""
        return max((int(getattr(family, "n_rows", 2)) for family in self.families), default=2)

    def __repr__(self) -> str:
        return self.name or f"JoinedFamily([{', '.join(shown(family) for family in self.families)}])"


def default_family() -> JoinedFamily:
    """Return the default family of ``btest``: Gaussians and Laplacians around the median bandwidth m.

    Gaussians of m/32, m/16, .. 2m and Laplacians of m/2, 2m and 8m; docs/power.md compares them with others.

    Examples
    --------
    >>> from btests import default_family
    >>> default_family()
    default_family()
    """
    gaussians = MedianFamily(tuple(2.0**p for p in range(-5, 2)))
    laplacians = MedianFamily((0.5, 2.0, 8.0), Laplacian)
    return JoinedFamily((gaussians, laplacians), "default_family()")


@dataclass(frozen=True, slots=True)
class PerCoordinate:
    """One kernel per coordinate, with the median bandwidth of that coordinate; for feature selection by ``Weights``.

    Coordinates that are constant in the rows used for the median have bandwidth 1.

    Attributes
    ----------
    make : callable
        Constructor of a kernel from a bandwidth.
    n_rows : int
        Rows of each sample from which the medians are computed.

    See Also
    --------
    btests.OnColumns : The kernels of this family.
    """

    make: Callable[[float], Kernel] = Gaussian
    n_rows: int = 100

    def __post_init__(self) -> None:
        check_maker(self.make)
        object.__setattr__(self, "n_rows", check_rows(self.n_rows))

    def kernels(self, x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
        """Return d kernels for samples (n, d)."""
        if not x.is_numeric:
            raise TypeError("PerCoordinate needs rows of numbers, and these are objects")
        n = min(self.n_rows, len(x), len(y))
        points = np.concatenate([x.head(n), y.head(n)]).astype(np.float64)
        # No warning for constant coordinates: their kernels are constant too, and ignored by selectors.
        varies = points.min(axis=0) < points.max(axis=0)
        widths = [median_bandwidth(points[:, [k]]) if varies[k] else 1.0 for k in range(points.shape[1])]
        return tuple(OnColumns(self.make(width), (k,)) for k, width in enumerate(widths))

    def __repr__(self) -> str:
        return f"PerCoordinate(make={name_of(self.make)}, n_rows={self.n_rows})"


def margin_kernels(x: AnySample, y: AnySample) -> tuple[Kernel, ...]:
    """Return the sum of a Gaussian of each coordinate, half as wide as its median bandwidth, as the only kernel.

    It sees no relation of columns, and a difference of one of them better than kernels of all columns, in which the
    distances in others are noise. There is none for one column, which has it in the family of all columns, and for more
    than 32; columns that are constant in some rows of both samples are left out.
    """
    n = min(_MARGIN_ROWS, len(x), len(y))
    points = np.concatenate([x.head(n), y.head(n)]).astype(np.float64)
    columns = np.flatnonzero(points.min(axis=0) < points.max(axis=0)).tolist()
    if not 2 <= len(columns) <= _MOST_MARGINS:
        return ()
    terms = (OnColumns(Gaussian(0.5 * median_bandwidth(points[:, [k]])), (k,)) for k in columns)
    return (Combination((1.0 / len(columns),) * len(columns), tuple(terms)),)
