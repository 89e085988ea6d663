"""Table 1: how many rows each test needs on the blobs, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from studies.harness.counts import Row
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report
from studies.reproduce.methods import BEYOND, BY_KEY, MEDIANS, PAPER, TAKEN_LITERALLY, Method
from studies.reproduce.search import Effort, Step, step
from studies.reproduce.timing import machine, seconds
from studies.reproduce.trials import draw

_FIRST, _LAST = 64, 65_536

_TIMED = 2000


class Plan(NamedTuple):
    """Trials of one row: of the search, of the level at the answer, and at the published size."""

    effort: Effort
    level: int
    published: int


# The trials of tests that take ten milliseconds and more are half of all the time: somewhat fewer beside the answer.
_SLOW = ("multiple-b2", "spectrum", "bootstrap", "literal-spectrum", "literal-bootstrap")
_FULL = {
    False: Plan(Effort(250, 250, 500, 3000, 750), 2000, 1000),
    True: Plan(Effort(250, 250, 250, 3000, 500), 1000, 1000),
}
_QUICK = {False: Plan(Effort(20, 20, 20, 40, 20), 20, 0), True: Plan(Effort(10, 10, 10, 20, 10), 10, 0)}

_BLOCKS = ("median-b2", "median-b8", "median-sqrt")
_WHOLE = ("median-pearson", "median-gamma", "median-spectrum", "median-bootstrap")

#: Rows and trials for the median bandwidth, with which no search ends.
_MEDIANS = {
    **dict.fromkeys(_BLOCKS, (60_000, 500)),
    **dict.fromkeys(_WHOLE, (1000, 100)),
    "median-flips": (16_000, 100),
}
_QUICK_MEDIANS = {
    **dict.fromkeys(_BLOCKS, (10_000, 20)),
    **dict.fromkeys(_WHOLE, (100, 20)),
    "median-flips": (1000, 20),
}

_SEARCHED = (*PAPER, *TAKEN_LITERALLY, *BEYOND)


@dataclass(frozen=True, slots=True)
class Table1:
    """The search of every row, the error of the rows that are not searched, and the seconds."""

    seed: int
    quick: bool
    name: str = "table1"

    @property
    def cost(self) -> float:
        """Seconds of one core."""
        return 25.0 if self.quick else 800.0

    def plan(self, done: Done) -> Sequence[Task]:
        """Return what the searches want by now, and all else that is known to be wanted."""
        counts = _by_cell(done)
        tasks = [Task("seconds", time_all, (self.seed, self.quick), 3.0 if self.quick else 12.0, exclusive=True)]
        for key, (n, trials) in (_QUICK_MEDIANS if self.quick else _MEDIANS).items():
            tasks += self._tasks(BY_KEY[key], n, trials)
        for method in _SEARCHED:
            plan, found = self._plan(method), self._step(method, counts)
            for n, trials in found.wanted.items():
                tasks += self._tasks(method, n, trials)
            if found.answer is not None:
                tasks += self._tasks(method, found.centre, plan.level, is_null=True)
            if method.published is not None and method.published not in found.wanted:
                tasks += self._tasks(method, method.published, plan.published)
        return tasks

    def report(self, done: Done) -> Sequence[Report]:
        """Return the table."""
        from studies.reproduce.table1_report import report

        counts = _by_cell(done)
        answers = {method.key: self._step(method, counts) for method in _SEARCHED}
        rows = [row for row in rows_of(done) if "seconds" not in row]
        return [report(self.name, rows, answers, done["seconds"])]

    def _plan(self, method: Method) -> Plan:
        return (_QUICK if self.quick else _FULL)[method.key in _SLOW]

    def _step(self, method: Method, counts: Cells) -> Step:
        return step(counts.get((method.key, False), {}), self._plan(method).effort, _FIRST, _LAST)

    def _tasks(self, method: Method, n: int, trials: int, *, is_null: bool = False) -> Iterator[Task]:
        size = max(1, min(self._plan(method).effort.task, trials))
        for first in range(0, trials, size):
            name = f"{method.key}.{n}.{'H0' if is_null else 'HA'}.{first // size}"
            arguments = (self.seed, method.key, n, is_null, (first, first + size))
            yield Task(name, count, arguments, size * method.cost(n))


Cells = dict[tuple[str, bool], dict[int, list[int]]]


def _by_cell(done: Done) -> Cells:
    """Return the errors (under H0: rejections) in each task, by method and hypothesis, by size, in order."""
    cells: Cells = {}
    for name, rows in done.items():
        key, _, rest = name.partition(".")
        if not rest:
            continue
        n, hypothesis, place = rest.split(".")
        own = cells.setdefault((key, hypothesis == "H0"), {}).setdefault(int(n), [])
        own.extend([-1] * (int(place) + 1 - len(own)))
        own[int(place)] = rows[0]["rejections"] if hypothesis == "H0" else rows[0]["trials"] - rows[0]["rejections"]
    return {
        cell: {n: own[: own.index(-1)] if -1 in own else own for n, own in sizes.items()}
        for cell, sizes in cells.items()
    }


def count(seed: int, key: str, n: int, is_null: bool, trials: tuple[int, int]) -> list[Row]:
    """Return the rejections of some trials of one method at one size."""
    method = BY_KEY[key]
    first, last = trials
    hits = method.rejections(n, seed, first, last, is_null=is_null)
    return [
        {
            "method": key,
            "n": n,
            "block_size": method.size(n),
            "truth": "P = Q" if is_null else "P != Q",
            "trials": last - first,
            "rejections": hits,
        }
    ]


def time_all(seed: int, quick: bool) -> list[Row]:
    """Return the seconds of every test for 2000 rows, one thread."""
    x, y = draw(_TIMED // (4 if quick else 1), (seed, 1), is_null=False)
    least, repeats = (0.0, 1) if quick else (0.3, 3)
    return [
        {
            "method": method.key,
            "n": len(x),
            "seconds": seconds(lambda method=method: method.pvalue(x, y, 0), least, repeats),  # type: ignore[misc]
            "machine": machine(),
        }
        for method in (*_SEARCHED, *MEDIANS)
    ]
