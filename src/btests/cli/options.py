"""Names of columns in an option, written as cells of a line of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import click


def split_names(option: str, texts: Iterable[str]) -> list[str]:
    r"""Return the names in all uses of an option: with commas between them, in double quotes where they hold one.

    Examples
    --------
    >>> split_names("--columns", ["size, colour", '"a,b"', '"2"" wide"'])
    ['size', 'colour', 'a,b', '2" wide']
    """
    names: list[str] = []
    for text in texts:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True))
        except csv.Error:
            raise click.UsageError(
                f"{option} {text!r} has a quote that does not fit; a name with a comma or a quote is "
                f"""written '"a,b"', and a quote inside it twice."""
            ) from None
        found = [name for row in rows for name in row]
        if not found or any(name == "" and '""' not in text for name in found):
            raise click.UsageError(f"{option} {text!r} has a name without letters; commas go between names.")
        names += found
    return names


def join_names(names: Sequence[str]) -> str:
    r"""Return names as one text that ``split_names`` reads.

    Examples
    --------
    >>> print(join_names(["size", "a,b", '2" wide', " x"]))
    size,"a,b","2"" wide"," x"
    """
    return ",".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    is_plain = name != "" and name == name.lstrip() and not set(name) & set(',"\r\n')
    return name if is_plain else '"' + name.replace('"', '""') + '"'
