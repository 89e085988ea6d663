"""Tasks on a cluster: submit them in bounded batches, wait for futures, retry those whose workers were lost."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from threading import Lock
from typing import Any, NoReturn

from btests.execution.dask.cluster import Cluster, ClusterError, are_paused

# Of dask; its client has a level of its own. Tornado's loop logs messages to a scheduler that was just lost.
_LOGGERS = ("distributed", "distributed.client", "tornado.application")

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)

#: Maximum number of results that are joined by one task.
FAN_IN = 8


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


@dataclass(frozen=True, slots=True)
class Work:
    """Kind of tasks, one for each item.

    Attributes
    ----------
    cluster : Cluster
        Where they run.
    submit : callable
        Returns the futures of the tasks of some items.
    renew : callable
        Computes again what tasks share, if it was lost with a worker.
    halves : callable
        Returns both halves of an item that is too large for a worker; None if it is not divided.
    refusal : callable
        Returns the error of an item that is not divided, and whose workers were lost again.
    """

    cluster: Cluster
    submit: Callable[[Sequence[Any]], list[Any]]
    renew: Callable[[], None]
    halves: Callable[[Any], tuple[Any, Any] | None]
    refusal: Callable[[Any], ClusterError]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Item, and the future of its result."""

    item: Any
    future: Any


@dataclass(frozen=True, slots=True)
class TaskList:
    """Submitted tasks, in the order of their items."""

    work: Work
    tasks: list[Task] = field(default_factory=list)

    @property
    def futures(self) -> list[Any]:
        """Futures of all tasks."""
        return [task.future for task in self.tasks]

    def submit(self, items: Sequence[Any]) -> None:
        """Submit the tasks of more items."""
        self.tasks.extend(map(Task, items, self.work.submit(items)))

    def settle(self) -> None:
        """Return when all tasks are finished; submit those again whose workers were lost: alone, then in halves."""
        wait(self.work.cluster, self.futures)
        for task in list(self.tasks):
            if self._finished(task)[1] is not None:
                release([task.future])
                i = self.tasks.index(task)
                self.tasks[i : i + 1] = [found for found, _ in self._again(task.item, self._finished)]

    def results(self) -> Iterator[Any]:
        """Yield the result of each task, or of its halves: no worker that is lost later takes results along."""
        for task in self.tasks:
            found, error = self._fetched(task)
            release([task.future])
            if error is None:
                yield found
                continue
            for again, result in self._again(task.item, self._fetched):
                release([again.future])
                yield result

    def release(self) -> None:
        """Release all futures."""
        release(self.futures)
        self.tasks.clear()

    def _again(self, item: Any, ended: Callable[[Task], tuple[Any, Exception | None]]) -> Iterator[tuple[Task, Any]]:
        """Yield finished tasks of an item that was lost, perhaps because of another: alone, then of its halves."""
        self.work.renew()
        task = Task(item, self.work.submit([item])[0])
        found, error = ended(task)
        if error is None:
            yield task, found
            return
        release([task.future])
        halves = self.work.halves(item)
        if halves is None:
            raise self.work.refusal(item)
        for half in halves:
            yield from self._again(half, ended)

    def _finished(self, task: Task) -> tuple[None, Exception | None]:
        """Return the error of a task whose workers were lost, if it is; raise any other."""
        wait(self.work.cluster, [task.future])
        return None, _unless_lost(failure(self.work.cluster, task.future))

    def _fetched(self, task: Task) -> tuple[Any, Exception | None]:
        """Return the result of a task, or the error if its workers were lost; raise any other."""
        found, error = outcome(self.work.cluster, [task.future])
        return (found[0], None) if error is None else (None, _unless_lost(error))


def _unless_lost(error: Exception | None) -> Exception | None:
    if error is not None and not is_lost_worker(error):
        raise error
    return error


@dataclass(slots=True)
class Batch:
    """Tasks, and the tree of tasks that joins their results, of which only the last one is fetched."""

    items: Sequence[Any]
    tasks: TaskList
    joins: list[Any] = field(default_factory=list)
    total: Any = None

    def join(self, prefix: str, function: Callable[[Sequence[Any]], Any]) -> None:
        """Submit the tree of tasks."""
        level = self.tasks.futures
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self.tasks.work.cluster.submit(prefix, function, group, priority=2) for group in groups]
            self.joins += level
        self.total = level[0]

    def release(self) -> None:
        """Release all futures."""
        release(self.joins)
        self.tasks.release()


@dataclass(frozen=True, slots=True)
class Batches:
    """Batches of tasks whose results are joined on workers.

    Attributes
    ----------
    work : Work
        Kind of tasks.
    prefix : str
        Prefix of the keys of tasks that join results.
    join : callable
        Returns several results as one.
    n_pending : int
        Maximum number of batches that are submitted at a time.
    """

    work: Work
    prefix: str
    join: Callable[[Sequence[Any]], Any]
    n_pending: int

    def results(self, batches: Iterable[Sequence[Any]]) -> Generator[tuple[Sequence[Any], Any]]:
        """Yield the items of each batch and their joined result, as they are computed; to be closed by the caller."""
        cluster, todo = self.work.cluster, deque(batches)
        pending: list[Batch] = []
        with submitting(cluster):
            try:
                while todo or pending:
                    while todo and len(pending) < self.n_pending:
                        pending.append(Batch(todo.popleft(), TaskList(self.work)))
                        pending[-1].tasks.submit(pending[-1].items)
                        pending[-1].join(self.prefix, self.join)
                    wait(cluster, [batch.total for batch in pending], first=True)
                    for batch in [batch for batch in pending if batch.total.status != "pending"]:
                        found = self._result(batch, pending)
                        pending.remove(batch)
                        batch.release()
                        yield batch.items, found
            finally:  # an error, or the caller has closed this generator
                for batch in pending:
                    batch.release()

    def _result(self, batch: Batch, pending: Sequence[Batch]) -> Any:
        """Return the result of a batch that is done; if workers were lost, join the results of its tasks here."""
        cluster = self.work.cluster
        found, error = outcome(cluster, [batch.total])
        if _unless_lost(error) is None:
            return found[0]
        release(batch.joins)
        # What is retried is alone on the cluster.
        wait(cluster, [future for other in pending for future in (*other.tasks.futures, other.total)])
        return reduce(lambda total, other: self.join([total, other]), batch.tasks.results())


@dataclass(slots=True)
class SharedValue:
    """A value that many tasks need, as the future of a task that returns it: it is sent to every worker once."""

    cluster: Cluster
    prefix: str
    value: Any
    future: Any = None

    def __post_init__(self) -> None:
        self.future = self.cluster.submit(self.prefix, itself, self.value)

    def renew(self) -> None:
        """Submit the task again if it has failed, since the worker that was to run it was lost because of another.

        Otherwise all tasks that need the value would fail with it.
        """
        wait(self.cluster, [self.future])
        if is_lost_worker(failure(self.cluster, self.future)):
            self.close()
            self.future = self.cluster.submit(self.prefix, itself, self.value)

    def close(self) -> None:
        """Release the future."""
        release([self.future])


def itself(value: Any) -> Any:
    """Return a value."""
    return value
