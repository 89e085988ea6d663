"""Workers that are killed, workers that run out of memory, and a scheduler that goes away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, btest
from btests.execution.dask import ClusterError, chunking, waiting
from btests.execution.dask.local import local_client
from tests.dask.commanding import commanded, free_port
from tests.same import assert_same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have many parts and many shards of few rows."""
    for name, value in (("SMALL_PART", 2**14), ("LEAST_PART", 2**14), ("SHARD_BYTES", 2**15)):
        monkeypatch.setattr(chunking, name, value)


@pytest.fixture(scope="module")
def mortal() -> Iterator[Any]:
    """Return a client of two workers of little memory, which may be killed; others take their place."""
    with local_client(2, "600MB") as client:
        yield client


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


def test_a_worker_killed_in_the_middle(mortal: Any) -> None:
    killer = Killer(mortal)
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


def test_a_worker_killed_while_it_reads(mortal: Any, tmp_path: Path) -> None:
    x = da.from_array(X, chunks=(1500, 3)).map_blocks(die_once, str(tmp_path / "died"), dtype=float, meta=X[:0])
    found = btest(x, da.from_array(Y, chunks=(2000, 3)), workers=mortal, seed=4)
    assert (tmp_path / "died").exists()
    assert_same(found, btest(X, Y, seed=4))


@dataclass(frozen=True)
class Hoarder:
    """A kernel that keeps so many megabytes with every call for as long as it lives."""

    megabytes: int
    held: list[Any] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, p: Any, q: Any) -> Any:
        self.held.append(np.ones(self.megabytes * 2**17))
        if len(self.held) * self.megabytes > 500:
            time.sleep(5.0)  # somebody looks at the memory by and by
        return np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hoarder, (self.megabytes,)


def deadly(p: Any, q: Any) -> Any:
    """A kernel that kills its process, but not on the few rows that are tried here first."""
    if len(p) > 100:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1))


def test_shards_that_are_too_large_for_a_worker_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = X[:4000, :1], Y[:4000, :1]
    for name in ("LEAST_PART", "SHARD_BYTES"):  # all blocks at once
        monkeypatch.setattr(chunking, name, 2**22)
    options: dict[str, Any] = {"block_size": 250, "seed": 4}
    alone = btest(x, y, kernel=Hoarder(0), **options)
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), local_client(1, "600MB") as client:
        before = client.run(os.getpid)
        # 16 blocks, with three calls each, at 11 MB: half of them fit.
        found = btest(x, y, workers=client, kernel=Hoarder(11), **options)
        assert client.run(os.getpid) != before
        np.testing.assert_array_equal(found.summary.values, alone.summary.values)
        np.testing.assert_array_equal(found.summary.moments, alone.summary.moments)
        assert found.pvalue == alone.pvalue
        # A partition that nobody can read.
        bad = da.from_array(X, chunks=(6001, 3)).map_blocks(die, dtype=float, meta=X[:0])
        complaint = (
            r"died while they read partition 0 of x \(6001 rows, 0.144 MB as numbers\), .* 600 MB; make partitions"
        )
        with pytest.raises(ClusterError, match=complaint):
            btest(bad, Y, workers=client, seed=1)
        # One block is too much.
        complaint = (
            r"workers died of a single block of 250 and 250 rows, and a worker may take 600 MB; take block_size="
        )
        with pytest.raises(ClusterError, match=complaint):
            btest(x[:250], y[:250], workers=client, kernel=deadly, **options)


def endless(rows: Any) -> Any:
    """Call itself for ever."""
    return endless(rows) if len(rows) else rows


def test_an_error_that_cannot_be_sent(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_LOOK", 0.5)
    x = da.from_array(X, chunks=(6001, 3)).map_blocks(endless, dtype=float, meta=X[:0])
    with pytest.raises(ClusterError, match="failed on a worker, with an error that cannot be sent here, such as"):
        btest(x, Y, workers=mortal, seed=4)


def test_a_scheduler_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    port, checkpoint = free_port(), tmp_path / "checkpoint"
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 4, "checkpoint": checkpoint}
    paths = tmp_path / "x.npy", tmp_path / "y.npy"
    with commanded(port, tmp_path) as (address, scheduler):

        def kill(done: int, of: int) -> None:
            if 0 < done < of:
                scheduler.kill()

        complaint = (
            rf"the scheduler at {address} went away.*; the checkpoint '.*' holds \d+ of 21004 rows, and the same"
        )
        with pytest.raises(ClusterError, match=complaint):
            btest(*paths, workers=address, progress=kill, **options)
    seen = []
    with commanded(port, tmp_path) as (address, _):
        found = btest(*paths, workers=address, progress=lambda done, of: seen.append(done), **options)
    assert seen[0] > 0
    assert_same(found, btest(X, Y, kernel=Gaussian(1.0), block_size=30, seed=4))
    # What a cluster has begun one process can end.
    assert_same(btest(*paths, **options), found)
