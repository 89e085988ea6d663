"""Tables of the study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from studies.choices.cells import LIMITS
from studies.choices.curve import curves, size_needed
from studies.choices.problems import BY_NAME, SHARED
from studies.choices.ranking import rank, recommend, standard_error
from studies.choices.selectors import CHOICES, NULLS, PAIRED, PICKED, RERUN
from studies.harness.counts import Row
from studies.harness.estimates import Estimate, proportion
from studies.harness.markdown import table

#: Range that the 99 % interval of a level should touch.
TARGET = (0.045, 0.055)

#: Headings of the tables of asymptotic nulls.
_LIMITS = {
    "pairs-of-2": "In blocks of 2, nulls that are not exact",
    "pairs-of-4": "In blocks of 4, nulls that are not exact",
    "pairs-of-all": "In quadratic time, nulls that are not exact",
}

#: Powers that Schrab et al. published for these problems (``paper/raw/results.csv`` of antoninschrab/mmdagg-paper):
#: MMDAgg with uniform weights and the five bandwidths; the median bandwidth; one bandwidth of ten, chosen on half of
#: the rows. Gaussian kernels, wild bootstrap, 500 draws, 500 trials.
PUBLISHED = {
    "uniform, d = 1, P = 1": (1.0, 1.0, 1.0),
    "uniform, d = 1, P = 2": (0.974, 0.812, 0.826),
    "uniform, d = 1, P = 3": (0.346, 0.084, 0.144),
    "uniform, d = 1, P = 4": (0.038, 0.018, 0.046),
    "uniform, d = 2, P = 2": (0.78, 0.132, 0.506),
}


def tables(rows: Sequence[Row], command: str) -> str:
    """Return all tables."""
    parts = [
        f"Printed by `{command}`.",
        *_ranking(rows),
        *_by_problem(rows, "Powers", "ranking", is_null=False),
        *_by_problem(rows, "Levels", "ranking", is_null=True),
        *_by_problem(rows, "Powers in quadratic time, half of the rows", "whole", is_null=False),
        *_curve(rows),
        *_published(rows),
        *_pairs(rows),
    ]
    return "\n\n".join(parts) + "\n"


def misses(rows: Sequence[Row]) -> list[Row]:
    """Return the pairs of a choice and a null whose 99 % interval does not touch the target."""
    return [row for row in rows if row["study"] in ("pairs", *LIMITS) and _rate(row, 0.99).misses(*TARGET)]


def pair_name(row: Row) -> str:
    """Return the name of a pair of a choice and a null in the docs."""
    limit = LIMITS.get(row["study"])
    where = "" if limit is None else f" in blocks of {limit.block_size or 'all rows'}"
    return f"{row['choice']} with {row['null']}{where}"


def _rate(row: Row, confidence_level: float = 0.95) -> Estimate:
    return proportion(row["rejections"], row["trials"], confidence_level)


def _with_interval(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} ({estimate.interval()})"


def _complement(rate: Estimate) -> str:
    return f"{1.0 - rate.value:.3f} ({1.0 - rate.high:.3f} to {1.0 - rate.low:.3f})"


def _ranking(rows: Sequence[Row]) -> list[str]:
    ranks = rank(rows)
    lines = [
        (
            r.choice,
            f"{r.mean_regret:.3f}",
            f"{r.worst_regret:.3f}",
            r.worst_problem,
            f"{r.mean_power:.3f}",
            f"{r.level.value:.4f}",
            r.level.interval(4),
            f"{r.time:.1f}",
        )
        for r in ranks
    ]
    best = recommend(ranks)
    columns = ("choice", "mean regret", "worst", "where", "mean power", "level", "99 % interval")
    return [
        "### Ranking",
        table((*columns, "time / MedianHeuristic()"), lines, "lrrlrrlr"),
        f"By the rule: **{best.choice}**, mean regret {best.mean_regret:.3f}, worst {best.worst_regret:.3f}. "
        f"Standard error of its mean power: {standard_error(rows, best.choice):.3f}.",
    ]


def _by_problem(rows: Sequence[Row], title: str, study: str, *, is_null: bool) -> list[str]:
    """Return a table of one column a problem and one row a choice; the best power of a column in bold."""
    grid: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["study"] == study and row["is_null"] == is_null:
            grid.setdefault(row["problem"], {})[row["choice"]] = row
    if not grid:
        return []
    letters = {problem: chr(ord("a") + i) for i, problem in enumerate(grid)}
    best = {
        problem: max(_rate(row).value for row in own.values() if row["choice"] != PICKED)
        for problem, own in grid.items()
    }
    lines = []
    for choice in (PICKED, *CHOICES):
        line = [choice]
        for problem, own in grid.items():
            rate = _rate(own[choice]).value if choice in own else None
            shown = "" if rate is None else f"{rate:.3f}" if is_null else f"{rate:.2f}"
            bold = rate is not None and not is_null and choice != PICKED and rate >= best[problem]
            line.append(f"**{shown}**" if bold else shown)
        lines.append(line)
    legend = "; ".join(
        f"{letter}: {problem}, n = {_n_rows(problem, next(iter(grid[problem].values()))['n'])}"
        for problem, letter in letters.items()
    )
    trials = sorted({row["trials"] for own in grid.values() for row in own.values()})
    return [
        f"### {title}",
        f"{', '.join(map(str, trials))} trials each. {legend}.",
        table(["choice", *letters.values()], lines, "l" + "r" * len(letters)),
    ]


def _n_rows(problem: str, n: int) -> str:
    times = BY_NAME[problem].rows_of_x
    return str(n) if times == 1 else f"{times * n} and {n}"


def _curve(rows: Sequence[Row]) -> list[str]:
    found = curves(rows)
    if not found:
        return []
    first = next(iter(found.values()))
    sizes = [row["n"] for row in first]
    lines: list[list[object]] = [
        [n, *(_complement(_rate(curve[i])) for curve in found.values())] for i, n in enumerate(sizes)
    ]
    needed = [size_needed(curve) for curve in found.values()]
    lines.append(["n of 5 %", *(f"more than {sizes[-1]}" if size is None else f"{size:.0f}" for size in needed)])
    return [
        "### Type II error on the blobs over n",
        f"Blocks of sqrt(n) rows, {first[0]['trials']} trials, 95 % intervals; the last row is interpolated.",
        table(["n", *found], lines, "r" + "l" * len(found)),
    ]


def _published(rows: Sequence[Row]) -> list[str]:
    own = {(row["problem"], row["choice"]): row for row in rows if row["study"] == "published"}
    if not own:
        return []
    lines = []
    for problem in dict.fromkeys(problem for problem, _ in own):
        # The published powers are of samples that share rows.
        published = PUBLISHED[problem.removesuffix(SHARED)] if problem.endswith(SHARED) else None
        agg, median, split = ("",) * 3 if published is None else (f"{power:.3f}" for power in published)
        ours = [own[problem, choice] for choice in RERUN]
        first, second, third, fourth = (_with_interval(_rate(row)) for row in ours)
        lines.append((problem, ours[0]["n"], agg, first, second, split, third, median, fourth))
    names = ("MMDAgg, published", *list(RERUN)[:2], "split, published", "MaxRatio", "median, published", "median")
    trials = next(iter(own.values()))["trials"]
    return [
        "### The published problems of MMDAgg",
        f"Powers in quadratic time, {trials} trials, 95 % intervals, beside the published ones (500 trials).",
        table(("problem", "n", *names), lines, "lrrllrlrl"),
    ]


def _pairs(rows: Sequence[Row]) -> list[str]:
    parts = ["### Levels of every choice with every null"]
    for study, title in (("pairs", ""), *((study, f"### {title}") for study, title in _LIMITS.items())):
        own = {(row["problem"], row["choice"], row["null"]): row for row in rows if row["study"] == study}
        if own and title:
            parts.append(title)
        nulls = [null for null in NULLS if study == "pairs" or null in LIMITS[study].nulls]
        for problem in dict.fromkeys(problem for problem, _, _ in own):
            tested = [c for c in PAIRED if study == "pairs" or any((problem, c, null) in own for null in nulls)]
            lines = [(choice, *(_level(own.get((problem, choice, null))) for null in nulls)) for choice in tested]
            some = [row for key, row in own.items() if key[0] == problem]
            trials = {row["null"]: row["trials"] for row in some}
            counted = ", ".join(f"{null} {n}" for null, n in trials.items())
            text = table(["choice", *nulls], lines, "l" * (1 + len(nulls)))
            parts += [f"{problem}, n = {some[0]['n']}. Trials: {counted}.", text]
    return parts if len(parts) > 1 else []


def _level(row: Row | None) -> str:
    if row is None:
        return "refuses"
    level = _rate(row, 0.99)
    return _with_interval(level) + "*" * level.misses(*TARGET)
