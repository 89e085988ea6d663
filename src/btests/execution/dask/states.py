"""What the scheduler says of its workers: whether any of them takes tasks."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any, NoReturn

from btests.execution.dask.errors import ClusterError, amount

Workers = dict[str, dict[str, Any]]


def are_paused(workers: Workers) -> bool:
    """Whether all workers take no tasks because they are short of memory, and have none under way that would end."""
    return bool(workers) and all(
        worker["status"] == "paused" and not _n_under_way(worker["metrics"]) for worker in workers.values()
    )


def _n_under_way(metrics: dict[str, Any]) -> int:
    counts = metrics.get("task_counts", {})
    return sum(int(counts.get(state, 0)) for state in ("executing", "long-running"))


def give_back() -> None:
    """Have this process give memory back that it has freed: dask counts it, and keeps a worker paused for it."""
    with suppress(OSError, AttributeError):  # other systems do so by themselves, or not at all
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def refuse_paused(address: str, workers: Workers) -> NoReturn:
    """Say that all workers are paused, and what they hold."""
    held = max(int(worker["metrics"].get("memory", 0)) for worker in workers.values())
    limits = [worker["memory_limit"] for worker in workers.values() if worker["memory_limit"]]
    limit = amount(min(limits)) if limits else "no stated limit"
    raise ClusterError(
        f"dask has paused all workers of {address}, which are short of memory and compute nothing: one holds "
        f"{amount(held)}, and a worker may take {limit}; give them more memory, start more of them, or let go of other "
        "data that they hold"
    )
