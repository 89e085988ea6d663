"""Kill workers of a cluster at random moments: the same bits, or one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psutil
from distributed import Client

from btests.execution.dask.local_workers import end_workers, start_worker
from tests.dask.polling import wait_until
from tests.dask.processes import free_port, start_scheduler
from tests.faults.process import Ended, finish, program, run, start
from tests.faults.report import Outcome
from tests.faults.tables import write_samples

N_WORKERS = 2


def campaign(folder: Path, n: int, seed: int = 0) -> Iterator[Outcome]:
    """Yield the outcomes of ``n`` moments at which a worker is killed and replaced, is not, and all of them are."""
    samples = write_samples(folder, 60_000)
    alone = run(program("btest", *samples, "alone.npz"), folder)
    rng = np.random.default_rng(seed)
    # A nanny starts another worker; without it there is one worker fewer, or none.
    with _scheduler() as address, _workers(address, folder, nanny=True) as nannies:
        command = program("workers", address, *samples)
        whole = [run(command, folder) for _ in range(2)][1]  # the first one imports on the workers
        if not (whole.is_answered and whole.out == alone.out):
            yield Outcome("no worker lost", "other", f"{whole}; {alone}")
            return
        for _ in range(n):
            ended = _killing(command, folder, float(rng.uniform(0.0, whole.seconds)), lambda: _children(nannies)[:1])
            yield _judged("a worker that is replaced", ended, alone)
            wait_until(lambda: len(_children(nannies)) == N_WORKERS)
    for what, n_killed in (("a worker that is not replaced", 1), ("all workers", N_WORKERS)):
        for _ in range(n):
            with _scheduler() as address, _workers(address, folder, nanny=False) as workers:
                command = program("workers", address, *samples)
                moment = float(rng.uniform(0.0, whole.seconds))
                ended = _killing(command, folder, moment, partial(_first, workers, n_killed))
            yield _judged(what, ended, alone, may_fail=n_killed == N_WORKERS)


Victims = Sequence[psutil.Process | subprocess.Popen[bytes]]


def _first(workers: list[subprocess.Popen[bytes]], n: int) -> Victims:
    return workers[:n]


def _killing(command: list[str], folder: Path, moment: float, victims: Callable[[], Victims]) -> Ended:
    began = time.monotonic()
    process = start(command, folder)
    time.sleep(moment)
    for victim in victims() if process.poll() is None else ():
        victim.kill()
    return finish(process, began)


def _judged(what: str, ended: Ended, alone: Ended, *, may_fail: bool = False) -> Outcome:
    if ended.is_answered:
        same = ended.out == alone.out
        return Outcome(what, "the same bits" if same else "other bits", "" if same else str(ended))
    return Outcome(
        what, "one sentence" if ended.is_refused else "other", "" if may_fail and ended.is_refused else str(ended)
    )


@contextmanager
def _scheduler() -> Iterator[str]:
    port = free_port()
    with start_scheduler(port) as process:
        try:
            yield f"tcp://127.0.0.1:{port}"
        finally:
            process.kill()


@contextmanager
def _workers(address: str, folder: Path, *, nanny: bool) -> Iterator[list[subprocess.Popen[bytes]]]:
    with ExitStack() as stack:
        started: list[subprocess.Popen[bytes]] = []
        stack.callback(end_workers, started)
        for _ in range(N_WORKERS):
            started.append(start_worker(address, str(folder)) if nanny else _plain_worker(address, folder))
        with Client(address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(N_WORKERS, timeout=600)
        yield started


def _plain_worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    return subprocess.Popen(
        [*command, "--death-timeout", "600", "--local-directory", str(folder)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _children(nannies: list[subprocess.Popen[bytes]]) -> list[psutil.Process]:
    """Return the processes of the workers of nannies."""
    found = [child for nanny in nannies for child in psutil.Process(nanny.pid).children()]
    return [child for child in found if _is_worker(child)]


def _is_worker(child: psutil.Process) -> bool:
    try:
        return "multiprocessing.spawn" in " ".join(child.cmdline())
    except psutil.NoSuchProcess:  # it has ended meanwhile
        return False
