"""Validated options of a comparison, and its callbacks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from btests._text import close_match
from btests.comparison.format import option, quoted_list
from btests.data.text_format import TextFormat

#: Rows of each side that are tested at most, unless ``max_rows`` is given.
MAX_ROWS = 1_000_000


class CompareOptions(TypedDict, total=False):
    """Types of the options of ``compare`` that do not determine what it returns."""

    value_a: Any
    value_b: Any
    columns: Sequence[str] | str | None
    exclude: Sequence[str] | str
    common: bool
    alpha: float
    tolerance: float | None
    kernel: Any
    null: Any
    block_size: int | str | None
    budget: float | None
    seed: int | None
    max_rows: int | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
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
            raise ValueError(
                f"{option(keyword)} names {name!r}{hint}, which is not in {where}; there are {quoted_list(there, 8)}"
            )


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of ``compare``; ``is_drawn`` if ``max_rows`` was given."""

    by: str | None = None
    value_a: Any = None
    value_b: Any = None
    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    common: bool = False
    alpha: float = 0.05
    tolerance: float | None = None
    kernel: Any = None
    null: Any = None
    block_size: int | str | None = None
    seed: int = 0
    max_rows: int = MAX_ROWS
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    is_drawn: bool = False
    memory: int | str | None = None
    checkpoint: str | None = None
    skip_bad_parts: bool = False
    workers: Any = None
    budget: float | None = None
    unit: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @property
    def text(self) -> TextFormat:
        """Format of delimited text, as far as it is named."""
        return TextFormat(self.delimiter, self.decimal, self.encoding, self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, None for defaults."""
        names = {"value_a": "a", "value_b": "b"}
        found = {}
        for name in _SHOWN:
            value = getattr(self, name)
            if name in ("kernel", "null", *names):
                value = None if value is None else str(value)
            elif isinstance(value, tuple):
                value = list(value) or None
            found[names.get(name, name)] = value
        return found


# Options in the results, in their order.
_SHOWN = (
    *("alpha", "seed", "block_size", "budget", "kernel", "null", "tolerance", "columns", "exclude", "common", "by"),
    *("value_a", "value_b", "delimiter", "decimal", "encoding", "max_rows", "missing", "categories", "memory"),
    *("skip_bad_parts", "unit"),
)

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
