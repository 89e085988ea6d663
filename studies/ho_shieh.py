"""Level and power of the relatives of the B-test by Ho and Shieh: ``python -m studies.ho_shieh``.

A cell is a problem. All tests of a trial get the same rows, with a fixed kernel, in blocks of several sizes. Tests in
blocks of one size evaluate as many values of the kernel; one block of all rows evaluates more.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

from btests import TU, Bootstrap, FewBlocksWarning, Gaussian, Kernel, Normal, SignFlip, WithReplacement, btest
from btests.datasets import blobs
from btests.nulls import Null
from btests.summary import Summary
from studies.distributions import Draw, equicorrelated, normal, rotated_blobs, round_blobs
from studies.harness.command import Options, execute, shared_options
from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.grid import Grid
from studies.harness.markdown import table_lines
from studies.harness.report import Report

_ALPHA = 0.05
_N_ROWS = 1000
_BLOCK_SIZES = (10, 31, 100)
_TASK_TRIALS = 25

#: Confidence level of a claim that one test has more power than another, for a table of about a hundred comparisons.
_CLAIM = 0.9995

_BTEST, _WHOLE = "B-test, flips", "one block of all rows"

#: Tests by name: whether blocks are drawn with replacement, and a null distribution.
METHODS: dict[str, tuple[bool, Null]] = {
    _BTEST: (False, SignFlip(499)),
    "B-test, normal": (False, Normal()),
    "drawn, flips": (True, SignFlip(499)),
    "drawn, jackknife": (True, Normal()),
    "drawn, bootstrap": (True, Bootstrap(499)),
    "TU, chi-square": (False, TU()),
    "TU, flips": (False, TU("sign-flip", 499)),
}


def _narrow_blobs(n: int, rng: np.random.Generator) -> Any:
    return blobs(n, rng, long_axis=5.5)


def _lognormal(n: int, rng: np.random.Generator) -> Any:
    return rng.lognormal(size=(n, 2))


@dataclass(frozen=True, slots=True)
class Problem:
    """Two distributions, a kernel that fits them, and whether the distributions are the same."""

    draw: Draw
    draw_other: Draw
    kernel: Kernel
    is_null: bool = False


PROBLEMS = {
    "blobs, long axis 5.5": Problem(_narrow_blobs, round_blobs, Gaussian(2.0)),
    "correlation .25, d = 5": Problem(normal(5), equicorrelated(5, 0.25), Gaussian(2.0)),
    "mean .12, d = 5": Problem(normal(5), normal(5, shift=0.12), Gaussian(2.0)),
    "scale 1.12, d = 5": Problem(normal(5), normal(5, scale=1.12), Gaussian(2.0)),
    "mean 1, d = 1": Problem(normal(1), normal(1, shift=1.0), Gaussian(1.0)),
    "same: normal, d = 5": Problem(normal(5), normal(5), Gaussian(2.0), is_null=True),
    "same: blobs": Problem(rotated_blobs, rotated_blobs, Gaussian(2.0), is_null=True),
    "same: lognormal, d = 2": Problem(_lognormal, _lognormal, Gaussian(1.0), is_null=True),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A problem by name, and trials."""

    problem: str
    trials: int

    @property
    def name(self) -> str:
        """Name for files."""
        return str(list(PROBLEMS).index(self.problem))


def cells(quick: bool) -> Iterator[Cell]:
    """Yield the grid: more trials where there is nothing to find."""
    for name, problem in PROBLEMS.items():
        yield Cell(name, 5 if quick else 1000 if problem.is_null else 400)


def count(cell: Cell, trials: range, seed: int) -> list[Row]:
    """Return rejections of every test, those that the B-test with flips does not share, and sums of the averages."""
    problem = PROBLEMS[cell.problem]
    hits: Counter[tuple[int, str, str]] = Counter()
    sums: dict[tuple[int, str], list[float]] = {}
    for trial in trials:
        rng = np.random.default_rng([seed, list(PROBLEMS).index(cell.problem), trial])
        x, y = problem.draw(_N_ROWS, rng), problem.draw_other(_N_ROWS, rng)
        options: dict[str, Any] = {"kernel": problem.kernel, "seed": trial, "shuffle": False, "n_threads": 1}
        whole = btest(x, y, null=SignFlip(499), block_size=_N_ROWS, **options)
        sums.setdefault((_N_ROWS, _WHOLE), []).append(whole.summary.mean())
        hits[_N_ROWS, _WHOLE, "rejections"] += whole.pvalue <= _ALPHA
        for size in _BLOCK_SIZES:
            rejects: dict[str, bool] = {}
            summaries: dict[bool, Summary] = {}
            for name, (drawn, null) in METHODS.items():
                if drawn not in summaries:  # several null distributions of one summary
                    statistic = partial(WithReplacement, seed=trial) if drawn else None
                    found = btest(x, y, statistic=statistic, null=SignFlip(1), block_size=size, **options)
                    summaries[drawn] = found.summary
                    sums.setdefault((size, name), []).append(found.summary.mean())
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FewBlocksWarning)
                    distribution = null.distribution(summaries[drawn], trial)
                rejects[name] = distribution.pvalue(null.statistic(summaries[drawn])) <= _ALPHA
            for name in METHODS:
                hits[size, name, "rejections"] += rejects[name]
                hits[size, name, "alone"] += rejects[name] and not rejects[_BTEST]
                hits[size, name, "missed"] += rejects[_BTEST] and not rejects[name]
    return [
        {
            "problem": cell.problem,
            "block_size": size,
            "method": name,
            "trials": len(trials),
            **{what: hits[size, name, what] for what in ("rejections", "alone", "missed")},
            "sum": round(float(np.sum(sums.get((size, name), [0.0]))), 12),
            "sum_of_squares": round(float(np.sum(np.square(sums.get((size, name), [0.0])))), 15),
        }
        for size, name in [*((size, name) for size in _BLOCK_SIZES for name in METHODS), (_N_ROWS, _WHOLE)]
    ]


