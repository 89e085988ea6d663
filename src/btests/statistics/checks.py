"""Checks that a kernel suits the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests._text import shortly
from btests._warnings import PrecisionWarning, warn
from btests.data.sample import AnySample
from btests.kernels import features_of, properties_of, summands_of, terms_of
from btests.kernels.combination import check_width
from btests.kernels.kernel import Kernel, Radial
from btests.plan import Array

# The probe: small enough to cost nothing with a slow kernel, with different numbers of rows to tell a transpose.
_ROWS, _OTHER_ROWS = 4, 3

# float32 loses half a standard deviation of a block at 100 times the median distance, and little below 10 times.
_WIDEST_IN_FLOAT32 = 10.0

# Rows that their distances are judged by, and distances whose squares keep all their digits.
_MANY_ROWS = 100
_SMALLEST, _SMALLEST_IN_FLOAT32 = 1e-145, 1e-15


def check_kernel(kernel: Kernel, x: AnySample, y: AnySample) -> None:
    """Raise unless the kernel gives finite, symmetric matrices of the right shape on a few rows."""
    _check_columns(kernel, x)
    _check_scale(kernel, x, y, _SMALLEST)
    if features_of(kernel) is not None:
        return  # symmetric by construction
    if x.is_numeric and properties_of(kernel).takes_stacks and terms_of(kernel) is not None:
        return  # finite and symmetric for all rows
    a = x.head(min(_ROWS, len(x)))
    b = y.head(min(_OTHER_ROWS, len(y)))
    p: Any = a if x.is_numeric else a.tolist()
    q: Any = b if x.is_numeric else b.tolist()
    across = kernel_matrix(kernel, p, q)
    back, within = kernel_matrix(kernel, q, p), kernel_matrix(kernel, p, p.copy())
    for one, other in ((across, back.T), (within, within.T)):
        scale = float(np.abs(one).max()) or 1.0
        if not np.allclose(one, other, rtol=1e-6, atol=1e-9 * scale):
            raise ValueError("the kernel is not symmetric: kernel(a, b) and kernel(b, a).T differ on the first rows")


def _check_columns(kernel: Kernel, x: AnySample) -> None:
    for columns in (properties_of(summand).columns for summand in summands_of(kernel)):
        if columns is not None and not x.is_numeric:
            raise TypeError("OnColumns needs rows of numbers, and these are objects")
        if columns is not None:
            check_width(columns, x.width)


def _check_scale(kernel: Kernel, x: AnySample, y: AnySample, smallest: float, more: str = "") -> None:
    """Raise where rows are so near one another that squares vanish in a kernel without a bandwidth to scale them by."""
    without = [summand for summand in summands_of(kernel) if not properties_of(summand).has_bandwidth]
    if not x.is_numeric or not without:
        return
    n = min(_MANY_ROWS, len(x), len(y))
    rows = np.concatenate([x.head(n), y.head(n)]).astype(np.float64)
    spreads = np.ptp(rows, axis=0)
    for summand in without:
        spread = float(spreads[list(properties_of(summand).columns or range(x.width))].max())
        if 0.0 < spread < smallest:
            raise ValueError(
                f"rows are no more than {spread:.2g} apart here, and {summand!r} takes squares that vanish; scale the "
                f"data up{more}"
            )


def kernel_matrix(kernel: Kernel, p: Any, q: Any) -> np.ndarray[Any, Any]:
    """Return the Gram matrix that a user's kernel gives for two samples, or say what is wrong with it."""
    wanted = (len(p), len(q))
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            out = np.asarray(kernel(p, q))
    except Exception as error:
        why = f"({type(error).__name__}: {shortly(error)})"
        if properties_of(kernel).takes_objects:
            raise ValueError(f"the function in {kernel!r} failed or did not return a number {why}") from error
        raise ValueError(
            f"the kernel failed on {wanted[0]} and {wanted[1]} rows {why}; it must take {_kind(p)} and return "
            "the matrix of their kernel values, or be wrapped as btests.Pairwise(function) if it takes two single rows"
        ) from error
    if out.shape != wanted:
        got = f"shape {out.shape}" if out.dtype.kind in "biufc" else f"something else ({out.dtype})"
        raise ValueError(
            f"the kernel must return a matrix of shape {wanted} for samples of {wanted[0]} and {wanted[1]} rows, got "
            f"{got}; a function of two single rows is wrapped as btests.Pairwise(function)"
        )
    if out.dtype.kind not in "biuf" or not np.isfinite(out).all():
        raise ValueError(
            f"the kernel must return finite real numbers; on {wanted[0]} and {wanted[1]} rows it does not, because it "
            "is not defined there or overflows"
        )
    return out


def overflow_error(kernel: Kernel | None = None, *, in_family: bool = False) -> ValueError:
    """Return the error of a kernel whose values are not finite on the data, with its name if it is given."""
    named = "the kernel" if kernel is None else repr(kernel)
    remedy = "take it out of the family" if in_family else "take a bounded kernel"
    return ValueError(f"{named} overflowed or gave NaN here; scale the data down or {remedy}")


def _kind(p: Any) -> str:
    return "two lists of objects" if isinstance(p, list) else f"two arrays (b, {p.shape[1]}) and (c, {p.shape[1]})"


def check_precision(kernel: Kernel, x: AnySample, y: AnySample, dtype: str) -> None:
    """Warn where float32 cannot tell the values of a very wide kernel apart, and raise where its squares vanish."""
    terms = terms_of(kernel)
    if dtype != "float32" or not x.is_numeric or terms is None:
        return
    _check_scale(kernel, x, y, _SMALLEST_IN_FLOAT32, " or take dtype='float64'")
    n = min(100, len(x), len(y))
    a, b = x.head(n).astype(np.float64), y.head(n).astype(np.float64)
    differences = a - b[::-1]
    if any(_is_flat(term, differences) for term in terms):
        warn(
            f"a kernel more than {_WIDEST_IN_FLOAT32:g} times as wide as the data is too flat for float32; "
            "take dtype='float64'",
            PrecisionWarning,
        )


def _is_flat(term: Radial, differences: Array) -> bool:
    """Whether a term is too wide for differences (n, d)."""
    seen = differences if term.columns is None else differences[:, list(term.columns)]
    with np.errstate(over="ignore"):  # as narrow as can be, then
        kernel_scale = float(np.sqrt(np.median(np.sum((term.scale * seen) ** 2, axis=1))))
    return term.shape != "distance" and kernel_scale < 1.0 / _WIDEST_IN_FLOAT32
