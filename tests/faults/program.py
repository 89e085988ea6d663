"""Programs that are interrupted: small chunks, and a save after each.

``python -m tests.faults.program compare ...`` is ``btests compare ...``; ``btest X Y FILE`` is a test of files with a
checkpoint; ``save FILE`` saves a partial result; ``workers ADDRESS X Y`` is a test on a cluster.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from btests import Gaussian, TestResult, btest
from btests.execution import checkpoint, out_of_core

#: Settings of all tests.
OPTIONS: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 40, "seed": 4}

#: Variable that names the file that tells that the program has begun.
READY = "BTESTS_FAULTS_READY"

#: Variable with the number of a signal, and of the save after which the program sends it to itself: "9:1".
SIGNALLED = "BTESTS_FAULTS_SIGNALLED"


def bits(result: TestResult) -> str:
    """Return all that the data decide of a result, to the last bit."""
    numbers = [result.pvalue, result.statistic, *result.summary.values.tolist()]
    moments = result.summary.moments.ravel().tolist()
    return json.dumps([float(number).hex() for number in (*numbers, *moments)])


def compare(*arguments: str) -> None:
    """Run ``btests compare``."""
    from btests.__main__ import run

    sys.argv = ["btests", "compare", *arguments]
    run()


def test_files(x: str, y: str, file: str) -> None:
    """Test two files with a checkpoint, and print the bits of the result."""
    print(bits(btest(x, y, checkpoint=file, **OPTIONS)))


def save(file: str, seed: str, force: str) -> None:
    """Save a partial result; one sentence and status 2 where that is refused."""
    import numpy as np

    from btests import Stream

    stream = Stream(Gaussian(1.0), (10, 10), seed=int(seed))
    rng = np.random.default_rng(0)
    stream.update(rng.normal(size=(4000, 2)), rng.normal(size=(4000, 2)))
    try:
        stream.partial().save(file, force=force == "force")
    except ValueError as error:
        print(f"btests: {error}.", file=sys.stderr)
        sys.exit(2)


def test_on_workers(address: str, x: str, y: str) -> None:
    """Test two files on a cluster; one sentence and status 2 where its workers are lost."""
    from btests.execution.dask import ClusterError, TaskSizes, Timeouts, connect

    sizes = TaskSizes(shard=2**16, merged=2**14, least=2**14, chunk=2**15)
    timeouts = Timeouts(connect=60.0, first_worker=5.0, poll=0.5, no_workers=3.0, fetch=5.0)
    try:
        with connect(address, sizes=sizes, timeouts=timeouts) as cluster:
            print(bits(btest(x, y, workers=cluster, **OPTIONS)))
    except ClusterError as error:
        print(f"btests: {error}.", file=sys.stderr)
        sys.exit(2)


def peak(*arguments: str) -> None:
    """Run the command line, and print the largest address space that it took, in kilobytes, on standard error."""
    from btests.cli import main

    try:
        main(arguments)
    except SystemExit:
        lines = Path("/proc/self/status").read_text().splitlines()
        found = [line.split()[1] for line in lines if line.startswith("VmPeak")]
        print("peak", *found, file=sys.stderr)


def signal_after(number: int, n_saves: int) -> None:
    """Let this process send itself a signal after some saves to a checkpoint."""
    save_all, saves = checkpoint.Recorder._save, count(1)

    def save_and_signal(self: checkpoint.Recorder, path: Path) -> None:
        save_all(self, path)
        if next(saves) == n_saves:
            signal.raise_signal(number)

    checkpoint.Recorder._save = save_and_signal  # type: ignore[method-assign]


_PROGRAMS: dict[str, Callable[..., None]] = {
    "btest": test_files,
    "compare": compare,
    "peak": peak,
    "save": save,
    "workers": test_on_workers,
}

if __name__ == "__main__":
    if sys.argv[1] != "peak":
        checkpoint._SECONDS, out_of_core.CHUNK_BYTES = 0.0, 2**16
    if SIGNALLED in os.environ:
        signal_after(*map(int, os.environ[SIGNALLED].split(":")))
    if READY in os.environ:
        Path(os.environ[READY]).touch()
    _PROGRAMS[sys.argv[1]](*sys.argv[2:])