def tables(rows: Sequence[Row], command: str) -> str:
    """Return levels, power, variances and the comparison with the B-test as Markdown."""
    own = {(row["problem"], row["block_size"], row["method"]): row for row in rows}
    lines = [f"Printed by `{command}`. {_N_ROWS} rows a side, 499 draws, level .05.", ""]
    for title, is_null in (("Level", True), ("Power", False)):
        names = [name for name, problem in PROBLEMS.items() if problem.is_null == is_null and (name, 10, _BTEST) in own]
        found = []
        for size, method in [*((b, m) for b in _BLOCK_SIZES for m in METHODS), (_N_ROWS, _WHOLE)]:
            shares = [own[name, size, method] for name in names]
            found.append((size, method, *(_share(row, digits=3 if is_null else 2) for row in shares)))
        trials = ", ".join(sorted({f"{own[name, 10, _BTEST]['trials']} trials" for name in names}))
        lines += [f"### {title}", "", f"{trials} a problem; 95 % intervals in brackets.", ""]
        lines += [*table_lines(("block size", "test", *names), found, "rl" + "r" * len(names)), ""]
    return "\n".join([*lines, *_comparison(own), *_variances(own)])


def _share(row: Row, digits: int) -> str:
    estimate = proportion(row["rejections"], row["trials"])
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f}-{estimate.high:.{digits}f})"


def _comparison(own: dict[tuple[str, int, str], Row]) -> list[str]:
    """Return the trials in which one of a test and the B-test with flips rejects, over all problems that differ."""
    lines = ["### Beside the B-test with flips, trial by trial", "", "Of all problems that differ:", ""]
    found = []
    for method in list(METHODS)[1:]:
        alone, missed, ahead, behind = 0, 0, [], []
        for (problem, size, name), row in own.items():
            if name != method or PROBLEMS[problem].is_null:
                continue
            alone, missed = alone + row["alone"], missed + row["missed"]
            if row["alone"] + row["missed"]:
                share = proportion(row["alone"], row["alone"] + row["missed"], _CLAIM)
                ahead += [f"{problem} ({size})"] * (share.low > 0.5)
                behind += [f"{problem} ({size})"] * (share.high < 0.5)
        found.append((method, alone, missed, "; ".join(ahead) or "none", "; ".join(behind) or "none"))
    heads = (
        "test",
        "it alone rejects",
        "the B-test alone rejects",
        "more power (block size)",
        "less power (block size)",
    )
    lines += table_lines(heads, found, "lrrll")
    return [*lines, "", f"More or less power: a sign test of the trials that differ, confidence {_CLAIM:.2%}.", ""]


def _variances(own: dict[tuple[str, int, str], Row]) -> list[str]:
    """Return the variance of the average of drawn blocks over that of disjoint ones."""
    found = []
    for problem in PROBLEMS:
        ratios = []
        for size in _BLOCK_SIZES:
            pair = [own.get((problem, size, name)) for name in ("drawn, flips", _BTEST)]
            if None in pair:
                break
            drawn, disjoint = (
                row["sum_of_squares"] / row["trials"] - (row["sum"] / row["trials"]) ** 2 for row in pair if row
            )
            ratios.append(f"{drawn / disjoint:.2f}")
        found += [(problem, *ratios)] * bool(ratios)
    heads = ("problem", *(f"block size {size}" for size in _BLOCK_SIZES))
    lines = ["### Variance of the average of drawn blocks over that of disjoint blocks", ""]
    return [*lines, *table_lines(heads, found, "l" + "r" * len(_BLOCK_SIZES)), ""]


def to_report(rows: list[Row]) -> Report:
    """Return the report on the counts of all cells."""
    order = list(PROBLEMS)
    counts = sorted(rows, key=lambda row: (order.index(row["problem"]), row["block_size"]))
    return Report("ho-shieh", counts=counts, text=lambda command: tables(counts, command))


@click.command()
@shared_options("Few trials: less than a minute.")
def main(**shared: Any) -> None:
    """Measure level and power of the relatives of the B-test by Ho and Shieh; write ho-shieh.csv and ho-shieh.md."""
    options = Options("ho_shieh", **shared)
    study = Grid("ho-shieh", tuple(cells(options.quick)), count, _TASK_TRIALS, options.seed, to_report)
    execute([study], options, lambda name: options.command())


if __name__ == "__main__":
    main()
