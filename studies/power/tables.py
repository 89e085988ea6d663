"""Tables of the study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from studies.harness.counts import Row
from studies.harness.estimates import Estimate, proportion
from studies.harness.markdown import table
from studies.power.methods import DEFAULT, Method, methods
from studies.power.problems import ALL, SIZES
from studies.power.trials import Costs

#: The default is as good as another test if its power is at most this much smaller.
MARGIN = 0.03

#: Counts of one size by problem and test.
Grid = dict[str, dict[str, Row]]

_IS_NULL = {problem.name: problem.is_null for problem in ALL}


def tables(rows: Sequence[Row], group: str, costs: Costs, missing: dict[str, str]) -> str:
    """Return all tables of a group, with a reason for every test in ``missing`` that has not run."""
    own = [row for row in rows if row["group"] == group]
    parts = [f"Not run: {name} ({reason})." for name, reason in missing.items()]
    sizes = [size for size in SIZES if any((row["n_x"], row["n_y"]) == size for row in own)]
    names = [method.name for method in methods(group) if method.name not in missing]
    grids = {size: _grid(own, *size) for size in sizes}
    for size, grid in grids.items():
        parts += [f"### {size_name(*size)}", power_table(grid, names, size, costs), *_few(grid)]
    if group == "peers":
        parts += ["### Summary", "\n".join(f"- {line}" for size in sizes for line in summary(grids[size], size))]
    parts.append("### Intervals of 95 %")
    for size, grid in grids.items():
        parts += [f"{size_name(*size)}:", interval_table(grid, names)]
    return "\n\n".join(parts) + "\n"


def size_name(n_x: int, n_y: int) -> str:
    """Return a size in words."""
    return f"n = {n_x} a side" if n_x == n_y else f"n = {n_x:,} and {n_y:,}"


def power(row: Row) -> Estimate:
    """Return the share of rejections with its 95 % interval."""
    return proportion(row["rejections"], row["trials"])


def power_table(grid: Grid, names: Sequence[str], size: tuple[int, int], costs: Costs) -> str:
    """Return powers, one row a problem, the largest of a row in bold; then mean power and CPU time of a test."""
    lines = []
    for problem, row in grid.items():
        best = max(power(own).value for own in row.values())
        lines.append([problem, *(_shown(row.get(name), best, is_null=_IS_NULL[problem]) for name in names)])
    changes = [problem for problem in grid if not _IS_NULL[problem]]
    means = [mean_power(grid, name, changes) for name in names]
    lines.append(["mean power", *("--" if mean is None else short(mean, 3) for mean in means)])
    lines.append(["CPU ms a test", *(_time(grid, name, costs.get((name, *size))) for name in names)])
    return table(("problem", *names), lines, "l" + "r" * len(names))


def interval_table(grid: Grid, names: Sequence[str]) -> str:
    """Return Clopper-Pearson intervals, one row a problem."""
    lines = [
        [problem, *(_interval(power(row[name])) if name in row else "--" for name in names)]
        for problem, row in grid.items()
    ]
    return table(("problem", *names), lines, "l" + "r" * len(names))


def summary(grid: Grid, size: tuple[int, int]) -> list[str]:
    """Return how the default compares with the best peer of each problem: all, no classifiers, those as quick as it."""
    ours = {method.name for method in methods("peers") if method.is_ours}
    classifiers = {method.name for method in methods("peers") if method.package == "sklearn"}
    names = list(dict.fromkeys(name for row in grid.values() for name in row if name not in ours))
    kernels = [name for name in names if name not in classifiers]
    quick = [name for name in names if milliseconds(grid, name) <= milliseconds(grid, DEFAULT)]
    return [
        f"{size_name(*size)}, all peers: {compare(grid, names)}",
        f"{size_name(*size)}, kernel and distance tests: {compare(grid, kernels)}",
        f"{size_name(*size)}, peers of at most its CPU time ({', '.join(quick) or 'none'}): {compare(grid, quick)}",
    ]


def compare(grid: Grid, names: Sequence[str]) -> str:
    """Return on how many problems the default is within MARGIN of the best of some tests, and its largest deficit."""
    deficits = {
        problem: max(power(row[name]).value for name in names if name in row) - power(row[DEFAULT]).value
        for problem, row in grid.items()
        if not _IS_NULL[problem] and DEFAULT in row and any(name in row for name in names)
    }
    if not deficits:
        return "nothing to compare with."
    near = sum(deficit <= MARGIN + 1e-9 for deficit in deficits.values())
    worst = max(deficits, key=lambda problem: deficits[problem])
    largest = f"largest deficit {short(deficits[worst])} ({worst})" if deficits[worst] > 0.0 else "no deficit"
    return f"default within {short(MARGIN)} of the best or ahead on {near} of {len(deficits)} problems; {largest}."


def mean_power(grid: Grid, name: str, problems: Sequence[str]) -> float | None:
    """Return the mean power of a test over problems; None if it has not run on all of them."""
    if not problems or any(name not in grid[problem] for problem in problems):
        return None
    return fmean(power(grid[problem][name]).value for problem in problems)


def milliseconds(grid: Grid, name: str) -> float:
    """Return the CPU milliseconds of a test, mean over all trials of a size; infinite if it has not run."""
    own = [row[name] for row in grid.values() if name in row]
    if not own:
        return float("inf")
    return float(1e3 * sum(r["seconds"] for r in own) / sum(r["trials"] for r in own))


def short(share: float, digits: int = 2) -> str:
    """Return a share without its leading zero: .85."""
    text = f"{share:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def missing_of(some: Sequence[Method]) -> dict[str, str]:
    """Return the tests that do not run here, and why."""
    return {method.name: method.missing for method in some if method.missing}


def _grid(rows: Sequence[Row], n_x: int, n_y: int) -> Grid:
    grid: Grid = {}
    for problem in ALL:
        own = [row for row in rows if (row["problem"], row["n_x"], row["n_y"]) == (problem.name, n_x, n_y)]
        if own:
            grid[problem.name] = {row["method"]: row for row in own}
    return grid


def _few(grid: Grid) -> list[str]:
    """Return a sentence on the numbers of trials."""
    numbers: dict[int, list[str]] = {}
    for name, row in next(iter(grid.values())).items():
        numbers.setdefault(row["trials"], []).append(name)
    most = max(numbers)
    fewer = [f"{n} of {', '.join(names)}" for n, names in numbers.items() if n < most]
    return [f"Trials: {most}{''.join('; ' + text for text in fewer)}{', which take long' if fewer else ''}."]


def _shown(row: Row | None, best: float, *, is_null: bool) -> str:
    if row is None:
        return "--"
    text = short(power(row).value)
    return f"**{text}**" if power(row).value >= best and not is_null else text


def _interval(estimate: Estimate) -> str:
    return f"{short(estimate.low)} to {short(estimate.high)}"


def _time(grid: Grid, name: str, cost: float | None) -> str:
    taken = milliseconds(grid, name)
    if taken < float("inf"):
        return f"{taken:.1f}" if taken < 100.0 else f"{taken:.0f}"
    return "--" if cost is None else f"too slow: {cost:.0f} s"
