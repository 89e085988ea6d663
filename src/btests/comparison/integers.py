"""Whole numbers too large for floats."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from btests.data.optional import arrow

# Up to here every whole number is a float.
_LAST = 2**53


def shift_huge(a: Any, b: Any, name: str, notes: list[str]) -> tuple[Any, Any]:
    """Return two arrow columns, without what they have in common where floats cannot tell their numbers apart."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if not all(pa.types.is_integer(column.type) for column in (a, b)):
        return a, b
    ends = [end for column in (a, b) for end in pc.min_max(column).as_py().values() if end is not None]
    if not ends or max(map(abs, ends)) <= _LAST:
        return a, b
    least, most = min(ends), max(ends)
    if most - least > _LAST or (least < 0 and most >= 2**63):
        notes.append(f"column {name!r} has whole numbers beyond 2^53, which are rounded: neighbours may look alike")
        return a, b
    notes.append(f"column {name!r} has whole numbers beyond 2^53; {least} was subtracted from them")
    wide = pa.uint64() if most >= 2**63 else pa.int64()
    one, two = (pc.subtract(pc.cast(column, wide), pa.scalar(least, wide)) for column in (a, b))
    return one, two
