"""Handle of a dask cluster: scheduler queries with timeouts, task submission, and `ClusterError`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from btests._memory import amount

#: What the scheduler reports of each worker, by its address.
WorkerInfo = dict[str, dict[str, Any]]

# Seconds between two queries for workers that have not started yet.
_PAUSE = 0.1


class ClusterError(ValueError):
    """Raised if a cluster cannot be reached, is lost, or cannot compute a task."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits, in seconds.

    Attributes
    ----------
    connect : float
        For the scheduler to answer a new connection.
    first_worker : float
        For a cluster without workers to get one.
    answer : float
        For a connected scheduler, which may be busy or suspended, to answer a query.
    poll : float
        Polling interval for pending futures.
    no_workers : float
        For pending futures after the last worker was lost.
    paused : float
        For pending futures while all workers are paused: what they hold may still be spilled to disk.
    fetch : float
        For small results to be fetched from a worker, which may be lost meanwhile.
    """

    connect: float = 10.0
    first_worker: float = 30.0
    answer: float = 300.0
    poll: float = 5.0
    no_workers: float = 30.0
    paused: float = 60.0
    fetch: float = 60.0


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """Bytes of rows that tasks work on.

    Attributes
    ----------
    shard : int
        Maximum of a shard that is read from a file; a unit of the file that is larger is not divided.
    merged : int
        Maximum of a shard of several small partitions of a dask collection.
    summed : int
        Maximum of a range of a file whose rows are summed, in steps of ``chunk``.
    chunk : int
        Rows of x and y whose blocks are computed together, unless shards are larger.
    least : int
        Minimum of the above for samples that are divided among many threads; 16 times that for rows that are summed.
    """

    shard: int = 2**26
    merged: int = 2**23
    summed: int = 2**29
    chunk: int = 2**24
    least: int = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class Scheduler:
    """Queries to a scheduler; one that does not answer raises `ClusterError`.

    Attributes
    ----------
    client : distributed.Client
        Synchronous client.
    address : str
        Of the scheduler; a client that was closed has none.
    timeouts : Timeouts
        Time limits.
    """

    client: Any
    address: str
    timeouts: Timeouts = Timeouts()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Raise `ClusterError` if the scheduler does not answer a query inside the block.

        Only for queries that involve no task: a task may raise an OSError of its own, about a file.
        """
        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, ClosedClientError):  # closed connections, ports without a listener, and timeouts
            raise self.lost() from None
        except ClusterError:
            raise
        except Exception:
            # A client that failed to reconnect has closed itself and lacks attributes that a query needs.
            if self.client.status == "running":
                raise
            raise self.lost() from None

    def identity(self) -> dict[str, Any]:
        """Return the id of the scheduler and, under ``workers``, what it reports of each of its workers."""
        return self._query("identity")

    def workers(self) -> WorkerInfo:
        """Return what the scheduler reports of each worker, by its address."""
        found: WorkerInfo = self.identity()["workers"]
        return found

    def task_states(self, futures: Sequence[Any]) -> dict[str, str | None]:
        """Return the state of each task on the scheduler, by its key."""
        return self._query("get_task_status", keys=[future.key for future in futures])

    def who_has(self, futures: Sequence[Any]) -> dict[str, tuple[str, ...]]:
        """Return the addresses of the workers that hold the result of each task, by its key."""
        return self._query("who_has", keys=[future.key for future in futures])

    def run_on_workers(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """Return what a function returns on each worker that can be reached, by its address; raise its exceptions.

        Workers may be lost and restarted meanwhile: return as soon as one or more have answered.
        """
        end = time.monotonic() + self.timeouts.first_worker
        while True:
            with self.answering():
                found = self.client.run(function, *arguments, on_error="return")
            # OSErrors come from the scheduler: its connection to a worker failed.
            answers = {worker: answer for worker, answer in found.items() if not isinstance(answer, OSError)}
            for answer in answers.values():
                if isinstance(answer, Exception):
                    raise answer
            if answers:
                return answers
            if time.monotonic() > end:
                raise self.without_workers()
            time.sleep(_PAUSE)

    def wait_for_workers(self, n_workers: int, seconds: float) -> bool:
        """Return True as soon as ``n_workers`` workers accept tasks, False after ``seconds``."""
        end = time.monotonic() + seconds
        while sum(worker["status"] == "running" for worker in self.workers().values()) < n_workers:
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE)
        return True

    def lost(self) -> ClusterError:
        """Return the error of a scheduler that does not answer any more."""
        return ClusterError(f"the scheduler at {self.address} was lost")

    def without_workers(self) -> ClusterError:
        """Return the error of a scheduler that has no workers."""
        return ClusterError(f"the cluster at {self.address} has no workers; 'dask worker {self.address}' starts one")

    def paused(self, workers: WorkerInfo) -> ClusterError:
        """Return the error of a scheduler whose workers are all paused."""
        held = max(int(worker["metrics"].get("memory", 0)) for worker in workers.values())
        limits = [worker["memory_limit"] for worker in workers.values() if worker["memory_limit"]]
        limit = amount(min(limits)) if limits else "no stated limit"
        return ClusterError(
            f"dask has paused all workers of {self.address}, which are short of memory and compute nothing: one holds "
            f"{amount(held)}, and a worker may take {limit}; give them more memory, start more of them, or release "
            "other data that they hold"
        )

    def _query(self, method: str, **arguments: Any) -> dict[str, Any]:
        with self.answering():
            call = getattr(self.client.scheduler, method)
            found: dict[str, Any] = self.client.sync(call, callback_timeout=self.timeouts.answer, **arguments)
            return found


