"""Features on a cluster: rows stay where they are stored, only sums are fetched, and bits are those of one process."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from btests import Aggregate, Gaussian, Laplacian, SignFlip, TestResult, Weights, btest
from btests.execution.dask import Cluster, ClusterError, ShardedSample, TaskSizes, Timeouts, connect
from btests.execution.dask.local_workers import local_client
from tests.same import assert_same

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.05, 1.0, size=(12001, 3))
SHORT = Y[:700]
NAMES = ["a", "b", "c"]

#: Many ranges of few rows, read in steps.
SMALL = TaskSizes(merged=2**14, least=2**14, chunk=2**12, summed=2**15)


@pytest.fixture
def no_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that moves rows to shards."""

    def refuse(self: ShardedSample) -> None:
        raise AssertionError("features need no shards")

    monkeypatch.setattr(ShardedSample, "move", refuse)


stays = pytest.mark.usefixtures("no_shards")


def on_cluster(client: Any, x: Any, y: Any, **options: Any) -> TestResult:
    with connect(client, sizes=SMALL) as cluster:
        return btest(x, y, workers=cluster, statistic="features", **options)


@stays
@pytest.mark.parametrize("y", [Y, SHORT], ids=["one length", "two lengths"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_partitions_of_arrays(client: Any, y: Any, shuffle: bool) -> None:
    options: dict[str, Any] = {"shuffle": shuffle, "seed": 2, "null": SignFlip(199)}
    options |= {} if len(y) == len(X) else {"kernel": Aggregate([Gaussian(1.0), Laplacian(1.0)])}
    alone = btest(X, y, statistic="features", **options)
    for chunks in ((1000, 1), ((1, 6000, 0, 6000), 3)):
        dask_x, dask_y = da.from_array(X, chunks=chunks), da.from_array(y, chunks=(2000, 3))
        assert_same(on_cluster(client, dask_x, dask_y, **options), alone)
    assert_same(on_cluster(client, X, y, **options), alone)


@stays
def test_data_frames(client: Any) -> None:
    frames = [pd.DataFrame(rows, columns=NAMES) for rows in (X, Y)]
    x, y = dd.from_pandas(frames[0], npartitions=5), dd.from_pandas(frames[1][["c", "a", "b"]], npartitions=3)
    assert_same(on_cluster(client, x, y, seed=7), btest(*frames, statistic="features", seed=7))


@stays
@pytest.mark.parametrize("shuffle", [True, "buffered", False])
def test_files(client: Any, shuffle: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    for part, rows in enumerate(np.split(Y, [5000, 5001])):
        frame = pd.DataFrame(rows, columns=NAMES)
        frame.to_parquet(tmp_path / f"y-{part}.parquet", row_group_size=1111)
    x, y = tmp_path / "x.npy", str(tmp_path / "y-*.parquet")
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "shuffle": shuffle, "scale": False, "seed": 3}
    found = on_cluster(client, x, y, **options)
    assert found.read == "on 2 workers"
    assert_same(found, btest(x, y, statistic="features", **options))


def test_rows_that_are_left_after_the_choice_of_a_kernel(client: Any) -> None:
    options: dict[str, Any] = {"kernel": Weights([Gaussian(0.5), Laplacian(2.0)]), "seed": 6}
    y = Y + 0.5
    found = on_cluster(client, da.from_array(X, chunks=(1700, 3)), da.from_array(y, chunks=(2000, 3)), **options)
    assert_same(found, btest(X, y, statistic="features", **options))


@stays
def test_a_checkpoint_of_a_cluster_is_ended_by_one_process(client: Any, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    seen: list[tuple[int, int]] = []

    def stop(done: int, of: int) -> None:
        seen.append((done, of))
        if 0 < done < of:
            raise StopError

    rows = RNG.normal(size=(2, 70_000, 64)).astype(np.float32)  # chunks of 16,384 rows
    paths = [tmp_path / f"{name}.npy" for name in "xy"]
    for path, own in zip(paths, rows, strict=True):
        np.save(path, own)
    options: dict[str, Any] = {"kernel": Gaussian(8.0), "statistic": "features", "checkpoint": tmp_path / "run.npz"}
    with connect(client, sizes=TaskSizes(least=2**16, summed=2**19)) as cluster, pytest.raises(StopError):
        btest(*paths, workers=cluster, progress=stop, seed=1, **options)
    assert len(seen) == 1 or seen[-2][0] == 0
    assert_same(btest(*paths, seed=1, **options), btest(*rows, kernel=Gaussian(8.0), statistic="features", seed=1))


class Killer:
    """Kills a worker when some rows are done and some are not."""

    def __init__(self, client: Any) -> None:
        self.pids = sorted(client.run(os.getpid).values())

    def __call__(self, done: int, of: int) -> None:
        if self.pids and 0 < done < of:
            os.kill(self.pids.pop(0), signal.SIGKILL)
            self.pids = []


def die_once(rows: Any, marker: str) -> Any:
    """Kill the process that computes this, the first time after the file was made."""
    path = Path(marker)
    if len(rows) and path.exists():
        path.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def die(rows: Any, marker: str) -> Any:
    """Kill the process that computes this."""
    if len(rows) and Path(marker).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


@pytest.fixture(scope="module")
def mortal() -> Any:
    """Return a cluster of two workers, which are restarted when they are killed."""
    with local_client(2) as client, connect(client, sizes=SMALL, timeouts=Timeouts(poll=0.5)) as cluster:
        yield cluster


@stays
def test_a_worker_lost_in_the_middle(mortal: Cluster, tmp_path: Path) -> None:
    rows = RNG.normal(size=(2, 70_000, 64)).astype(np.float32)  # chunks of 16,384 rows
    paths = [tmp_path / f"{name}.npy" for name in "xy"]
    for path, own in zip(paths, rows, strict=True):
        np.save(path, own)
    killer = Killer(mortal.client)
    options: dict[str, Any] = {"kernel": Gaussian(8.0), "statistic": "features", "seed": 4}
    cluster = replace(mortal, sizes=TaskSizes(least=2**16, summed=2**19))
    found = btest(*paths, workers=cluster, progress=killer, **options)
    assert not killer.pids
    assert_same(found, btest(*rows, **options))


@stays
def test_a_worker_lost_while_it_reads_a_partition(mortal: Cluster, tmp_path: Path) -> None:
    marker = tmp_path / "once"
    marker.touch()
    x = da.from_array(X, chunks=(1500, 3)).map_blocks(die_once, str(marker), dtype=float, meta=X[:0])
    found = btest(x, da.from_array(Y, chunks=(2000, 3)), workers=mortal, statistic="features", seed=4)
    assert not marker.exists()
    assert_same(found, btest(X, Y, statistic="features", seed=4))


@stays
def test_a_partition_that_no_worker_survives_is_named(mortal: Cluster, tmp_path: Path) -> None:
    marker = tmp_path / "always"
    marker.touch()
    x = da.from_array(X, chunks=(6001, 3)).map_blocks(die, str(marker), dtype=float, meta=X[:0])
    with pytest.raises(ClusterError, match=r"workers were lost while reading .*give workers more"):
        btest(x, da.from_array(Y, chunks=(2000, 3)), workers=mortal, statistic="features", seed=4)
