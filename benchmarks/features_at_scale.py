"""Features of many rows: memory and time from files, two workers against one, and a forecast for more of both.

``python -m benchmarks.features_at_scale files 10000000``, ``... cluster 4000000``, ``... forecast 2000000``.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import best_cpu
from benchmarks.large import WIDTH, folder_for, write_npy, write_parquet
from benchmarks.memory import ROOT, peak_now
from benchmarks.simulation import Cluster, simulate
from benchmarks.tables import Cell, Table, verdict
from btests import FeatureMMD, Gaussian
from btests.data.sample import RowSlice, Sample
from btests.execution.dask.cluster import TaskSizes
from btests.execution.dask.row_ranges import RowRange, on_source
from btests.execution.dask.sum_run import add, sum_rows
from btests.execution.dask.tasks import FAN_IN
from btests.plan import Array, Plan

#: Megabytes of resident memory of a run from files, and speed of two workers beside one.
MEMORY_TARGET, SPEED_TARGET = 400.0, 1.8

# Rows of a Parquet file, and different files of a sample; more rows are the same files under other names.
_FILE_ROWS, _FILES = 10**6, 10

# Bytes of a file that a run may write: none of its rows go to a temporary file.
_MOST_WRITTEN = 10**6

# Rows of a small range of the simulation.
_SMALL = 64


@dataclass(frozen=True)
class FileRun:
    """One test from files in a process of its own."""

    n: int
    seconds: float
    cpu: float
    megabytes: float
    n_frequencies: int


def run_here(x: str, y: str) -> FileRun:
    """Return one test of two patterns of files, in this process, which should have done nothing before."""
    import btests

    btests.btest(np.zeros((4, 1)), np.arange(4.0), kernel=btests.Gaussian(1.0), seed=1)  # loads the compiled loops
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_WRITTEN, _MOST_WRITTEN))
    began, busy = time.perf_counter(), time.process_time()
    found = btests.btest(x, y, statistic="features", scale=False, seed=1)
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    return FileRun(found.n_x, seconds, cpu, peak_now() / 1e6, found.n_frequencies or 0)


def write_parts(folder: Path, name: str, n: int, seed: int) -> str:
    """Write Parquet files of n rows together, of which at most ten differ, and return their pattern."""
    n_files = max(1, n // _FILE_ROWS)
    for i in range(n_files):
        path = folder / f"{name}-{i:06d}.parquet"
        if i < _FILES:
            write_parquet(path, min(n, _FILE_ROWS), 1000 * seed + i)
        else:
            os.link(folder / f"{name}-{i % _FILES:06d}.parquet", path)
    return str(folder / f"{name}-*.parquet")


def files_table(sizes: Sequence[int], say: Callable[[str], None]) -> Table:
    """Return time and memory of tests of Parquet files."""
    rows: list[tuple[Cell, ...]] = []
    for n in sizes:
        with folder_for(3 * min(n, _FILES * _FILE_ROWS) * WIDTH * 4 + 10**8) as folder:
            patterns = [write_parts(folder, name, n, seed) for seed, name in enumerate("xy")]
            say(f"{n} rows a side")
            command = [sys.executable, "-m", "benchmarks.features_at_scale", "run", *patterns]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        one = FileRun(**json.loads(done.stdout.splitlines()[-1]))
        met = verdict(met=one.megabytes < MEMORY_TARGET)
        rows.append((one.n, one.n_frequencies, one.seconds, one.cpu, 1e9 * one.cpu / one.n, one.megabytes, met))
    columns = ("n", "frequencies", "seconds", "CPU s", "CPU ns a row", "peak, MB", "below 400 MB")
    notes = (
        f"Two sets of Parquet files of a million rows, {WIDTH} columns of float32; beyond ten files of a sample they",
        "repeat under other names, so that the disk holds less. The default kernels and discriminants, all cores, a",
        "new process. The peak is all resident memory. The process may write no file of more than a megabyte. A row is",
        "one of each sample.",
    )
    return Table("Features from files", columns, rows, notes)


@dataclass(frozen=True)
class Timed:
    """One way to compute the same test: seconds, CPU seconds of each worker, and the answer."""

    way: str
    seconds: float
    cpu: tuple[float, ...]
    answer: tuple[float, float]


def cluster_table(n: int, repetitions: int, say: Callable[[str], None]) -> Table:
    """Return one process, one worker and two workers, in turns, on the same .npy files; the best of each."""
    from btests import btest
    from btests.execution.dask.local_workers import local_client

    best: dict[str, Timed] = {}
    with folder_for(3 * n * WIDTH * 4 + 10**8) as folder, ExitStack() as opened:
        x, y = (folder / f"{name}.npy" for name in "xy")
        for seed, path in enumerate((x, y)):
            write_npy(path, n, seed)
        clients = {1: opened.enter_context(local_client(1)), 2: opened.enter_context(local_client(2))}
        for turn in range(repetitions + 1):  # the first loads modules and compiled loops everywhere
            for n_workers in (0, 1, 2):
                way = f"{n_workers} worker{'s' * (n_workers > 1)}" if n_workers else "one process, one thread"
                say(f"{way}, turn {turn}")
                where: dict[str, Any] = {"workers": clients[n_workers]} if n_workers else {"n_threads": 1}
                before = _cpu(clients.get(n_workers))
                began = time.perf_counter()
                found = btest(x, y, statistic="features", seed=1, **where)
                seconds = time.perf_counter() - began
                cpu = tuple(b - a for a, b in zip(before, _cpu(clients.get(n_workers)), strict=True))
                if turn and (way not in best or max(cpu) < max(best[way].cpu)):
                    best[way] = Timed(way, seconds, cpu, (found.pvalue, found.statistic))
    return _cluster_rows(n, repetitions, list(best.values()))


def _cpu(client: Any) -> list[float]:
    """Return the CPU seconds so far of each worker, or of this process."""
    return [time.process_time()] if client is None else [s for _, s in sorted(client.run(time.process_time).items())]


def _cluster_rows(n: int, repetitions: int, found: Sequence[Timed]) -> Table:
    plain, one = found[0], found[1]
    rows: list[tuple[Cell, ...]] = []
    for timed in found:
        of_one = None if timed is plain else max(one.cpu) / max(timed.cpu)
        by_clock = None if timed is plain else one.seconds / timed.seconds
        same = "yes" if timed.answer == plain.answer else "no"
        rows.append((timed.way, n, timed.seconds, sum(timed.cpu), max(timed.cpu), of_one, by_clock, same))
    columns = ("computed by", "n", "seconds", "CPU s", "of the busiest", "by CPU", "by the clock", "same answer")
    met = verdict(met=max(one.cpu) / max(found[2].cpu) >= SPEED_TARGET)
    notes = (
        f"Two .npy files, {WIDTH} columns of float32, features of the default kernels; workers of one thread each. The",
        f"run with the least CPU time of {repetitions}, in turns. CPU seconds are those of the workers, or of the one",
        "process. Speed beside one worker: by the CPU seconds of the busiest worker, which other work on the machine",
        f"changes little, and by the clock. {SPEED_TARGET:g} by CPU: {met}. The same answer is so to the last bit.",
    )
    return Table("Features on a cluster on one machine", columns, rows, notes)


@dataclass(frozen=True)
class FeatureCosts:
    """What things cost on this machine.

    Attributes
    ----------
    row : float
        Core seconds to read and sum a row of x and one of y.
    dispatch : float
        CPU seconds of the scheduler, and of the client, for a task.
    join : float
        Seconds to add the sums of ``FAN_IN`` ranges.
    task_bytes : int
        Bytes of the function and the arguments of a task; files, statistic and plan are sent once.
    """

    row: float
    dispatch: float
    join: float
    task_bytes: int


def measure_dispatch(n_tasks: int = 2000) -> float:
    """Return the CPU seconds of a scheduler and a client, both in this process, for a task that does nothing."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.gather(client.map(math.sqrt, range(10)))
        began = time.process_time()
        client.gather(client.map(math.sqrt, range(100, 100 + n_tasks)))
        return (time.process_time() - began) / n_tasks


