"""From what the user names, a number of workers, an address or a client, to a cluster that can compute."""

from __future__ import annotations

import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from btests import fast
from btests.cluster.errors import ClusterError, amount
from btests.cluster.local import local_client
from btests.cluster.machines import Machine, check, this_machine
from btests.sources import is_dask
from btests.sources.partitioned import computed_by

#: Seconds after which a scheduler that does not answer is not there.
CONNECT_SECONDS = 10.0

#: Seconds that a job waits for the first worker of a cluster that has none.
WORKER_SECONDS = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Workers that can compute what this process would compute, to the last bit.

    Attributes
    ----------
    client
        Of dask.distributed.
    address
        Of its scheduler.
    n_workers, n_threads
        When the run began.
    memory
        Bytes that the smallest worker may take, 0 where there is no limit.
    instructions
        The instruction set that all have.
    """

    client: Any
    address: str
    n_workers: int
    n_threads: int
    memory: int
    instructions: str
    _run: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _numbers: Iterator[int] = field(default_factory=count)

    def key(self, verb: str, of: str = "") -> str:
        """Return a name for a task, which no other task on the cluster has."""
        # The scheduler takes tasks of the name split-shuffle to be short and does not move them between workers: they
        # would take the files of the worker along.
        verb = verb if verb == "split-shuffle" else f"btests_{verb}"
        return f"{verb}-{self._run}-{next(self._numbers)}{'-' * bool(of)}{of}"

    def submit(self, verb: str, function: Any, *arguments: Any, of: str = "", home: str = "", priority: int = 0) -> Any:
        """Return a task; ``home`` is the worker that it belongs to, as long as that is there."""
        key = self.key(verb, of)
        where = {"workers": [home], "allow_other_workers": True} if home else {}
        return self.client.submit(function, *arguments, key=key, priority=priority, **where)

    @property
    def limit(self) -> str:
        """The memory of a worker, in words."""
        return amount(self.memory) if self.memory else "no stated limit of memory"


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
        cluster = _checked(client)
        before = fast.instruction_set()
        try:
            if cluster.instructions != before:
                fast.use_instruction_set(cluster.instructions)
            with computed_by(client):
                yield cluster
        finally:
            if cluster.instructions != before:
                fast.use_instruction_set(before)


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
        with local_client(workers) as client:
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
            _knock(where)
        client = Client(workers, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {where!r} within {CONNECT_SECONDS:g} s ({_first_line(error)}); "
            "'dask scheduler' starts one and prints its address"
        ) from None
    with client:
        yield client


def _knock(address: str) -> None:
    """Raise unless somebody listens there, or does so within a while.

    A client that could not connect is never closed, and its end may come in the middle of another: none is made before.
    """
    from distributed.comm.addressing import parse_address, parse_host_port

    scheme, place = parse_address(address)
    if scheme not in ("tcp", "tls"):
        return
    host, port = parse_host_port(place, 8786)
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _checked(client: Any) -> Cluster:
    """Return what a client reaches, or say why it cannot compute."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise ClusterError(f"the cluster at {address} has no workers; 'dask worker {address}' starts one") from None
    try:
        machines: dict[str, Machine] = client.run(this_machine)
    except OSError as error:
        raise ClusterError(f"the cluster at {address} went away ({_first_line(error)})") from None
    except Exception as error:  # what a worker cannot unpickle comes back as no particular exception
        raise ClusterError(
            f"a worker of {address} cannot import btests as it is here ({_first_line(error)}); install the same there"
        ) from None
    instructions = check(machines)
    limits = [machine.memory for machine in machines.values() if machine.memory]
    threads = client.nthreads()
    return Cluster(client, address, len(machines), sum(threads.values()), min(limits, default=0), instructions)


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(". ")
