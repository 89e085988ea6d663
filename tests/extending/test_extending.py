"""Every statistic: arrays, files, streams and clusters give the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import HSIC, Gaussian, KernelPair, SignFlip, Stream, btest
from btests.data.open import open_source
from btests.data.row_permutation import permutation_of
from btests.data.sample import Sample
from btests.execution import out_of_core
from btests.execution.dask.local_workers import local_client
from btests.execution.samples import open_samples
from btests.pipeline import run_test
from btests.result import TestResult
from btests.statistics import Statistic, in_memory, plan_for, summarize_all
from tests.extending.features import FeatureMMD

N = 400
STATISTICS: list[Statistic] = [HSIC((KernelPair(Gaussian(1.0), Gaussian(1.0)),)), FeatureMMD(1.0)]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Return a client of two workers."""
    with local_client(2) as found:
        yield found


def data(statistic: Statistic, effect: float = 1.0) -> tuple[Any, Any]:
    """Return dependent columns of one length for HSIC, and two samples for the others."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    if isinstance(statistic, HSIC):
        return x, np.abs(x[:, :1]) * effect + rng.normal(size=(N, 1)) * 0.5
    return x, rng.normal(size=(N, 2)) * (1.0 + 0.4 * effect)


def from_arrays(statistic: Statistic, x: Any, y: Any, size: int) -> TestResult:
    """Run a test of arrays."""
    samples = [
        Sample(rows, permutation_of(N, 5, k).rows(0, N))
        for rows, k in zip((x, y), statistic.design.streams, strict=True)
    ]
    plan = plan_for(statistic, N, N, size)
    return run_test(statistic, (samples[0], samples[1]), plan, in_memory, SignFlip(499), seed=5)


def from_files(statistic: Statistic, x: Any, y: Any, size: int, *, folder: Path, workers: Any = None) -> TestResult:
    """Run the same test of files."""
    sources = []
    for name, rows in (("x", x), ("y", y)):
        np.save(folder / f"{name}.npy", rows)
        sources.append(open_source(folder / f"{name}.npy"))
    streams = statistic.design.streams
    with closing(open_samples(sources[0], sources[1], 5, True, workers, streams=streams)) as stored:
        plan = plan_for(statistic, N, N, size)
        return run_test(statistic, (stored.x, stored.y), plan, stored.executor(), SignFlip(499), seed=5)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_it_finds_what_it_should(statistic: Statistic) -> None:
    result = from_arrays(statistic, *data(statistic), size=50)
    assert result.pvalue == 1 / 500
    assert "p-value" in str(result)
    assert result.kernel == statistic.kernels[0]


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_files_give_the_same_bits(statistic: Statistic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 4000)
    x, y = data(statistic, 0.3)
    wanted = from_arrays(statistic, x, y, 25)
    found = from_files(statistic, x, y, 25, folder=tmp_path)
    assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_a_stream_gives_the_same_bits(statistic: Statistic) -> None:
    x, y = data(statistic, 0.3)
    plan = plan_for(statistic, N, N, 20)
    wanted = run_test(statistic, (Sample(x), Sample(y)), plan, in_memory, SignFlip(499), seed=5)
    stream = Stream(statistic, 20, seed=5)
    for first in range(0, N, 37):
        stream.update(x[first : first + 37], y[first : first + 37])
    found = stream.result(SignFlip(499))
    assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_a_cluster_gives_the_same_bits(statistic: Statistic, client: Any, tmp_path: Path) -> None:
    x, y = data(statistic, 0.3)
    wanted = from_arrays(statistic, x, y, 25)
    found = from_files(statistic, x, y, 25, folder=tmp_path, workers=client)
    assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)


def test_btest_runs_it_on_a_cluster(client: Any) -> None:
    x, y = data(FeatureMMD(1.0), 0.3)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "statistic": _features, "block_size": 25, "seed": 5}
    wanted, found = btest(x, y, **options), btest(x, y, workers=client, **options)
    assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)


def _features(kernels: Any) -> FeatureMMD:
    return FeatureMMD(kernels[0].bandwidth)


def test_the_deviation_of_pooled_moments_is_that_of_draws() -> None:
    statistic = FeatureMMD(1.0)
    x, y = map(Sample, data(statistic))
    plan = plan_for(statistic, N, N, 10)
    whole = summarize_all(statistic, x, y, plan)[0]
    assert np.isfinite(whole.deviation())
    draws = whole.drawn(whole.draw(999, 0))
    assert np.std(draws) == pytest.approx(whole.deviation(), rel=0.1)
