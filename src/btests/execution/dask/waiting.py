"""Waiting for tasks, and telling what ended them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from btests.execution.dask import asking
from btests.execution.dask.errors import ClusterError, went_away
from btests.execution.dask.quiet import quiet
from btests.execution.dask.states import are_paused, give_back, refuse_paused
from btests.execution.dask.value import Cluster

# Seconds after which somebody who waits looks whether there is anybody left to wait for.
_LOOK = 5.0

# Seconds that a job waits for others when all workers are gone.
_GONE = 30.0

# Seconds that all workers may be paused and compute nothing: what they hold may still go to their disks.
_PAUSED = 60.0

# Seconds after which somebody who fetches small results looks whether those who have them are still there.
_FETCH = 60.0

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


@contextmanager
def talking(cluster: Cluster) -> Iterator[None]:
    """Say in one sentence that tasks can be given to the scheduler no more, or that it has dropped some."""
    from distributed.client import ClosedClientError

    with quiet():
        try:
            yield
        except ClosedClientError:
            raise went_away(cluster.address) from None
        except _CANCELLED as error:
            refuse_cancelled(cluster, error)


def settle(cluster: Cluster, futures: Sequence[Any], *, one: bool = False) -> None:
    """Return when all tasks, or ``one`` of them at least, have ended, well or badly."""
    since = dict.fromkeys(("gone", "paused", "failed"), math.inf)
    while futures and not _have_ended(cluster, futures, one=one):
        _look(cluster, [future for future in futures if future.status == "pending"], since)


def _have_ended(cluster: Cluster, futures: Sequence[Any], *, one: bool) -> bool:
    """Wait for a while, and return whether that was enough."""
    from distributed.client import _wait  # what distributed.wait asks of the default client, and there may be another

    until = "FIRST_COMPLETED" if one else "ALL_COMPLETED"
    try:
        cluster.client.sync(_wait, list(futures), timeout=_LOOK, return_when=until)
    except TimeoutError:
        return False
    except _CANCELLED as error:
        refuse_cancelled(cluster, error)
    return True


def _look(cluster: Cluster, pending: Sequence[Any], since: dict[str, float]) -> None:
    """Raise where nobody has worked for a while and nobody will; ``since`` is when that began."""
    workers = asking.workers_of(cluster.client, cluster.address)
    states = asking.states_of(cluster.client, cluster.address, pending)
    if are_paused(workers):
        with asking.answered(cluster.client, cluster.address):
            cluster.client.run(give_back, on_error="ignore")
    now = time.monotonic()
    signs = {"gone": not workers, "paused": are_paused(workers), "failed": "erred" in states.values()}
    for what, is_so in signs.items():
        since[what] = min(since[what], now) if is_so else math.inf
    if now - since["gone"] > _GONE:
        raise ClusterError(f"all workers of {cluster.address} are gone")
    if now - since["paused"] > _PAUSED:
        refuse_paused(cluster.address, workers)
    if now - since["failed"] >= _LOOK:  # a client of dask drops an error that it cannot unpack, and waits for ever
        raise ClusterError(
            "a task has failed on a worker, with an error that cannot be sent here, such as one of endless recursion; "
            "the log of the worker tells it"
        )


def refuse_cancelled(cluster: Cluster, error: BaseException) -> NoReturn:
    """Say why tasks were cancelled that nobody here has cancelled."""
    if "scheduler-restart" in str(error):
        raise ClusterError(f"the cluster at {cluster.address} was restarted under this job") from None
    # Who asks a scheduler for what only the one before it knew is told the same as who has lost data for good.
    if "lost dependencies" in str(error) and cluster.is_connected:
        raise ClusterError(
            "a worker that is gone held data which were scattered and cannot be computed again; build the collection "
            "from files, or from a graph that makes them"
        ) from None
    raise ClusterError(f"the scheduler at {cluster.address} went away or was restarted") from None


def results(cluster: Cluster, futures: Sequence[Any]) -> list[Any]:
    """Return what tasks have found, which must be small, or raise what ended one of them."""
    found, error = outcome(cluster, futures)
    if error is not None:
        raise error
    return found


def outcome(cluster: Cluster, futures: Sequence[Any]) -> tuple[list[Any], Exception | None]:
    """Return what tasks have found, which must be small, or what ended one of them badly."""
    client = cluster.client
    while True:
        settle(cluster, futures)
        for future in futures:
            error = failure(cluster, future)
            if error is not None:
                return [], error
        with asking.answered(client, cluster.address):
            try:
                return list(client.sync(client._gather, list(futures), callback_timeout=_FETCH)), None
            except TimeoutError:  # those who had them may be gone: somebody computes them again, or nobody is left
                continue
            except Exception:
                # What was computed again, for the worker that had it is gone, may end badly now.
                if all(future.status == "finished" for future in futures):
                    raise


def failure(cluster: Cluster, future: Any) -> Exception | None:
    """Return what ended a task badly, None where it ended well."""
    if future.status == "cancelled":
        try:
            future.result()
        except _CANCELLED as error:
            refuse_cancelled(cluster, error)
    if future.status != "error":
        return None
    found: Exception = future.exception()
    if isinstance(found, _CANCELLED):
        refuse_cancelled(cluster, found)
    return found


def is_death(error: BaseException | None) -> bool:
    """Whether the workers that ran a task died of it, or beside it."""
    return type(error).__name__ == "KilledWorker"


def let_go(futures: Iterable[Any]) -> None:
    """Have the cluster forget tasks and what they have found, now.

    It would when nothing here refers to them any more, but the traceback of an error does, for as long as somebody
    keeps the error.
    """
    for future in futures:
        with suppress(AttributeError, RuntimeError):  # of a client that is closed by now
            future.release()


def compute(cluster: Cluster, tasks: Sequence[Any]) -> list[Any]:
    """Return what delayed values of dask compute to, which must be small."""
    with talking(cluster):
        futures = cluster.client.compute(list(tasks))
        try:
            found, error = outcome(cluster, futures)
        finally:
            let_go(futures)
    if is_death(error):
        raise ClusterError(
            f"workers died while they computed a partition, and a worker may take {cluster.limit}; make smaller "
            "partitions, or give workers more"
        )
    if error is not None:
        raise error
    return found
