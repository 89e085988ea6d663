"""``compare``: the entry point for tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

from btests._option_checks import check_callback, check_seed, corrects_keywords
from btests._text import printable_errors
from btests.comparison.compare_options import CompareOptions, Options, Progress
from btests.comparison.format import option
from btests.comparison.group_results import GroupComparison
from btests.comparison.group_run import run_by
from btests.comparison.pieces import saved_seed
from btests.comparison.results import Comparison
from btests.comparison.run import run
from btests.comparison.sources import with_table
from btests.data.remote import is_url, local_copies, shown


@overload
def compare(a: Any, b: Any = None, *, by: None = None, **options: Unpack[CompareOptions]) -> Comparison: ...


@overload
def compare(a: Any, b: None = None, *, by: str, **options: Unpack[CompareOptions]) -> Comparison | GroupComparison: ...


@corrects_keywords
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
    tolerance: float | str | None = None,
    kernel: Any = None,
    null: Any = None,
    block_size: int | str | None = None,
    budget: float | None = None,
    seed: int | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    file_format: str | None = None,
    table: str | None = None,
    missing: Sequence[str] | str = (),
    categories: Sequence[str] | str = (),
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_parts: bool = False,
    workers: Any = None,
    unit: str | None = None,
    progress: Callable[[float], None] | None = None,
    report: Callable[[str, int, int], None] | None = None,
) -> Comparison | GroupComparison:
    """Test whether two tables, or groups of rows of one, differ, and describe how much and where.

    Columns may hold numbers, booleans, texts, times and missing cells; see docs/compare.md for the method.

    Parameters
    ----------
    a, b : data frame, array, mapping of columns, str or Path
        The tables: data frames (pandas, polars, pyarrow), arrays, mappings of columns, or files (CSV, TSV, Parquet,
        Feather, JSON, npy, npz, also compressed, folders and patterns of them; ``"book.xlsx::sheet"``,
        ``"file.db::table"``, ``"file.duckdb::table"``,
        ``"file.zip::member.csv"``), also at addresses such as ``"https://host/a.parquet"``. Columns are matched by
        name.
    by : str, optional
        In place of ``b``: the column of ``a`` that splits its rows into two sides, or into several groups.
    value_a, value_b : optional
        Values of ``by`` for the two sides; without them all groups are compared, and two groups as two sides.
    columns : str or sequence of str, optional
        Columns to compare; all by default.
    exclude : str or sequence of str, optional
        Columns to exclude.
    common : bool, default False
        Compare the columns that match where others do not; by default those are an error.
    alpha : float, default 0.05
        Significance level of the verdict and of the marks on columns.
    tolerance : float or str, optional
        Share of rows that may differ, such as 0.05 or ``"5%"``: test whether the total variation distance is larger,
        jointly and in each column. By default, test for any difference.
    kernel, null, block_size, budget : optional
        Of the joint test, as in :func:`btests.btest`.
    seed : int, optional
        Of all random numbers; a fresh one by default, which the result has. The command takes 0.
    max_rows : int, optional
        Maximal number of rows of each side or group; of longer tables, rows are drawn at random. None is 1,000,000, or
        all rows in the joint test of files that are read in pieces.
    delimiter : str, optional
        Of CSV files; a comma by default, or a tab in TSV files.
    decimal : str, optional
        Before the fraction of a number in CSV files, ``","`` or ``"."``; by default a point, and a comma in columns
        that have one in files with the delimiter ``";"``.
    encoding : str, optional
        Of CSV files, such as ``"latin-1"``; by default UTF-8, or UTF-16 or Latin-1 where they are found.
    file_format : str, optional
        Format of the files, such as ``"csv"`` or ``"parquet"``; by default that of their names or first bytes.
    table : str, optional
        Table or sheet of files that hold several, as ``::`` names it behind each of them.
    missing : str or sequence of str, optional
        Texts or numbers that stand for missing cells, such as ``"-"`` or ``"-999"``.
    categories : str or sequence of str, optional
        Columns of numbers that are codes, such as postal codes, and are compared as categories.
    memory : int or str, optional
        Memory limit, such as ``"2GB"``; None is a quarter of the free memory. Files that would take more are read in
        pieces: all rows are in the joint test, and columns are tested on rows drawn at random.
    checkpoint : str or Path, optional
        For files that are read in pieces: a file that saves the work on the joint test. The same call resumes from it
        after an interruption, with the same result.
    skip_bad_parts : bool, default False
        Skip damaged parts of a folder or pattern, and name them in the notes.
    workers : int, str or dask client, optional
        Compute the joint test of files on dask workers, as in :func:`btests.btest`. The files are then read in pieces,
        whatever their size, and workers must find them under the same path.
    unit : str, optional
        Column that names what several rows belong to, such as a customer; it is not compared. Rows of one unit are
        swapped together in all tests, and units count equally. For tables that fit into memory.
    progress : callable, optional
        Called with the completed share of the work.
    report : callable, optional
        For files that are read in pieces: called with the name of the phase, the rows done, and the rows in all.

    Returns
    -------
    Comparison or GroupComparison
        P-value, effect, columns, relations and notes; ``print`` shows them on one screen. Of three groups or more:
        p-value, groups, pairs of groups, columns and notes.

    Raises
    ------
    ValueError
        If the tables cannot be read, or have no columns in common.

    See Also
    --------
    btests.btest : Test whether two samples of numbers differ.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> colours = np.array(["red", "green", "blue"])
    >>> a = {"size": rng.normal(size=500), "colour": rng.choice(colours, 500)}
    >>> b = {"size": rng.normal(size=500), "colour": rng.choice(colours, 500, p=[0.5, 0.3, 0.2])}
    >>> found = btests.compare(a, b, seed=1)
    >>> found.different, found.columns[0].name, found.columns[0].changed
    (True, 'colour', True)
    """
    options = Options.of(locals())  # before any other name: each option is an argument, and a field with its check
    began = time.perf_counter()
    check_callback("progress", progress, "the share of the work that is done")
    if isinstance(report, (str, os.PathLike)):
        raise TypeError("report must be a function; a page is written by the result: found.to_html('report.html')")
    check_callback("report", report, "what is being done, the rows done and the rows in all")
    if seed is None:
        saved = None if options.checkpoint is None else saved_seed(options.checkpoint)
        options = replace(options, seed=check_seed(saved))
    watched = Progress(progress or (lambda share: None), report)
    with printable_errors():
        _check_roles(options)
        if options.checkpoint is not None and any(map(is_url, (a, b))):
            raise ValueError(f"{option('checkpoint')} is for files that stay as they are; save the one at an address")
        with local_copies(a, b) as copies:
            one, two = with_table(copies, options.table, options.file_format)
            found = _compare(one, two, options, began=began, progress=watched)
            return replace(found, notes=tuple(map(shown, found.notes)))


def _compare(a: Any, b: Any, options: Options, *, began: float, progress: Progress) -> Comparison | GroupComparison:
    """Return the comparison of two tables, of two sides of one, or of all groups of one."""
    if options.by is not None and b is None and options.value_a is None and options.value_b is None:
        return run_by(a, options.by, options, began=began, progress=progress)
    return run(a, b, options, began=began, progress=progress)


def _check_roles(options: Options) -> None:
    """Raise where options give one column two roles, or name values of no column."""
    by, unit = options.by, options.unit
    if by is None and (options.value_a is not None or options.value_b is not None):
        raise ValueError(f"{option('value_a')} and {option('value_b')} are values of the column that `by` names")
    if by is not None and by == unit:
        raise ValueError(f"{option('by')} and {option('unit')} both name {by!r}: a group would be one unit")
    for keyword in ("columns", "exclude", "categories"):
        for name in getattr(options, keyword):
            if name in (by, unit):
                role = f"splits the table ({option('by')})" if name == by else f"names the units ({option('unit')})"
                raise ValueError(f"{option(keyword)} names {name!r}, which {role} and is not compared")
    both = [name for name in options.columns if name in options.exclude]
    if both:
        raise ValueError(f"{option('columns')} and {option('exclude')} both name {both[0]!r}")
