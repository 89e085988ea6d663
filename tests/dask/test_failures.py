"""Workers that are killed or run out of memory, and a scheduler that is lost."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.execution.dask import Cluster, ClusterError, TaskSizes, Timeouts, connect
from btests.execution.dask.local_workers import local_client
from tests.dask.polling import wait_until
from tests.dask.processes import free_port, scheduler_process
from tests.same import assert_same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))


#: Many shards and chunks of few rows.
SMALL = TaskSizes(merged=2**14, least=2**14, chunk=2**15)
#: For schedulers and workers that start, and start again, on a busy machine.
SLOW = Timeouts(connect=600.0, first_worker=600.0, poll=0.5, no_workers=600.0)


@pytest.fixture(scope="module")
def mortal() -> Iterator[Cluster]:
    """Return a cluster of two workers of little memory, which are restarted when they are killed."""
    with local_client(2, "600MB") as client, connect(client, sizes=SMALL, timeouts=SLOW) as cluster:
        assert cluster is not None
        yield cluster


class Killer:
    """Kills a worker when some rows are done and some are not."""

    def __init__(self, client: Any) -> None:
        self.pids = sorted(client.run(os.getpid).values())
        self.seen: list[tuple[int, int]] = []

    def __call__(self, done: int, of: int) -> None:
        self.seen.append((done, of))
        if self.pids and 0 < done < of:
            os.kill(self.pids[0], signal.SIGKILL)
            self.pids = []


def test_a_worker_killed_in_the_middle(mortal: Cluster) -> None:
    killer = Killer(mortal.client)
    x, y = da.from_array(X, chunks=(1500, 3)), da.from_array(Y, chunks=(2000, 3))
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 4}
    found = btest(x, y, workers=mortal, progress=killer, **options)
    assert not killer.pids
    assert len([done for done, of in killer.seen if 0 < done < of]) > 1
    assert killer.seen[-1] == (len(X) + len(Y), len(X) + len(Y))
    assert_same(found, btest(X, Y, **options))


def die_once(rows: Any, marker: str) -> Any:
    """Kill the process that computes this, the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def die(rows: Any) -> Any:
    """Kill the process that computes this."""
    if len(rows):
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def test_a_worker_killed_while_it_reads(mortal: Cluster, tmp_path: Path) -> None:
    x = da.from_array(X, chunks=(1500, 3)).map_blocks(die_once, str(tmp_path / "died"), dtype=float, meta=X[:0])
    found = btest(x, da.from_array(Y, chunks=(2000, 3)), workers=mortal, seed=4)
    assert (tmp_path / "died").exists()
    assert_same(found, btest(X, Y, seed=4))


@dataclass(frozen=True)
class Hoarder:
    """A kernel that keeps so many megabytes with every call, until it is killed as a system without memory does."""

    megabytes: int
    held: list[Any] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, p: Any, q: Any) -> Any:
        self.held.append(np.ones(self.megabytes * 2**17))
        if len(self.held) * self.megabytes > 500:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hoarder, (self.megabytes,)


def deadly(p: Any, q: Any) -> Any:
    """A kernel that kills its process, but not on the few rows that are tried here first."""
    if len(p) > 100:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1))


def test_chunks_that_are_too_large_for_a_worker_are_divided() -> None:
    x, y = X[:4000, :1], Y[:4000, :1]
    options: dict[str, Any] = {"block_size": 250, "seed": 4}
    alone = btest(x, y, kernel=Hoarder(0), **options)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_client(1, "600MB") as client,
        # All blocks at once.
        connect(client, sizes=TaskSizes(merged=2**14, least=2**22, chunk=2**22), timeouts=SLOW) as cluster,
    ):
        before = client.run(os.getpid)
        # 16 blocks, with three calls each, at 11 MB: half of them fit.
        found = btest(x, y, workers=cluster, kernel=Hoarder(11), **options)
        assert client.run(os.getpid) != before
        np.testing.assert_array_equal(found.summary.values, alone.summary.values)
        np.testing.assert_array_equal(found.summary.moments, alone.summary.moments)
        assert found.pvalue == alone.pvalue
        # A partition that no worker can read.
        bad = da.from_array(X, chunks=(6001, 3)).map_blocks(die, dtype=float, meta=X[:0])
        complaint = (
            r"lost while reading partition 0 of x \(6001 rows, 0.144 MB as numbers\), .* 600 MB; make partitions"
        )
        with pytest.raises(ClusterError, match=complaint):
            btest(bad, Y, workers=cluster, seed=1)
        # One block is too much.
        complaint = (
            r"lost while computing a single block of 250 and 250 rows, and a worker may take 600 MB; take block_size="
        )
        with pytest.raises(ClusterError, match=complaint):
            btest(x[:250], y[:250], workers=cluster, kernel=deadly, **options)


def endless(rows: Any) -> Any:
    """Call itself for ever."""
    return endless(rows) if len(rows) else rows


def test_an_error_that_cannot_be_sent(mortal: Cluster) -> None:
    x = da.from_array(X, chunks=(6001, 3)).map_blocks(endless, dtype=float, meta=X[:0])
    with pytest.raises(ClusterError, match="failed on a worker, with an error that cannot be sent here, such as"):
        btest(x, Y, workers=mortal, seed=4)


def test_a_scheduler_that_is_lost_and_started_again(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    port, checkpoint = free_port(), tmp_path / "checkpoint"
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 4, "checkpoint": checkpoint}
    paths = tmp_path / "x.npy", tmp_path / "y.npy"
    with scheduler_process(port, tmp_path) as (address, scheduler):

        def kill(done: int, of: int) -> None:
            if 0 < done < of:
                scheduler.kill()

        complaint = rf"the scheduler at {address} was lost.*; the checkpoint '.*' holds \d+ of 21004 rows, and the same"
        with pytest.raises(ClusterError, match=complaint), connect(address, sizes=SMALL, timeouts=SLOW) as cluster:
            btest(*paths, workers=cluster, progress=kill, **options)
    seen = []
    with scheduler_process(port, tmp_path) as (address, _), connect(address, sizes=SMALL, timeouts=SLOW) as cluster:
        found = btest(*paths, workers=cluster, progress=lambda done, of: seen.append(done), **options)
    assert seen[0] > 0
    assert_same(found, btest(X, Y, kernel=Gaussian(1.0), block_size=30, seed=4))
    # What a cluster has begun one process can end.
    assert_same(btest(*paths, **options), found)


def test_tasks_of_dask_that_nobody_awaits_are_dropped(caplog: pytest.LogCaptureFixture) -> None:
    from distributed.client import AllExit

    async def fail(error: Exception) -> None:
        raise error

    async def abandon(error: Exception) -> None:
        await asyncio.wait([asyncio.ensure_future(fail(error))])

    with connect(1) as cluster:
        assert cluster is not None
        for error in (AllExit(), KeyError("of ours")):
            cluster.client.sync(abandon, error)
        gc.collect()
        wait_until(lambda: "of ours" in caplog.text)
    assert "AllExit" not in caplog.text
