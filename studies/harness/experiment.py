"""Protocol of an experiment: tasks that are each run once and stored, and reports on their rows.

An experiment is a frozen dataclass. ``plan`` returns the tasks it needs, given the rows of those that are done; the
runner executes them in worker processes, stores each as a file, and calls ``plan`` again until every task is done.
``report`` then turns the rows into files.

- Most plans ignore what is done and always return the same list. A search uses it to request further tasks; since it
  depends on stored rows alone, a resumed run takes the same decisions.
- A task names a function of a module (it is sent to another process) and its arguments, which are small and include the
  seed. Its rows depend on the arguments alone: not on the worker, the order or the time. A task that measures time is
  the exception; it is ``exclusive`` and runs while no other does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from studies.harness.counts import Row
from studies.harness.report import Report

#: Rows of the tasks that are done, by the names of the tasks.
Done = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of work of some seconds.

    Attributes
    ----------
    name : str
        Unique within the experiment; names the file of its rows.
    work : callable
        A function of a module that returns rows, called as ``work(*arguments)`` in a worker process.
    arguments : tuple
        Small values that can be pickled, the seed among them.
    cost : float
        Approximate seconds, for the progress bar.
    exclusive : bool
        Whether it measures time, so that no other task may run beside it.
    """

    name: str
    work: Callable[..., Sequence[Row]]
    arguments: tuple[Any, ...] = ()
    cost: float = 1.0
    exclusive: bool = False


class Experiment(Protocol):
    """A study, or one table or figure of the paper."""

    @property
    def name(self) -> str:
        """Name of the folder of its tasks."""
        ...

    @property
    def cost(self) -> float:
        """Approximate seconds of one core for all tasks."""
        ...

    def plan(self, done: Done) -> Sequence[Task]:
        """Return all tasks known to be needed, including those that are done."""
        ...

    def report(self, done: Done) -> Sequence[Report]:
        """Return the reports, once all tasks are done."""
        ...


def rows_of(done: Done, prefix: str = "") -> list[Row]:
    """Return the rows of all tasks whose name begins with ``prefix``, in order."""
    return [row for name, rows in done.items() if name.startswith(prefix) for row in rows]
