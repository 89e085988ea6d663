"""Too little memory, no space on a disk, no workers: one sentence, and a checkpoint to continue from."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.execution.dask import ClusterError, TaskSizes, Timeouts, connect
from btests.execution.dask.cluster import Scheduler
from btests.execution.dask.local_workers import end_workers, local_client, start_worker
from tests.dask.polling import wait_until
from tests.same import assert_same

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))
#: Small tasks.
SIZES = TaskSizes(least=2**16, chunk=2**15)
OPTIONS: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 4}


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Return two files."""
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    return tmp_path / "x.npy", tmp_path / "y.npy"


def test_all_workers_are_lost_in_the_middle(paths: tuple[Path, Path]) -> None:
    folder, kept = paths[0].parent, paths[0].with_name("run.npz")
    with distributed.LocalCluster(n_workers=0, processes=True, dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        started = [start_worker(address, str(folder))]

        def end(done: int, of: int) -> None:
            if 0 < done < of:
                end_workers(started)

        patient = Timeouts(connect=600.0, first_worker=600.0, poll=0.2, no_workers=0.5)
        complaint = rf"all workers of {address} were lost; the checkpoint '.*' holds \d+ of 21004 rows, and the same"
        try:
            with (
                pytest.raises(ClusterError, match=complaint),
                connect(address, sizes=SIZES, timeouts=patient) as found_cluster,
            ):
                btest(*paths, workers=found_cluster, checkpoint=kept, progress=end, **OPTIONS)
            started.append(start_worker(address, str(folder)))
            wait_until(lambda: bool(cluster.scheduler.workers))  # on a busy machine
            seen: list[int] = []
            found = btest(
                *paths, workers=address, checkpoint=kept, progress=lambda done, of: seen.append(done), **OPTIONS
            )
        finally:
            end_workers(started)
    assert seen[0] > 0
    assert_same(found, btest(X, Y, **OPTIONS))


_SMALL_DISK = """
import resource
import sys
sys.dont_write_bytecode = True  # a .pyc would be cut off
# As a full disk does, this refuses what is written beyond a size; only the number of the error is another.
resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


def shard_files(dask_worker: Any) -> list[str]:
    """Return the names of the files of shards on a worker."""
    return [path.name for path in Path(dask_worker.local_directory).glob("*.rows")]


@pytest.mark.skipif(os.name != "posix", reason="there are no such limits")
def test_a_worker_without_room_on_its_disk(paths: tuple[Path, Path]) -> None:
    folder, kept = paths[0].parent, paths[0].with_name("run.npz")
    (folder / "small.py").write_text(_SMALL_DISK)
    few = folder / "few.npy"
    np.save(few, X[:500])  # for which there is room
    with (
        dask.config.set({"distributed.worker.preload": [str(folder / "small.py")]}),
        local_client(1) as client,
        connect(client, sizes=SIZES) as cluster,
    ):
        complaint = (
            r"the worker tcp://.* cannot write 0\.\d+ MB into its folder '.*btests-workers-.*' \(File too large\); "
            r"give the workers a --local-directory with room .*; "
        )
        for x, y in ((few, paths[1]), (paths[0], few)):
            with pytest.raises(ClusterError, match=complaint + "with checkpoint=FILE") as caught:
                btest(x, y, workers=cluster, **OPTIONS)
            # The error, with all frames in its traceback, keeps no rows on the worker.
            wait_until(lambda: not any(client.run(shard_files).values()))
            del caught
        with pytest.raises(ClusterError, match=complaint + "the checkpoint '.*' holds nothing, and the same call"):
            btest(few, paths[1], workers=cluster, checkpoint=kept, **OPTIONS)


_DIES_OF_MANY_ROWS = """
import os, signal
from btests.data.npy import NpySource
def read_if_few(self, first, last, read=NpySource.read):
    if last - first > 1100:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(self, first, last)
if NpySource.read.__name__ == "read":  # dask may run this more than once
    NpySource.read = read_if_few
"""


def test_ranges_of_files_that_are_too_large_for_a_worker_are_halved(paths: tuple[Path, Path]) -> None:
    folder = paths[0].parent
    x, y = X[:2500], Y[:2000]  # one range each: a worker can read a quarter of the one, and a half of the other
    np.save(paths[0], x)
    np.save(paths[1], y)
    (folder / "dies.py").write_text(_DIES_OF_MANY_ROWS)
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.preload": [str(folder / "dies.py")]}
    with dask.config.set(settings), local_client(1) as client, connect(client, sizes=SIZES) as cluster:
        before = client.run(os.getpid)
        found = btest(*paths, workers=cluster, **OPTIONS)
        assert client.run(os.getpid) != before
        wait_until(lambda: not any(client.run(shard_files).values()))
    assert found.read == "on 1 worker"
    assert_same(found, btest(x, y, **OPTIONS))


def set_pause(fraction: float, dask_worker: Any) -> None:
    """Have a worker pause when it holds this share of its memory."""
    dask_worker.memory_manager.memory_pause_fraction = fraction


def is_paused(client: Any) -> bool:
    """Return whether the scheduler reports all workers as paused."""
    return all(
        worker["status"] == "paused" for worker in Scheduler(client, client.scheduler.address).workers().values()
    )


def litter(n_bytes: int, dask_worker: Any) -> None:
    """Free much memory that the C library keeps, because a little of it is in use above."""
    many = [b"x" * 100_000 for _ in range(n_bytes // 100_000)]
    dask_worker.in_use = many[::500] + many[-1:]


def test_workers_that_are_all_paused(paths: tuple[Path, Path]) -> None:
    kept = paths[0].with_name("run.npz")
    alone = btest(X, Y, **OPTIONS)
    with local_client(1, "2GB") as client:
        littered: list[int] = []

        def leave(done: int, of: int) -> None:
            if 0 < done < of and not littered and platform.libc_ver()[0] == "glibc":
                client.run(set_pause, 0.25)
                littered.append(done)
                client.run(litter, 600_000_000)
                wait_until(lambda: is_paused(client))

        # Freed memory does not keep it paused.
        with connect(client, sizes=SIZES, timeouts=Timeouts(poll=0.2)) as cluster:
            assert_same(btest(*paths, workers=cluster, progress=leave, **OPTIONS), alone)

        def pause(done: int, of: int) -> None:
            if 0 < done < of:
                client.run(set_pause, 0.001)
                wait_until(lambda: is_paused(client))

        paused = r"dask has paused all workers of tcp://.*: one holds .* MB, and a worker may take 2 GB; give them more"
        with pytest.raises(ClusterError, match=rf"{paused}.*; the checkpoint '.*' holds \d+ of 21004 rows"):  # noqa: SIM117
            with connect(client, sizes=SIZES, timeouts=Timeouts(poll=0.2, paused=0.5)) as cluster:
                btest(*paths, workers=cluster, checkpoint=kept, progress=pause, **OPTIONS)
        # From the beginning.
        with pytest.raises(ClusterError, match=paused), connect(client, timeouts=Timeouts(first_worker=0.5)):
            pass
        client.run(set_pause, 0.8)
        assert_same(btest(*paths, workers=client, checkpoint=kept, **OPTIONS), alone)
