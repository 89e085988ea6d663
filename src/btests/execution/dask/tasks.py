"""Tasks on a cluster: submit them in bounded batches, and retry those whose workers were lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from btests.execution.dask.cluster import Cluster, ClusterError
from btests.execution.dask.futures import failure, is_lost_worker, outcome, release, submitting, wait

#: Maximum number of results that are joined by one task.
FAN_IN = 8

#: Batches that are submitted at a time, and pending tasks for each thread: one is computed while the next is added up,
#: or its rows are collected.
N_PENDING = 2


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
class SubmittedTask:
    """Item, and the future of its result."""

    item: Any
    future: Any


@dataclass(frozen=True, slots=True)
class TaskList:
    """Submitted tasks, in the order of their items."""

    work: Work
    tasks: list[SubmittedTask] = field(default_factory=list)

    @property
    def futures(self) -> list[Any]:
        """Futures of all tasks."""
        return [task.future for task in self.tasks]

    def submit(self, items: Sequence[Any]) -> None:
        """Submit the tasks of more items."""
        self.tasks.extend(map(SubmittedTask, items, self.work.submit(items)))

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

    def _again(
        self, item: Any, ended: Callable[[SubmittedTask], tuple[Any, Exception | None]]
    ) -> Iterator[tuple[SubmittedTask, Any]]:
        """Yield finished tasks of an item that was lost, perhaps because of another: alone, then of its halves."""
        self.work.renew()
        task = SubmittedTask(item, self.work.submit([item])[0])
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

    def _finished(self, task: SubmittedTask) -> tuple[None, Exception | None]:
        """Return the error of a task whose workers were lost, if it is; raise any other."""
        wait(self.work.cluster, [task.future])
        return None, _unless_lost(failure(self.work.cluster, task.future))

    def _fetched(self, task: SubmittedTask) -> tuple[Any, Exception | None]:
        """Return the result of a task, or the error if its workers were lost; raise any other."""
        found, error = outcome(self.work.cluster, [task.future])
        return (found[0], None) if error is None else (None, _unless_lost(error))


def _unless_lost(error: Exception | None) -> Exception | None:
    if error is not None and not is_lost_worker(error):
        raise error
    return error


@dataclass(slots=True)
class TaskBatch:
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
class TaskBatches:
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
        pending: list[TaskBatch] = []
        with submitting(cluster):
            try:
                while todo or pending:
                    while todo and len(pending) < self.n_pending:
                        pending.append(TaskBatch(todo.popleft(), TaskList(self.work)))
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

    def _result(self, batch: TaskBatch, pending: Sequence[TaskBatch]) -> Any:
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
