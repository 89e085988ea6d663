"""An experiment of independent cells, each a number of trials that is split into tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from studies.harness.counts import Row, add_up
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report


class Cell(Protocol):
    """A cell of a study."""

    @property
    def name(self) -> str:
        """Name for files."""
        ...

    @property
    def trials(self) -> int:
        """Number of trials."""
        ...


AnyCell = TypeVar("AnyCell", bound=Cell)

#: Returns the rows of some trials of a cell, from the cell, the numbers of the trials and the seed.
Count = Callable[[AnyCell, range, int], Sequence[Row]]


def split(cell: AnyCell, count: Count[AnyCell], size: int, seed: int, seconds: float = 1.0) -> list[Task]:
    """Return the tasks of a cell, of ``size`` trials each; one trial takes about ``seconds``."""
    return [
        Task(f"{cell.name}.{k}", count, (cell, trials, seed), len(trials) * seconds)
        for k, first in enumerate(range(0, cell.trials, size))
        for trials in [range(first, min(first + size, cell.trials))]
    ]


@dataclass(frozen=True, slots=True)
class Grid(Generic[AnyCell]):
    """Cells of one kind; the report is made from their counts, added up over tasks.

    Attributes
    ----------
    name : str
        Name of the experiment.
    cells : tuple
        The cells.
    count : callable
        The work of one task: see ``Count``.
    size : int
        Trials of one task.
    seed : int
        Seed of all draws.
    to_report : callable
        From the counts to their report.
    """

    name: str
    cells: tuple[AnyCell, ...]
    count: Count[AnyCell]
    size: int
    seed: int
    to_report: Callable[[list[Row]], Report]

    @property
    def cost(self) -> float:
        """Number of trials: the seconds of one are not known."""
        return float(sum(cell.trials for cell in self.cells))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return the tasks of all cells."""
        return [task for cell in self.cells for task in split(cell, self.count, self.size, self.seed)]

    def report(self, done: Done) -> Sequence[Report]:
        """Return the report on the counts of every cell."""
        return [self.to_report(add_up(rows_of(done)))]
