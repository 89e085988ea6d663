"""The argument ``statistic`` of btest and Stream: any statistic of two samples, on any kind of data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from btests import HSIC, MMD, Aggregate, Gaussian, KernelPair, Laplacian, Linear, SignFlip, Stream, btest
from btests.block_range import BlockRange
from btests.data.open import open_source
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import Design, MatchedSamples, TwoSample
from btests.execution import checkpoint, out_of_core
from btests.pipeline import Procedure
from btests.plan import Array
from btests.selection import Setting
from btests.statistics.statistic import Accuracy
from btests.symmetries import SwapGroups
from tests.extending.features import FeatureMMD
from tests.same import assert_same

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(600, 2)), RNG.normal(0.3, 1.2, size=(600, 2))
OPTIONS: dict[str, Any] = {"kernel": Gaussian(1.0), "block_size": 30, "seed": 3}


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """Squared difference of the means of each block, with members, design and symmetry as given."""

    kernels: tuple[Any, ...] = ("means",)
    design: Design = field(default_factory=TwoSample)
    symmetry: ClassVar[SwapGroups] = SwapGroups()

    def engine(self, x: AnySample) -> str:
        """Return the name of the backend."""
        return "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        """Raise: there is no Gram matrix."""
        raise ValueError("a difference of means has no Gram matrix")

    def prepare(self, x: AnySample, y: AnySample) -> MeanDifference:
        """Return the statistic."""
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        """Return the accuracy of each member."""
        return (Accuracy(),) * len(self.kernels)

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        """Return values and moments of the linear kernel."""
        return MMD(Linear(), plain=True).blocks(x, y, chunk)


def features(kernels: Any) -> FeatureMMD:
    """Return a statistic of the first kernel alone."""
    return FeatureMMD(kernels[0].bandwidth)


def more(kernels: Any) -> MMD:
    """Return a statistic of more members than kernels."""
    return MMD((*kernels, Laplacian(1.0), Laplacian(2.0)))


def test_the_default_is_mmd() -> None:
    assert_same(btest(X, Y, statistic=MMD, **OPTIONS), btest(X, Y, **OPTIONS))
    assert_same(btest(X, Y, statistic=partial(MMD, plain=False), seed=3), btest(X, Y, seed=3))


@pytest.mark.parametrize("make", [features, more])
def test_arrays_frames_files_and_batches_give_the_same_bits(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 4000)
    wanted = btest(X, Y, statistic=make, **OPTIONS)
    assert wanted.pvalue < 0.01
    frames = [pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, Y)]
    assert_same(btest(*frames, statistic=make, scale=False, **OPTIONS), wanted)
    for name, rows in (("x", X), ("y", Y)):
        np.save(tmp_path / f"{name}.npy", rows)
    paths = tmp_path / "x.npy", tmp_path / "y.npy"
    found = btest(*map(open_source, paths), statistic=make, **OPTIONS)
    assert (found.statistic, found.pvalue, found.kernel) == (wanted.statistic, wanted.pvalue, wanted.kernel)
    stored = btest(X, Y, statistic=make, shuffle=False, **OPTIONS)
    batches = iter(np.split(X, 12)), iter(np.split(Y, 12))
    found = btest(*batches, statistic=make, shuffle=False, **OPTIONS)
    assert (found.statistic, found.pvalue, found.kernel) == (stored.statistic, stored.pvalue, stored.kernel)


def test_a_statistic_of_several_members_is_corrected_for_them() -> None:
    found = btest(X, Y, statistic=more, **OPTIONS)
    assert [candidate.kernel for candidate in found.candidates] == [Gaussian(1.0), Laplacian(1.0), Laplacian(2.0)]
    family = Aggregate([Gaussian(1.0), Laplacian(1.0), Laplacian(2.0)])
    assert found.pvalue == btest(X, Y, kernel=family, block_size=30, seed=3).pvalue
    assert "the strongest of 3 members" in str(found)
    weighted = Aggregate([Gaussian(1.0), Gaussian(2.0)], correction="rank", weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="2 weights, 4 members"):
        btest(X, Y, kernel=weighted, statistic=more, seed=3)


def test_a_checkpoint_is_of_one_statistic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 4000)
    for name, rows in (("x", X), ("y", Y)):
        np.save(tmp_path / f"{name}.npy", rows)
    paths = tmp_path / "x.npy", tmp_path / "y.npy"

    def stop(done: int, of: int) -> None:
        if done > of // 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        btest(*paths, statistic=features, checkpoint=tmp_path / "run.npz", progress=stop, **OPTIONS)
    for other in (None, more):
        with pytest.raises(ValueError, match="not a checkpoint of this run"):
            btest(*paths, statistic=other, checkpoint=tmp_path / "run.npz", **OPTIONS)
    seen: list[int] = []
    found = btest(
        *paths,
        statistic=features,
        checkpoint=tmp_path / "run.npz",
        progress=lambda done, of: seen.append(done),
        **OPTIONS,
    )
    assert seen[0] > 0
    assert_same(found, btest(*paths, statistic=features, **OPTIONS))


def test_the_identity_of_a_procedure_names_the_statistic() -> None:
    def identity(statistic: Any) -> str:
        return Procedure(Gaussian(1.0), SignFlip(), 0, Setting(), "", statistic=statistic).identity()

    found = [identity(make) for make in (None, MMD, features, more, partial(MMD, plain=True))]
    assert len(set(found)) == len(found)
    assert identity(partial(MMD, plain=True)) == found[-1]


def test_what_is_no_statistic_is_named() -> None:
    one: Any = MMD((Gaussian(1.0),))
    with pytest.raises(TypeError, match="such as MMD, not an object"):
        btest(X, Y, statistic=one)
    with pytest.raises(ValueError, match="'blocks', 'features' or a class such as MMD, got 'mmd'"):
        btest(X, Y, statistic="mmd")
    with pytest.raises(TypeError, match=r"must return a statistic of the kernels, .* got int"):
        btest(X, Y, statistic=len)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"float32.* default statistic"):
        btest(X, Y, statistic=MMD, dtype="float32")
    with pytest.raises(ValueError, match=r"HSIC is a statistic of pairs of rows.* independence_test"):
        btest(X, Y, statistic=lambda kernels: HSIC((KernelPair(kernels[0], kernels[0]),)), **OPTIONS)
    with pytest.raises(ValueError, match="MMD is a statistic already"):
        Stream(MMD((Gaussian(1.0),)), statistic=MMD)


def test_nulls_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"3 members .* null must be SignFlip\(\), got Normal"):
        btest(X, Y, statistic=more, null="normal", **OPTIONS)
    with pytest.raises(ValueError, match="features have no Gram matrix"):
        btest(X, Y, kernel=Gaussian(1.0), statistic=features, null="permutation", seed=3)


def test_members_of_its_own_were_not_selected() -> None:
    found = btest(X, Y, statistic=lambda kernels: MeanDifference(), seed=3)
    assert found.selector is None
    assert not found.candidates
    assert "chosen" not in str(found)
    assert "MMD" not in str(found)


@pytest.mark.parametrize(
    ("broken", "fragment"),
    [
        (MeanDifference(kernels=()), "has no members"),
        (MeanDifference(kernels=("means", "medians")), "has 2 members, its kernels, and returned blocks of 1"),
        (MeanDifference(design=MatchedSamples()), "with paired=True row i of both"),
    ],
)
def test_statistics_that_do_not_keep_the_protocol(broken: MeanDifference, fragment: str) -> None:
    with pytest.raises(ValueError, match=fragment):
        btest(X, Y[:-7], statistic=lambda kernels: broken, kernel=Gaussian(1.0), block_size=30, seed=3)
