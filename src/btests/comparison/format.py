"""Text of counts, shares, names, kernels and options."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from btests.report.number_format import plural


def counted(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "block"), counted(0, "row"), counted(12, "more column")
    ('1 block', '0 rows', '12 more columns')
    """
    return f"{n} {plural(n, noun)}"


def plain(value: float, digits: int = 4) -> str:
    """Return a number with ``digits`` significant digits, and all those before the point up to 1e15.

    Examples
    --------
    >>> plain(0.0123456), plain(40691.4), plain(-1.5), plain(2e20)
    ('0.01235', '40691', '-1.5', '2e+20')
    """
    return f"{value:.0f}" if 10.0**digits <= abs(value) < 1e15 else f"{value:.{digits}g}"


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


def text_width(text: str) -> int:
    """Return the width of text in a terminal: 2 for East Asian wide characters, 0 for combining accents.

    Examples
    --------
    >>> text_width("size"), text_width("\u6570\u91cf"), text_width("e\u0301")
    (4, 4, 1)
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def fitted(name: str, width: int) -> str:
    """Return a name padded or shortened to ``width``; long names keep their beginning and end.

    Examples
    --------
    >>> fitted("size", 6), fitted("temperature of the day before", 16)
    ('size  ', 'temperatur\u2026efore')
    """
    if text_width(name) > width:
        end = name[-((width - 1) // 3) :]
        while text_width(end) > (width - 1) // 3:
            end = end[1:]
        widths = list(accumulate(map(text_width, name)))
        begin = name[: bisect_right(widths, width - 1 - text_width(end))]
        name = f"{begin}\u2026{end}"
    return name + " " * (width - text_width(name))


def short_name(kernel: object) -> str:
    """Return a kernel as text, its numbers with four digits."""
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))


#: Notes on tables that are copies of one another.
SAME_ROWS = "both tables hold the same rows in the same order: a copy is not a second sample"
SAME_FILES = "both tables are read from files of the same content: a copy is not a second sample"


def option(name: str, value: str | bool | float | list[str] | None = None) -> str:
    """Return an option of ``compare`` in backticks, with a value if it is given.

    The command line replaces options in backticks by its own.

    Examples
    --------
    >>> print(option("max_rows"), option("common", True), option("missing", ["-"]))
    `max_rows` `common=True` `missing='-'`
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return f"`{name}`" if value is None else f"`{name}={value!r}`"
