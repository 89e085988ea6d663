"""Text of counts, shares, names, kernels and options, and lines and tables of it on a screen."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from btests._text import printable
from btests.report.number_format import exact_share, plural, share_digits


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
    """Return a share as text; only 1 is 100 %, and only 0 is 0 %.

    Examples
    --------
    >>> percent(0.05), percent(0.12345), percent(0.9999999), percent(1.0)
    ('5 %', '12.3 %', '99.99999 %', '100 %')
    """
    share = exact_share(share)
    return f"{100.0 * share:.{share_digits(share, 3)}g} %"


def one_decimal(share: float) -> str:
    """Return a share with one digit after the point, with three digits below 0.1 %, and with more close to 100 %.

    Examples
    --------
    >>> one_decimal(0.12345), one_decimal(0.000123), one_decimal(0.9999)
    ('12.3 %', '0.0123 %', '99.99 %')
    """
    text = f"{100.0 * share:.1f} %"
    return percent(share) if 0.0 < share < 1e-3 or (share < 1.0 and text == "100.0 %") else text


def some_of(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return texts with a separator between them, and how many there are beyond ``most``.

    Examples
    --------
    >>> some_of(["a", "b"], 2), some_of(["a", "b", "c"], 1)
    ('a, b', 'a and 2 more')
    """
    return separator.join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def quoted_list(names: Sequence[str], most: int = 12) -> str:
    """Return names in quotes, with commas between them.

    Examples
    --------
    >>> quoted_list(["a", "b,c"]), quoted_list(["a", "b", "c"], 1)
    ("'a', 'b,c'", "'a' and 2 more")
    """
    return some_of([repr(name) for name in names], most)


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


# Indent of text after headings, and widths of a column of names on a screen.
_INDENT = 12
_SHORTEST_NAME, _LONGEST_NAME = 6, 24

# Columns of the narrowest screen.
_NARROWEST = 40


def terminal_size() -> tuple[int, int | None]:
    """Return width and height of the terminal; pipes and files are 80 columns wide."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 80, None
    size = shutil.get_terminal_size((80, 24))
    return max(_NARROWEST, size.columns), size.lines


def wrapped(lines: Iterable[str], width: int, indent: int = _INDENT) -> list[str]:
    """Return lines wrapped to ``width``, with continuations indented."""
    found: list[str] = []
    for line in lines:
        found += textwrap.wrap(printable(line), width, subsequent_indent=" " * indent, drop_whitespace=True) or [""]
    return found


# What separates the values of both sides.
_CHANGE = " -> "


def cut(line: str, width: int) -> str:
    """Return a line of at most ``width``, with an ellipsis if it is cut: after a whole change if there is one.

    Examples
    --------
    >>> cut("mean 1 -> 2; spread 3 -> 4", 26), cut("mean 1 -> 2; spread 3 -> 4", 25)
    ('mean 1 -> 2; spread 3 -> 4', 'mean 1 -> 2 \u2026')
    >>> cut("temperature", 5)
    'temp\u2026'
    """
    line = printable(line)
    if text_width(line) <= width:
        return line
    while text_width(line) > width - 1:
        line = line[:-1]
    whole = max(line.rfind("; ", 0, -1), line.rfind(", ", 0, -1))
    if _CHANGE in line[:whole]:  # the first change is there, and so are all that fit
        return line[:whole] + " \u2026"
    return line.rstrip() + "\u2026"


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Column of a table of text: numbers flush right, names of at most ``width``, or texts as they are without one."""

    title: str
    width: int = 0
    is_number: bool = False

    def padded(self, cells: Sequence[str]) -> list[str]:
        """Return the title and the cells, names as wide as the longest."""
        texts = [printable(text) for text in (self.title, *cells)]
        if self.is_number:
            return [text.rjust(self.width) for text in texts]
        width = max(_SHORTEST_NAME, min(self.width, max(map(text_width, texts))))
        return [fitted(text, width) for text in texts] if self.width else texts


def name_width(width: int, part: int) -> int:
    """Return how wide a column of names may be on a screen of ``width``, of which it may take one ``part``."""
    return max(_LONGEST_NAME, width // part)


def table(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], marked: Iterable[bool]) -> list[str]:
    """Return a heading and rows of text, those that are ``marked`` with a star.

    Examples
    --------
    >>> for line in table([TextColumn("column", 9), TextColumn("p", 5, True)], [["size", "0.1"], ["x", "1"]], [1, 0]):
    ...     print(line)
      column      p
    * size      0.1
      x           1
    """
    cells = [column.padded([row[k] for row in rows]) for k, column in enumerate(columns)]
    return [f"{' *'[mark]} {'  '.join(line)}" for mark, *line in zip((False, *marked), *cells, strict=True)]


def pair(a: float, b: float) -> tuple[str, str]:
    """Return two numbers as text with as many digits as distinguish them, at least four."""
    for digits in (4, 5, 6, 8, 10, 13, 17):
        text = (plain(a, digits), plain(b, digits))
        if text[0] != text[1]:
            return text
    return text
