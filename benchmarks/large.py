"""Files larger than memory: rows per second beside the path in memory, resident memory, and growth."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import slope
from benchmarks.memory import ROOT, peak_now
from benchmarks.tables import Cell, Table, verdict

#: Columns of float32, and the block size of the figures to reach.
WIDTH, BLOCK_SIZE = 4, 1000

#: Megabytes of resident memory, below which a run from files stays.
MEMORY_TARGET = 1000.0

#: Share of the rows per second of the path in memory that one from files reaches.
SPEED_TARGET = 0.5

_ROWS_AT_A_TIME = 2**20


@dataclass(frozen=True)
class Run:
    """One test in a process of its own."""

    rows: str
    n: int
    block_size: int
    seconds: float
    cpu: float
    megabytes: float
    pvalue: float
    statistic: float

    @property
    def speed(self) -> float:
        """Rows of each side per second."""
        return self.n / self.seconds


@contextmanager
def folder_for(n_bytes: int) -> Iterator[Path]:
    """Yield a temporary folder with room for so many bytes, and remove it."""
    with tempfile.TemporaryDirectory(prefix="btests-large-") as name:
        free = shutil.disk_usage(name).free
        if free < n_bytes:
            raise OSError(f"the files of this benchmark take {n_bytes / 1e9:.3g} GB, and {free / 1e9:.3g} GB are free")
        yield Path(name)


def batches(n: int, seed: int) -> Iterator[Any]:
    """Yield normal rows, some at a time."""
    rng = np.random.default_rng(seed)
    for first in range(0, n, _ROWS_AT_A_TIME):
        yield rng.standard_normal((min(_ROWS_AT_A_TIME, n - first), WIDTH), dtype=np.float32)


def write_npy(path: Path, n: int, seed: int) -> None:
    """Write normal rows to a .npy file."""
    out = np.lib.format.open_memmap(path, "w+", np.float32, (n, WIDTH))
    first = 0
    for rows in batches(n, seed):
        out[first : first + len(rows)] = rows
        first += len(rows)
    out.flush()


def write_parquet(path: Path, n: int, seed: int) -> None:
    """Write normal rows to a Parquet file, row groups of a million."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(WIDTH)])
    with pq.ParquetWriter(path, schema) as writer:
        for rows in batches(n, seed):
            arrays = [pa.array(np.ascontiguousarray(rows[:, j])) for j in range(WIDTH)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def run_here(rows: str, x: str, y: str, block_size: int, n: int) -> Run:
    """Return one test of the first ``n`` rows of two files, in this process, which should have done nothing before."""
    import btests

    # The first test of a process loads the compiled loops: that is not what is measured.
    btests.btest(np.zeros((4, 1)), np.arange(4.0), kernel=btests.Gaussian(1.0), seed=1)
    kernel = btests.Gaussian(math.sqrt(float(WIDTH)))
    samples: list[Any] = [np.load(path)[:n] for path in (x, y)] if rows == "in memory" else [x, y]
    began, busy = time.perf_counter(), time.process_time()
    result = btests.btest(*samples, kernel=kernel, block_size=block_size, scale=False, seed=1)
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    return Run(rows, result.n_x, result.block_size, seconds, cpu, peak_now() / 1e6, result.pvalue, result.statistic)


def run(rows: str, x: Path, y: Path, block_size: int, n: int) -> Run:
    """Return one test in a new process."""
    command = [sys.executable, "-m", "benchmarks.large", rows, str(x), str(y), str(block_size), str(n)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def large_table(n: int, say: Callable[[str], None]) -> Table:
    """Return files beside arrays in memory, on the same rows."""
    found: list[Run] = []
    with folder_for(6 * n * WIDTH * 4 + 10**8) as folder:
        for kind, write in ((".npy", write_npy), (".parquet", write_parquet)):
            paths = [folder / f"{name}{kind}" for name in "xy"]
            say(f"writing {n} rows a side to {kind} files")
            for seed, path in enumerate(paths):
                write(path, n, seed)
            for rows in ("in memory", f"from {kind}") if kind == ".npy" else (f"from {kind}",):
                say(f"{n} rows a side {rows}")
                found.append(run(rows, paths[0], paths[1], BLOCK_SIZE, n))
            for path in paths:
                path.unlink()
    return speed_table(found)


def speed_table(found: Sequence[Run]) -> Table:
    """Return the runs beside the first of them, which is the one in memory."""
    base, rows = found[0], []
    for one in found:
        share = one.speed / base.speed
        same = "yes" if (one.pvalue, one.statistic) == (base.pvalue, base.statistic) else "no"
        met = one is base or (share >= SPEED_TARGET and one.megabytes < MEMORY_TARGET)
        cells: tuple[Cell, ...] = (one.rows, one.n, one.speed / 1e6, share, one.megabytes, same)
        rows.append((*cells, "" if one is base else verdict(met=met)))
    columns = ("rows", "n", "million rows/s", "share of in memory", "peak, MB", "same answer", "targets")
    notes = (
        f"Two samples of n rows, {WIDTH} columns of float32, B = {BLOCK_SIZE}, all cores, each in a new process; rows",
        f"are shuffled exactly. The peak is all resident memory of the process: from files below {MEMORY_TARGET:g} MB,",
        f"at {SPEED_TARGET:g} of the rows per second in memory or more. The same answer is the same to the last bit.",
    )
    return Table("Files larger than memory", columns, rows, notes)


def growth_table(sizes: Sequence[int], say: Callable[[str], None]) -> Table:
    """Return how the time of a test from .npy files grows, at fixed B and at B = sqrt(n)."""
    rows: list[tuple[Cell, ...]] = []
    series: tuple[tuple[str, Callable[[int], int], float], ...] = (
        (f"n at B = {BLOCK_SIZE}", lambda n: BLOCK_SIZE, 1.0),
        ("n at B = sqrt(n)", math.isqrt, 1.5),
    )
    for name, size_of, expected in series:
        times = []
        for n in sizes:
            with folder_for(4 * n * WIDTH * 4 + 10**8) as folder:
                paths = [folder / f"{side}.npy" for side in "xy"]
                for seed, path in enumerate(paths):
                    write_npy(path, n, seed)
                say(f"{name}: n = {n}")
                times.append(min(run("from .npy", paths[0], paths[1], size_of(n), n).cpu for _ in range(2)))
        exponent, half = slope([float(n) for n in sizes], times)
        interval = f"{exponent - half:.3f} to {exponent + half:.3f}"
        span = f"{sizes[0]} to {sizes[-1]}"
        rows.append((name, span, len(sizes), times[0], times[-1], expected, round(exponent, 3), interval))
    columns = ("time over", "n", "points", "first, s", "last, s", "expected", "exponent", "95 % interval")
    notes = ("The whole test from .npy files, CPU time of all threads, the better of two, each in a new process.",)
    return Table("Growth of time from files", columns, rows, notes)


if __name__ == "__main__":
    print(json.dumps(run_here(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])).__dict__))
