"""The most memory that a test takes above its data, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import Cell, Table, verdict

#: Megabytes above the data, for a million rows a side in 10 dimensions.
TARGET = 300.0

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Peak:
    """Megabytes of the data of one test, and the most it took above them."""

    n: int
    d: int
    block_size: int
    data: float
    above: float


def peak_now() -> int:
    """Return the most bytes that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss, which begins at what the parent held when it started this process.
        lines = [line.split() for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        if lines:
            return int(lines[0][1]) * 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def measure_here(n: int, d: int, block_size: int) -> Peak:
    """Return the peak of one test in this process, which should have done nothing else before."""
    import numpy as np

    import btests

    rng = np.random.default_rng(0)
    x, y = np.empty((n, d)), np.empty((n, d))
    for sample in (x, y):
        rng.standard_normal(out=sample)  # in place: making the data takes no more than the data
    before = peak_now()
    btests.btest(x, y, block_size=block_size, seed=1)
    return Peak(n, d, block_size, (x.nbytes + y.nbytes) / 1e6, (peak_now() - before) / 1e6)


def measure(n: int, d: int, block_size: int) -> Peak:
    """Return the peak of one test in a new process."""
    command = [sys.executable, "-m", "benchmarks.memory", str(n), str(d), str(block_size)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return Peak(**json.loads(done.stdout))


def memory_table(sizes: Sequence[int], *, d: int = 10, block_size: int = 1000) -> Table:
    """Return the memory of tests with more and more rows."""
    rows: list[tuple[Cell, ...]] = []
    for n in sizes:
        peak = measure(n, d, block_size)
        rows.append((n, d, block_size, peak.data, peak.above, TARGET, verdict(met=peak.above < TARGET)))
    columns = ("n", "d", "B", "data, MB", "peak above the data, MB", "target, below", "targets")
    notes = ("A whole test with all cores in a new process; the peak counts what the first test loads.",)
    return Table("Memory", columns, rows, notes)


if __name__ == "__main__":
    print(json.dumps(measure_here(*(int(word) for word in sys.argv[1:4])).__dict__))
