"""Queries to a scheduler that is lost, and to workers that are lost meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.execution.dask import Cluster, ClusterError, TaskSizes, Timeouts, connect
from btests.execution.dask.cluster import Scheduler
from btests.execution.dask.futures import compute
from btests.execution.dask.local_workers import end_workers, local_client, start_worker
from tests.dask.polling import wait_until
from tests.dask.processes import free_port, scheduler_process, start_scheduler

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))


def test_every_query_to_a_lost_scheduler_raises(tmp_path: Path) -> None:
    with scheduler_process(free_port(), tmp_path) as (address, process), ExitStack() as opened:
        client = opened.enter_context(distributed.Client(address, timeout=60, set_as_default=False))
        scheduler = Scheduler(client, address)
        assert scheduler.wait_for_workers(1, 60.0)
        one = client.submit(abs, -1)
        assert one.result() == 1
        cluster = Cluster(scheduler, scheduler.identity()["id"], 1, 1, 0, "none")
        process.kill()
        process.wait()
        # First while the client tries to reconnect, then when it has closed itself.
        for status in ("any", "closed"):
            wait_until(lambda status=status: status in ("any", client.status))  # type: ignore[misc]
            for ask in (
                scheduler.workers,
                lambda: scheduler.who_has([one]),
                lambda: scheduler.task_states([one]),
                lambda: scheduler.run_on_workers(os.getpid),
                lambda: scheduler.wait_for_workers(1, 60.0),
                lambda: compute(cluster, [dask.delayed(len)("ab")]),
            ):
                with pytest.raises(ClusterError, match=rf"^the scheduler at {address} was lost( or restarted)?$"):
                    ask()


def die_once(marker: str) -> int:
    """Kill the worker that runs this, the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def fail(dask_worker: Any) -> None:
    raise RuntimeError("the disk is on fire")


def test_workers_that_are_lost_while_they_run_a_function(tmp_path: Path) -> None:
    with local_client(1) as client:
        address = client.scheduler.address
        scheduler = Scheduler(client, address)
        before = client.run(os.getpid)
        after = scheduler.run_on_workers(die_once, str(tmp_path / "died"))  # it is restarted
        assert len(after) == 1
        assert set(after.values()).isdisjoint(before.values())
        with pytest.raises(RuntimeError, match="the disk is on fire"):
            scheduler.run_on_workers(fail)
        impatient = Scheduler(client, address, Timeouts(first_worker=0.0))
        with pytest.raises(ClusterError, match=rf"the cluster at {address} has no workers; 'dask worker"):
            impatient.run_on_workers(os.kill, after.popitem()[1], signal.SIGKILL)


def test_a_worker_whose_scheduler_was_killed_ends(tmp_path: Path) -> None:
    with start_worker(f"tcp://127.0.0.1:{free_port()}", str(tmp_path), seconds=2.0) as worker:
        try:
            assert worker.wait(600) != 0
        finally:
            end_workers([worker])


def test_a_scheduler_that_is_replaced_at_once(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    port = free_port()
    others: list[subprocess.Popen[bytes]] = []
    with (
        scheduler_process(port, tmp_path) as (address, scheduler),
        distributed.Client(address, timeout=60, set_as_default=False) as client,
        connect(client, sizes=TaskSizes(chunk=2**15, least=2**15)) as cluster,
    ):
        assert cluster is not None

        def scheduler_id() -> Any:
            with suppress(ClusterError):
                return Scheduler(client, address).identity()["id"]
            return None

        def replace(done: int, of: int) -> None:
            if 0 < done < of and not others:
                scheduler.kill()
                scheduler.wait()
                others.append(start_scheduler(port))
                # From now on tasks are submitted to a scheduler that does not have their dependencies.
                wait_until(lambda: client.status == "running" and scheduler_id() not in (None, cluster.scheduler_id))

        complaint = rf"^the scheduler at {address} was lost or restarted; the checkpoint '.*' holds \d+ of 21004 rows"
        try:
            with pytest.raises(ClusterError, match=complaint):
                btest(
                    *(tmp_path / "x.npy", tmp_path / "y.npy"),
                    kernel=Gaussian(1.0),
                    block_size=30,
                    seed=4,
                    workers=cluster,
                    checkpoint=tmp_path / "run.npz",
                    progress=replace,
                )
        finally:
            for other in others:
                other.kill()
                other.wait()
