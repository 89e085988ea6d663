"""Memory of workers does not grow with the number of partitions."""

from __future__ import annotations

import resource
import sys
from typing import Any

import pytest

from btests import Gaussian, btest
from btests.execution.dask import TaskSizes, connect
from btests.execution.dask.local_workers import local_client

da = pytest.importorskip("dask.array")

WIDTH, PARTITION = 32, 2**23


def peak() -> int:
    """Return the most bytes of memory that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rows(n_partitions: int, seed: int) -> Any:
    """Return an array that is made when it is read: partitions of 8 MB."""
    n = PARTITION // (8 * WIDTH)
    return da.random.default_rng(seed).random(size=(n_partitions * n, WIDTH), chunks=(n, WIDTH))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units")
def test_a_worker_holds_a_few_partitions() -> None:
    sizes = TaskSizes(merged=PARTITION, chunk=PARTITION)
    options: dict[str, Any] = {"kernel": Gaussian(2.0), "block_size": 16, "seed": 1}
    n_partitions, most = 40, 12
    with local_client(2) as client, connect(client, sizes=sizes) as cluster:
        btest(rows(1, 0), rows(1, 1), workers=cluster, **options)  # what a worker takes for its modules
        before = client.run(peak)
        found = btest(rows(n_partitions, 0), rows(n_partitions, 1), workers=cluster, **options)
        after = client.run(peak)
    assert found.n_x == n_partitions * PARTITION // (8 * WIDTH)
    grown = {worker: (after[worker] - before[worker]) / PARTITION for worker in before}
    assert max(grown.values()) < most
    # All rows are several times as much as all workers together have ever held of them.
    assert 2 * n_partitions > 3 * 2 * most
