"""Figure 4: Type I error over the block size, three choices of the kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from btests.data.sample import Sample
from studies.harness.counts import Row, add_up
from studies.harness.estimates import HOLDS, difference, holds, proportion
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report, Table
from studies.reproduce.trials import LABELS, LEVEL, TESTS, draw, rejects, selections, tasks_by_strategy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_N = 2000
_SIZES = {"sigma": (2, 4, 8, 16, 32, 45, 64, 128), "multiple": (2, 8, 32, 64, 128)}
_SIZES["median"] = _SIZES["sigma"]

_TRIALS, _SIZE = 30_000, 500
_QUICK_TRIALS, _QUICK_SIZE = 100, 50

_CAPTION = f"""
Figure 4 of the paper: how often a test at level .05 rejects where both samples are of P, n = {_N} rows each, 30,000
repetitions.
{TESTS}
The dotted lines are at B = sqrt(n), and at sqrt(n / 2) for multiple kernels, which test half of the rows.

{HOLDS}
"""


@dataclass(frozen=True, slots=True)
class Figure4:
    """Rejections under H0 over B."""

    seed: int
    quick: bool
    name: str = "figure4"

    @property
    def cost(self) -> float:
        """Seconds of one core."""
        return sum(task.cost for task in self.plan({}))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return tasks of some hundred trials of each strategy."""
        trials, size = (_QUICK_TRIALS, _QUICK_SIZE) if self.quick else (_TRIALS, _SIZE)
        return tasks_by_strategy(count, self.seed, trials, size, {"sigma": 0.0035, "median": 0.004, "multiple": 0.025})

    def report(self, done: Done) -> Sequence[Report]:
        """Return the three panels."""
        rows = add_up(rows_of(done))
        columns = ("kernel", "B", "blocks", "here", "95 % interval")
        levels = Table("Type I errors", columns, tuple(_cells(row) for row in rows))
        return [
            Report(
                self.name,
                "Figure 4: Type I error on the blobs",
                _CAPTION,
                rows,
                (_trends(rows), levels),
                lambda figure: _draw(figure, rows),
                (11.0, 3.8),
            )
        ]


def count(seed: int, strategy: str, first: int, last: int) -> list[Row]:
    """Return the rejections of some trials, for each block size; the same rows serve all of them."""
    hits = dict.fromkeys(_SIZES[strategy], 0)
    for trial in range(first, last):
        x, y = (Sample(rows) for rows in draw(_N, (seed, 4, trial), is_null=True))
        for b, selection in selections(strategy, x, y, tuple(hits)):
            hits[b] += rejects(selection, b)
    return [
        {"strategy": strategy, "block_size": b, "trials": last - first, "rejections": hit} for b, hit in hits.items()
    ]


def _trends(rows: Sequence[Row]) -> Table:
    """Return what the paper reads from its figure, and what is read here."""
    levels = {(row["strategy"], row["block_size"]): proportion(row["rejections"], row["trials"]) for row in rows}
    near = [levels["sigma", b] for b in _SIZES["sigma"] if b <= 45]
    farthest = max(near, key=lambda e: abs(e.value - LEVEL))
    off = sorted((abs(farthest.low - LEVEL), abs(farthest.high - LEVEL)))
    sigma, median, learned = levels["sigma", 45], levels["median", 45], levels["multiple", 32]
    lines = (
        (
            "sigma = 1: closely matches the level asked for (up to B = sqrt(n), within 0.01)",
            f"between {min(e.value for e in near):.4f} and {max(e.value for e in near):.4f}",
            (0.01 - off[1], 0.01 - (0.0 if farthest.low <= LEVEL <= farthest.high else off[0])),
        ),
        (
            "sigma = median: overly conservative (at sqrt(n))",
            f"{median.value:.4f}",
            (LEVEL - median.high, LEVEL - median.low),
        ),
        (
            "sigma = median is more conservative than sigma = 1 (at sqrt(n))",
            f"{median.value:.4f} and {sigma.value:.4f}",
            difference(sigma, median),
        ),
        (
            "multiple kernels alleviate this (at the square root of the rows that are tested)",
            f"{learned.value:.4f} against {median.value:.4f}",
            difference(learned, median),
        ),
    )
    cells = tuple((claim, here, holds(margin)) for claim, here, margin in lines)
    return Table("What the paper reads from its figure", ("the paper", "here", "agrees"), cells)


def _cells(row: Row) -> tuple[str, ...]:
    level = proportion(row["rejections"], row["trials"])
    n = _N // 2 if row["strategy"] == "multiple" else _N
    b = row["block_size"]
    return LABELS[row["strategy"]], str(b), str(n // b), f"{level.value:.4f}", level.interval(4)


def _draw(figure: Figure, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullLocator

    colors = ("#0072B2", "#D55E00", "#009E73")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, letter, (strategy, label), color in zip(panels, "abc", LABELS.items(), colors, strict=True):
        tested = _N // 2 if strategy == "multiple" else _N
        own = [row for row in rows if row["strategy"] == strategy]
        sizes = [row["block_size"] for row in own]
        levels = [proportion(row["rejections"], row["trials"]) for row in own]
        errors = ([e.value - e.low for e in levels], [e.high - e.value for e in levels])
        asked = axes.axhline(LEVEL, color="#444444", linewidth=0.9, linestyle=(0, (4, 3)))
        root = axes.axvline(math.sqrt(tested), color="#777777", linewidth=1.2, linestyle=(0, (1, 2)))
        axes.errorbar(sizes, [e.value for e in levels], errors, color=color, marker="o", markersize=4, capsize=2)
        axes.set_title(f"({letter}) {label}")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
        ticks = [b for b in _SIZES["sigma"] if b != 45]
        axes.set_xticks(ticks, [str(b) for b in ticks])
        axes.set(xlabel="block size B")
        axes.margins(y=0.08)
    panels[0].set_ylim(bottom=0.0)  # and with it the others
    panels[0].set_ylabel("Type I error")
    figure.legend(
        [Line2D([], [], color="#444444", marker="o", markersize=4), asked, root],
        ["measured, 95 % interval", "level asked for", "B = sqrt(n), in (c) sqrt(n / 2)"],
        loc="outside lower center",
        ncols=3,
    )
