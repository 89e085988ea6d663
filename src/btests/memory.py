"""Memory, asked for before it is spent."""

from __future__ import annotations

import math
from pathlib import Path

#: What is taken to be there where the system does not say.
_UNKNOWN = 4 * 2**30

# Bytes of a block of one row a side: its Gram matrices xx, yy and xy in float64, and copies of them.
_BLOCK_BYTES = 8 * 3 * 3

_MEMINFO = Path("/proc/meminfo")
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_bytes() -> int:
    """Return the bytes that this process may still take: of the machine, and of its control group."""
    free = _UNKNOWN
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    for limit, used in _GROUPS:
        try:
            free = min(free, int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii")))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return max(free, 0)


def require_bytes(null: str, needed: int, n_x: int, n_y: int) -> None:
    """Raise unless ``needed`` bytes are free, and say which blocks of an ordinary B-test would fit."""
    free = free_bytes()
    if needed <= free:
        return
    # A quarter of what is free: advice should leave room.
    b = max(2, min(math.isqrt(free // (4 * _BLOCK_BYTES)), min(n_x, n_y) // 2))
    raise ValueError(
        f"{null} needs {amount(needed)} of memory for {n_x} and {n_y} rows, and {amount(free)} are free; "
        f"a B-test with block_size={b} and null=SignFlip() needs at most {amount(_BLOCK_BYTES * b * b)}"
    )


def amount(n_bytes: int) -> str:
    """Return a number of bytes as it is read."""
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
