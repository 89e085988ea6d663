"""One test in a process of its own, under a cap on memory and on time."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass

from benchmarks.memory import ROOT

# Time for a child to start, import and warm up, on top of the cap.
_GRACE = 60.0
# Below this a test is repeated, and the least time taken.
_SHORT = 0.5
# What the warm-up sees: enough for every package to take the path it takes for more.
_WARM_UP_ROWS = 64


@dataclass(frozen=True)
class Outcome:
    """Seconds and p-value of a test, or why there are none."""

    seconds: float | None
    pvalue: float | None
    failure: str | None = None


def run_isolated(name: str, n: int, permutations: int, *, gibibytes: float, seconds: float) -> Outcome:
    """Return the outcome of ``methods.METHODS[name]`` on n rows a side in a new process."""
    arguments = [name, str(n), str(permutations), str(gibibytes)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.isolated", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds + _GRACE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, None, f"time: more than {seconds:g} s")
    if done.returncode != 0:
        return Outcome(None, None, _reason(done.returncode, done.stderr, gibibytes))
    outcome = Outcome(**json.loads(done.stdout.splitlines()[-1]))
    if outcome.seconds is not None and outcome.seconds > seconds:
        return Outcome(outcome.seconds, outcome.pvalue, f"time: more than {seconds:g} s")
    return outcome


def _reason(status: int, errors: str, gibibytes: float) -> str:
    last = errors.strip().splitlines()[-1] if errors.strip() else ""
    lacks_memory = any(word in errors for word in ("MemoryError", "bad_alloc", "allocate"))
    if lacks_memory or status in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT):
        return f"memory: more than {gibibytes:g} GiB"
    return f"failed: {last[:100]}" if last else f"failed with status {status}"


def run_here(name: str, n: int, permutations: int) -> Outcome:
    """Return the outcome of a test in this process; it has one warm-up, so that no import or compiler is timed."""
    import numpy as np

    from benchmarks.methods import METHODS, NotInstalled
    from btests.datasets import blobs

    method = METHODS[name][0]
    rng = np.random.default_rng(0)
    x, y = blobs(n, rng, rotated=True), blobs(n, rng, rotated=False)
    best, began, pvalue = float("inf"), time.perf_counter(), float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ours about a single block, others' about their own dependencies
        try:
            method(x[:_WARM_UP_ROWS], y[:_WARM_UP_ROWS], 10)
        except NotInstalled as missing:
            return Outcome(None, None, str(missing))
        while best == float("inf") or time.perf_counter() - began < _SHORT:
            start = time.perf_counter()
            pvalue = method(x, y, permutations)
            best = min(best, time.perf_counter() - start)
    return Outcome(best, pvalue)


def cap_memory(gibibytes: float) -> None:
    """Let this process address no more than so much memory."""
    n_bytes = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


if __name__ == "__main__":
    cap_memory(float(sys.argv[4]))
    print(json.dumps(run_here(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).__dict__))
