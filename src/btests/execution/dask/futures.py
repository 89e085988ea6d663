"""Futures on a cluster: wait for them, fetch small results, and raise where workers or the scheduler were lost."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import logging
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, NoReturn

from btests.execution.dask.cluster import Cluster, ClusterError, are_paused

# Loggers of dask, whose client has its own level, and of tornado, which logs messages to a scheduler that was lost.
_LOGGERS = ("distributed", "distributed.client", "tornado.application")

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


@dataclass(slots=True)
class _Silence:
    """Number of blocks that silence dask, in all threads, and the levels before the first of them."""

    count: int = 0
    levels: list[int] = field(default_factory=list)
    lock: Any = field(default_factory=Lock)


_silence = _Silence()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence dask's logging of lost connections inside the block; callers raise `ClusterError` instead."""
    with _silence.lock:
        if not _silence.count:
            _silence.levels = [logging.getLogger(name).level for name in _LOGGERS]
            for name in _LOGGERS:
                logging.getLogger(name).setLevel(logging.CRITICAL)
        _silence.count += 1
    try:
        yield
    finally:
        with _silence.lock:
            _silence.count -= 1
            if not _silence.count:
                for name, level in zip(_LOGGERS, _silence.levels, strict=True):
                    logging.getLogger(name).setLevel(level)


@contextmanager
def submitting(cluster: Cluster) -> Iterator[None]:
    """Raise `ClusterError` if the scheduler is lost or cancels tasks inside the block."""
    from distributed.client import ClosedClientError

    with quiet():
        try:
            yield
        except ClosedClientError:
            raise cluster.scheduler.lost() from None
        except _CANCELLED as error:
            refuse_cancelled(cluster, error)


def wait(cluster: Cluster, futures: Sequence[Any], *, first: bool = False) -> None:
    """Return when all futures, or the ``first`` of them, are finished, failed or cancelled."""
    since = dict.fromkeys(("no workers", "paused", "failed"), math.inf)
    until = asyncio.FIRST_COMPLETED if first else asyncio.ALL_COMPLETED
    while futures and not cluster.client.sync(_are_done, futures, cluster.scheduler.timeouts.poll, until):
        _check_progress(cluster, [future for future in futures if future.status == "pending"], since)
    for future in futures:
        if future.status == "cancelled":
            _raise_cancelled(cluster, future)


async def _are_done(futures: Sequence[Any], seconds: float, until: str) -> bool:
    """Return whether all futures, or the first, are done within some seconds.

    ``distributed.wait`` does the same for the default client only.
    """
    # The exception of a future is available when it is done, without fetching its result.
    waiting = [asyncio.ensure_future(future.exception()) for future in futures]
    done, pending = await asyncio.wait(waiting, timeout=seconds, return_when=until)
    for one in pending:
        one.cancel()
    return not pending or (bool(done) and until == asyncio.FIRST_COMPLETED)


def _check_progress(cluster: Cluster, pending: Sequence[Any], since: dict[str, float]) -> None:
    """Raise if no worker has been able to run pending tasks for too long; ``since`` holds when that began."""
    scheduler, limits = cluster.scheduler, cluster.scheduler.timeouts
    workers, states = scheduler.workers(), scheduler.task_states(pending)
    if are_paused(workers):
        with scheduler.answering():
            cluster.client.run(trim_memory, on_error="ignore")
    now = time.monotonic()
    signs = {"no workers": not workers, "paused": are_paused(workers), "failed": "erred" in states.values()}
    for what, is_so in signs.items():
        since[what] = min(since[what], now) if is_so else math.inf
    if now - since["no workers"] > limits.no_workers:
        raise ClusterError(f"all workers of {cluster.address} were lost")
    if now - since["paused"] > limits.paused:
        raise scheduler.paused(workers)
    if now - since["failed"] >= limits.poll:  # dask's client drops an error that it cannot unpickle
        raise ClusterError(
            "a task has failed on a worker, with an error that cannot be sent here, such as one of endless recursion; "
            "see the log of the worker"
        )


def trim_memory() -> None:
    """Return freed memory of this process to the system: dask counts it, and keeps a worker paused because of it."""
    with suppress(OSError, AttributeError):  # no glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _raise_cancelled(cluster: Cluster, future: Any) -> NoReturn:
    try:
        future.result()
    except _CANCELLED as error:
        refuse_cancelled(cluster, error)
    raise AssertionError("a cancelled future has no result")


def refuse_cancelled(cluster: Cluster, error: BaseException) -> NoReturn:
    """Raise `ClusterError` with the reason why tasks were cancelled, but not by this process."""
    if "scheduler-restart" in str(error):
        raise ClusterError(f"the cluster at {cluster.address} was restarted during this job") from None
    # A new scheduler reports the same for every key of the one before.
    if "lost dependencies" in str(error) and cluster.scheduler.identity()["id"] == cluster.scheduler_id:
        raise ClusterError(
            "a worker that was lost held data which were scattered and cannot be computed again; build the collection "
            "from files, or from a graph that makes them"
        ) from None
    raise ClusterError(f"the scheduler at {cluster.address} was lost or restarted") from None


def outcome(cluster: Cluster, futures: Sequence[Any]) -> tuple[list[Any], Exception | None]:
    """Return the results of futures, which must be small, or the exception of one that has failed."""
    client, seconds = cluster.client, cluster.scheduler.timeouts.fetch
    while True:
        wait(cluster, futures)
        for future in futures:
            error = failure(cluster, future)
            if error is not None:
                return [], error
        with cluster.scheduler.answering():
            try:
                gather = partial(client.gather, list(futures), asynchronous=True)
                return list(client.sync(gather, callback_timeout=seconds)), None
            except TimeoutError:  # the workers may be lost: their tasks are computed again, unless none is left
                continue
            except Exception:
                # A task that is computed again, because its worker was lost, may fail this time.
                if all(future.status == "finished" for future in futures):
                    raise


def failure(cluster: Cluster, future: Any) -> Exception | None:
    """Return the exception of a future that is done, None if it has finished."""
    if future.status == "cancelled":
        _raise_cancelled(cluster, future)
    if future.status != "error":
        return None
    found: Exception = future.exception()
    if isinstance(found, _CANCELLED):
        refuse_cancelled(cluster, found)
    return found


def is_lost_worker(error: BaseException | None) -> bool:
    """Return whether the workers that ran a task were lost, because of it or of another task."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def release(futures: Iterable[Any]) -> None:
    """Release futures now.

    Dask does so when the last reference is deleted, but the traceback of an error holds references.
    """
    for future in futures:
        with suppress(AttributeError, RuntimeError):  # of a client that is closed
            future.release()


def compute(cluster: Cluster, tasks: Sequence[Any]) -> list[Any]:
    """Return the results of delayed values of dask, which must be small."""
    with submitting(cluster):
        futures = cluster.client.compute(list(tasks))
        try:
            found, error = outcome(cluster, futures)
        finally:
            release(futures)
    if is_lost_worker(error):
        raise ClusterError(
            f"workers were lost while computing a partition, and a worker may take {cluster.limit}; make smaller "
            "partitions, or give workers more"
        )
    if error is not None:
        raise error
    return found
