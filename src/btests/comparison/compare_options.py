"""Validated options of a comparison, and its callbacks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypedDict

import numpy as np

from btests._option_checks import (
    check_alpha,
    check_decimal,
    check_delimiter,
    check_encoding,
    check_flag,
    check_name,
    check_path,
    check_seed,
    check_texts,
    is_one_of,
    share_of,
)
from btests._text import brief, close_match, converting
from btests.block_size import check_block_rule
from btests.comparison.fail_on import check_fail_on
from btests.comparison.format import option, quoted_list
from btests.data.csv_parser import is_number
from btests.data.formats import FORMATS
from btests.data.text_format import TextFormat

#: Rows of each side that are tested at most, unless ``max_rows`` is given.
MAX_ROWS = 1_000_000


class CompareOptions(TypedDict, total=False):
    """Types of the options of ``compare`` but ``by``, which determines what it returns."""

    value_a: Any
    value_b: Any
    columns: Sequence[str] | str | None
    exclude: Sequence[str] | str
    common: bool
    alpha: float
    tolerance: float | str | None
    kernel: Any
    null: Any
    block_size: int | str | None
    budget: float | None
    seed: int | None
    max_rows: int | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
    file_format: str | None
    table: str | None
    missing: Sequence[str] | str
    categories: Sequence[str] | str
    memory: int | str | None
    checkpoint: str | os.PathLike[str] | None
    skip_bad_parts: bool
    workers: Any
    unit: str | None
    progress: Callable[[float], None] | None
    report: Callable[[str, int, int], None] | None


def require_columns(
    keyword: str, names: Sequence[str], tables: Sequence[tuple[str, Sequence[str]]], *, everywhere: bool = True
) -> None:
    """Raise if an option names a column that tables, each a name and its columns, do not have, or that none has."""
    for name in names:
        absent = [where for where, columns in tables if name not in columns]
        if len(absent) == len(tables) or (absent and everywhere):
            there = tables[0][1]
            near = close_match(name, there)
            hint = f" (did you mean {near!r}?)" if near else ""
            where = " nor in ".join(dict.fromkeys(absent))
            named = f"{option(keyword)} names {brief(name)}{hint}"
            raise ValueError(f"{named}, which is not in {where}; there are {quoted_list(there, 8)}")


def require_common_columns(tables: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Raise unless two tables, each a name and its columns, have a column in common."""
    (one, in_a), (two, in_b) = tables
    if set(in_a) & set(in_b):
        return
    there = f"{quoted_list(in_a, 6)} against {quoted_list(in_b, 6)}"
    is_row = any(map(is_number, (*in_a, *in_b)))
    hint = "; if first lines are rows, write a line with the names of the columns above them" if is_row else ""
    raise ValueError(f"{one} and {two} have no column in common: {there}{hint}")


def check_tolerance(tolerance: object) -> float | None:
    """Return the tolerance, a share of rows; raise if it is not valid."""
    if tolerance is None:
        return None
    if isinstance(tolerance, str):
        return share_of("tolerance", tolerance)
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.integer, np.floating)):
        raise TypeError(f"tolerance must be a share of the rows, such as 0.05, got {brief(tolerance)}")
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance must be a share of the rows, from 0 to less than 1, got {brief(tolerance)}")
    return float(tolerance)


