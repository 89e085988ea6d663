"""Figure 5: Type I error on music over the block size, three choices of the kernel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from btests.data.sample import Sample
from studies.harness.counts import Row, add_up
from studies.harness.estimates import COLUMNS, proportion
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report, Table
from studies.reproduce.music import trends
from studies.reproduce.music.songs import Pair
from studies.reproduce.music.trials import (
    LABELS,
    LEVEL,
    ROWS,
    TESTS,
    Batch,
    batches,
    kernels,
    rejects_multiple,
    rejects_single,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The panels of the paper, and the block sizes of each.
_STRATEGIES = ("sigma", "median", "multiple")
_SINGLE = (2, 4, 8, 16, 32, 64, 128)
_MULTIPLE = (2, 8, 22, 64, 128)

_CAPTION = """
Figure 5 of the paper: how often a test at level .05 rejects where both samples are of the same song, P, over the block
size B; n = {n} rows each, {trials} repetitions. (The paper gives no numbers for this figure, and neither n nor the
repetitions; n is that of its Table 2.) With multiple kernels half of the rows is tested, so that there
are half as many blocks. The dotted lines are at B = sqrt(n), and at sqrt(n / 2) for multiple kernels. At the far end
there are few blocks, where the sample variance of the blocks is no longer to be trusted. The paper reads from its
figure that all three are conservative, as a function of B: the first table has that row by row.
"""


@dataclass(frozen=True, slots=True)
class Figure5:
    """Rejections under H0 over B."""

    pair: Pair
    described: str
    seed: int
    quick: bool
    name: str = "figure5"

    @property
    def n(self) -> int:
        """Rows of each sample."""
        return 200 if self.quick else 1000

    @property
    def cost(self) -> float:
        """Seconds of one core."""
        return sum(task.cost for task in self.plan({}))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return tasks of some dozens of trials, all kernels and block sizes together."""
        trials, size, each = (40, 20, 0.03) if self.quick else (2000, 100, 0.065)
        # Three blocks at least, of the rows that are tested.
        single, multiple = (
            tuple(b for b in sizes if b <= rows // 3) for sizes, rows in ((_SINGLE, self.n), (_MULTIPLE, self.n // 2))
        )
        songs = self.pair.p, self.pair.p
        return [
            Task(batch.name, count, (batch, single, multiple), each * size)
            for batch in batches(songs, self.n, (self.seed, 5), is_null=True, trials=trials, size=size)
        ]

    def report(self, done: Done) -> Sequence[Report]:
        """Return the three panels."""
        rows = add_up(rows_of(done))
        rows.sort(key=lambda row: (_STRATEGIES.index(row["strategy"]), row["block_size"]))
        caption = _CAPTION.format(n=self.n, trials=rows[0]["trials"]).strip()
        parts = [caption, self.described, ROWS.strip(), TESTS.strip(), trends.RULE]
        columns = ("kernel", "B", "blocks", *COLUMNS)
        return [
            Report(
                self.name,
                "Figure 5: Type I error on music",
                "\n\n".join(parts),
                rows,
                (
                    Table("", columns, tuple(_cells(row) for row in rows)),
                    Table("Trends", trends.COLUMNS, tuple(trend.cells() for trend in check(rows))),
                ),
                lambda figure: _draw(figure, rows),
                (11.0, 3.8),
            )
        ]


def count(batch: Batch, single: tuple[int, ...], multiple: tuple[int, ...]) -> list[Row]:
    """Return the rejections of some trials; the same rows serve all kernels and block sizes."""
    hits: Counter[tuple[str, int]] = Counter()
    for _, *samples in batch.samples():
        x, y = (Sample(rows) for rows in samples)
        chosen = kernels(x, y, ("sigma", "median"))
        for b in single:
            hits.update({(strategy, b): int(r) for strategy, r in rejects_single(x, y, chosen, b).items()})
        for b in multiple:
            hits["multiple", b] += rejects_multiple(x, y, b)
    return [
        {"strategy": strategy, "n": batch.n, "block_size": b, "trials": len(batch), "rejections": count}
        for (strategy, b), count in hits.items()
    ]


def check(rows: Sequence[Row]) -> list[trends.Trend]:
    """Return what the paper says of this figure: all choices of the kernel are conservative."""
    lines = []
    for strategy in _STRATEGIES:
        own = [row for row in rows if row["strategy"] == strategy]
        n = own[0]["n"] // (2 if strategy == "multiple" else 1)
        root = min(own, key=lambda row: abs(row["block_size"] - math.sqrt(n)))
        said = f"conservative near the square root: {LABELS[strategy]}, B = {root['block_size']}"
        lines.append(trends.is_below(said, "conservative", proportion(root["rejections"], root["trials"]), LEVEL))
    lines += [_everywhere(strategy, rows) for strategy in _STRATEGIES]
    return lines


def _everywhere(strategy: str, rows: Sequence[Row]) -> trends.Trend:
    """Return whether one choice of the kernel is conservative at every block size."""
    found: dict[str, list[str]] = {"yes": [], "no": [], "undecided": []}
    for row in rows:
        if row["strategy"] == strategy:
            level = proportion(row["rejections"], row["trials"])
            found[trends.decide(level.low, level.high, LEVEL, above=False)].append(str(row["block_size"]))
    here = "; ".join(f"{answer} at B = {', '.join(sizes)}" for answer, sizes in found.items() if sizes)
    answer = "no" if found["no"] else "undecided" if found["undecided"] else "yes"
    return trends.Trend(f"conservative at every B: {LABELS[strategy]}", "conservative", here, "", answer)


def _tested(row: Row) -> int:
    return int(row["n"]) // (2 if row["strategy"] == "multiple" else 1)


def _cells(row: Row) -> tuple[str, ...]:
    level = proportion(row["rejections"], row["trials"])
    b = row["block_size"]
    holds = trends.decide(level.low, level.high, LEVEL, above=False)
    kernel, blocks, here = LABELS[row["strategy"]], str(_tested(row) // b), f"{level.value:.3f}"
    return kernel, str(b), blocks, f"< {LEVEL:g}", here, level.interval(), holds


def _draw(figure: Figure, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullLocator

    colors = ("#0072B2", "#D55E00", "#009E73")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, letter, strategy, color in zip(panels, "abc", _STRATEGIES, colors, strict=True):
        own = [row for row in rows if row["strategy"] == strategy]
        levels = [proportion(row["rejections"], row["trials"]) for row in own]
        errors = ([e.value - e.low for e in levels], [e.high - e.value for e in levels])
        asked = axes.axhline(LEVEL, color="#444444", linewidth=0.9, linestyle=(0, (4, 3)))
        root = axes.axvline(math.sqrt(_tested(own[0])), color="#777777", linewidth=1.2, linestyle=(0, (1, 2)))
        axes.errorbar(
            [row["block_size"] for row in own],
            [e.value for e in levels],
            errors,
            color=color,
            marker="o",
            markersize=4,
            capsize=2,
        )
        axes.set_title(f"({letter}) {LABELS[strategy]}")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
        ticks = [b for b in (2, 4, 8, 16, 32, 64, 128) if b <= own[-1]["block_size"]]
        axes.set_xticks(ticks, [str(b) for b in ticks])
        axes.set(xlabel="block size B")
    panels[0].set_ylabel("Type I error")
    highest = max(proportion(row["rejections"], row["trials"]).high for row in rows)
    panels[0].set_ylim(0.0, 1.05 * highest)
    figure.legend(
        [Line2D([], [], color="#444444", marker="o", markersize=4), asked, root],
        ["measured, 95 % interval", "level asked for", "B = sqrt(n), in (c) sqrt(n / 2)"],
        loc="outside lower center",
        ncols=3,
    )
