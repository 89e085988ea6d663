"""Questions to a scheduler that is gone, and to workers that die of them."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.execution.dask import ClusterError, asking, chunking, local
from btests.execution.dask.knocking import knock
from btests.execution.dask.value import Cluster
from btests.execution.dask.waiting import compute
from tests.dask.commanding import commanded, free_port, start_scheduler
from tests.dask.waiting import wait_until

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))


def test_no_question_to_a_scheduler_that_is_gone_has_another_answer(tmp_path: Path) -> None:
    with commanded(free_port(), tmp_path) as (address, scheduler), ExitStack() as opened:
        knock(address, 60.0)
        client = opened.enter_context(distributed.Client(address, timeout=3, set_as_default=False))
        assert asking.wait_for_workers(client, address, 1, 60.0)
        one = client.submit(abs, -1)
        assert one.result() == 1
        cluster = Cluster(client, address, 1, 1, 0, "none")
        scheduler.kill()
        scheduler.wait()
        # First while the connection breaks and the client tries to connect again, then when it has given up.
        for status in ("any", "closed"):
            wait_until(lambda status=status: status in ("any", client.status))  # type: ignore[misc]
            for ask in (
                lambda: asking.workers_of(client, address),
                lambda: asking.holders_of(client, address, [one]),
                lambda: asking.states_of(client, address, [one]),
                lambda: asking.ask_workers(client, address, os.getpid),
                lambda: asking.wait_for_workers(client, address, 1, 60.0),
                lambda: compute(cluster, [dask.delayed(len)("ab")]),
            ):
                with pytest.raises(ClusterError, match=rf"^the scheduler at {address} went away( or was restarted)?$"):
                    ask()


def die_once(marker: str) -> int:
    """Kill the worker that is asked, the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def fail(dask_worker: Any) -> None:
    raise RuntimeError("the disk is on fire")


def test_workers_that_die_while_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local.local_client(1) as client:
        address = client.scheduler.address
        before = client.run(os.getpid)
        after = asking.ask_workers(client, address, die_once, str(tmp_path / "died"))  # it is started again
        assert len(after) == 1
        assert set(after.values()).isdisjoint(before.values())
        with pytest.raises(RuntimeError, match="the disk is on fire"):
            asking.ask_workers(client, address, fail)
        monkeypatch.setattr(asking, "WORKER_SECONDS", 0.0)
        with pytest.raises(ClusterError, match=rf"the cluster at {address} has no workers; 'dask worker"):
            asking.ask_workers(client, address, os.kill, after.popitem()[1], signal.SIGKILL)


def test_a_worker_whose_scheduler_was_killed_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_START", 2.0)
    with local.start_worker(f"tcp://127.0.0.1:{free_port()}", str(tmp_path)) as worker:
        try:
            assert worker.wait(120) != 0
        finally:
            local.end_workers([worker])


def test_a_scheduler_that_is_replaced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEAST_PART", "SHARD_BYTES"):
        monkeypatch.setattr(chunking, name, 2**15)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    port = free_port()
    others: list[subprocess.Popen[bytes]] = []
    with (
        commanded(port, tmp_path) as (address, scheduler),
        distributed.Client(address, timeout=60, set_as_default=False) as client,
    ):

        def replace(done: int, of: int) -> None:
            if 0 < done < of and not others:
                line = client.scheduler_comm
                scheduler.kill()
                scheduler.wait()
                others.append(start_scheduler(port))
                # From now on tasks go to a scheduler that has never heard of what they need.
                wait_until(lambda: client.status == "running" and client.scheduler_comm is not line, 90.0)

        complaint = (
            rf"^the scheduler at {address} went away or was restarted; the checkpoint '.*' holds \d+ of 21004 rows"
        )
        try:
            with pytest.raises(ClusterError, match=complaint):
                btest(
                    *(tmp_path / "x.npy", tmp_path / "y.npy"),
                    **{"kernel": Gaussian(1.0), "block_size": 30, "seed": 4, "workers": client},
                    checkpoint=tmp_path / "run.npz",
                    progress=replace,
                )
        finally:
            for other in others:
                other.kill()
                other.wait()
