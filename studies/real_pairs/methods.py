"""What each tool says about two data frames, with the settings it has by default unless said otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

import btests
from btests._imports import arrow
from btests.comparison.cells import pool
from btests.multiple_testing import holm
from btests.plan import Array
from studies.column_tests import baseline_pvalues
from studies.real_pairs.pairs import Frame

ALPHA = 0.05

# Share of drifted columns from which evidently says that the tables drifted.
_DRIFT_SHARE = 0.5

# Rows of a side in hyppo's test, whose time and memory are quadratic.
MOST_ROWS = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of a tool.

    Attributes
    ----------
    different : bool
        Its verdict on the tables.
    n_marked : int
        Columns in which it reports a change.
    n_columns : int
        Columns it looks at, one by one or together.
    pvalue : float
        P-value of the verdict, NaN where it has none.
    """

    different: bool
    n_marked: int
    n_columns: int
    pvalue: float = math.nan


@cache
def can_import(package: str) -> bool:
    """Return whether a package is installed, and with versions of other packages that it can use."""
    try:
        import_module(package)
    except ImportError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Method:
    """A tool.

    Attributes
    ----------
    name : str
        Name in the tables.
    package : str
        Package that has to be installed.
    find : callable
        Returns the answer on two frames, with a seed.
    by_column : bool
        Whether it reports columns.
    """

    name: str
    package: str
    find: Callable[[Frame, Frame, int], Finding]
    by_column: bool = True

    @property
    def missing(self) -> bool:
        """Whether the package cannot be imported."""
        return not can_import(self.package)

    @property
    def release(self) -> str:
        """Name and version of the package."""
        return f"{self.package} {version(self.package)}"


def compare(a: Frame, b: Frame, seed: int) -> Finding:
    """Return the answer of ``btests compare``."""
    found = btests.compare(a, b, seed=seed)
    return Finding(found.different, sum(c.changed for c in found.columns), len(found.columns), found.pvalue)


def evidently(a: Frame, b: Frame, seed: int) -> Finding:
    """Return the answer of evidently's preset of data drift, ``a`` the reference; the types of columns are given."""
    from evidently import DataDefinition, Dataset, Report
    from evidently.presets import DataDriftPreset

    numbers = _numbers(a)
    types = DataDefinition(numerical_columns=numbers, categorical_columns=[name for name in a if name not in numbers])
    current, reference = (Dataset.from_pandas(table, data_definition=types) for table in (b, a))
    drifted = Report([DataDriftPreset()]).run(current, reference).dict()["metrics"][0]["value"]
    return Finding(drifted["share"] >= _DRIFT_SHARE, int(drifted["count"]), len(a.columns))


def column_tests(a: Frame, b: Frame, seed: int) -> Finding:
    """Return the answer of a Kolmogorov-Smirnov or chi-squared test per column, and Holm's correction."""
    tables = [arrow().Table.from_pandas(table, preserve_index=False) for table in (a, b)]
    found = baseline_pvalues([pool(name, *(table[name] for table in tables)) for name in tables[0].column_names])
    adjusted = holm(np.array([p for _, p in found]))
    marked = {name for (name, _), p in zip(found, adjusted, strict=True) if p <= ALPHA}
    return Finding(bool(marked), len(marked), len(a.columns), float(adjusted.min()))


def hyppo_mmd(a: Frame, b: Frame, seed: int) -> Finding:
    """Return the answer of hyppo's MMD on scaled rows; ``seed`` draws the rows."""
    from hyppo.ksample import MMD

    x, y = scaled_rows(a, b, np.random.default_rng(seed))
    pvalue = float(MMD().test(x, y, workers=1, auto=True, random_state=seed)[1])
    return Finding(pvalue <= ALPHA, 0, x.shape[1], pvalue)


def scaled_rows(a: Frame, b: Frame, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return complete rows of numbers in units of their pooled standard deviations: (n, d), (m, d).

    There are at most ``MOST_ROWS`` of a side, drawn at random. Constant columns are dropped, and those of which less
    than half of the cells are there.
    """
    columns = [name for name in _numbers(a) if min(table[name].notna().mean() for table in (a, b)) > 0.5]
    x, y = (rng.permutation(table[columns].dropna().to_numpy(dtype=np.float64))[:MOST_ROWS] for table in (a, b))
    deviations = np.concatenate([x, y]).std(axis=0)
    used = deviations > 0.0
    return x[:, used] / deviations[used], y[:, used] / deviations[used]


def _numbers(table: Frame) -> list[Any]:
    """Return the names of the columns of numbers."""
    return list(table.select_dtypes("number").columns)


METHODS = (
    Method("btests compare", "btests", compare),
    Method("evidently", "evidently", evidently),
    Method("KS / chi-squared, Holm", "scipy", column_tests),
    Method("hyppo MMD", "hyppo", hyppo_mmd, by_column=False),
)


@cache
def warm_up() -> None:
    """Run every tool once on small tables: what it imports and compiles then is not timed later."""
    import pandas as pd

    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40), "z": list("ab") * 20}) for _ in "ab"]
    for method in METHODS:
        if not method.missing:
            method.find(tables[0], tables[1], 0)
