"""Ctrl-C in the middle of a comparison: one sentence that says how to go on, with and without workers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no groups of processes")

# Rows of each table: enough for several chunks on a cluster.
N = 60_000

# Presses the keys as a terminal does, for this process and its workers, when a phase has come some way.
_PRESSES = """
import os, signal, sys
from btests.cli import main
from btests.execution import out_of_core
from btests.comparison import run

out_of_core.CHUNK_BYTES = 2**16
phase, tell, seen = sys.argv[1], run.Progress.rows, []

def press(self, now, done, of):
    tell(self, now, done, of)
    seen.extend([done] * (now == phase))
    if now == phase and (phase == "reading" or seen[0] < done < of):
        os.killpg(os.getpgrp(), signal.SIGINT)

run.Progress.rows = press
main(sys.argv[2:])
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Return a folder with two tables and the program."""
    rng = np.random.default_rng(5)
    for name in "ab":
        rows = [f"{u:.6f},{v:.6f}" for u, v in rng.normal(size=(N, 2))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["u,v", *rows]))
    (tmp_path / "presses.py").write_text(_PRESSES)
    return tmp_path


def compare(folder: Path, phase: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Return what a comparison says whose user presses Ctrl-C in some phase, or never."""
    command = [sys.executable, "presses.py", phase, "compare", "a.csv", "b.csv", "--memory", "1000", "--json"]
    return subprocess.run(
        [*command, "--block-size", "20", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )


def numbers(answer: subprocess.CompletedProcess[str]) -> Any:
    """Return the verdict and all columns of an answer."""
    assert answer.returncode in (0, 1), answer.stderr
    told = json.loads(answer.stdout)
    return {name: told[name] for name in ("pvalue", "columns", "rows") if name in told}


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "workers"])
def test_a_comparison_that_is_stopped(tables: Path, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("distributed")
    held = (
        r"btests: stopped; the checkpoint 'run\.npz' holds (nothing|\d+ of 120000 rows), and the same call goes on .*\."
    )
    sofar = []
    for phase in ("testing", "testing") if workers else ("reading", "testing", "testing", "reading"):
        stopped = compare(tables, phase, "--checkpoint", "run.npz", *workers)
        assert (stopped.returncode, stopped.stdout) == (130, "")
        said = re.fullmatch(held, stopped.stderr.strip())
        assert said, stopped.stderr
        sofar.append(0 if said[1] == "nothing" else int(said[1].split()[0]))
    if not workers:
        assert sofar.pop() == sofar[-1]  # what the checkpoint holds, though this run has not looked into it
        assert sofar.pop(0) == 0
    assert 0 < sofar[0] < sofar[1] < 2 * N
    ended = compare(tables, "never", "--checkpoint", "run.npz", *workers)
    assert numbers(ended) == numbers(compare(tables, "never"))


def test_a_comparison_without_a_checkpoint_that_is_stopped(tables: Path) -> None:
    stopped = compare(tables, "testing")
    assert stopped.returncode == 130
    assert stopped.stderr.strip() == (
        "btests: stopped; with --checkpoint FILE the same call would go on from where it was."
    )
