"""Random orders of rows, and of units that several rows belong to, such as customers, and a hint at those."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from btests.comparison.cells import KINDS, Cells, kind_of
from btests.comparison.compare_options import Options, require_columns
from btests.comparison.format import option
from btests.comparison.sources import Loaded
from btests.comparison.swap_units import expand
from btests.comparison.tokens import values_of
from btests.designs.units import Grouped, check_labels, group_rows
from btests.plan import Index

# A name of things that have several rows. The case matters for the third: customerId, but not paid.
_NAMES = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key)$)|(?i:num$)|[a-z](Id|ID)$")
_THINGS = re.compile(
    r"(customer|patient|user|subject|client|member|person|household|account|session|device|machine|student|employee)s?",
    re.IGNORECASE,
)

# Fewest different values of an identifier, and rows of a value on average.
_LEAST_VALUES, _LEAST_ROWS = 20, 1.2


def row_orders(columns: Sequence[Cells], seed: int) -> tuple[Index, Index]:
    """Return random orders of the rows of both tables, the same two if the tables change places.

    The random stream of a table depends on its length or, for tables of one length, on the sums of its columns. The
    p-values remain exact: for sides of one length, swapping all pairs at once changes the sign of every difference of
    sums, and no statistic, so that the two are independent under the null hypothesis.
    """
    n_a = columns[0].n_a
    return random_orders((n_a, len(columns[0]) - n_a), (0, 1) if comes_first(columns) else (1, 0), seed)


def random_orders(sizes: tuple[int, int], streams: tuple[int, int], seed: int) -> tuple[Index, Index]:
    """Return random orders of two tables of these sizes, from these random streams."""
    first, second = (
        np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1 + stream]))).permutation(n)
        for stream, n in zip(streams, sizes, strict=True)
    )
    return first, second


def comes_first(columns: Sequence[Cells]) -> bool:
    """Return whether the first table has the first stream, by a rule that is symmetric in the tables."""
    n_a = columns[0].n_a
    if 2 * n_a != len(columns[0]):
        return 2 * n_a > len(columns[0])
    for cells in columns:
        for found in (cells.missing, cells.values, np.abs(cells.values)):
            a, b = float(found[:n_a].sum()), float(found[n_a:].sum())
            if a != b:
                return a > b
    return True


@dataclass(frozen=True, slots=True)
class RowUnits:
    """Rows of both tables grouped by unit, and whether both tables have the same units, which are then pairs."""

    a: Grouped
    b: Grouped
    paired: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of units of each table."""
        return len(self.a.edges) - 1, len(self.b.edges) - 1

    def orders(self, columns: Sequence[Cells], seed: int) -> tuple[Index, Index]:
        """Return random orders of the units of both tables, the same two if the tables change places."""
        n_a, n_b = self.sizes
        first = n_a > n_b if n_a != n_b else comes_first(columns)
        one, two = random_orders((n_a, n_b), (0, 1) if first else (1, 0), seed)
        return (one, one) if self.paired else (one, two)

    def rows(self, orders: tuple[Index, Index]) -> tuple[Index, Index]:
        """Return the rows of the units in these orders."""
        return expand(self.a, orders[0])[0], expand(self.b, orders[1])[0]

    def labels(self, orders: tuple[Index, Index]) -> tuple[Index, Index]:
        """Return the unit of each of these rows, those of pairs by the same number."""
        of_a, of_b = (
            np.repeat(np.arange(len(order)), np.diff(group.edges)[order])
            for group, order in zip((self.a, self.b), orders, strict=True)
        )
        return of_a, of_b if self.paired else len(orders[0]) + of_b


