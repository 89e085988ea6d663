"""Waiting for tasks, and telling what ended them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from btests.cluster.errors import ClusterError
from btests.cluster.reaching import WORKER_SECONDS, Cluster

# Seconds after which somebody who waits looks whether there is anybody left to wait for.
_LOOK = 5.0

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


@contextmanager
def talking(cluster: Cluster) -> Iterator[None]:
    """Say in one sentence that the scheduler does not answer any more, whatever was asked of it inside."""
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)  # what it would write about a lost connection is said here, in one sentence
    try:
        yield
    except (CommClosedError, ClosedClientError):
        raise ClusterError(f"the scheduler at {cluster.address} went away") from None
    except _CANCELLED as error:
        refuse_cancelled(cluster, error)
    finally:
        log.setLevel(before)


def settle(cluster: Cluster, futures: Sequence[Any], *, one: bool = False) -> None:
    """Return when all tasks, or ``one`` of them at least, have ended, well or badly."""
    from distributed.client import _wait  # what distributed.wait asks of the default client, and there may be another

    until = "FIRST_COMPLETED" if one else "ALL_COMPLETED"
    alone_since = None
    while futures:
        try:
            cluster.client.sync(_wait, list(futures), timeout=_LOOK, return_when=until)
        except TimeoutError:
            alone_since = None if _has_workers(cluster) else alone_since or time.monotonic()
            if alone_since is not None and time.monotonic() - alone_since > WORKER_SECONDS:
                raise ClusterError(f"all workers of {cluster.address} are gone") from None
            continue
        except _CANCELLED as error:
            refuse_cancelled(cluster, error)
        return


def _has_workers(cluster: Cluster) -> bool:
    with talking(cluster):
        return bool(cluster.client.nthreads())


def refuse_cancelled(cluster: Cluster, error: BaseException) -> NoReturn:
    """Say why tasks were cancelled that nobody here has cancelled."""
    if "lost dependencies" in str(error):
        raise ClusterError(
            "a worker that is gone held data which were scattered and cannot be computed again; build the collection "
            "from files, or from a graph that makes them"
        ) from None
    if "scheduler-restart" in str(error):
        raise ClusterError(f"the cluster at {cluster.address} was restarted under this job") from None
    raise ClusterError(f"the scheduler at {cluster.address} went away or was restarted") from None


def results(cluster: Cluster, futures: Sequence[Any]) -> list[Any]:
    """Return what tasks have found, which must be small, or raise what ended one of them."""
    settle(cluster, futures)
    for future in futures:
        error = failure(cluster, future)
        if error is not None:
            raise error
    return list(cluster.client.gather(list(futures)))


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
