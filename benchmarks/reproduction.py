"""How long the paper's whole evaluation takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

from benchmarks.clock import children
from benchmarks.tables import Cell, Table, verdict

#: Seconds by the clock that a run may take at most on two cores: with few repetitions, and with those of the paper.
_MOST = {True: 60.0, False: 2400.0}


def reproduction_table(*, quick: bool) -> Table:
    """Return the time of ``python -m studies.reproduce all`` in a new folder."""
    options = ["all", "--quick"] if quick else ["all"]
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.perf_counter(), children()
        command = [sys.executable, "-m", "studies.reproduce", *options, "--out", f"{folder}/out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall, cpu = time.perf_counter() - began, children() - used
    row: tuple[Cell, ...] = (
        " ".join(["python -m studies.reproduce", *options]),
        wall,
        cpu,
        _MOST[quick],
        verdict(met=wall < _MOST[quick]),
    )
    columns = ("command", "wall, s", "CPU, s", "limit, s", "limit")
    notes = ("All cores, one process each. The target for all repetitions of the paper is 1200 s on two idle cores.",)
    return Table("The paper's evaluation", columns, [row], notes)
