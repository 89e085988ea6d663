"""Units of measurement: a robust scale for each column, pooled over both samples."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from btests._text import brief
from btests._warnings import ScaleWarning, warn
from btests.data.sample import AnySample
from btests.data.unit_sample import UnitSample
from btests.plan import Array

# Quantile ranges that may serve as scale, the first that is not empty, and the range of a standard normal in them.
_RANGES = ((0.25, 0.75, 1.3489795), (0.05, 0.95, 3.2897073), (0.005, 0.995, 5.1516586))


def robust_scale(values: Array) -> tuple[float, float]:
    """Return the median, and a scale that is the standard deviation of normal data and that outliers do not move."""
    if values.size == 0:
        return 0.0, 1.0
    shares = [0.5, *(q for low, high, _ in _RANGES for q in (low, high))]
    centre, *ends = (float(q) for q in np.quantile(values, shares))
    for (_, _, normal), low, high in zip(_RANGES, ends[::2], ends[1::2], strict=True):
        scale = (high - low) / normal
        if scale > 1e-300 and np.isfinite(scale):
            return centre, scale
    spread = float(np.abs(values - centre).max())
    return centre, spread if spread > 0.0 else 1.0


# Rows of the shorter sample that scales are taken from, and of the longer one in proportion: a scale that is off by 1 %
# costs nothing, and rows of files are expensive to pick. The most rows of the longer one.
_ROWS, _MOST_ROWS = 4096, 2**16

# Columns whose scales differ by this factor are a matter of units: in a squared distance the one has 1/10,000 of the
# weight of the other.
_RATIO = 100.0

# Ranges of a few rows that differ by less are not looked at more closely.
_FEW, _SUSPECT = 64, 30.0

# Names of the coordinates of a vector.
_COORDINATE = re.compile(r"(.*)\[(\d{1,6})\]", re.DOTALL)

# Columns that a warning names.
_NAMED = 3


def check_scale(scale: object) -> bool | None:
    """Return whether to scale: True, False, or None for frames alone; raise for anything else."""
    if scale is None or isinstance(scale, (bool, np.bool_)):
        return None if scale is None else bool(scale)
    if isinstance(scale, str) and scale == "robust":
        return True
    raise ValueError(f"scale must be True (or 'robust'), False or None, got {brief(scale)}")


def coordinate_groups(names: Sequence[str] | None) -> list[list[int]]:
    """Return the places of the coordinates of each column: ``v[0]``, ``v[1]`` and so on are those of one vector.

    Examples
    --------
    >>> coordinate_groups(["a", "v[0]", "v[1]", "w[1]"]), coordinate_groups(None)
    ([[0], [1, 2], [3]], [])
    """
    found: list[list[int]] = []
    before: tuple[str, int] = "", -1
    for place, name in enumerate(names or ()):
        part = _COORDINATE.fullmatch(str(name))
        own = ("", -1) if part is None else (part[1], int(part[2]))
        if part is not None and own == (before[0], before[1] + 1) and own[1] > 0:
            found[-1].append(place)
        else:
            found.append([place])
        before = own
    return found


def scales_of(rows: Array, names: Sequence[str] | None = None) -> Array:
    """Return the robust scale of each column of rows (n, d): (d,), each positive.

    The coordinates of a vector have one scale, at which the vector weighs as much as one column of numbers.
    """
    found = np.array([robust_scale(column)[1] for column in rows.T])
    for places in coordinate_groups(names):
        if len(places) > 1:
            varying = np.ptp(rows[:, places], axis=0) > 0.0
            found[places] = _norm(found[places][varying]) if varying.any() else 1.0
    return found


def _norm(scales: Array) -> float:
    """Return the root of the sum of squares of positive numbers, which may be too small or large to be squared."""
    largest = float(scales.max())
    return largest * float(np.sqrt(np.sum((scales / largest) ** 2)))


def pooled_scales(x: AnySample, y: AnySample, names: Sequence[str] | None = None) -> Array:
    """Return the robust scale of each column over the rows of both samples: (d,), each positive.

    Rows that swap places are both among them, or neither (for samples of different lengths and many rows, but for
    those of one block): the scales do not change with a swap, and sign flips stay exact.
    """
    if isinstance(x, UnitSample) and isinstance(y, UnitSample):  # all rows, which no swap of units changes
        return scales_of(np.concatenate([x.rows, y.rows]).astype(np.float64), names)
    shorter = min(len(x), len(y))
    share = min(1.0, _ROWS / shorter)
    counts = (min(_MOST_ROWS, round(share * len(sample))) for sample in (x, y))
    rows = np.concatenate([sample.head(n) for sample, n in zip((x, y), counts, strict=True)]).astype(np.float64)
    return scales_of(rows, names)


def warn_of_scales(x: AnySample, y: AnySample, names: Sequence[str] | None) -> None:
    """Warn if the scales of columns differ by orders of magnitude, and name the columns."""
    some = np.concatenate([x.first(_FEW), y.first(_FEW)]).astype(np.float64)
    spreads = np.ptp(some, axis=0)
    varying = spreads[spreads > 0.0]
    if varying.size < 2 or varying.max() / _SUSPECT < varying.min():
        return
    scales = np.where(spreads > 0.0, pooled_scales(x, y), np.nan)
    largest = int(np.nanargmax(scales))
    small = np.flatnonzero(scales <= scales[largest] / _RATIO)
    if not small.size:
        return
    shown = [_name(names, int(j)) for j in small[np.argsort(scales[small], kind="stable")][:_NAMED]]
    more = f" and {small.size - _NAMED} more" if small.size > _NAMED else ""
    warn(
        f"{', '.join(shown)}{more}: on a scale of less than 1/{_RATIO:g} of that of {_name(names, largest)}, hardly "
        "seen by the kernel; btest(..., scale=True) puts all columns on one scale, scale=False takes them as they are",
        ScaleWarning,
    )


def _name(names: Sequence[str] | None, column: int) -> str:
    return f"column {column}" if names is None else f"column {str(names[column])!r}"
