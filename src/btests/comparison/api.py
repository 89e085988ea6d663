"""The front door for tables: one function, and what it returns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from btests._validation import check_alpha, check_path, check_seed, check_told
from btests.block_size import check_block_rule

if TYPE_CHECKING:
    from btests.comparison.encoding import Encoding
    from btests.comparison.findings import Column, Look, Relation
    from btests.result import TestResult

#: Rows a side that are tested at most where nobody says otherwise.
MAX_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing two tables: ``print`` it, look at it in a notebook, or take its parts.

    Attributes
    ----------
    pvalue
        Of the strongest look at the data (all columns together, one by one, in pairs), corrected for their number; with
        a tolerance, of "no more of the rows differ than that".
    alpha
        The level of the verdict.
    result
        The kernel test of all columns together.
    effect
        The same test with one kernel that was fixed beforehand: its MMD^2 and interval are not flattered by a choice.
    columns
        All columns that took part, by how much they moved, the most first.
    relations
        Pairs of columns whose relation moved while neither of them did.
    looks
        The looks at the data, each with its p-value and null distribution.
    encoding
        How columns became coordinates.
    left_out
        Columns that took no part, and why.
    notes
        What else one should know.
    details
        Everything else of ``to_dict()``.
    """

    pvalue: float
    alpha: float
    result: TestResult
    effect: TestResult
    columns: tuple[Column, ...]
    relations: tuple[Relation, ...]
    looks: tuple[Look, ...]
    encoding: Encoding
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    names: tuple[str, str]
    details: dict[str, Any] = field(repr=False, compare=False)

    @property
    def different(self) -> bool:
        """Whether a difference was found at level ``alpha``."""
        return self.pvalue <= self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, by the schema in docs/compare-schema.md."""
        from btests.comparison.schema import as_dict

        return as_dict(self)

    def to_html(self, path: str | Path, *, force: bool = False) -> None:
        """Write a page that shows it all to ``path``, which must not exist unless ``force``."""
        from btests.report import render, write

        write(path, render(self.to_dict()), force=force)

    def __str__(self) -> str:
        from btests.comparison.text import screen

        return screen(self)

    def _repr_html_(self) -> str:
        from btests.comparison.text import notebook

        return notebook(self)


def compare(
    a: Any,
    b: Any = None,
    *,
    by: str | None = None,
    value_a: Any = None,
    value_b: Any = None,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str = (),
    common: bool = False,
    alpha: float = 0.05,
    tolerance: float | None = None,
    kernel: Any = None,
    null: Any = None,
    block_size: int | str | None = None,
    budget: float | None = None,
    seed: int | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] | str = (),
    categories: Sequence[str] | str = (),
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_parts: bool = False,
    workers: Any = None,
    progress: Callable[[float], None] | None = None,
    report: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Tell whether two tables differ, how much, and where.

    Numbers, booleans, texts, times and missing cells all take part; see docs/compare.md for how.

    Parameters
    ----------
    a, b
        Tables: data frames (pandas, polars, pyarrow), arrays, mappings of columns, or files (CSV, TSV, Parquet,
        Feather, JSON lines, npy, npz, folders and patterns of them). Columns are matched by name.
    by, value_a, value_b
        In place of ``b``: the column of ``a`` that says which side a row is on, and its values for the two sides (not
        needed where it has two).
    columns, exclude
        Columns to compare (all by default), and to leave out.
    common
        Go on with the columns that match where others do not; without it they are an error.
    alpha
        Level of the verdict and of the marks on columns.
    tolerance
        Share of the rows that may differ, such as 0.05: ask whether more of them would have to change to make the
        tables alike, in all columns taken together and in each, not whether there is a difference at all.
    kernel, null, block_size, budget, seed
        Of the joint test, as in :func:`btests.btest`.
    max_rows
        Rows a side to test at most: of longer tables a random choice. None is 1,000,000, or all in the joint test of
        files that are read in pieces.
    delimiter
        Of CSV files, where it is not a comma (or a tab in a TSV file).
    missing
        Texts or numbers that say that a cell is missing, such as ``"-"`` or ``"-999"``.
    categories
        Columns of numbers that are codes, such as postal codes, to be compared as categories.
    memory
        What the comparison may take, such as ``"2GB"``; None is a quarter of what is free. Files that would take more
        are read in pieces: all rows are in the joint test, and columns are looked at on rows drawn at random.
    checkpoint
        For files that are read in pieces: a file that the work on the joint test is kept in. The same call goes on from
        it after an interruption, to the same answer.
    skip_bad_parts
        Go on without damaged parts of a folder or pattern, and name them in the notes.
    workers
        Of files: compute the joint test of all rows on a cluster of dask.distributed, as in :func:`btests.btest`. The
        files are then read in pieces, whatever their size, and must be where workers find them by the same path.
    progress
        Called with the share of the work that is done.
    report
        Of files that are read in pieces: called with what is being done, the rows done, and the rows in all.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> colours = np.array(["red", "green", "blue"])
    >>> a = {"size": rng.normal(size=500), "colour": rng.choice(colours, 500)}
    >>> b = {"size": rng.normal(size=500), "colour": rng.choice(colours, 500, p=[0.5, 0.3, 0.2])}
    >>> found = btests.compare(a, b, seed=1)
    >>> found.different, found.columns[0].name, found.columns[0].moved
    (True, 'colour', True)
    """
    began = time.perf_counter()
    from btests.comparison.assess import Options
    from btests.comparison.large.kept import kept_seed
    from btests.comparison.run import run
    from btests.comparison.tolerance import check_tolerance

    if max_rows is not None and (isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 2):
        raise ValueError(f"max_rows must be a whole number of at least 2, got {max_rows!r}")
    check_block_rule(block_size, None, budget)
    check_path("checkpoint", checkpoint)
    check_told("progress", progress, "the share of the work that is done")
    check_told("report", report, "what is being done, the rows done and the rows in all")
    options = Options(
        by=by,
        value_a=value_a,
        value_b=value_b,
        columns=(columns,) if isinstance(columns, str) else tuple(columns or ()),
        exclude=(exclude,) if isinstance(exclude, str) else tuple(exclude),
        common=common,
        alpha=check_alpha(alpha),
        tolerance=check_tolerance(tolerance),
        kernel=kernel,
        null=null,
        block_size=block_size,
        budget=budget,
        seed=check_seed(kept_seed(checkpoint) if seed is None and checkpoint is not None else seed),
        max_rows=MAX_ROWS if max_rows is None else max_rows,
        delimiter=delimiter,
        missing=(missing,) if isinstance(missing, str) else tuple(missing),
        categories=(categories,) if isinstance(categories, str) else tuple(categories),
        is_drawn=max_rows is not None,
        memory=memory,
        checkpoint=None if checkpoint is None else os.fspath(checkpoint),
        skip_bad_parts=skip_bad_parts,
        workers=workers,
    )
    return run(a, b, options, began=began, progress=progress or (lambda share: None), report=report)