def take_units(
    sides: tuple[Loaded, Loaded], options: Options, excluded: list[tuple[str, str]], notes: list[str]
) -> tuple[tuple[Loaded, Loaded], RowUnits | None]:
    """Return the tables without the column that names units, and the units; None if no such column is given.

    Of tables with more than ``max_rows`` rows, units are drawn at random.
    """
    name = options.unit
    if name is None:
        return sides, None
    if options.tolerance is not None:
        raise ValueError(f"{option('tolerance')} is for independent rows; name it or {option('unit')}, not both")
    require_columns("unit", [name], [(side.name, side.table.column_names) for side in sides])
    for side in sides:
        if (kind := kind_of(side.table[name].type)) not in (*KINDS, "empty"):
            raise ValueError(f"{option('unit')} names {name!r}, which holds {kind}; units are texts, numbers or times")
    one, two = _drawn(sides, name, options, notes)
    columns = [side.table[name] for side in (one, two)]
    if columns[0].type != columns[1].type:
        columns = [column.cast("string") for column in columns]
    found = [check_labels(side.name, _array(column)) for side, column in zip((one, two), columns, strict=True)]
    sizes = one.table.num_rows, two.table.num_rows
    groups = group_rows(found[0], found[1], sizes, paired=False, names=(one.name, two.name))
    units = RowUnits(*groups)
    n_a, n_b = units.sizes
    counts = f"{n_a} units in both tables" if units.paired else f"{n_a} and {n_b} units"
    notes.append(f"{counts} of {name!r} ({option('unit')}): their rows were swapped together, and units count equally")
    excluded.append((name, "it names the units"))
    return (
        replace(one, table=one.table.drop_columns([name])),
        replace(two, table=two.table.drop_columns([name])),
    ), units


def hint_at_units(cells: Cells) -> str | None:
    """Return a note on a column that is probably an identifier of units with several rows, None for any other.

    Texts or whole numbers with the name of an identifier, many values, and repetitions within a table.
    """
    if cells.kind != "category" and cells.unit != "integer":
        return None
    if not (_NAMES.search(cells.name) or _THINGS.fullmatch(cells.name)):
        return None
    parts = cells.values_of(False), cells.values_of(True)
    of_a, of_b = (np.unique(part) for part in parts)
    distinct, rows = len(of_a) + len(of_b), sum(map(len, parts))
    if distinct < _LEAST_VALUES or rows < _LEAST_ROWS * distinct:
        return None
    both = len(np.intersect1d(of_a, of_b))
    some = f" where they are on one side; {both} of these are on both" if 2 * both not in (0, distinct) else ""
    return (
        f"{cells.name} is probably an identifier of units of several rows, {rows / distinct:.1f} on average, which may "
        f"depend on one another: {option('unit', cells.name)} swaps them together{some}"
    )


def _array(column: Any) -> Any:
    try:
        return column.combine_chunks().to_numpy(zero_copy_only=False)
    except (OverflowError, ValueError):  # times that Python does not know
        return np.array(values_of(column), dtype=object)


def _drawn(sides: Sequence[Loaded], name: str, options: Options, notes: list[str]) -> list[Loaded]:
    """Return tables of at most ``max_rows`` rows: those of units drawn at random, whole, and the same ones of pairs."""
    if max(side.table.num_rows for side in sides) <= options.max_rows:
        return list(sides)
    labels = [_array(side.table[name].cast("string")).astype(str) for side in sides]
    named, codes = zip(*(np.unique(own, return_inverse=True) for own in labels), strict=True)
    sizes = [np.bincount(own) for own in codes]
    paired = np.array_equal(*named)
    found = []
    for k, side in enumerate(sides):
        own = np.maximum(*sizes) if paired else sizes[k]
        order = np.random.default_rng([options.seed, 12, 0 if paired else k]).permutation(len(own))
        kept = np.zeros(len(own), dtype=bool)
        kept[order[: max(2, int(np.searchsorted(np.cumsum(own[order]), options.max_rows, side="right")))]] = True
        rows, n = np.flatnonzero(kept[codes[k]]), side.table.num_rows
        if len(rows) < n:
            drawn = f"of the {n} rows of {side.name}, {len(rows)} were tested"
            notes.append(f"{drawn}, of units chosen at random ({option('max_rows')})")
        found.append(side if len(rows) == n else Loaded(side.table.take(rows), side.name, side.origin.take(rows)))
    return found