def measure_costs(n: int, say: Callable[[str], None]) -> FeatureCosts:
    """Return costs from a test of n rows of Parquet files, and from tasks and sums as the cluster has them."""
    run = files_table([n], say).rows[0]
    sums = np.zeros((32, 14, 128))
    join = best_cpu(lambda: add([sums] * FAN_IN), seconds=0.5)
    task = (on_source, sum_rows, "btests_source-0123abcd-0", RowRange(10**9, 2 * 10**9), "task", 0, (10**9, 10**10))
    say("a scheduler's task")
    return FeatureCosts(float(run[3] or 0.0) / n, measure_dispatch(), join, len(pickle.dumps(task)))


def n_tasks(n: float, n_workers: int) -> tuple[float, float]:
    """Return the numbers of ranges of both samples, and of additions of their sums."""
    sizes = TaskSizes()
    size = min(float(sizes.summed), max(16 * sizes.least, n * WIDTH * 4 / (4 * n_workers)))
    ranges = 2.0 * max(1.0, n * WIDTH * 4 / size)
    return ranges, ranges / (FAN_IN - 1.0)


def forecast_table(costs: FeatureCosts) -> Table:
    """Return what many rows on many workers would take."""
    rows: list[tuple[Cell, ...]] = []
    for n in (1e8, 1e10, 1e12):
        for n_workers in (2, 100, 1000):
            ranges, additions = n_tasks(n, n_workers)
            compute = (costs.row * n + costs.join * additions) / n_workers
            scheduler = (ranges + additions) * costs.dispatch
            sent = (ranges + additions) * costs.task_bytes / 1e6
            first = "scheduler" if scheduler > compute else "sums"
            cells = (round(ranges + additions), compute / 3600.0, scheduler / 3600.0, sent, first)
            rows.append((f"{n:.0e}", n_workers, *cells))
    columns = ("n", "workers", "tasks", "compute, h", "scheduler, h", "arguments, MB", "first bottleneck")
    notes = (
        f"A row of each sample costs {1e9 * costs.row:.0f} ns of one core, a task {1e3 * costs.dispatch:.2f} ms of the",
        f"scheduler (CPU) and {costs.task_bytes} bytes, the addition of {FAN_IN} sums {1e3 * costs.join:.2f} ms.",
        f"{WIDTH} columns of float32 in files; a task reads up to {TaskSizes().summed >> 20} MiB of them. No row is",
        "sent. Left out, since it was not measured: whether disks and networks deliver files as fast as workers read.",
    )
    return Table("Many more rows by features: what the model says", columns, rows, notes)


