"""Modules of this package that a call enters: ``python -m benchmarks.modules``."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import btests
from benchmarks.tables import Table
from btests.cli.command_group import commands


def modules_entered(call: Callable[[], object]) -> tuple[int, int]:
    """Return the number of modules that a call enters, and how often it goes from one to another."""
    entered: list[str] = []

    def observe(frame: Any, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("btests.") and frame.f_code.co_name != "<module>":
            entered.append(name)

    call()  # imports
    sys.setprofile(observe)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(set(entered)), sum(a != b for a, b in pairwise(entered))


def table() -> Table:
    """Return the counts of a test of arrays, with one kernel and by default, and of a comparison of two files."""
    x, y = np.random.default_rng(0).normal(size=(2, 2000, 3))
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("x.csv", "y.csv")]
        for path, rows in zip(files, (x, y), strict=True):
            np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="")
        report = str(Path(folder, "report.html"))

        def compare() -> None:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                commands.main(["compare", *files, "--report", report, "--force"], standalone_mode=False)

        calls: dict[str, Callable[[], object]] = {
            "btest(x, y, kernel=Gaussian(1.0))": lambda: btests.btest(x, y, kernel=btests.Gaussian(1.0), seed=0),
            "btest(x, y)": lambda: btests.btest(x, y, seed=0),
            "btests compare x.csv y.csv --report": compare,
        }
        counts = [(name, *modules_entered(call)) for name, call in calls.items()]
    return Table("Modules that a call enters", ("call", "modules", "switches"), counts)


if __name__ == "__main__":
    print(table().markdown())
