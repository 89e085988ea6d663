"""Other packages on the same data: the time of one test, and the most rows that each survives."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.isolated import Outcome, run_isolated
from benchmarks.methods import METHODS
from benchmarks.tables import Cell, Table

REFERENCE = "btests, B = sqrt(n)"

#: Whose growth is followed; the others of ours end where the memory of the data ends, or at B = n are quadratic too.
SURVIVORS = tuple(name for name in METHODS if name not in ("btests, B = 8", "btests, B = n"))

_QUADRATIC = (
    "hyppo, scikit-learn, alibi-detect, numpy and B = n run a quadratic test, which sees more per sample than smaller",
    "blocks do: compare power at equal time, or time at equal power, before calling one better. The fair fast baseline",
    "for permutations is the one matrix product.",
)

Say = Callable[[str], None]


def draws(name: str, permutations: int) -> int:
    """Return how many permutations a method draws when so many are asked for."""
    fewest = METHODS[name][1]
    return max(permutations, fewest) if fewest else 0


def peers_table(n: int, permutations: int, *, gibibytes: float, seconds: float, say: Say = lambda _: None) -> Table:
    """Return the time of one test by each package on the same blobs."""
    outcomes: dict[str, Outcome] = {}
    for name in METHODS:
        say(name)
        outcomes[name] = run_isolated(name, n, draws(name, permutations), gibibytes=gibibytes, seconds=seconds)
    ours = outcomes[REFERENCE].seconds
    rows: list[tuple[Cell, ...]] = []
    for name, o in outcomes.items():
        ratio = o.seconds / ours if o.seconds is not None and ours else None
        rows.append((name, draws(name, permutations) or None, o.seconds, ratio, o.pvalue, o.failure or ""))
    columns = ("method", "permutations", "seconds", f"times {REFERENCE}", "p-value", "remarks")
    fewer = () if permutations >= 1000 else (f"Quick: {permutations} permutations in a loop, where 1000 are usual.",)
    notes = (*fewer, "Wall clock after one warm-up, threads as each package has them by default.", *_QUADRATIC)
    return Table(f"One test with p-value, n = {n} blobs a side, d = 2", columns, rows, notes)


def survival_table(
    names: Iterable[str], permutations: int, *, first: int, gibibytes: float, seconds: float, say: Say = lambda _: None
) -> Table:
    """Return the most rows for which each package finishes under the caps, n doubled until it does not."""
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        n, last, largest = first, Outcome(None, None), None
        while True:
            say(f"{name}, n = {n}")
            outcome = run_isolated(name, n, draws(name, permutations), gibibytes=gibibytes, seconds=seconds)
            if outcome.failure is not None:
                break
            n, last, largest = 2 * n, outcome, n
        stopped = outcome.failure if outcome.failure.startswith("not") else f"n = {n}: {outcome.failure}"
        rows.append((name, draws(name, permutations) or None, largest, last.seconds, stopped))
    columns = ("method", "permutations", "largest n", "seconds", "why it stopped")
    caps = f"Caps: {gibibytes:g} GiB of address space and {seconds:g} s for one test; n doubles from {first}."
    return Table("The largest n that each survives, d = 2", columns, rows, (caps, *_QUADRATIC))