def small_sums(n_ranges: int) -> list[Array]:
    """Return the real sums of small ranges of normal rows."""
    n = n_ranges * _SMALL
    rows = np.random.default_rng(1).standard_normal((n, 2))
    sample, plan = Sample(rows), Plan(n, n, 1)
    statistic = FeatureMMD((Gaussian(1.0),), 16).prepare(sample, sample)
    found = []
    for first in range(0, n, _SMALL):
        own = RowSlice(np.ascontiguousarray(rows[first : first + _SMALL]), first, sample.location)
        found.append(statistic.side_sums(own, (first, first + _SMALL), plan, 0))
    return found


def simulation_table(costs: FeatureCosts, n_workers: int = 1000, n_ranges: int = 8000) -> Table:
    """Return simulated clusters that add real sums, whose workers are lost, and whether the sum has the same bits."""
    sums = small_sums(n_ranges)
    whole, task = add(sums), costs.row / 2.0 * TaskSizes().summed / (4 * WIDTH)
    rows: list[tuple[Cell, ...]] = []
    base = 0.0
    for hours in (float("inf"), 100.0, 10.0, 1.0):
        cluster = Cluster(n_workers, task, costs.join, dispatch_seconds=costs.dispatch, hours_to_failure=hours)
        found = simulate(cluster, n_ranges, sums.__getitem__, add, np.random.default_rng(1))
        base = base or found.seconds
        same = found.value is not None and np.array_equal(found.value, whole)
        name = "never" if hours == float("inf") else f"{hours:g}"
        share = found.busy / (n_workers * found.seconds)
        told = (found.n_failures, found.n_again, found.seconds, found.seconds / base, share)
        rows.append((name, *told, "yes" if same else "no"))
    columns = ("hours to a failure", "failures", "computed again", "seconds", "beside none", "busy", "same bits")
    notes = (
        f"{n_workers} simulated workers, {n_ranges} ranges of {task:.0f} s each, stragglers (30 %), a minute until a",
        "lost worker is replaced, one scheduler with the time of a task above. Sums are real, of small ranges, and are",
        "added in the order in which simulated workers come to it; the last column compares their sum with that of one",
        "process.",
    )
    return Table("A thousand workers, simulated", columns, rows, notes)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def main(what: str, *arguments: str) -> None:
    """Print the tables that a word names."""
    numbers = [int(float(one)) for one in arguments] if what != "run" else []
    if what == "run":
        print(json.dumps(run_here(*arguments).__dict__))
    elif what == "files":
        print(files_table(numbers, _say).markdown())
    elif what == "cluster":
        print(cluster_table(numbers[0], 3, _say).markdown())
    else:
        costs = measure_costs(numbers[0], _say)
        print(forecast_table(costs).markdown(), simulation_table(costs).markdown(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
