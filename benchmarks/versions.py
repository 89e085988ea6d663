"""CPU time of one version of the package over that of another: ``python -m benchmarks.versions OLD NEW``.

OLD and NEW are folders that hold an installed package each (``pip install --target OLD ...``). Each version has a
process, and they take turns, so that a slow moment of the machine is one of both. A third argument, ``independence``,
is for tests of independence.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.tables import Cell, Table

_CALLS = {
    "default, n = 500, d = 10": "btest(*pair(500, 10), seed=1, n_threads=1)",
    "default, n = 2000, d = 10": "btest(*pair(2000, 10), seed=1, n_threads=1)",
    "Gaussian, n = 100,000, d = 10, B = 2": "btest(*pair(100000, 10), kernel=G, block_size=2, seed=1, n_threads=1)",
    "Gaussian, n = 100,000, d = 10, B = 316": "btest(*pair(100000, 10), kernel=G, block_size=316, seed=1, n_threads=1)",
    "Gaussian, n = 20,000, d = 100, B = 141": "btest(*pair(20000, 100), kernel=G, block_size=141, seed=1, n_threads=1)",
    "26 Gaussians, n = 50,000, d = 5, B = 224": "btest(*pair(50000, 5), kernel=A, block_size=224, seed=1, n_threads=1)",
}

# A row of x and its row of y in three columns each; one million pairs last, which take seconds.
_INDEPENDENCE = {
    "default, n = 200": "independence_test(*dependent(200), seed=1, n_threads=1)",
    "default, n = 500": "independence_test(*dependent(500), seed=1, n_threads=1)",
    "default, n = 2000": "independence_test(*dependent(2000), seed=1, n_threads=1)",
    "one pair of kernels, n = 2000": "independence_test(*dependent(2000), kernel_x=G, kernel_y=G, seed=1, n_threads=1)",
    "dcov, n = 2000": "independence_test(*dependent(2000), statistic='dcov', seed=1, n_threads=1)",
    "one pair of kernels, n = 1,000,000": (
        "independence_test(*dependent(1000000), kernel_x=G, kernel_y=G, seed=1, n_threads=1)"
    ),
    "default, n = 1,000,000": "independence_test(*dependent(1000000), seed=1, n_threads=1)",
}

_SETS = {"two samples": _CALLS, "independence": _INDEPENDENCE}

# Calls of a million rows are repeated so often.
_FEW_ROUNDS = 1

_CHILD = """
import functools, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np
from btests import Aggregate, Gaussian, btest, independence_test
G, A = Gaussian(1.0), Aggregate()
pair = functools.cache(lambda n, d: np.random.default_rng(0).normal(size=(2, n, d)))
@functools.cache
def dependent(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    return x, x**2 + 4.0 * rng.normal(size=(n, 3))
for line in sys.stdin:
    call = compile(line, "call", "eval")
    began = time.process_time()
    eval(call)
    print(time.process_time() - began, flush=True)
"""


class Version:
    """A process that runs calls with one version."""

    def __init__(self, folder: str) -> None:
        command = [sys.executable, "-W", "ignore", "-c", _CHILD, folder]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, call: str) -> float:
        """Return the CPU seconds of a call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{call}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def table(old: str, new: str, calls: dict[str, str], n_rounds: int = 25) -> Table:
    """Return the shortest time of each call with both versions, and the median of the ratios of all rounds."""
    versions = Version(old), Version(new)
    rows: list[list[Cell]] = []
    for name, call in calls.items():
        if "1000000" in call:
            for version in versions:
                version.seconds("dependent(1000000)")  # draws the rows
            rounds = [[version.seconds(call) for version in versions] for _ in range(_FEW_ROUNDS)]
        else:
            rounds = [[version.seconds(call) for version in versions] for _ in range(n_rounds + 1)][1:]
        before, now = (1e3 * min(times) for times in zip(*rounds, strict=True))
        rows.append([name, before, now, statistics.median(after / first for first, after in rounds)])
    for version in versions:
        version.close()
    return Table("CPU time of two versions", ("call", "old, ms", "new, ms", "median ratio"), rows)


if __name__ == "__main__":
    print(table(sys.argv[1], sys.argv[2], _SETS[(sys.argv[3:] or ["two samples"])[0]]).markdown())
