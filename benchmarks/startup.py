"""How long a new process takes until it is of use."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.clock import children
from benchmarks.tables import Cell, Table, verdict

_DATA = "import numpy as np; r = np.random.default_rng(0); x, y = r.normal(size=(2, 2000, 2))"

#: Commands by name.
COMMANDS = {
    "python": ("-c", "pass"),
    "numpy": ("-c", "import numpy"),
    "numpy, data": ("-c", _DATA),
    "import": ("-c", "import btests"),
    "help": ("-m", "btests", "--help"),
    "test": ("-c", f"{_DATA}; import btests; btests.btest(x, y, seed=1)"),
}

#: What is reported: a command, what it is counted beyond, and the target in seconds.
QUESTIONS = (
    ("import btests, beyond python's own start", "import", "python", 0.3),
    ("btests --help, all of it", "help", None, 1.0),
    ("first test (n = 2000), beyond numpy and its data", "test", "numpy, data", 0.5),
    ("for comparison: import numpy, beyond python's own start", "numpy", "python", None),
)


def measure(n_rounds: int) -> dict[str, tuple[list[float], list[float]]]:
    """Return wall and CPU seconds of each command, all commands in turn, after one round that is not counted."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in COMMANDS}
    for turn in range(n_rounds + 1):
        for name, arguments in COMMANDS.items():
            wall, cpu = time.perf_counter(), children()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            if turn > 0:
                times[name][0].append(time.perf_counter() - wall)
                times[name][1].append(children() - cpu)
    return times


def startup_table(n_rounds: int) -> Table:
    """Return the medians of differences within a round, beside their targets."""
    times = measure(n_rounds)
    rows: list[tuple[Cell, ...]] = []
    for question, name, beyond, target in QUESTIONS:
        wall, cpu = (_beyond(times[name][k], None if beyond is None else times[beyond][k]) for k in (0, 1))
        rows.append((question, wall, cpu, target, None if target is None else verdict(met=wall < target)))
    columns = ("what", "wall, s", "CPU, s", "target, s", "targets")
    notes = (f"Median of {n_rounds} new processes, commands in turn, files in the system's cache.",)
    return Table("Start-up", columns, rows, notes)


def _beyond(times: Sequence[float], others: Sequence[float] | None) -> float:
    if others is None:
        return statistics.median(times)
    return statistics.median(a - b for a, b in zip(times, others, strict=True))
