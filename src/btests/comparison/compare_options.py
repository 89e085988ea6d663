"""Validated options of a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

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


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of ``compare``; ``is_drawn`` if ``max_rows`` was given."""

    by: str | None
    value_a: Any
    value_b: Any
    columns: tuple[str, ...]
    exclude: tuple[str, ...]
    common: bool
    alpha: float
    tolerance: float | None
    kernel: Any
    null: Any
    block_size: int | str | None
    seed: int
    max_rows: int
    delimiter: str | None
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
        return TextFormat(self.delimiter, self.decimal, self.encoding)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, None for defaults."""
        return {
            "alpha": self.alpha,
            "seed": self.seed,
            "block_size": self.block_size,
            "budget": self.budget,
            "kernel": None if self.kernel is None else str(self.kernel),
            "null": None if self.null is None else str(self.null),
            "tolerance": self.tolerance,
            "columns": list(self.columns) or None,
            "exclude": list(self.exclude) or None,
            "common": self.common,
            "by": self.by,
            "a": None if self.value_a is None else str(self.value_a),
            "b": None if self.value_b is None else str(self.value_b),
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "max_rows": self.max_rows,
            "missing": list(self.missing) or None,
            "categories": list(self.categories) or None,
            "memory": self.memory,
            "skip_bad_parts": self.skip_bad_parts,
            "unit": self.unit,
        }
