"""From what the user names, a number of workers, an address or a client, to a cluster that can compute."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from btests import _core
from btests.data.dask_source import computed_by, is_dask
from btests.execution.dask import asking
from btests.execution.dask.errors import ClusterError, no_workers
from btests.execution.dask.knocking import knock
from btests.execution.dask.local import local_client
from btests.execution.dask.machines import Machine, check, this_machine
from btests.execution.dask.quiet import quiet
from btests.execution.dask.states import are_paused, refuse_paused
from btests.execution.dask.value import Cluster
from btests.execution.dask.waiting import compute

#: Seconds after which a scheduler that does not answer is not there.
CONNECT_SECONDS = 10.0


@contextmanager
def reach(workers: object, *samples: object) -> Iterator[Cluster | None]:
    """Yield the cluster that was asked for, or None for this process alone.

    Parameters
    ----------
    workers
        A number of processes to start on this machine, the address of a scheduler, a client or a cluster of
        dask.distributed, or what was reached already; None is the client that is there, where a sample is a dask
        collection, and no cluster otherwise.
    samples
        x and y.
    """
    if isinstance(workers, Cluster):
        yield workers
        return
    if isinstance(workers, bool) or not (workers is None or isinstance(workers, (int, str)) or _is_dask(workers)):
        raise TypeError(
            "workers must be a number of processes, the address of a scheduler such as 'tcp://host:8786', "
            f"a distributed.Client or None, got {workers!r}"
        )
    if isinstance(workers, int) and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    if workers is None:
        found = _current_client() if any(map(is_dask, samples)) else None
        if found is None:
            yield None
            return
        workers = found
    _require_distributed()
    with _client(workers) as client:
        with quiet():
            cluster = _checked(client)
        before = _core.instruction_set()
        try:
            if cluster.instructions != before:
                _core.use_instruction_set(cluster.instructions)
            with computed_by(partial(compute, cluster)):
                yield cluster
        finally:
            if cluster.instructions != before:
                _core.use_instruction_set(before)


def _is_dask(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in ("distributed", "dask") or hasattr(value, "scheduler_address")


def _current_client() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _require_distributed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError("workers need dask.distributed; python -m pip install 'btests[dask]' gets it") from None


@contextmanager
def _client(workers: Any) -> Iterator[Any]:
    from distributed import Client

    if isinstance(workers, int):
        # Its scheduler is in this process: Ctrl-C ends the workers, too, and it would write that it misses them.
        with quiet(), local_client(workers) as client:
            yield client
        return
    if isinstance(workers, Client):
        if workers.asynchronous:
            raise TypeError("workers must be a client that waits for answers, and this one is asynchronous")
        if workers.status != "running":
            raise ClusterError(f"the client {workers!r} is {workers.status}, not running; make a new one")
        yield workers
        return
    where = workers if isinstance(workers, str) else getattr(workers, "scheduler_address", workers)
    try:
        if isinstance(where, str):
            knock(where, CONNECT_SECONDS)
        client = _connected(workers)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {where!r} within {CONNECT_SECONDS:g} s ({_first_line(error)}); "
            "'dask scheduler' starts one and prints its address"
        ) from None
    with quiet():  # until it is closed: it notices that a scheduler went away when it pleases
        try:
            yield client
        finally:
            _close(client)


def _connected(workers: Any) -> Any:
    """Return a client, or raise and close what was made of it: its thread would go on, and complain when it ends."""
    from distributed import Client

    client = Client.__new__(Client)  # who calls the class has nothing to close where it fails
    try:
        client.__init__(workers, timeout=CONNECT_SECONDS, set_as_default=False)
    except BaseException:
        _close(client, seconds=1.0)
        raise
    return client


def _close(client: Any, seconds: float = 2 * CONNECT_SECONDS) -> None:
    """Close a client with its thread, whatever has become of its scheduler; why the job ended is more to the point."""
    with suppress(Exception):
        client.close(timeout=seconds)
    with suppress(Exception):
        client._loop_runner.stop()  # which a client that closed itself has left running


def _checked(client: Any) -> Cluster:
    """Return what a client reaches, or say why it cannot compute."""
    address = client.scheduler.address
    if not asking.wait_for_workers(client, address, 1, asking.WORKER_SECONDS):
        workers = asking.workers_of(client, address)
        if are_paused(workers):
            refuse_paused(address, workers)
        raise no_workers(address)
    try:
        machines: dict[str, Machine] = asking.ask_workers(client, address, this_machine)
    except ClusterError:
        raise
    except Exception as error:  # what a worker cannot unpickle comes back as no particular exception
        raise ClusterError(
            f"a worker of {address} cannot import btests as it is here ({_first_line(error)}); install the same there"
        ) from None
    limits = [machine.memory for machine in machines.values() if machine.memory]
    n_threads = sum(machine.threads for machine in machines.values())
    return Cluster(client, address, len(machines), n_threads, min(limits, default=0), check(machines))


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(". ")
