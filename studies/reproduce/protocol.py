"""What an experiment is: pieces of work that are each done once and kept, and a report on them.

An experiment is a frozen dataclass that knows its seed and whether it is quick. It says which pieces it wants, given
those that are done; the runner does them in worker processes, keeps each as a file, and asks again, until nothing more
is wanted. Then the experiment makes reports of what was found.

- Most experiments ignore what is done and always return the same list. A search looks at it and asks for the next
  pieces; since it decides by what is kept, a run that goes on takes the same decisions.
- A piece names a function of a module (it is sent to another process) and its arguments, which are small and hold the
  seed. Its rows depend on the arguments alone: not on the worker, the order or the time. A piece that measures time is
  the exception, and says so by ``alone``: it runs when no other does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: One line of what was found: names and plain values, which survive JSON and go to the CSV file.
Row = dict[str, Any]

#: The rows of the pieces that are done, by the names of the pieces.
Done = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit of work of some seconds.

    Attributes
    ----------
    name
        Unique within the experiment; letters, digits, dots and dashes: it names the file that keeps the rows.
    work
        A function of a module, called as ``work(*arguments)`` in a worker process, that returns rows.
    arguments
        Small values that can be pickled, the seed among them.
    cost
        Seconds that it takes, roughly: for the progress bar.
    alone
        Whether it measures time, so that nothing else may run beside it.
    """

    name: str
    work: Callable[..., Sequence[Row]]
    arguments: tuple[Any, ...] = ()
    cost: float = 1.0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: a heading (may be empty), names of columns, rows of cells."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is written about an experiment: NAME.csv, NAME.md and, with ``draw``, NAME.png and NAME.svg.

    Attributes
    ----------
    name
        Name of the files.
    title, caption
        First lines of the Markdown file; the caption may have several paragraphs.
    counts
        Rows of the CSV file: raw counts, not rates. All have the keys of the first. May be empty: then no file.
    tables
        Tables of the Markdown file. Those beside published numbers have the columns of ``intervals.COLUMNS``.
    draw
        Draws on an empty figure of ``size`` inches.
    more
        Further CSV files by name (without .csv), such as seconds, which do not repeat and are kept apart.
    """

    name: str
    title: str
    caption: str
    counts: Sequence[Row] = ()
    tables: tuple[Table, ...] = ()
    draw: Callable[[Figure], None] | None = None
    size: tuple[float, float] = (8.0, 5.0)
    more: Mapping[str, Sequence[Row]] | None = None


class Experiment(Protocol):
    """One table or figure of the paper."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def cost(self) -> float:
        """Seconds of one core that all of it takes, roughly."""
        ...

    def plan(self, done: Done) -> Sequence[Piece]:
        """Return all pieces that are wanted as far as is known now, those that are done among them."""
        ...

    def report(self, done: Done) -> Sequence[Report]:
        """Return what to write, once every piece that is wanted is done."""
        ...


def rows_of(done: Done, prefix: str = "") -> list[Row]:
    """Return the rows of all pieces whose name begins with ``prefix``, in the order of the names given."""
    return [row for name, rows in done.items() if name.startswith(prefix) for row in rows]


def add_up(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """Return one row for each value of ``keys``, in order of appearance, all other (whole-number) columns added up."""
    sums: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        total = sums.setdefault(tuple(row[key] for key in keys), dict.fromkeys(row, 0))
        for key, value in row.items():
            total[key] = value if key in keys else total[key] + value
    return list(sums.values())
