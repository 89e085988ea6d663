"""The machine, and how fast one of its cores can multiply, exponentiate and read."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import rates
from benchmarks.clock import best_interleaved
from benchmarks.tables import Cell, Table
from btests import _core
from btests._core.threads import default_threads

# A few milliseconds of work each.
_PRODUCTS = 100_000_000
_EXPONENTIALS = 10_000_000

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Rates:
    """What one core does in a second: multiply-adds, exponentials and bytes read from memory."""

    products: float
    exponentials: float
    read: float

    def seconds(self, evaluations: float, d: int, n_bytes: float) -> float:
        """Return the least time for so many kernel values in d dimensions, from so many bytes of data."""
        return max(evaluations * (d / self.products + 1.0 / self.exponentials), n_bytes / self.read)


def rate_tasks(dtype: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return the two tasks that ``rate_of`` turns into rates: multiply-adds and exponentials."""
    single = dtype == "float32"
    return (
        lambda: rates.sum_products(_PRODUCTS, float32=single),
        lambda: rates.sum_exponentials(_EXPONENTIALS, float32=single),
    )


def rate_of(seconds: float, *, exponentials: bool) -> float:
    """Return the rate from the time of one of the two tasks."""
    return (_EXPONENTIALS if exponentials else _PRODUCTS) / seconds


def measure_read(dtype: str, n_bytes: int, *, seconds: float = 0.5) -> float:
    """Return the bytes a second at which numpy sums ``n_bytes`` of numbers."""
    numbers = np.ones(n_bytes // np.dtype(dtype).itemsize, dtype)
    best = best_interleaved([numbers.sum], [time.thread_time], seconds=seconds)[0]
    return numbers.nbytes / best


def measure_rates(dtype: str, *, seconds: float = 1.0, read_bytes: int | None = None) -> Rates:
    """Return the three rates of one core for numbers of one type."""
    tasks = rate_tasks(dtype)
    products, exponentials = best_interleaved(tasks, [time.thread_time] * 2, seconds=seconds)
    return Rates(
        rate_of(products, exponentials=False),
        rate_of(exponentials, exponentials=True),
        measure_read(dtype, read_bytes or beyond_cache(), seconds=seconds),
    )


def cache_sizes() -> list[int]:
    """Return the bytes of the data caches from the first level on, or a guess where Linux does not say."""
    found: dict[int, int] = {}
    for folder in sorted(_CACHES.glob("index*")):
        try:
            kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size.endswith("K"):
            found[int(level)] = int(size[:-1]) * 1024
    return [found[level] for level in sorted(found)] or [2**15, 2**20, 2**25]


def beyond_cache() -> int:
    """Return the bytes of an array that no cache holds: four times the last, from 64 to 512 MiB."""
    return min(max(4 * cache_sizes()[-1], 2**26), 2**29)


def cpu_name() -> str:
    """Return what the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def load() -> str:
    """Return how many processes wanted a core in the last minute, where the system says."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def machine_table() -> Table:
    """Return what this run ran on."""
    rows: list[tuple[Cell, ...]] = [
        ("processor", cpu_name()),
        ("cores of this process", default_threads()),
        ("data caches, KiB", " / ".join(str(size // 1024) for size in cache_sizes())),
        ("instruction set in use", _core.instruction_set()),
        ("Python, numpy", f"{platform.python_version()}, {np.__version__}"),
        ("load when the run began", load()),
    ]
    if not _core.is_available():
        rows.append(("compiled loops", "not built: there are no limits to compare with"))
    return Table("The machine", ("what", "value"), rows)


def limits_table(measured: dict[str, Rates], *, seconds: float = 0.5) -> Table:
    """Return the limits of one core; the read rates are those of numpy's sum over an array."""
    middle = 4 * cache_sizes()[1] if len(cache_sizes()) > 2 else cache_sizes()[-1]
    rows: list[tuple[Cell, ...]] = []
    for dtype, r in measured.items():
        near = measure_read(dtype, middle, seconds=seconds)
        rows.append((dtype, r.products / 1e9, r.exponentials / 1e9, near / 1e9, r.read / 1e9))
    columns = (
        "numbers",
        "multiply-adds, G/s",
        "exponentials, G/s",
        f"read {middle >> 20} MiB, GB/s",
        f"read {beyond_cache() >> 20} MiB, GB/s",
    )
    notes = (
        "CPU time of one thread, best of several. The exponentials are those of the compiled loops, summed in their",
        "own type; the loops themselves sum in float64 always.",
    )
    return Table("Limits of one core", columns, rows, notes)
