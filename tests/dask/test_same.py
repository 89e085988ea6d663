"""The result on a cluster is that of one process, to the last bit, however rows are partitioned."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from btests import Aggregate, Gaussian, Laplacian, MedianFamily, TestResult, Weights, btest, open_source
from btests.data.permuted import PermutedRows
from btests.execution.dask import TaskSizes, connect
from btests.execution.dask.local_workers import local_client
from tests.dask.polling import wait_until
from tests.same import assert_same

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12001, 3)), RNG.normal(0.3, 1.3, size=(9003, 3))
NAMES = ["a", "b", "c"]


def on_cluster(client: Any, x: Any, y: Any, **options: Any) -> TestResult:
    """Return the test of two samples on a cluster, with many shards and chunks of few rows."""
    with connect(client, sizes=TaskSizes(merged=2**14, least=2**14, chunk=2**16)) as cluster:
        return btest(x, y, workers=cluster, **options)


def test_any_number_of_workers() -> None:
    alone = btest(X, Y, seed=4, block_size=30)
    x, y = da.from_array(X, chunks=(3000, 3)), da.from_array(Y, chunks=(2001, 2))
    with local_client(4) as client:
        for n_workers in (4, 2, 1):
            client.retire_workers(sorted(client.nthreads())[n_workers:])
            found = on_cluster(client, x, y, seed=4, block_size=30)
            assert found.read == f"on {n_workers} worker{'s' * (n_workers > 1)}"
            assert_same(found, alone)


@pytest.mark.parametrize("chunks", [(12001, 3), (1000, 1), ((1, 6000, 0, 6000), 3)], ids=str)
@pytest.mark.parametrize("shuffle", [True, False])
def test_any_partitions_of_an_array(client: Any, chunks: Any, shuffle: bool) -> None:
    x, y = da.from_array(X, chunks=chunks), da.from_array(Y, chunks=(2000, 3))
    found = on_cluster(client, x, y, shuffle=shuffle, seed=5)
    assert_same(found, btest(X, Y, shuffle=shuffle, seed=5))
    assert found.order == ("exact" if shuffle else "as stored")


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Aggregate(MedianFamily()), Weights([Gaussian(0.5), Laplacian(2.0)])], ids=repr
)
def test_any_choice_of_the_kernel_for_samples_of_one_length(client: Any, kernel: Any) -> None:
    x, y = X[: len(Y)], Y
    options: dict[str, Any] = {"kernel": kernel, "block_size": 50, "seed": 6}
    found = on_cluster(client, da.from_array(x, chunks=(1700, 3)), da.from_array(y, chunks=(2000, 3)), **options)
    assert_same(found, btest(x, y, **options))


def test_a_function_as_kernel(client: Any) -> None:
    def kernel(p: Any, q: Any) -> Any:
        return np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1))

    options: dict[str, Any] = {"kernel": kernel, "block_size": 50, "seed": 6}
    found = on_cluster(client, da.from_array(X, chunks=(4000, 3)), Y, **options)
    assert_same(found, btest(X, Y, **options))


def test_data_frames_are_matched_by_name(client: Any) -> None:
    frames = [pd.DataFrame(rows, columns=NAMES) for rows in (X, Y)]
    x, y = dd.from_pandas(frames[0], npartitions=5), dd.from_pandas(frames[1][["c", "a", "b"]], npartitions=3)
    alone = btest(*frames, seed=7)
    assert_same(on_cluster(client, x, y, seed=7), alone)
    assert_same(btest(x, y, seed=7), alone)  # in this process
    # Rows of a partition are counted where dask does not know how many there are; columns may be vectors.
    assert_same(on_cluster(client, x[x.a > 0.0], y, seed=7), btest(frames[0][frames[0].a > 0.0], frames[1], seed=7))
    assert_same(on_cluster(client, x.a, y.a.to_dask_array(), seed=7), btest(X[:, 0], Y[:, 0], seed=7))


@pytest.mark.parametrize("shuffle", [True, "buffered", False])
def test_files(client: Any, shuffle: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    parquet = tmp_path / "y.parquet"
    pd.DataFrame(Y.astype(np.float32), columns=NAMES).to_parquet(parquet, row_group_size=1111)
    options: dict[str, Any] = {
        "kernel": Gaussian(1.0),
        "dtype": "float32",
        "seed": 8,
        "shuffle": shuffle,
        "scale": False,
    }
    with pytest.MonkeyPatch.context() as patch:  # a buffer of a few row groups
        of: Any = PermutedRows.of
        patch.setitem(of.__func__.__kwdefaults__, "memory", 3000 * (2 * 3 * 4 + 24))
        found = on_cluster(client, tmp_path / "x.npy", parquet, **options)
        assert_same(found, btest(tmp_path / "x.npy", parquet, **options))
    assert found.order == {True: "exact", False: "as stored"}.get(shuffle, "buffered")
    if shuffle != "buffered":
        assert_same(found, btest(X.astype(np.float32), Y.astype(np.float32), **options))


def test_buffered_partitions_stay_together(client: Any) -> None:
    x, y = da.from_array(X, chunks=(700, 3)), da.from_array(Y, chunks=(900, 3))
    with pytest.MonkeyPatch.context() as patch:
        of: Any = PermutedRows.of
        patch.setitem(of.__func__.__kwdefaults__, "memory", 3000 * (2 * 3 * 8 + 24))
        found = on_cluster(client, x, y, seed=3, shuffle="buffered")
        alone = btest(x, y, seed=3, shuffle="buffered")
    assert_same(found, alone)
    assert (found.order, found.read, alone.read) == ("buffered", "on 2 workers", "in chunks")


def test_anything_beside_anything(client: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", Y)
    x, alone = da.from_array(X.astype(np.float32), chunks=(4000, 3)), btest(X.astype(np.float32), Y, seed=9)
    for y in (Y, tmp_path / "y.npy", open_source(tmp_path / "y.npy"), np.load(tmp_path / "y.npy", mmap_mode="r")):
        assert_same(btest(x, y, seed=9), alone)
        assert_same(on_cluster(client, x, y, seed=9), alone)
    assert_same(on_cluster(client, X, Y, seed=9), btest(X, Y, seed=9))  # arrays go there, too


def test_the_client_that_is_there_is_taken(client: Any) -> None:
    x = da.from_array(X, chunks=(4000, 3))
    with client.as_current():
        assert btest(x, Y, seed=1).read == "on 2 workers"
        assert btest(x.persist(), Y, seed=1).read == "on 2 workers"
    assert btest(x, Y, seed=1).read == "in chunks"


def test_nothing_is_left_on_the_workers(client: Any) -> None:
    def files(dask_worker: Any) -> int:
        return len(list(Path(dask_worker.local_directory).glob("btests-*")))

    x = da.from_array(X, chunks=(4000, 3))
    on_cluster(client, x, Y, seed=1)
    gc.collect()  # errors of tests before this one, whose frames hold tasks
    wait_until(lambda: not any(client.run(files).values()))
    wait_until(lambda: not any(client.has_what().values()))


def drifting(n: int, seed: int) -> Any:
    """Return rows of a process that drifts from one end to the other while it is recorded."""
    rng = np.random.default_rng([9, seed])
    time = np.sort(rng.random(n))
    return np.stack([5.0 * time + rng.normal(size=n), np.cos(4.0 * time) + rng.normal(size=n)], axis=1)


def test_partitions_that_are_sorted_by_time_do_not_differ(client: Any) -> None:
    # The rows of x and y are drawn alike: with any row anywhere, a p-value of at most 0.0005 has probability 0.0005 in
    # each of 2 runs; both together 2.5e-7. In the order of the partitions, with those of x dealt beside other
    # partitions of y, it would be 0.0005 every time.
    small = 0
    for seed in range(2):
        x, y = (da.from_array(drifting(4000, 2 * seed + i), chunks=(250, 2)) for i in range(2))
        found = on_cluster(client, x, y, kernel=Gaussian(1.0), block_size=50, seed=seed)
        assert found.order == "exact"
        small += found.pvalue <= 0.0005
    assert small < 2
    y = da.concatenate([y[2000:], y[:2000]])
    assert on_cluster(client, x, y, kernel=Gaussian(1.0), block_size=50, seed=1).pvalue > 0.0005
    assert on_cluster(client, x, y, kernel=Gaussian(1.0), block_size=50, seed=1, shuffle=False).pvalue == 0.0005
