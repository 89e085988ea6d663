"""Units of measurement: scaled columns, swaps, files, clusters and warnings."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import btests
from btests import BTestWarning, ScaleWarning, btest
from btests.data.sample import Sample
from btests.plan import Plan
from btests.scaling import pooled_scales
from tests.same import assert_same

UNITS = np.array([1e-3, 1.0, 5e4])


def frames(n_x: int = 300, n_y: int = 300, shift: float = 0.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two frames of three columns in different units, of which the second one moves."""
    rng = np.random.default_rng([n_x, n_y])
    x, y = rng.normal(size=(n_x, 3)), rng.normal(size=(n_y, 3)) + np.array([0.0, shift, 0.0])
    names = ["thickness", "length", "mass"]
    return pd.DataFrame(x * UNITS, columns=names), pd.DataFrame(y * UNITS, columns=names)


def test_units_of_frames_do_not_matter() -> None:
    x, y = frames(shift=0.6)
    found = btest(x, y, seed=1)
    assert found.pvalue == 0.0005
    # Powers of two, so that the scaled columns are the same to the last bit.
    other = btest(x * [2.0**-9, 2.0**5, 2.0**20], y * [2.0**-9, 2.0**5, 2.0**20], seed=1)
    assert (found.statistic, found.pvalue, found.kernel) == (other.statistic, other.pvalue, other.kernel)
    assert found.scale is not None
    np.testing.assert_allclose(found.scale / UNITS, 1.0, atol=0.3)
    assert "scaled" in str(found)
    assert found.to_dict()["scale"] == list(found.scale)


def test_arrays_stay_as_they_are_and_a_warning_names_the_columns() -> None:
    x, y = frames(shift=0.6)
    with pytest.warns(ScaleWarning, match="column 0, column 1: .*column 2, .*scale=True") as caught:
        plain = btest(x.to_numpy(), y.to_numpy(), seed=1)
    assert len(caught) == 1
    assert plain.pvalue > 0.01
    assert plain.scale is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(btest(x.to_numpy(), y.to_numpy(), scale=False, seed=1), plain)
        assert_same(btest(x, y, scale=False, seed=1), plain)
        for scale in (True, "robust"):
            assert_same(btest(x.to_numpy(), y.to_numpy(), scale=scale, seed=1), btest(x, y, seed=1))


def test_no_warning_for_constant_or_comparable_columns() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 4)) * [1.0, 20.0, 0.0, 3.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", BTestWarning)
        btest(x, y, seed=1)


@pytest.mark.parametrize("scale", [0, 1, "yes", "std", 2.5, [1.0]])
def test_bad_scales(scale: Any) -> None:
    x, y = frames()
    with pytest.raises(ValueError, match="scale must be True"):
        btest(x, y, scale=scale)


@pytest.mark.parametrize("lengths", [(200, 200), (230, 70), (40, 400)], ids=str)
def test_swapping_partners_changes_no_scale(lengths: tuple[int, int]) -> None:
    rng = np.random.default_rng(lengths)
    x, y = (rng.standard_cauchy(size=(n, 2)) for n in lengths)
    scales = pooled_scales(Sample(x), Sample(y))
    of_x, of_y = Plan.of_size(*lengths, 10).partners()
    for _ in range(5):
        swap = rng.random(len(of_x)) < 0.5
        p, q = x.copy(), y.copy()
        p[of_x[swap]], q[of_y[swap]] = y[of_y[swap]], x[of_x[swap]]
        np.testing.assert_array_equal(pooled_scales(Sample(p), Sample(q)), scales)


def test_large_samples_are_scaled_by_some_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20_000, 2)), rng.normal(size=(9_000, 2))
    np.testing.assert_allclose(pooled_scales(Sample(x), Sample(y)), 1.0, atol=0.05)


@pytest.mark.parametrize("block_size", [None, 20])
@pytest.mark.parametrize("lengths", [(300, 300), (320, 150)], ids=str)
def test_files_are_scaled_like_frames(tmp_path: Path, lengths: tuple[int, int], block_size: int | None) -> None:
    x, y = frames(*lengths, shift=0.3)
    paths = [str(tmp_path / name) for name in ("x.parquet", "y.parquet")]
    for path, frame in zip(paths, (x, y), strict=True):
        frame.to_parquet(path)
    wanted = btest(x, y, block_size=block_size, seed=1)
    found = btest(*paths, block_size=block_size, seed=1)
    assert_same(found, wanted)
    assert found.scale == wanted.scale
    assert_same(
        btest(*paths, block_size=block_size, scale=False, seed=1),
        btest(x, y, block_size=block_size, scale=False, seed=1),
    )


def test_workers_scale_too(tmp_path: Path) -> None:
    x, y = frames(400, 400, shift=0.3)
    assert_same(btest(x, y, block_size=25, seed=1, workers=1), btest(x, y, block_size=25, seed=1))


@pytest.mark.parametrize("spreads", [(1.0, 1e160), (1e-200, 1.0), (1e-3, 1e200)], ids=str)
def test_huge_and_tiny_columns_are_named_too(spreads: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2)) * spreads
    with pytest.warns(ScaleWarning, match="column 0: "):
        btest(x, y, seed=1)


def test_kernels_of_single_columns_and_of_users_are_not_warned_of() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2)) * [1.0, 1e5]
    own: Any = lambda a, b: np.exp(-np.abs(a[:, None, 0] - b[None, :, 0]))  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error", BTestWarning)
        for kernel in (btests.OnColumns(btests.Gaussian(1.0), [0]), btests.Aggregate(btests.PerCoordinate()), own):
            btest(x, y, kernel=kernel, seed=1)


def test_single_columns_and_objects_are_not_scaled() -> None:
    rng = np.random.default_rng(0)
    x, y = pd.DataFrame({"v": 50.0 * rng.normal(size=100)}), pd.DataFrame({"v": 50.0 * rng.normal(size=100)})
    kernel = btests.Gaussian(2.0)
    assert_same(btest(x, y, kernel=kernel, seed=1), btest(x["v"], y["v"], kernel=kernel, seed=1))
    words = ["a", "b", "ab", "c"]
    with pytest.raises(ValueError, match="rows are objects"):
        btest(words, words, kernel=btests.Pairwise(lambda a, b: float(a == b)), scale=True)


def test_batches_are_not_scaled_and_say_so() -> None:
    x, y = frames(600, 600)
    for block_size in (50, 300):
        stream = btests.Stream(block_size=block_size, seed=1)
        with pytest.warns(ScaleWarning, match="'thickness'"):
            _fed(stream, x, y)
    with pytest.raises(ValueError, match="scale needs all rows"):
        btest(iter([x]), iter([y]), scale=True)


def _fed(stream: btests.Stream, x: Any, y: Any) -> btests.TestResult:
    """Return the result after one batch, which is when kernels are known at the latest."""
    stream.update(x, y)
    return stream.result()
