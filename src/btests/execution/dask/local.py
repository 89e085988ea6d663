"""A cluster of this machine's own: a scheduler in this process, and workers that are processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from btests.execution.dask.asking import wait_for_workers
from btests.execution.dask.errors import ClusterError
from btests.execution.dask.folders import own_folder

# Seconds until all workers have started, on a machine that is busy elsewhere, and have found their scheduler.
_START = 120.0

# Seconds after which somebody looks whether those that start are still there.
_LOOK = 1.0

# Seconds that a worker has to end by itself.
_END = 5.0


@contextmanager
def local_client(n_workers: int, memory: str = "auto") -> Iterator[Any]:
    """Yield a client of ``n_workers`` new processes with one thread each, and end them afterwards.

    Each may take ``memory``, such as "2GB"; "auto" is its share of the machine. They are started as commands and do not
    run the caller's script again, so it needs no ``if __name__ == "__main__"``.
    """
    from distributed import Client, LocalCluster

    with (
        own_folder() as folder,
        LocalCluster(n_workers=0, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        started: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(n_workers):
                started.append(start_worker(cluster.scheduler_address, folder, memory))
            _wait(client, started)
            yield client
        finally:
            end_workers(started)


def start_worker(address: str, folder: str, memory: str = "auto") -> subprocess.Popen[bytes]:
    """Return a new process that keeps a worker of one thread alive, with its files in a folder."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    # A worker that has started when its scheduler is gone, killed with this process, would look for it for ever.
    command += ["--death-timeout", f"{_START:g}"]
    return subprocess.Popen(
        [*command, "--memory-limit", memory, "--local-directory", folder],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _environment() -> dict[str, str]:
    import dask

    # Dask has glibc give memory back at once (MALLOC_TRIM_THRESHOLD_), which makes array work two to three times as
    # slow: None unsets it. What this process has set otherwise, workers have, too.
    settings = dask.config.merge(
        dask.config.config, {"distributed": {"nanny": {"pre-spawn-environ": {"MALLOC_TRIM_THRESHOLD_": None}}}}
    )
    return os.environ | {
        "DASK_INTERNAL_INHERIT_CONFIG": dask.config.serialize(settings),
        # Kernels of a user's own modules are found where this process finds them.
        "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
    }


def _wait(client: Any, started: list[subprocess.Popen[bytes]]) -> None:
    address, end = client.scheduler.address, time.monotonic() + _START
    while not wait_for_workers(client, address, len(started), _LOOK):
        ended = [process.returncode for process in started if process.poll() is not None]
        if ended:
            raise ClusterError(f"a worker has ended while it started, with status {ended[0]}")
        if time.monotonic() > end:
            raise ClusterError(f"{len(started)} workers did not start within {_START:g} s")


def end_workers(started: list[subprocess.Popen[bytes]]) -> None:
    """End workers and those who keep them."""
    import psutil

    children = []
    for process in started:
        try:
            children += psutil.Process(process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            continue
    for process in started:
        process.terminate()
    for process in started:
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for child in children:  # a worker whose keeper had to be killed
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
