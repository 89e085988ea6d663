"""Counts, shares and names as words."""

from __future__ import annotations

from collections.abc import Sequence

from btests.report.words import plural


def counted(n: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "block"), counted(0, "row"), counted(12, "more column")
    ('1 block', '0 rows', '12 more columns')
    """
    return f"{n} {plural(n, noun)}"


def percent(share: float) -> str:
    """Return a share as text.

    Examples
    --------
    >>> percent(0.05), percent(0.12345)
    ('5 %', '12.3 %')
    """
    return f"{100.0 * share:.3g} %"


def quoted_list(names: Sequence[str], most: int = 12) -> str:
    """Return names in quotes, with commas between them.

    Examples
    --------
    >>> quoted_list(["a", "b,c"]), quoted_list(["a", "b", "c"], 1)
    ("'a', 'b,c'", "'a' and 2 more")
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
