"""The tables of the study, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.choices.changes import BY_NAME, SHARED
from studies.choices.choosers import CHOICES, NULLS, PAIRED, PICKED, RERUN
from studies.choices.curve import curves, size_needed
from studies.choices.grid import LIMITS
from studies.choices.ranking import rank, recommend, standard_error
from studies.choices.tally import Tally

#: What the interval of a level should touch.
TARGET = (0.045, 0.055)

#: What the tables of pairs in the limit are called.
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


def write_tables(path: Path, tallies: Sequence[Tally], command: str) -> None:
    """Write all tables."""
    parts = [
        f"Printed by `{command}`.",
        *_ranking(tallies),
        *_by_problem(tallies, "Powers", "ranking", is_null=False),
        *_by_problem(tallies, "Levels", "ranking", is_null=True),
        *_by_problem(tallies, "Powers in quadratic time, half of the rows", "whole", is_null=False),
        *_curve(tallies),
        *_published(tallies),
        *_pairs(tallies),
    ]
    path.write_text("\n\n".join(parts) + "\n")


def misses(tallies: Sequence[Tally]) -> list[Tally]:
    """Return the pairs of a choice and a null whose 99 % interval does not touch the target."""
    return [t for t in tallies if t.study in ("pairs", *LIMITS) and _misses(t)]


def pair_name(t: Tally) -> str:
    """Return what the page calls a pair of a choice and a null."""
    limit = LIMITS.get(t.study)
    where = "" if limit is None else f" in blocks of {limit.block_size or 'all rows'}"
    return f"{t.choice} with {t.null}{where}"


def _ranking(tallies: Sequence[Tally]) -> list[str]:
    ranks = rank(tallies)
    rows = []
    for r in ranks:
        low, high = r.level.interval()
        rows.append(
            f"| {r.choice} | {r.mean_regret:.3f} | {r.worst_regret:.3f} | {r.worst_problem} | {r.mean_power:.3f} | "
            f"{r.level.rate:.4f} | {low:.4f} to {high:.4f} | {r.time:.1f} |"
        )
    best = recommend(ranks)
    head = _head(
        ["choice", "mean regret", "worst", "where", "mean power", "level", "99 % interval", "time / MedianHeuristic()"],
        "lrrlrrlr",
    )
    return [
        "### Ranking",
        "\n".join([*head, *rows]),
        f"By the rule: **{best.choice}**, mean regret {best.mean_regret:.3f}, worst {best.worst_regret:.3f}. "
        f"Standard error of its mean power: {standard_error(tallies, best.choice):.3f}.",
    ]


def _by_problem(tallies: Sequence[Tally], title: str, study: str, *, is_null: bool) -> list[str]:
    """One column a problem, one row a choice; the best of a column in bold where it is a power."""
    rates: dict[str, dict[str, Tally]] = {}
    for t in tallies:
        if t.study == study and t.is_null == is_null:
            rates.setdefault(t.problem, {})[t.choice] = t
    if not rates:
        return []
    letters = {problem: chr(ord("a") + i) for i, problem in enumerate(rates)}
    best = {problem: max(t.rate for t in row.values() if t.choice != PICKED) for problem, row in rates.items()}
    lines = _head(["choice", *letters.values()], "l" + "r" * len(letters))
    for choice in (PICKED, *CHOICES):
        row = []
        for problem, tried in rates.items():
            own = tried.get(choice)
            shown = "" if own is None else f"{own.rate:.3f}" if is_null else f"{own.rate:.2f}"
            bold = own is not None and not is_null and choice != PICKED and own.rate >= best[problem]
            row.append(f"**{shown}**" if bold else shown)
        lines.append(f"| {choice} | {' | '.join(row)} |")
    legend = "; ".join(
        f"{letter}: {problem}, n = {_rows(problem, t.n)}"
        for problem, letter in letters.items()
        for t in [next(iter(rates[problem].values()))]
    )
    trials = sorted({t.trials for row in rates.values() for t in row.values()})
    return [f"### {title}", f"{', '.join(map(str, trials))} trials each. {legend}.", "\n".join(lines)]


def _rows(problem: str, n: int) -> str:
    times = BY_NAME[problem].rows_of_x
    return str(n) if times == 1 else f"{times * n} and {n}"


def _curve(tallies: Sequence[Tally]) -> list[str]:
    found = curves(tallies)
    if not found:
        return []
    sizes = [t.n for t in next(iter(found.values()))]
    lines = _head(["n", *found], "r" + "l" * len(found))
    for i, n in enumerate(sizes):
        cells = []
        for curve in found.values():
            low, high = curve[i].interval(0.95)
            cells.append(f"{1.0 - curve[i].rate:.3f} ({1.0 - high:.3f} to {1.0 - low:.3f})")
        lines.append(f"| {n} | {' | '.join(cells)} |")
    needed = [size_needed(curve) for curve in found.values()]
    shown = [f"more than {sizes[-1]}" if size is None else f"{size:.0f}" for size in needed]
    lines.append(f"| n of 5 % | {' | '.join(shown)} |")
    trials = next(iter(found.values()))[0].trials
    return [
        "### Type II error on the blobs over n",
        f"Blocks of sqrt(n) rows, {trials} trials, 95 % intervals; the last row is interpolated.",
        "\n".join(lines),
    ]


def _published(tallies: Sequence[Tally]) -> list[str]:
    own = {(t.problem, t.choice): t for t in tallies if t.study == "published"}
    if not own:
        return []
    names = ["MMDAgg, published", *list(RERUN)[:2], "split, published", "MaxRatio", "median, published", "median"]
    lines = _head(["problem", "n", *names], "lrrllrlrl")
    for problem in dict.fromkeys(problem for problem, _ in own):
        # What was published was measured on samples that share rows.
        published = PUBLISHED[problem.removesuffix(SHARED)] if problem.endswith(SHARED) else None
        agg, median, split = ("",) * 3 if published is None else (f"{power:.3f}" for power in published)
        ours = [own[problem, choice] for choice in RERUN]
        cells = [f"{t.rate:.3f} ({low:.3f} to {high:.3f})" for t in ours for low, high in [t.interval(0.95)]]
        both = f"{agg} | {cells[0]} | {cells[1]} | {split} | {cells[2]} | {median} | {cells[3]}"
        lines.append(f"| {problem} | {ours[0].n} | {both} |")
    trials = next(iter(own.values())).trials
    return [
        "### The published problems of MMDAgg",
        f"Powers in quadratic time, {trials} trials, 95 % intervals, beside the published ones (500 trials).",
        "\n".join(lines),
    ]


def _pairs(tallies: Sequence[Tally]) -> list[str]:
    parts = ["### Levels of every choice with every null"]
    for study, title in (("pairs", ""), *((study, f"### {title}") for study, title in _LIMITS.items())):
        own = {(t.problem, t.choice, t.null): t for t in tallies if t.study == study}
        if own and title:
            parts.append(title)
        nulls = [null for null in NULLS if study == "pairs" or null in LIMITS[study].nulls]
        for problem in dict.fromkeys(problem for problem, _, _ in own):
            tried = [choice for choice in PAIRED if study == "pairs" or any((problem, choice, n) in own for n in nulls)]
            lines = _head(["choice", *nulls], "l" * (1 + len(nulls)))
            for choice in tried:
                cells = [_level(own.get((problem, choice, null))) for null in nulls]
                lines.append(f"| {choice} | {' | '.join(cells)} |")
            some = [t for key, t in own.items() if key[0] == problem]
            trials = {null: t.trials for t in some for null in [t.null]}
            counted = ", ".join(f"{null} {n}" for null, n in trials.items())
            parts += [f"{problem}, n = {some[0].n}. Trials: {counted}.", "\n".join(lines)]
    return parts if len(parts) > 1 else []


def _level(t: Tally | None) -> str:
    if t is None:
        return "refuses"
    low, high = t.interval()
    return f"{t.rate:.3f} ({low:.3f} to {high:.3f}){'*' if _misses(t) else ''}"


def _misses(t: Tally) -> bool:
    low, high = t.interval()
    return high < TARGET[0] or low > TARGET[1]


def _head(names: Sequence[str], sides: str) -> list[str]:
    rules = ["--:" if side == "r" else "---" for side in sides]
    return [f"| {' | '.join(names)} |", f"| {' | '.join(rules)} |"]