def are_paused(workers: WorkerInfo) -> bool:
    """Return whether all workers are short of memory, accept no tasks, and have none under way that would end."""
    return bool(workers) and all(
        worker["status"] == "paused" and not _n_executing(worker["metrics"]) for worker in workers.values()
    )


def _n_executing(metrics: dict[str, Any]) -> int:
    counts = metrics.get("task_counts", {})
    return sum(int(counts.get(state, 0)) for state in ("executing", "long-running"))


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Workers that compute the same as this process, to the last bit.

    Attributes
    ----------
    scheduler : Scheduler
        Of the cluster.
    scheduler_id : str
        Its id: a scheduler that was restarted has another.
    n_workers, n_threads : int
        At the beginning of the run.
    memory : int
        Memory limit of the smallest worker in bytes; 0 for no limit.
    instructions : str
        Instruction set that all workers and this process support.
    sizes : TaskSizes
        Sizes of tasks.
    """

    scheduler: Scheduler
    scheduler_id: str
    n_workers: int
    n_threads: int
    memory: int
    instructions: str
    sizes: TaskSizes = TaskSizes()
    _run: str = field(default_factory=lambda: uuid.uuid4().hex[:8], repr=False)
    _numbers: Iterator[int] = field(default_factory=count, repr=False)

    @property
    def client(self) -> Any:
        """Client of dask.distributed."""
        return self.scheduler.client

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return self.scheduler.address

    @property
    def limit(self) -> str:
        """Memory limit of a worker as text."""
        return amount(self.memory) if self.memory else "no stated limit of memory"

    def key(self, prefix: str, of: str = "") -> str:
        """Return a key that no other task on the cluster has."""
        return f"{prefix}-{self._run}-{next(self._numbers)}{'-' * bool(of)}{of}"

    def submit(
        self, prefix: str, function: Any, *arguments: Any, of: str = "", home: str = "", priority: int = 0
    ) -> Any:
        """Return the future of a task, preferably on the worker with address ``home``."""
        where = {"workers": [home], "allow_other_workers": True} if home else {}
        return self.client.submit(function, *arguments, key=self.key(prefix, of), priority=priority, **where)
