"""Connect to the cluster that a user names, or start one on this machine."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from btests import _core
from btests._core.constants import INSTRUCTION_SETS
from btests._imports import optional
from btests._text import brief
from btests.data.dask_source import is_dask
from btests.execution.dask.cluster import Cluster, ClusterError, Scheduler, TaskSizes, Timeouts, are_paused
from btests.execution.dask.futures import quiet
from btests.execution.dask.local_workers import check_n_workers, local_client


@contextmanager
def connect(
    workers: object, *samples: object, timeouts: Timeouts | None = None, sizes: TaskSizes | None = None
) -> Iterator[Cluster | None]:
    """Yield the cluster that ``workers`` names, or None for this process alone.

    Parameters
    ----------
    workers : int, str, distributed.Client, Cluster or None
        Number of processes to start on this machine, address of a scheduler, client or cluster of dask.distributed, or
        a `Cluster` that is connected. None is the current client if a sample is a dask collection, and no cluster
        otherwise.
    *samples : object
        x and y.
    timeouts : Timeouts, optional
        Time limits.
    sizes : TaskSizes, optional
        Sizes of tasks.

    Raises
    ------
    ClusterError
        If there is no scheduler, it has no workers, or they do not compute the same as this process.
    """
    if isinstance(workers, Cluster):
        yield workers
        return
    if isinstance(workers, bool) or not (workers is None or isinstance(workers, (int, str)) or _is_dask(workers)):
        raise TypeError(
            "workers must be a number of processes, the address of a scheduler such as 'tcp://host:8786', "
            f"a distributed.Client or None, got {brief(workers)}"
        )
    if isinstance(workers, int):
        check_n_workers(workers)
    if workers is None:
        found = _current_client() if any(map(is_dask, samples)) else None
        if found is None:
            yield None
            return
        workers = found
    require_distributed()
    timeouts = timeouts or Timeouts()
    with _client(workers, timeouts.connect) as client:
        with quiet():
            cluster = _checked(client, timeouts, sizes or TaskSizes())
        yield cluster


def _is_dask(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "distributed" or hasattr(value, "scheduler_address")


def _current_client() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def require_distributed() -> None:
    """Raise `ClusterError` if dask.distributed is not installed."""
    found = optional("distributed", "python -m pip install 'btests[dask]'")
    if isinstance(found, str):
        raise ClusterError(f"workers need dask.distributed; {found}")


@contextmanager
def _client(workers: Any, seconds: float) -> Iterator[Any]:
    from distributed import Client

    if isinstance(workers, int):
        # Ctrl-C ends the workers, too, and their scheduler, which is in this process, would log that they are lost.
        with quiet(), local_client(workers) as client:
            _drop_abandoned(client)
            yield client
        return
    if isinstance(workers, Client):
        if workers.asynchronous:
            raise TypeError("workers must be a synchronous client, and this one is asynchronous")
        if workers.status != "running":
            raise ClusterError(f"the client {workers!r} is {workers.status}, not running; make a new one")
        yield workers
        return
    address = workers if isinstance(workers, str) else workers.scheduler_address
    # Until the client is closed: it may log the loss of its scheduler at any time.
    with quiet(), _event_loop() as loop:
        client = _connected(address, getattr(workers, "security", None), loop, seconds)
        _drop_abandoned(client)
        try:
            yield client
        finally:
            with suppress(Exception):  # of a scheduler that is lost: the reason why the job ended matters more
                client.close(timeout=2 * seconds)


def _drop_abandoned(client: Any) -> None:
    """Drop exceptions of tasks of a client that are never awaited.

    A ``gather`` that is cancelled, for want of workers, leaves tasks that fail when the client is closed. asyncio would
    print their tracebacks when they are deleted, at any time after.
    """

    def handle(loop: Any, context: dict[str, Any]) -> None:
        if type(context.get("exception")).__module__ != "distributed.client":
            loop.default_exception_handler(context)

    client.loop.asyncio_loop.set_exception_handler(handle)


@contextmanager
def _event_loop() -> Iterator[Any]:
    """Yield a tornado loop in a thread that ends with the block, whether a client on it could be closed or not."""
    from tornado.ioloop import IOLoop

    started: SimpleQueue[tuple[Any, asyncio.Event]] = SimpleQueue()

    async def run() -> None:
        stop = asyncio.Event()
        started.put((IOLoop.current(), stop))
        await stop.wait()

    thread = Thread(target=lambda: asyncio.run(run()), name="btests-dask", daemon=True)
    thread.start()
    loop, stop = started.get()
    try:
        yield loop
    finally:
        loop.add_callback(stop.set)
        thread.join()


def _connected(address: str, security: Any, loop: Any, seconds: float) -> Any:
    """Return a client of the scheduler at an address."""
    from distributed import Client, Security

    try:
        # A client would wait without limit for the greeting of a server that is not dask's.
        probe = _probe(address, (security or Security()).get_connection_args("client"), seconds)
        asyncio.run_coroutine_threadsafe(probe, loop.asyncio_loop).result()
        return Client(address, security=security, loop=loop, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {address!r} within {seconds:g} s ({_first_line(error)}); "
            "'dask scheduler' starts one and prints its address"
        ) from None


async def _probe(address: str, connection_args: Any, seconds: float) -> None:
    """Raise OSError or ValueError unless a scheduler answers at an address."""
    from distributed import rpc

    async with rpc(address, timeout=seconds, connection_args=connection_args) as server:
        try:
            identity = await asyncio.wait_for(server.identity(), seconds)
        except TimeoutError:
            raise TimeoutError("timed out") from None
        except (OSError, ValueError):
            raise
        except Exception:  # what another server sends is decoded to no particular exception
            identity = {}
    if "workers" not in identity:
        raise ConnectionError("the server at this address is not a dask scheduler")


def _checked(client: Any, timeouts: Timeouts, sizes: TaskSizes) -> Cluster:
    """Return the cluster of a client; raise `ClusterError` if it does not compute the same as this process."""
    scheduler = Scheduler(client, client.scheduler.address, timeouts)
    if not scheduler.wait_for_workers(1, timeouts.first_worker):
        workers = scheduler.workers()
        raise scheduler.paused(workers) if are_paused(workers) else scheduler.without_workers()
    try:
        environments: dict[str, Environment] = scheduler.run_on_workers(this_environment)
    except ClusterError:
        raise
    except Exception as error:  # a worker that cannot unpickle the function raises no particular exception
        raise ClusterError(
            f"a worker of {scheduler.address} cannot import btests as it is here ({_first_line(error)}); "
            "install the same there"
        ) from None
    identity = scheduler.identity()
    workers = identity["workers"]
    known = [workers[address] for address in environments if address in workers]
    return Cluster(
        scheduler,
        identity["id"],
        n_workers=len(environments),
        n_threads=max(1, sum(int(worker["nthreads"]) for worker in known)),
        memory=min((int(worker["memory_limit"]) for worker in known if worker["memory_limit"]), default=0),
        instructions=common_instructions(environments),
        sizes=sizes,
    )


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(". ")


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of Python, numpy and btests, and the instruction set, of a process."""

    python: str
    numpy: str
    btests: str
    instructions: str


