"""Numbers in columns of text: with a percent sign or a currency, and with thousands separators."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from btests._imports import arrow
from btests._text import shortened

# Codes of currencies beside or in place of their signs.
_CODES = ("AUD", "BRL", "CAD", "CHF", "CNY", "DKK", "EUR", "GBP", "INR", "JPY", "NOK", "SEK", "USD", "US$")

# Parts of a cell that may hold a number: a symbol before or behind digits and their marks.
_CELL = re.compile(r"^\s*[+\-\u2212]?\s*(\D*?)\s*[+\-\u2212]?((?:\d|[.,]\d)[\d.,'\u2019\s]*)([^\d]*)$")

_BLANK = "[\\s\u00a0\u202f]"

# Separators of thousands beside a decimal point, a decimal comma, and where there is neither.
_GROUPS = {".": (",",), ",": (r"\.",), "": ()}
_ALWAYS = ("['\u2019]", "[\u00a0\u202f]")

# Characters of a cell that may be a number at most: the pattern takes the square of its length.
_LONGEST = 400

# Characters of a cell in a note at most.
_SHOWN = 40


def amount_styles(text: Any) -> tuple[str, ...]:
    """Return the styles of numbers that fit every cell of a column of text; none without a symbol or a separator.

    A style is ``#.#`` or ``#,#`` between what is written before and behind a number, by its decimal mark; the other of
    the two may group digits. Besides, ``#`` fits cells that do not distinguish the two.

    Examples
    --------
    >>> import pyarrow
    >>> amount_styles(pyarrow.array(["$1,234.50", "$7"])), amount_styles(pyarrow.array(["12 %", "1,5 %"]))
    (('$#.#',), ('#,#%',))
    >>> amount_styles(pyarrow.array(["1,234", "12"])), amount_styles(pyarrow.array(["1", "x"]))
    (('#.#', '#,#'), ())
    """
    place = arrow("pyarrow.compute").index(text.is_valid(), True).as_py()
    cell = "" if place < 0 else text[place].as_py()
    found = _CELL.match(cell) if len(cell) <= _LONGEST else None
    if found is None:
        return ()
    before, behind = found[1].strip(), found[3].strip()
    if (before and behind) or not all(map(_is_symbol, filter(None, (before, behind)))):
        return ()
    return fitting_amounts(text, tuple(f"{before}{number}{behind}" for number in ("#", "#.#", "#,#")))


def fitting_amounts(text: Any, styles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the styles that fit every cell of a column of text."""
    pc = arrow("pyarrow.compute")
    first = text.slice(0, 1)
    return tuple(
        style
        for style in styles
        if pc.all(pc.match_substring_regex(first, _pattern(style))).as_py() is not False
        and pc.all(pc.match_substring_regex(text, _pattern(style))).as_py() is not False
    )


def chosen_amount(styles: tuple[str, ...], decimal: str | None) -> str:
    """Return the style that cells of one or several styles have, given the decimal mark of the user; empty for none.

    Examples
    --------
    >>> chosen_amount(("$#", "$#.#", "$#,#"), None), chosen_amount(("$#.#", "$#,#"), None)
    ('$#', '')
    >>> chosen_amount(("$#.#", "$#,#"), ","), chosen_amount(("#,#",), None), chosen_amount(("#", "#.#"), None)
    ('$#,#', '', '')
    """
    marks = {_parts(style)[1]: style for style in styles}
    if "" in marks:  # digits alone are text that was meant as such
        return "" if marks[""] == "#" else marks[""]
    if decimal is not None:
        return marks.get(decimal, "")
    # Without a symbol a comma may separate two numbers as well.
    return styles[0] if len(styles) == 1 and styles[0] != "#,#" else ""


def described_amount(style: str) -> str:
    """Return a style in words.

    Examples
    --------
    >>> described_amount("$#.#"), described_amount("#,# €"), described_amount("#.#")
    ("'$'", "'€' and decimal commas", 'thousands separators')
    """
    before, mark, behind = _parts(style)
    symbol = (before or behind).strip()
    words = [repr(symbol)] if symbol else []
    return " and ".join(words + ["decimal commas"] * (mark == ",")) or "thousands separators"


def ambiguous_cell(texts: Sequence[Any]) -> str:
    """Return a cell of amounts that has a comma or a point; empty if there is none."""
    pc = arrow("pyarrow.compute")
    for text in texts:
        marked = text.filter(pc.match_substring_regex(text, "[.,]"))
        if len(marked):
            return shortened(marked[0].as_py().strip(), _SHOWN)
    return ""


def parse_amounts(text: Any, style: str) -> Any:
    """Return text as floats, missing where it does not fit a style."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    before, mark, behind = _parts(style)
    text = pc.if_else(pc.match_substring_regex(text, _pattern(style)), text, pa.scalar(None, text.type))
    for symbol in filter(None, (before, behind)):
        text = pc.replace_substring(text, symbol, "", max_replacements=1)
    text = pc.replace_substring(pc.replace_substring_regex(text, "[\\s\u00a0\u202f'\u2019]", ""), "\u2212", "-")
    text = pc.replace_substring(text, "." if mark == "," else ",", "")
    return pc.cast(pc.replace_substring(text, ",", "."), pa.float64())


def _is_symbol(text: str) -> bool:
    return text in ("%", "\u2030", *_CODES) or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _parts(style: str) -> tuple[str, str, str]:
    """Return the prefix of a number, its decimal mark, and its suffix."""
    before, *mark, behind = style.split("#")
    return before, "".join(mark), behind


@cache
def _pattern(style: str) -> str:
    before, mark, behind = _parts(style)
    if style == "#":
        return rf"^{_BLANK}*[+-]?\d+(?:\.\d+)?{_BLANK}*$"
    groups = [*_GROUPS[mark], *_ALWAYS, *([" "] if before or behind else [])]
    whole = "|".join([*(rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+" for group in groups), r"\d+"])
    number = rf"(?:{whole})"
    if mark:
        number = rf"(?:{number}(?:\{mark}\d+)?|\{mark}\d+)"
    symbols = [re.escape(symbol) + f"{_BLANK}*" if symbol else "" for symbol in (before, behind)]
    # One sign at most, before or after the symbol.
    sign = "[+\\-\u2212]"
    start = rf"(?:{sign}?{_BLANK}*{symbols[0]}|{symbols[0]}{sign})" if before else f"{sign}?"
    return rf"^{_BLANK}*{start}{number}{_BLANK}*{symbols[1]}{_BLANK}*$"
