"""Free memory, checks before large allocations, and the peak of this process."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

#: Assumed free memory where the system does not report it.
_UNKNOWN = 4 * 2**30

# Bytes of a block of one row a side: its Gram matrices xx, yy and xy in float64, and copies of them.
_BLOCK_BYTES = 8 * 3 * 3

_MEMINFO = Path("/proc/meminfo")

# The control groups of this process, where those of the machine are mounted, and what their files are called: of the
# second version of them, and of the first.
_OWN = Path("/proc/self/cgroup")
_GROUPS = (
    ("", Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
    ("memory", Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def free_bytes() -> int:
    """Return the bytes that this process may still take: of the machine, and of its control group."""
    free = _UNKNOWN
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    for limit, used in _limits():
        try:
            free = min(free, int(limit.read_text("ascii")) - int(used.read_text("ascii")))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return max(free, 0)


def _limits() -> Iterator[tuple[Path, Path]]:
    """Yield the files with the limit and the use of each control group that this process is in, from the outermost."""
    try:
        lines = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
    except OSError:
        lines = []
    for controller, mounted, limit, used in _GROUPS:
        yield mounted / limit, mounted / used
        for path in (line[2] for line in lines if len(line) == 3 and controller in line[1].split(",")):
            inner = mounted
            for name in path.strip("/").split("/"):
                inner = inner / name
                yield inner / limit, inner / used


def require_bytes(what: str, needed: int, n_x: int, n_y: int) -> None:
    """Raise ``ValueError`` unless ``needed`` bytes are free for ``what``; the message names blocks that would fit."""
    free = free_bytes()
    if needed <= free:
        return
    # A quarter of what is free: advice should leave room.
    b = max(2, min(math.isqrt(free // (4 * _BLOCK_BYTES)), min(n_x, n_y) // 2))
    raise ValueError(
        f"{what} needs {amount(needed)} of memory for {n_x} and {n_y} rows, and {amount(free)} are free; "
        f"a B-test with block_size={b} and null=SignFlip() needs at most {amount(_BLOCK_BYTES * b * b)}"
    )


def amount(n_bytes: int) -> str:
    """Return a number of bytes as it is read."""
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size
