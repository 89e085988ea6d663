"""Kernel Fisher discriminants, of the default and by themselves, on a cluster: the bits of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Aggregate, Gaussian, KernelFisher, Laplacian, Weights, btest, fisher_family, independence_test
from tests.dask.test_same import on_cluster
from tests.fuzz.routes import IN_CHUNKS
from tests.same import assert_same

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(900, 3)), RNG.normal(0.1, 1.1, size=(700, 3))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"block_size": 50},
        {"kernel": Aggregate(fisher_family()), "block_size": 50},
        {"kernel": Gaussian(1.0), "statistic": KernelFisher, "block_size": 100},
        {"kernel": Aggregate([Gaussian(1.0), Laplacian(1.0)], correction="rank", weights=[1.0, 2.0])},
        {"kernel": Weights(), "block_size": 20},
    ],
    ids=str,
)
@pytest.mark.parametrize("route", ["dask array", "parquet"])
def test_two_samples(client: Any, options: dict[str, Any], route: str, tmp_path: Path) -> None:
    x, y = (IN_CHUNKS[route](rows, str(tmp_path / name)) for rows, name in ((X, "x"), (Y, "y")))
    found = on_cluster(client, x, y, seed=4, scale=False, **options)
    assert found.read == "on 2 workers"
    assert_same(found, btest(X, Y, seed=4, scale=False, **options))


def test_wide_rows(client: Any) -> None:
    x, y = RNG.normal(size=(400, 60)), RNG.normal(size=(400, 60))
    several: list[dict[str, Any]] = [{}, {"kernel": Aggregate(fisher_family()), "block_size": 25}]
    for options in several:
        found = on_cluster(client, IN_CHUNKS["dask array"](x, ""), IN_CHUNKS["dask array"](y, ""), seed=4, **options)
        assert_same(found, btest(x, y, seed=4, **options))


def test_independence(client: Any) -> None:
    x, y = X[:700], Y[:, :2]
    for options in ({"block_size": 40}, {"statistic": "dcov", "block_size": 40}, {"null": "normal", "block_size": 20}):
        own: dict[str, Any] = {"seed": 4, **options}
        found = independence_test(IN_CHUNKS["dask array"](x, ""), IN_CHUNKS["dask array"](y, ""), workers=client, **own)
        assert_same(found, independence_test(x, y, **own))


def test_a_run_that_resumes(client: Any, tmp_path: Path) -> None:
    paths = [IN_CHUNKS["npy"](rows, str(tmp_path / name)) for rows, name in ((X, "x"), (Y, "y"))]
    options: dict[str, Any] = {"seed": 4, "block_size": 50, "checkpoint": tmp_path / "run.npz"}

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        btest(*paths, workers=client, progress=stop, **options)
    assert_same(btest(*paths, workers=client, **options), btest(X, Y, seed=4, block_size=50))
