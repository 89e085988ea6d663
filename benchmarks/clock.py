"""Timers. The least of several times is taken: a shared machine can only add to a time, never take from it."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Task = Callable[[], object]
Clock = Callable[[], float]


def best_interleaved(
    tasks: Sequence[Task], clocks: Sequence[Clock], *, seconds: float, least: int = 3, most: int = 200
) -> list[float]:
    """Return the least time of each task, all tasks in turn for about ``seconds``, each with its own clock.

    Turns put all tasks under the same weather, so that their ratios hold on a machine that is busy elsewhere.
    """
    best = [float("inf")] * len(tasks)
    began = time.perf_counter()
    for turn in range(most):
        if turn >= least and time.perf_counter() - began > seconds:
            break
        for i, (task, clock) in enumerate(zip(tasks, clocks, strict=True)):
            start = clock()
            task()
            best[i] = min(best[i], clock() - start)
    return best


def best_cpu(task: Task, *, seconds: float, least: int = 3) -> float:
    """Return the least CPU time of a task that runs in this thread alone."""
    return best_interleaved([task], [time.thread_time], seconds=seconds, least=least)[0]


def best_wall(task: Task, *, seconds: float, least: int = 3) -> float:
    """Return the least time of a task by the clock on the wall."""
    return best_interleaved([task], [time.perf_counter], seconds=seconds, least=least)[0]


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold all of btests to the calling thread."""
    before = os.environ.get("BTESTS_THREADS")
    os.environ["BTESTS_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["BTESTS_THREADS"]
        else:
            os.environ["BTESTS_THREADS"] = before


def children() -> float:
    """Return the CPU seconds of all processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
