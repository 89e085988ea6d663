"""Options of ``btests compare`` from ``btests.toml``, or from ``[tool.btests]`` of ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from btests._text import ended, shortly

#: Files that are looked for in the current folder: the first one that has options counts.
NAMES = ("btests.toml", "pyproject.toml")

# Dots of a key at most: of a.a.a... the parser takes the square of their number.
_MOST_DOTS = 500


def options_from(config: Path | None) -> tuple[dict[str, Any], str]:
    """Return checked options by their names in Python, and the name of their file; none and "" without a file.

    Parameters
    ----------
    config : Path or None
        The file; by default one of ``NAMES`` in the current folder.
    """
    for path in [Path(name) for name in NAMES] if config is None else [config]:
        values = _values(path, is_named=config is not None)
        if values is not None:
            from btests.comparison.compare_options import options_of_file

            try:
                return options_of_file(values, str(path)), str(path)
            except ValueError as error:
                raise click.UsageError(ended(str(error))) from None
    return {}, ""


def _values(path: Path, *, is_named: bool) -> dict[str, Any] | None:
    """Return the options as they are written; None where there is no file, or no table of them in it."""
    if not path.is_file():
        if is_named:
            raise click.UsageError(f"--config {str(path)!r} is no file; name a .toml file.")
        return None
    text = path.read_bytes()
    is_project = path.name == "pyproject.toml"
    if is_project and not is_named and b"btests" not in text:
        return None
    if any(line.partition(b"=")[0].count(b".") > _MOST_DOTS for line in text.splitlines()):
        raise click.UsageError(f"{str(path)!r} has a key of more than {_MOST_DOTS} parts.")
    try:
        found = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also of int(), which takes no text of 4301 digits
        raise click.UsageError(f"{str(path)!r} is not valid TOML: {shortly(error)}.") from None
    if not is_project and "tool" not in found:
        return found
    tools = found.get("tool", {})
    own = tools.get("btests") if isinstance(tools, dict) else None
    if not isinstance(own, dict):
        if is_named:
            raise click.UsageError(f"--config {str(path)!r} has no table [tool.btests].")
        return None
    return own
