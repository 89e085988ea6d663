"""What more rows and more workers would take: a cost model, fitted to measurements, and a simulated cluster."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.clock import best_cpu
from benchmarks.large import WIDTH, folder_for, run, write_npy
from benchmarks.simulation import FAN_IN, Cluster, simulate
from benchmarks.tables import Cell, Table
from btests import Gaussian
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks
from btests.summary import Summary

#: Bytes of a partition, and of a row of one sample.
PARTITION_BYTES, ROW_BYTES = 128 * 2**20, 4 * WIDTH

#: Shards of each worker after which what is done is on the client, and in the checkpoint.
SHARDS_IN_FLIGHT = 2

# Workers that have the partitions which a shard of a buffered order lies in: two of x and two of y.
_NEAR = 4

# The block size of simulated tasks, the square root of 1e10: long ones, during which much can happen.
_LARGE_BLOCK = 100_000


#: Rows a side and block sizes that the model is fitted to.
QUICK_SIZES = ((100_000, 100), (100_000, 1000), (400_000, 300), (1_000_000, 1000))
SIZES = (*QUICK_SIZES, (4_000_000, 100), (4_000_000, 2000), (10_000_000, 1000))


@dataclass(frozen=True)
class Costs:
    """What things cost on this machine, in seconds of one core.

    Attributes
    ----------
    row
        To read a row of x and one of y, deal and check them.
    value
        One kernel value.
    dispatch
        One task, for the scheduler; None where there is no dask to measure it with.
    join
        To add ``FAN_IN`` summaries of a shard.
    """

    row: float
    value: float
    dispatch: float | None
    join: float

    def seconds(self, n: float, block_size: float) -> float:
        """Return the core seconds of a test of n rows a side."""
        return n * (self.row + 2.0 * (block_size - 1.0) * self.value)


def fit(sizes: Sequence[tuple[int, int]], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Return the cost of a row and of a kernel value, and the largest relative error, from CPU times of (n, B)."""
    from scipy.optimize import nnls

    rows = np.array([[n, 2.0 * n * (b - 1.0)] for n, b in sizes])
    times = np.array(seconds)
    found = nnls(rows / times[:, None], np.ones(len(times)))[0]  # relative errors, equal weights
    return float(found[0]), float(found[1]), float(np.abs(rows @ found / times - 1.0).max())


def measure_times(sizes: Sequence[tuple[int, int]], say: Callable[[str], None]) -> list[float]:
    """Return the CPU seconds of whole tests from .npy files, all threads together, each in a new process."""
    times = []
    for n, block_size in sizes:
        say(f"n = {n}, B = {block_size} from .npy")
        with folder_for(4 * n * ROW_BYTES + 10**8) as folder:
            paths = [folder / f"{side}.npy" for side in "xy"]
            for seed, path in enumerate(paths):
                write_npy(path, n, seed)
            times.append(min(run("from .npy", paths[0], paths[1], block_size, n).cpu for _ in range(2)))
    return times


