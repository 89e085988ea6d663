"""Columns of one table for tests of independence, read and encoded as ``compare`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from btests._validation import check_alpha, check_seed
from btests.comparison.align import pooled_columns
from btests.comparison.cells import Cells
from btests.comparison.compare_options import MAX_ROWS, Options
from btests.comparison.encoding import Encoding
from btests.comparison.format import option, quoted_list
from btests.comparison.sources import Loaded, load
from btests.comparison.tokens import mark_missing
from btests.designs.paired import MIN_PAIRS
from btests.independence_pipeline import SMALLER_FAMILY
from btests.plan import Array
from btests.result import TestResult


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of the test, as in :func:`btests.independence_test`, and of the table, as in :func:`btests.compare`."""

    statistic: str = "hsic"
    null: str | None = None
    alpha: float = 0.05
    block_size: int | str | None = None
    budget: float | None = None
    seed: int = 0
    exclude: tuple[str, ...] = ()
    max_rows: int | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_seed(self.seed)

    @property
    def n_kernels(self) -> int:
        """Number of kernels of each side: several need swaps, which the kernels share."""
        return len(SMALLER_FAMILY.factors) if self.statistic == "hsic" and self.null in (None, "swap") else 1


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table, and what is collected as its columns are read."""

    table: Loaded
    excluded: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def columns(self, names: Sequence[str], settings: Settings, *, named: bool) -> list[Cells]:
        """Return columns as ``compare`` reads them; ``named`` columns are not excluded as identifiers."""
        own = Loaded(self.table.table.select(list(names)), self.table.name)
        options = Options(
            by=None,
            value_a=None,
            value_b=None,
            columns=tuple(names) if named else (),
            exclude=(),
            common=True,
            alpha=settings.alpha,
            tolerance=None,
            kernel=None,
            null=None,
            block_size=None,
            seed=settings.seed,
            max_rows=settings.max_rows or MAX_ROWS,
            delimiter=None,
            categories=tuple(name for name in settings.categories if name in names),
        )
        return pooled_columns((own, replace(own, table=own.table.slice(0, 0))), options, self.excluded, self.notes)

    def document(self, columns: Sequence[Cells], settings: Settings, result: TestResult) -> dict[str, Any]:
        """Return what both kinds of tests have in common."""
        excluded = [*((name, "excluded") for name in settings.exclude), *self.excluded]
        return {
            "table": self.table.name,
            "alpha": settings.alpha,
            "statistic_name": settings.statistic,
            "null": repr(result.null),
            "seed": settings.seed,
            "rows": {"given": self.table.table.num_rows, "tested": result.n_x},
            "columns": [{"name": c.name, "kind": c.kind, "missing": int(c.missing.sum())} for c in columns],
            "excluded": [{"name": name, "reason": why} for name, why in excluded],
            "notes": list(dict.fromkeys(self.notes)),
        }


def open_table(source: Any, settings: Settings, sides: Mapping[str, Sequence[str]]) -> Loaded:
    """Return the table after a check of the names of columns and of the number of rows."""
    found = load(source, "the table", settings.delimiter)
    there = found.table.column_names
    for keyword, names in {**sides, "exclude": settings.exclude, "categories": settings.categories}.items():
        for name in names:
            if name not in there:
                near = get_close_matches(name, there, 1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                more = "" if near else f"; there are {quoted_list(there, 8)}"
                raise ValueError(f"{option(keyword)} names {name!r}{hint}, which is not in {found.name}{more}")
            if keyword in sides and name in settings.exclude:
                raise ValueError(f"{option(keyword)} and {option('exclude')} both name {name!r}")
    if found.table.num_rows < MIN_PAIRS:
        rows = found.table.num_rows
        raise ValueError(f"{found.name} has {rows} rows; a test of independence needs at least {MIN_PAIRS}")
    return Loaded(mark_missing(found.table, settings.missing), found.name)


def encoded(columns: Sequence[Cells]) -> list[Array]:
    """Return the coordinates of each column: (n, width) each."""
    return [code.transform(cells) for code, cells in zip(Encoding.fit(columns).codes, columns, strict=True)]