def this_environment() -> Environment:
    """Return the environment of the process that runs this."""
    version: str = sys.modules["btests"].__version__  # the package itself is above this module in the import order
    return Environment(platform.python_version(), np.__version__, version, _core.instruction_set())


def common_instructions(workers: dict[str, Environment]) -> str:
    """Return the best instruction set of this process and all workers; raise unless their versions are the same."""
    here = this_environment()
    for address, there in workers.items():
        for what, ours, theirs in (
            ("btests", here.btests, there.btests),
            ("numpy", here.numpy, there.numpy),
            ("Python", _minor(here.python), _minor(there.python)),
        ):
            if ours != theirs:
                raise ClusterError(
                    f"the worker {address} has {what} {theirs}, and this process has {ours}; "
                    "install the same on both, or answers may differ"
                )
        if (there.instructions == "none") != (here.instructions == "none"):
            lacking = f"the worker {address}" if there.instructions == "none" else "this process"
            raise ClusterError(
                f"{lacking} has no compiled loops, and others have; they round differently: build btests there"
            )
    if here.instructions == "none":
        return "none"
    # Loops of different instruction sets round differently. A machine that has one has those that are weaker.
    return min((one.instructions for one in (here, *workers.values())), key=list(INSTRUCTION_SETS).index)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