def measure_dispatch(n_tasks: int = 2000) -> float | None:
    """Return the seconds that a dask scheduler needs for a task that does nothing; None without dask."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        return None
    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.gather(client.map(math.sqrt, range(10)))
        began = time.perf_counter()
        client.gather(client.map(math.sqrt, range(100, 100 + n_tasks)))
        return (time.perf_counter() - began) / n_tasks


def shards(n_shards: int, blocks_each: int, block_size: int, seed: int = 0) -> list[Summary]:
    """Return the summaries of the shards of one plan, on normal data of one column."""
    n = n_shards * blocks_each * block_size
    rng = np.random.default_rng(seed)
    x, y = Sample(rng.standard_normal((n, 1))), Sample(rng.standard_normal((n, 1)))
    statistic, plan = MMD(Gaussian(1.0)), Plan(n, n, n_shards * blocks_each)
    return [
        summarize_blocks(statistic, x, y, plan, (i * blocks_each, (i + 1) * blocks_each))[0] for i in range(n_shards)
    ]


def measure_join() -> float:
    """Return the seconds to add ``FAN_IN`` summaries of some thousand blocks each."""
    some = shards(FAN_IN, 4096, 2)
    return best_cpu(lambda: Summary.join(some), seconds=1.0)


@dataclass(frozen=True)
class Forecast:
    """What a test would take."""

    n: float
    block_size: int
    n_workers: int
    exchange: bool
    compute: float
    scheduler: float
    client_bytes: float
    n_tasks: float

    @property
    def bottleneck(self) -> str:
        """What is the first not to hold."""
        if self.client_bytes > 16e9:
            return "block values on the client"
        return "scheduler" if self.scheduler > self.compute else "kernel values"


def forecast(costs: Costs, n: float, block_size: int, n_workers: int, *, exchange: bool) -> Forecast:
    """Return what the model says of n rows a side that go anywhere (``exchange``) or stay in their partitions."""
    n_partitions = max(1.0, n * ROW_BYTES / PARTITION_BYTES)  # of each sample
    n_shards = 2.0 * n_partitions  # a partition of rows, x and y together
    # A piece of a shard from each worker; or from those few that have the partitions it lies in.
    pieces = float(n_workers if exchange else min(n_workers, _NEAR))
    n_tasks = 2.0 * n_partitions + n_shards * (pieces + 1.0 + 1.0 / (FAN_IN - 1.0))
    compute = costs.seconds(n, block_size) / n_workers
    return Forecast(
        n, block_size, n_workers, exchange, compute, n_tasks * (costs.dispatch or 0.0), 8.0 * n / block_size, n_tasks
    )


def forecast_table(costs: Costs, error: float) -> Table:
    """Return the model's answers for many rows."""
    rows: list[tuple[Cell, ...]] = []
    for n in (1e8, 1e10, 1e12):
        for block_size in (1000, math.isqrt(int(n))):
            for n_workers in (2, 100, 1000):
                for exchange in (True, False):
                    f = forecast(costs, n, block_size, n_workers, exchange=exchange)
                    order = "exact" if exchange else "buffered"
                    told = (f.compute / 3600.0, f.scheduler / 3600.0, f.client_bytes / 1e9)
                    rows.append((f"{n:.0e}", block_size, n_workers, order, *told, f.bottleneck))
    columns = ("n", "B", "workers", "order", "compute, h", "scheduler, h", "values, GB", "first bottleneck")
    dispatch = "unknown" if costs.dispatch is None else f"{1e3 * costs.dispatch:.2f} ms"
    notes = (
        f"A row of each sample costs {1e9 * costs.row:.0f} ns of one core, a kernel value {1e9 * costs.value:.2f} ns",
        f"({WIDTH} columns of float32; largest error of the fit {error:.0%}), a task of the scheduler {dispatch},",
        f"and the addition of {FAN_IN} summaries {1e3 * costs.join:.1f} ms. Partitions of {PARTITION_BYTES >> 20} MiB.",
        "In an exact order every worker has a piece of every shard, and pieces are tasks; in a buffered one a few.",
        "Values are those of the blocks for one kernel, 8 bytes each, which the client holds at the end. Not measured,",
        "and left out: networks and disks, which must deliver the rows as fast as the workers take them.",
    )
    return Table("Many more rows: what the model says", columns, rows, notes)


def simulation_table(costs: Costs, say: Callable[[str], None], n_workers: int = 1000, n_shards: int = 4000) -> Table:
    """Return simulated clusters that compute real shards, whose workers die, and whether the sum is the same."""
    some = shards(n_shards, 1, 4)
    whole = Summary.join(some)
    step = SHARDS_IN_FLIGHT * n_workers
    rounds = [range(first, min(first + step, n_shards)) for first in range(0, n_shards, step)]
    task = costs.seconds(PARTITION_BYTES / ROW_BYTES / 2.0, _LARGE_BLOCK)
    rows: list[tuple[Cell, ...]] = []
    base = 0.0
    for hours in (math.inf, 1000.0, 100.0, 10.0, 1.0, 0.1):
        say(f"{n_workers} simulated workers, one failure in {hours} hours each")
        cluster = Cluster(n_workers, task, costs.join, dispatch_seconds=costs.dispatch or 0.0, hours_to_failure=hours)
        rng = np.random.default_rng(1)
        seconds, failures, again, parts = 0.0, 0, 0, []
        for members in rounds:  # at the end of each, its sum is on the client and in the checkpoint
            mine = [some[i] for i in members]
            found = simulate(cluster, len(mine), mine.__getitem__, Summary.join, rng)
            seconds, failures, again = seconds + found.seconds, failures + found.n_failures, again + found.n_again
            parts.append(found.value)
        total = None if any(p is None for p in parts) else Summary.join([p for p in parts if p is not None])
        base = base or seconds
        same = total is not None and _same(total, whole)
        name = "never" if math.isinf(hours) else f"{hours:g}"
        told = None if total is None else seconds / base
        rows.append((name, failures, again, told, "yes" if same else "it never ends" if total is None else "no"))
    columns = ("hours to a failure", "failures", "computed again", "time / without failures", "same bits")
    notes = (
        f"{n_workers} simulated workers, {n_shards} shards in {len(rounds)} rounds of {task:.0f} s tasks, stragglers",
        "(30 %), a minute until a dead worker is replaced. The summaries are real, of small blocks, and really added",
        "in the order in which the simulated workers come to it; the last column compares their sum with that of one",
        "process.",
    )
    return Table("A thousand workers that die, simulated", columns, rows, notes)


def _same(one: Summary, other: Summary) -> bool:
    return bool(np.array_equal(one.values, other.values) and np.array_equal(one.moments, other.moments))


def scaling_tables(sizes: Sequence[tuple[int, int]], say: Callable[[str], None], **simulated: int) -> list[Table]:
    """Return both tables, from measurements on this machine."""
    row, value, error = fit(sizes, measure_times(sizes, say))
    say("a scheduler's task, and the addition of summaries")
    costs = Costs(row, value, measure_dispatch(), measure_join())
    return [forecast_table(costs, error), simulation_table(costs, say, **simulated)]
