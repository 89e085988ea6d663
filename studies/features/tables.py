"""Tables of the study as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from studies.features.flights import TESTS
from studies.features.methods import CHOICES, EQUAL, UNEQUAL
from studies.features.problems import NULLS, PROBLEMS
from studies.features.trials import LEVELS, SHORT
from studies.harness.counts import Row
from studies.harness.estimates import mean_of, paired_difference, proportion
from studies.harness.markdown import table_lines
from studies.harness.rejections import ONLY_HERE, ONLY_REFERENCE
from studies.harness.report import Report

_METHODS = list(dict.fromkeys([*EQUAL[16_384], *EQUAL[65_536], *UNEQUAL, *CHOICES]))


def power_report(name: str, rows: list[Row]) -> Report:
    """Return the report on the powers of all cells, one table for each number of rows."""
    order = [problem.name for problem in PROBLEMS]
    counts = sorted(rows, key=lambda row: (row["n"], order.index(row["problem"]), _METHODS.index(str(row["method"]))))
    return Report(name, counts=counts, text=_text(name, counts, power_table))


def level_report(name: str, rows: list[Row]) -> Report:
    """Return the report on the levels of all cells."""
    counts = sorted(rows, key=lambda row: list(NULLS).index(str(row["problem"])))
    return Report(name, counts=counts, text=_text(name, counts, level_table))


def _text(name: str, counts: list[Row], tabulate: Callable[[str, list[Row]], list[str]]) -> Callable[[str], str]:
    return lambda command: "\n".join([f"Printed by `{command}`.", "", *tabulate(name, counts)])


def power_table(name: str, rows: list[Row]) -> list[str]:
    """Return the lines of powers at level .05: a row for each test, with the means of power and CPU time."""
    lines = []
    for n in dict.fromkeys(row["n"] for row in rows):
        own = {(row["method"], row["problem"]): row for row in rows if row["n"] == n}
        problems = list(dict.fromkeys(problem for _, problem in own))
        found = []
        for method in dict.fromkeys(method for method, _ in own):
            of_method = [own[method, problem] for problem in problems]
            shares = [row["rejections"] / row["trials"] for row in of_method]
            trials = sum(row["trials"] for row in of_method)
            cost = 1e3 * sum(row["seconds"] for row in of_method) / trials
            mean = f"{sum(shares) / len(shares):.3f}"
            found.append((method, *map(_share, shares), mean, f"{cost:.0f}", _trials(of_method)))
        against = f"{n:,} v {SHORT[n]:,} rows" if n in SHORT and not name.endswith("large") else f"{n:,} rows a side"
        heads = ("test", *problems, "mean", "CPU ms", "trials")
        lines += [f"### {against}", "", *table_lines(heads, found, "l" + "r" * (len(problems) + 3)), ""]
        if all(ONLY_HERE in row for row in own.values()):
            lines += difference_lines(own, problems)
    return lines


def difference_lines(rows: Mapping[tuple[str, str], Row], problems: Sequence[str]) -> list[str]:
    """Return the lines of differences from the power of the default on the same rows, by test and problem."""
    found = []
    for method in dict.fromkeys(method for method, _ in rows):
        of_method = [rows[method, problem] for problem in problems]
        if method == "default":
            continue
        gaps = [paired_difference(row[ONLY_HERE], row[ONLY_REFERENCE], row["trials"]) for row in of_method]
        shown = [f"{gap.value:+.3f} ({gap.interval(2)})" for gap in (*gaps, mean_of(gaps))]
        found.append((method, *shown, _trials(of_method)))
    heads = ("power less that of the default", *problems, "mean", "trials")
    return [*table_lines(heads, found, "l" + "r" * (len(problems) + 2)), ""]


def level_table(name: str, rows: list[Row]) -> list[str]:
    """Return the lines of levels with their 99 % intervals."""
    found = []
    for row in rows:
        estimates = [proportion(row[column], row["trials"], 0.99) for column in LEVELS]
        shown = [cell for one in estimates for cell in (f"{one.value:.4f}", one.interval())]
        cost = f"{1e3 * row['seconds'] / row['trials']:.0f}"
        found.append((row["problem"], f"{row['n']} v {row['m']}", row["trials"], *shown, cost))
    heads = (
        "rows",
        "lengths",
        "trials",
        "at .05",
        "99 % interval",
        "at .01",
        "99 % interval",
        "at .001",
        "99 % interval",
        "CPU ms",
    )
    return [*table_lines(heads, found, "lrrrlrlrlr"), ""]


def flight_report(name: str, rows: list[Row]) -> Report:
    """Return the report on the flights of two carriers."""
    counts = sorted(rows, key=lambda row: list(TESTS).index(str(row["method"])))
    return Report(name, counts=counts, text=_text(name, counts, flight_table))


def flight_table(name: str, rows: list[Row]) -> list[str]:
    """Return the lines of the shares of draws in which a difference is found, with 95 % intervals."""
    found = []
    for row in rows:
        power = proportion(row["rejections"], row["trials"], 0.95)
        strict = f"{row['at_01'] / row['trials']:.3f}"
        cost = f"{1e3 * row['seconds'] / row['trials']:.0f}"
        found.append((row["method"], row["trials"], f"{power.value:.3f}", power.interval(), strict, cost))
    heads = ("test", "draws", "found at .05", "95 % interval", "at .01", "CPU ms")
    return [*table_lines(heads, found, "lrrlrr"), ""]


def _share(share: float) -> str:
    return f"{share:.2f}"


def _trials(rows: Sequence[Row]) -> str:
    """Return the trials of each problem, the smallest number of them."""
    return str(min(row["trials"] for row in rows))