def _check_rows(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 2:
        raise ValueError(f"max_rows must be a whole number of at least 2, got {brief(value)}")
    return value


def _check_file(value: Any) -> str | None:
    check_path("checkpoint", value)
    return None if value is None else os.fspath(value)


def _check_format(value: object) -> str | None:
    if value is not None and not is_one_of(value, *FORMATS):
        near = close_match(value, FORMATS) if isinstance(value, str) else None
        hint = "" if near is None else f" (did you mean {near!r}?)"
        raise ValueError(f"file_format must be one of {', '.join(FORMATS)}, or None, got {brief(value)}{hint}")
    return None if value is None else str(value)


def _check_column(name: str, value: Any) -> str | None:
    check_name(name, value)
    return None if value is None else str(value)


def _check_table(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"table must be the name of a table in files that hold several, or None, got {brief(value)}")
    return value


def _check_value(name: str, value: object) -> object:
    with converting(name):
        str(value)
    return value


# What is made of options before they are used.
_CHECKS: dict[str, Callable[[Any], Any]] = {
    **{name: partial(check_texts, name) for name in ("columns", "exclude", "missing", "categories")},
    **{name: partial(check_flag, name) for name in ("common", "skip_bad_parts")},
    **{name: partial(_check_column, name) for name in ("by", "unit")},
    **{name: partial(_check_value, name) for name in ("value_a", "value_b")},
    **{"alpha": check_alpha, "tolerance": check_tolerance, "seed": check_seed, "max_rows": _check_rows},
    **{"delimiter": check_delimiter, "decimal": check_decimal, "encoding": check_encoding, "checkpoint": _check_file},
    **{"file_format": _check_format, "table": _check_table},
}

# Options that results do not show; those they do are in the order of the fields.
_HIDDEN = ("checkpoint", "workers", "is_drawn")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of ``compare``, checked; ``is_drawn`` if ``max_rows`` was given."""

    alpha: float = 0.05
    seed: int = 0
    block_size: int | str | None = None
    budget: float | None = None
    kernel: Any = None
    null: Any = None
    tolerance: float | None = None
    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    common: bool = False
    by: str | None = None
    value_a: Any = None
    value_b: Any = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    file_format: str | None = None
    table: str | None = None
    max_rows: int = MAX_ROWS
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    memory: int | str | None = None
    skip_bad_parts: bool = False
    unit: str | None = None
    checkpoint: str | None = None
    workers: Any = None
    is_drawn: bool = False

    def __post_init__(self) -> None:
        check_block_rule(self.block_size, None, self.budget)
        if self.budget is not None:
            object.__setattr__(self, "budget", float(self.budget))
        if isinstance(self.block_size, np.integer):
            object.__setattr__(self, "block_size", int(self.block_size))
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, check(getattr(self, name)))

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Return the options among the arguments of ``compare``."""
        given = {own.name: arguments[own.name] for own in fields(cls) if own.name in arguments}
        if given["max_rows"] is None:
            del given["max_rows"]
        return cls(**given, is_drawn="max_rows" in given)

    @property
    def text(self) -> TextFormat:
        """Format of delimited text, as far as it is named."""
        return TextFormat(self.delimiter, self.decimal, self.encoding, self.missing, form=self.file_format)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, None for defaults."""
        names = {"value_a": "a", "value_b": "b"}
        found = {}
        for name in (own.name for own in fields(self) if own.name not in _HIDDEN):
            value = getattr(self, name)
            if name in ("kernel", "null", *names):
                value = None if value is None else str(value)
            elif isinstance(value, tuple):
                value = list(value) or None
            found[names.get(name, name)] = value
        return found


# Names of options in files that are not those of arguments, as on the command line.
_FILE_NAMES = {"a": "value_a", "b": "value_b", "format": "file_format"}


def options_of_file(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return options by the names of arguments, and ``fail_on``, from a file with the names of the command line.

    Parameters
    ----------
    values : mapping
        Names, with hyphens or underscores, and values.
    where : str
        Name of the file, for messages.
    """
    known = {*(own.name for own in fields(Options)), "fail_on"} - {"is_drawn", "checkpoint"}
    found = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        name = _FILE_NAMES.get(name, name)
        if name not in known:
            shown = sorted({*known, *_FILE_NAMES} - {*_FILE_NAMES.values()})
            near = close_match(name, shown)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(shown)}"
            raise ValueError(f"{where} has {brief(key)}, which is no option of a comparison; {hint}")
        found[name] = value
    try:
        if "fail_on" in found:
            found["fail_on"] = check_fail_on(found["fail_on"])
        checked = Options(**{name: value for name, value in found.items() if name != "fail_on"})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None
    return {name: found[name] if name == "fail_on" else getattr(checked, name) for name in found}


# Begin and end of each phase over files as a share of the whole.
_PHASES = {"reading": (0.0, 0.3), "shuffling": (0.3, 0.5), "testing": (0.5, 0.8)}

#: Called with the name of a phase, the rows done, and the rows in all.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks for the completed share of a comparison, and for the rows of a phase over files."""

    share: Callable[[float], None]
    report: Report | None = None

    def rows(self, phase: str, done: int, of: int) -> None:
        """Report the rows of a phase."""
        begin, end = _PHASES[phase]
        self.share(begin + (end - begin) * min(1.0, done / max(of, 1)))
        if self.report is not None:
            self.report(phase, done, max(of, done))
