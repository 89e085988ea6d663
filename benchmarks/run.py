"""All benchmarks in one run: ``python benchmarks/run.py [--quick] [--out FILE.json]``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

if __name__ == "__main__":
    # Not this folder, where a script begins to look, but the one above: "benchmarks" is a package.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks import (
    cluster,
    families,
    growth,
    large,
    limits,
    memory,
    peers,
    quadratic,
    reproduction,
    scaling,
    shares,
    startup,
)
from benchmarks.tables import Table
from btests import _core


def say(text: str) -> None:
    """Tell whoever waits what is being measured."""
    print(f"... {text}", file=sys.stderr, flush=True)


def machine(*, quick: bool) -> Iterator[Table]:
    """Yield what the machine is."""
    yield limits.machine_table()


def limits_and_shares(*, quick: bool) -> Iterator[Table]:
    """Yield the limits of a core and the shares of them that are reached; nothing without compiled loops."""
    if not _core.is_available():
        return
    rates = {dtype: limits.measure_rates(dtype) for dtype in ("float64", "float32")}
    yield limits.limits_table(rates)
    measured = []
    for case in shares.QUICK_CASES if quick else shares.CASES:
        for dtype in rates:
            say(f"n = {case.n}, d = {case.d}, B = {case.block_size}, {dtype}")
            measured.append(shares.measure(case, dtype, seconds=0.5 if quick else 5.0))
    yield shares.shares_table(measured)


def memory_of_a_test(*, quick: bool) -> Iterator[Table]:
    """Yield the memory above the data."""
    yield memory.memory_table((100_000, 300_000, 1_000_000) if quick else (100_000, 300_000, 1_000_000, 3_000_000))


def growth_of_time(*, quick: bool) -> Iterator[Table]:
    """Yield the exponents."""
    yield growth.growth_table(growth.all_series(quick=quick), seconds=3.0 if quick else 30.0)


def start_up(*, quick: bool) -> Iterator[Table]:
    """Yield the times of new processes."""
    yield startup.startup_table(5 if quick else 15)


def families_of_kernels(*, quick: bool) -> Iterator[Table]:
    """Yield what many bandwidths cost at once."""
    cases = families.QUICK_CASES if quick else families.CASES
    yield families.family_table(cases, seconds=0.5 if quick else 10.0)


def quadratic_time(*, quick: bool) -> Iterator[Table]:
    """Yield the quadratic-time tests beside the authors' times."""
    yield quadratic.quadratic_table(500 if quick else 2000, 10, seconds=0.5 if quick else 10.0, say=say)


def side_by_side(*, quick: bool) -> Iterator[Table]:
    """Yield other packages on the same data, and where each ends."""
    seconds = 120.0 if quick else 900.0
    yield peers.peers_table(2000, 20 if quick else 1000, gibibytes=8.0, seconds=seconds, say=say)
    if not quick:
        yield peers.survival_table(peers.SURVIVORS, 1000, first=250, gibibytes=8.0, seconds=60.0, say=say)


def larger_than_memory(*, quick: bool) -> Iterator[Table]:
    """Yield files beside memory, and how time grows from files."""
    yield large.large_table(1_000_000 if quick else 100_000_000, say)
    sizes = (100_000, 200_000, 400_000) if quick else (1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000)
    yield large.growth_table(sizes, say)


def many_more_rows(*, quick: bool) -> Iterator[Table]:
    """Yield what a cost model and a simulated cluster say of more rows and workers than are here."""
    sizes = scaling.QUICK_SIZES if quick else scaling.SIZES
    yield from scaling.scaling_tables(sizes, say)


def on_a_cluster(*, quick: bool) -> Iterator[Table]:
    """Yield two workers against one, and both against the plain path."""
    yield cluster.cluster_table(200_000 if quick else 10_000_000, 2 if quick else 3, say)


def papers_evaluation(*, quick: bool) -> Iterator[Table]:
    """Yield what the paper's evaluation takes."""
    yield reproduction.reproduction_table(quick=quick)


RUNS: dict[str, Callable[..., Iterator[Table]]] = {
    "machine": machine,
    "shares": limits_and_shares,
    "memory": memory_of_a_test,
    "growth": growth_of_time,
    "startup": start_up,
    "families": families_of_kernels,
    "quadratic": quadratic_time,
    "peers": side_by_side,
    "large": larger_than_memory,
    "cluster": on_a_cluster,
    "scaling": many_more_rows,
    "reproduction": papers_evaluation,
}
SECTIONS = tuple(RUNS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables, and write them to a file where one is named."""
    parser = argparse.ArgumentParser(prog="python benchmarks/run.py", description="Measure speed and memory.")
    parser.add_argument("--quick", action="store_true", help="smaller cases and fewer permutations, about a minute")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="these sections alone")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write all numbers there, too")
    parser.add_argument("--force", action="store_true", help="overwrite the file of --out")
    options = parser.parse_args(arguments)
    if options.out is not None and options.out.exists() and not options.force:
        parser.error(f"{options.out} exists; --force overwrites it")
    began, tables = time.perf_counter(), []
    for name in (section for section in SECTIONS if section in options.only):
        say(name)
        for table in RUNS[name](quick=options.quick):
            tables.append(table)
            print(table.markdown(), flush=True)
    print(f"The run took {time.perf_counter() - began:.0f} s; the load at its end was {limits.load()}.")
    if options.out is not None:
        content = {"quick": options.quick, "tables": [table.plain() for table in tables]}
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
