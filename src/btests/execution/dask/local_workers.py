"""Workers on this machine: processes that end with the test, and their folders."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from btests._core.threads import n_cores
from btests._text import brief
from btests.execution.dask.cluster import ClusterError, Scheduler

try:
    import fcntl
except ImportError:  # no file locks on this system: folders of killed processes are not removed
    fcntl = None  # type: ignore[assignment]

#: Prefix of the names of folders for the files of workers.
PREFIX = "btests-workers-"

# File in such a folder that names the machine, and that the process holds a lock on while it runs.
_OWNER = "owner"

# Address of this machine that no other machine reaches.
_HOST = "127.0.0.1"

# Seconds until all workers have started and connected, on a busy machine.
_START = 120.0

# A worker is a process of some 100 MB with one thread: many more than there are cores would only take memory.
_MOST_PER_CORE = 16

# Polling interval for processes that start, in seconds.
_POLL = 1.0

# Seconds for a worker to end by itself before it is killed.
_END = 5.0


def check_n_workers(n_workers: int) -> None:
    """Raise ValueError unless this machine can be expected to run that many workers."""
    if n_workers < 1:
        raise ValueError(f"workers must be at least 1, got {brief(n_workers)}")
    most = n_cores() * _MOST_PER_CORE
    if n_workers > most:
        raise ValueError(
            f"workers must be at most {most} on this machine, {_MOST_PER_CORE} for each core, got {brief(n_workers)}; "
            "the address of a scheduler, such as 'tcp://host:8786', takes workers of other machines"
        )


@contextmanager
def local_client(n_workers: int, memory: str = "auto") -> Iterator[Any]:
    """Yield a client of new worker processes with one thread each, and end them afterwards.

    They are started as commands and do not import the caller's script, which needs no ``if __name__ == "__main__"``.

    Parameters
    ----------
    n_workers : int
        Number of processes.
    memory : str
        Memory limit of each, such as "2GB"; "auto" is its share of the machine.
    """
    from distributed import Client, LocalCluster

    with (
        own_folder() as folder,
        LocalCluster(
            n_workers=0,
            processes=True,
            host=_HOST,
            dashboard_address=f"{_HOST}:0",
            scheduler_kwargs={"local_directory": folder},  # or it would leave a folder among temporary files
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        started: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(n_workers):
                started.append(start_worker(cluster.scheduler_address, folder, memory))
            _wait(Scheduler(client, cluster.scheduler_address), started)
            yield client
        finally:
            end_workers(started)


def start_worker(
    address: str, folder: str, memory: str = "auto", *, seconds: float = _START
) -> subprocess.Popen[bytes]:
    """Return the process of a new nanny and worker of one thread with its files in a folder.

    It ends if the scheduler at ``address`` cannot be reached within ``seconds``: this process may be killed.
    """
    command = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-dashboard"]
    # By default workers listen to all networks, and run what anybody sends them.
    command += ["--host", _HOST, "--dashboard-address", f"{_HOST}:0"]
    command += ["--death-timeout", f"{seconds:g}", "--memory-limit", memory, "--local-directory", folder]
    return subprocess.Popen(
        command,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _environment(folder: str) -> dict[str, str]:
    """Return the environment variables of a worker: dask's settings and the import path of this process."""
    import dask

    # By default dask makes glibc return memory at once (MALLOC_TRIM_THRESHOLD_), which makes array work two to three
    # times as slow; None unsets it.
    settings = dask.config.merge(
        dask.config.config, {"distributed": {"nanny": {"pre-spawn-environ": {"MALLOC_TRIM_THRESHOLD_": None}}}}
    )
    descriptor, path = tempfile.mkstemp(prefix="dask-", suffix=".yaml", dir=folder)
    with os.fdopen(descriptor, "w") as file:
        json.dump(settings, file)  # JSON is YAML
    # Kernels of a user's own modules are imported from where this process imports them.
    return os.environ | {"DASK_CONFIG": path, "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)}


def _wait(scheduler: Scheduler, started: list[subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + _START
    while not scheduler.wait_for_workers(len(started), _POLL):
        ended = [process.returncode for process in started if process.poll() is not None]
        if ended:
            raise ClusterError(f"a worker has ended while it started, with status {ended[0]}")
        if time.monotonic() > end:
            raise ClusterError(f"{len(started)} workers did not start within {_START:g} s")


def end_workers(started: list[subprocess.Popen[bytes]]) -> None:
    """End nannies and their workers."""
    import psutil

    children = []
    for process in started:
        with suppress(psutil.NoSuchProcess):
            children += psutil.Process(process.pid).children(recursive=True)
    for process in started:
        process.terminate()
    for process in started:
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for child in children:  # a worker whose nanny had to be killed
        with suppress(psutil.NoSuchProcess):
            child.kill()


@contextmanager
def own_folder() -> Iterator[str]:
    """Yield a new folder, which is removed afterwards; first remove those that killed processes have left."""
    remove_stale_folders(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder, _locked(Path(folder)):
        yield folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    with (folder / f"{_OWNER}.new").open("w") as file:
        with suppress(OSError):  # a file system without locks
            file.write(socket.gethostname())
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Renamed after it is locked: under this name it is never without a lock while the process runs.
            os.rename(file.name, folder / _OWNER)
        yield


def remove_stale_folders(parent: Path) -> None:
    """Remove the folders of this user's workers whose process has ended, so that its lock is released."""
    if fcntl is None:
        return
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # in use, removed meanwhile, or of another user
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            descriptor = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "r+") as file:
                # Locks of another machine on a shared file system may not be visible here.
                if os.fstat(descriptor).st_uid == os.getuid() and file.read() == socket.gethostname():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while the process runs
                    shutil.rmtree(folder, ignore_errors=True)
