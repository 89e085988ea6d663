"""Table 2: Type I and Type II errors on music, and what the tests take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from btests.data.sample import Sample
from studies.harness.counts import Row, add_up
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report
from studies.reproduce.music import quadratic
from studies.reproduce.music.songs import Pair, Song
from studies.reproduce.music.table2_report import make_report
from studies.reproduce.music.table2_timing import measure
from studies.reproduce.music.trials import (
    SINGLE,
    Batch,
    batches,
    kernels,
    rejects_multiple,
    rejects_single,
)

#: What a test is: its null, the choice of its kernel, its block size.
Line = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Part:
    """Trials of one size.

    Attributes
    ----------
    n, root, half_root
        Rows of each sample; the block size "sqrt(n)", and "sqrt(n / 2)" for the half that multiple kernels test.
    type_1, type_2
        Repetitions under each hypothesis.
    size, seconds
        Repetitions of one task, and the seconds that one repetition takes.
    """

    n: int
    root: int
    half_root: int
    type_1: int
    type_2: int
    size: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large everything is: the paper's lines, the same with more rows, the quadratic tests, and other pairs."""

    paper: Part
    larger: Part
    quadratic: Part
    pairs: Part
    n_pairs: int


Work = Callable[[str, Batch, Part], list[Row]]

# The paper's B = 32 is sqrt(1000) rounded up; the others are rounded down, as its other experiments did.
FULL = Sizes(
    paper=Part(1000, 32, 22, 1000, 1000, 100, 0.028),
    larger=Part(2000, 44, 31, 500, 500, 100, 0.039),
    quadratic=Part(2000, 2000, 0, 100, 100, 4, 2.2),
    pairs=Part(1000, 32, 22, 0, 500, 250, 0.01),
    n_pairs=4,
)
QUICK = Sizes(
    paper=Part(200, 14, 10, 40, 40, 40, 0.013),
    larger=Part(400, 20, 14, 20, 20, 20, 0.015),
    quadratic=Part(400, 400, 0, 3, 3, 3, 0.2),
    pairs=Part(200, 14, 10, 0, 40, 40, 0.004),
    n_pairs=1,
)


@dataclass(frozen=True, slots=True)
class Table2:
    """All lines of the table, the same at other sizes and on other pairs, and the seconds."""

    pair: Pair
    described: str
    seed: int
    quick: bool
    name: str = "table2"

    @property
    def sizes(self) -> Sizes:
        """How large everything is."""
        return QUICK if self.quick else FULL

    @property
    def cost(self) -> float:
        """Seconds of one core."""
        return sum(task.cost for task in self.plan({}))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return tasks of each part, and the one that measures time."""
        sizes, songs = self.sizes, (self.pair.p, self.pair.q)
        tasks = [
            *self._tasks("paper", count_blocks, songs, sizes.paper),
            *self._tasks("larger", count_blocks, songs, sizes.larger),
            *self._tasks("quadratic", count_quadratic, songs, sizes.quadratic),
        ]
        for number, other in enumerate(self.pair.others[: sizes.n_pairs]):
            tasks += self._tasks(f"pairs-{number}", count_pair, other, sizes.pairs)
        timed = [(part.n, part.root, part.half_root) for part in (sizes.paper, sizes.larger)]
        return [
            *tasks,
            Task("seconds", measure, (songs, self.seed, timed), 1.0 if self.quick else 18.0, exclusive=True),
        ]

    def _tasks(self, name: str, work: Work, songs: tuple[Song, Song], part: Part) -> list[Task]:
        return [
            Task(f"{name}-{batch.name}", work, (name, batch, part), part.seconds * len(batch))
            for is_null, trials in ((True, part.type_1), (False, part.type_2))
            for batch in batches(songs, part.n, (self.seed, 2), is_null=is_null, trials=trials, size=part.size)
        ]

    def report(self, done: Done) -> Sequence[Report]:
        """Return the table, the trends, and the other pairs."""
        counts = add_up(row for name in done if name != "seconds" for row in done[name])
        return [make_report(self.name, self.pair, self.described, counts, rows_of(done, "seconds"))]


def count_blocks(name: str, batch: Batch, part: Part) -> list[Row]:
    """Return the rejections of some trials of all kernels, at B = 2 and at the square root."""
    hits: Counter[Line] = Counter()
    for _, *samples in batch.samples():
        x, y = (Sample(rows) for rows in samples)
        chosen = kernels(x, y, tuple(SINGLE))
        for b, b_half in ((2, 2), (part.root, part.half_root)):
            hits.update(_lines(rejects_single(x, y, chosen, b), b))
            hits["normal", "multiple", b_half] += rejects_multiple(x, y, b_half)
    return _rows(name, batch, hits)


def count_quadratic(name: str, batch: Batch, part: Part) -> list[Row]:
    """Return the rejections of some trials of the quadratic-time tests."""
    hits: Counter[Line] = Counter()
    for trial, x, y in batch.samples():
        found = quadratic.rejections(x, y, trial)
        hits.update({(null, strategy, part.root): int(rejects) for (null, strategy), rejects in found.items()})
    return _rows(name, batch, hits)


def count_pair(name: str, batch: Batch, part: Part) -> list[Row]:
    """Return the rejections of some trials of single kernels, on another pair of songs."""
    hits: Counter[Line] = Counter()
    for _, *samples in batch.samples():
        x, y = (Sample(rows) for rows in samples)
        chosen = kernels(x, y, ("sigma", "median"))
        for b in (2, part.root):
            hits.update(_lines(rejects_single(x, y, chosen, b), b))
    return _rows(name, batch, hits)


def _lines(found: dict[str, bool], block_size: int) -> dict[Line, int]:
    return {("normal", strategy, block_size): int(rejects) for strategy, rejects in found.items()}


def _rows(name: str, batch: Batch, hits: Counter[Line]) -> list[Row]:
    return [
        {
            "part": name,
            "n": batch.n,
            "null": null,
            "strategy": strategy,
            "block_size": block_size,
            "truth": "P = P" if batch.is_null else "P != Q",
            "trials": len(batch),
            "rejections": count,
        }
        for (null, strategy, block_size), count in hits.items()
    ]
