"""Units of several rows: whole units swap places, and count equally whatever their sizes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom

import btests
from btests import Aggregate, FisherFamily, Gaussian, Laplacian, MaxRatio, SignFlip, btest
from btests.data.sample import Sample
from btests.data.unit_sample import UnitRows, UnitSample
from btests.kernels import features_of
from btests.kernels.distances import squared_distances
from btests.statistics.unit_blocks import unit_grams


def clustered(n_units: int, rng: np.random.Generator, *, shift: float = 0.0, name: str = "u") -> tuple[Any, Any]:
    """Return rows (n, 2) of units of 1 to 9 rows that share an intercept, in random order, and their labels."""
    labels = rng.permutation(np.repeat(np.arange(n_units), rng.integers(1, 10, n_units)))
    rows = rng.normal(size=(n_units, 2))[labels] + rng.normal(size=(len(labels), 2)) + shift
    return rows, np.array([f"{name}{label}" for label in labels])


def mean_kernel(p: Any, q: Any, bandwidth: float) -> float:
    """Return the average of the Gaussian kernel over the rows of two units."""
    return float(np.mean([np.exp(-np.sum((a - b) ** 2) / (2.0 * bandwidth**2)) for a in p for b in q]))


def mmd(x: list[Any], y: list[Any], bandwidth: float) -> float:
    """Return the unbiased MMD^2 of two lists of units, without partners where there are as many."""
    n, m = len(x), len(y)
    xx = sum(mean_kernel(x[i], x[j], bandwidth) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    yy = sum(mean_kernel(y[i], y[j], bandwidth) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    cross = [mean_kernel(x[i], y[j], bandwidth) for i in range(n) for j in range(m) if n != m or i != j]
    return xx + yy - 2.0 * float(np.mean(cross))


@pytest.mark.parametrize(("n_x", "n_y"), [(6, 6), (6, 8), (7, 5)])
def test_all_swaps_of_units_one_by_one(n_x: int, n_y: int) -> None:
    rng = np.random.default_rng([n_x, n_y])
    (x, of_x), (y, of_y) = clustered(n_x, rng), clustered(n_y, rng, shift=0.5, name="v")
    found = btest(x, y, units=(of_x, of_y), kernel=Gaussian(1.5), shuffle=False, seed=0)
    units_x, units_y = (
        [rows[labels == one] for one in dict.fromkeys(labels.tolist())] for rows, labels in ((x, of_x), (y, of_y))
    )
    observed = mmd(units_x, units_y, 1.5)
    assert found.statistic == pytest.approx(observed, rel=1e-12)
    n = min(n_x, n_y)
    draws = []
    for swaps in product((False, True), repeat=n):
        both = [(q, p) if swap else (p, q) for p, q, swap in zip(units_x, units_y, swaps, strict=False)]
        swapped = [p for p, _ in both] + units_x[n:], [q for _, q in both] + units_y[n:]
        draws.append(mmd(*swapped, 1.5))
    assert found.pvalue == pytest.approx(np.mean(np.array(draws) >= observed - 1e-12), abs=1e-12)


def test_units_of_one_row_are_rows() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(60, 2)) + 0.2
    wanted = btest(x, y, seed=3, statistic="blocks")
    found = btest(x, y, units=(np.arange(80), 100 + np.arange(60)), seed=3)
    assert found.pvalue == wanted.pvalue
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-10)


@pytest.mark.parametrize("n_y", [30, 40])
def test_no_swap_of_partner_units_changes_the_kernels(n_y: int) -> None:
    rng = np.random.default_rng(2)
    (x, of_x), (y, of_y) = clustered(30, rng), clustered(n_y, rng, shift=3.0, name="v")
    options: Any = {"shuffle": False, "seed": 0, "scale": True}
    found = btest(x, y, units=(of_x, of_y), **options)
    units = [
        {one: rows[labels == one] for one in dict.fromkeys(labels.tolist())} for rows, labels in ((x, of_x), (y, of_y))
    ]
    first, second = (list(own) for own in units)
    for a in range(0, 30, 2):  # in one block, unit a of x swaps with unit a of y
        first[a], second[a] = second[a], first[a]
    pooled = units[0] | units[1]
    rows = [np.concatenate([pooled[one] for one in own]) for own in (first, second)]
    labels = [np.repeat(own, [len(pooled[one]) for one in own]) for own in (first, second)]
    swapped = btest(*rows, units=tuple(labels), **options)
    points = np.concatenate([x, y])
    centre = np.eye(len(points)) - 1.0 / len(points)
    for one, other in zip(swapped.candidates, found.candidates, strict=True):
        if features_of(one.kernel) is None:
            assert one.kernel == other.kernel
        else:  # landmarks in another order
            p, q = (centre @ kernel(points, points) @ centre for kernel in (one.kernel, other.kernel))
            assert np.allclose(p, q, rtol=1e-4, atol=1e-6 * np.abs(p).max())
    assert swapped.scale == found.scale
    assert swapped.statistic != found.statistic


def test_level_and_power() -> None:
    """Of 300 trials at 5 %, rejections of the units exceed the bound with probability 1e-6 at most; rows do by far."""
    bound, of_units, of_rows = binom.isf(1e-6, 300, 0.05), 0, 0
    for k in range(300):
        rng = np.random.default_rng([7, k])
        (x, of_x), (y, of_y) = clustered(15, rng), clustered(20, rng, name="v")
        options: Any = {"kernel": "gaussian", "null": SignFlip(199), "seed": k}
        of_units += btest(x, y, units=(of_x, of_y), **options).pvalue <= 0.05
        of_rows += btest(x, y, **options).pvalue <= 0.05
    assert 1 <= of_units <= bound < of_rows
    rng = np.random.default_rng(8)
    (x, of_x), (y, of_y) = clustered(60, rng), clustered(60, rng, shift=0.9, name="v")
    assert btest(x, y, units=(of_x, of_y), seed=1).pvalue <= 0.01


def test_the_same_units_in_both_samples_are_pairs() -> None:
    rng = np.random.default_rng(3)
    subjects = rng.normal(size=(40, 1)) * 3.0
    of_x, of_y = rng.permutation(np.repeat(np.arange(40), 3)), np.repeat(np.arange(40), 2)
    x, y = subjects[of_x] + rng.normal(size=(120, 1)), subjects[of_y] + 0.8 + rng.normal(size=(80, 1))
    found = btest(x, y, units=(of_x, of_y), seed=1)
    assert found.paired
    assert found.pvalue <= 0.01
    assert "40 in both samples (120 and 80 rows)" in str(found)
    assert btest(x, y, units=(of_x, of_y), paired=True, seed=1).pvalue == found.pvalue
    assert btest(x, y, units=(of_x, of_y + 100), seed=1).pvalue > 0.05


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_frames(frame: Any) -> None:
    rng = np.random.default_rng(4)
    (x, of_x), (y, of_y) = clustered(20, rng), clustered(20, rng, name="v")
    frames = [frame({"a": r[:, 0], "who": u, "b": r[:, 1]}) for r, u in ((x, of_x), (y, of_y))]
    found = btest(*frames, units="who", seed=1)
    assert found.pvalue == btest(x, y, units=(of_x, of_y), scale=True, seed=1).pvalue
    assert found.unit_rows == (len(x), len(y))
    assert (found.n_x, found.n_y) == (20, 20)
    assert found.to_dict()["unit_rows"] == [len(x), len(y)]
    assert f"units     20 and 20 ({len(x)} and {len(y)} rows), in one block" in str(found)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "energy"},
        {"kernel": "linear"},
        {"kernel": "gaussian", "block_size": 5},
        {"kernel": Aggregate([Gaussian(1.0), Laplacian(2.0)]), "block_size": 7},
        {"kernel": MaxRatio([Gaussian(1.0), Gaussian(2.0)])},
        {"kernel": btests.Weights(btests.PerCoordinate())},
        {"kernel": lambda p, q: np.exp(-squared_distances(p, q))},
        {"kernel": "gaussian", "null": "normal", "block_size": 2},
    ],
)
def test_kernels_selectors_and_blocks(options: Any) -> None:
    rng = np.random.default_rng(5)
    (x, of_x), (y, of_y) = clustered(60, rng), clustered(70, rng, shift=2.0, name="v")
    assert btest(x, y, units=(of_x, of_y), seed=1, **options).pvalue < 0.05
    units = tuple(np.array([int(one[1:]) + 1000 * (one[0] == "v") for one in own]) for own in (of_x, of_y))
    again = btest(x, y, units=units, seed=1, n_threads=1, **options)
    assert again.pvalue == btest(x, y, units=(of_x.tolist(), of_y.astype(object)), seed=1, **options).pvalue


def test_mistakes_are_named() -> None:
    rng = np.random.default_rng(6)
    (x, of_x), (y, of_y) = clustered(8, rng), clustered(8, rng, name="v")
    table = pd.DataFrame({"a": x[:, 0], "who": of_x})
    for units, message in [
        ((of_x[:-1], of_y), f"units of x are {len(x) - 1} labels for {len(x)} rows"),
        ((of_x, np.zeros(len(y))), "y has 1 unit; a test needs at least 2"),
        ((np.where(of_x == "u0", of_y[0], of_x), of_y), f"unit '{of_y[0]}' is in both samples"),
        ((np.where(of_x == "u0", None, of_x), of_y), "missing label in row"),
        ((np.full(len(x), np.nan), of_y), "missing label in row 0"),
        ((np.zeros((len(x), 2)), of_y), "one label for each row"),
    ]:
        with pytest.raises(ValueError, match=message):
            btest(x, y, units=units)
    with pytest.raises(ValueError, match="names the column 'whom', and x has none of that name"):
        btest(table, table, units="whom")
    for wrong in ("who", of_x, 3):
        with pytest.raises(TypeError, match="two arrays"):
            btest(x, y, units=wrong)
    with pytest.raises(ValueError, match="only in x; with paired=True"):
        btest(x, y, units=(of_x, of_y), paired=True)
    with pytest.raises(ValueError, match=r"null=SignFlip\(\)"):
        btest(x, y, units=(of_x, of_y), null="permutation")
    with pytest.raises(ValueError, match="in memory"):
        btest("x.npy", y, units=(of_x, of_y))
    with pytest.raises(ValueError, match="in memory"):
        btest(x, y, units=(of_x, of_y), workers=2)
    with pytest.raises(ValueError, match="block_size"):
        btest(x, y, units=(of_x, of_y), block_size=9)


def test_large_units_are_thinned_to_the_budget() -> None:
    rng = np.random.default_rng(9)
    sizes = rng.integers(1, 400, 60)
    units = np.repeat(np.arange(60), sizes)
    x, y = (rng.normal(size=60)[units] + rng.normal(size=len(units)) for _ in range(2))
    found = btest(x, y, units=(units, 100 + units), budget=0.01, seed=1)
    assert "rows each were tested, evenly spaced" in found.note
    assert found.unit_rows == (len(x), len(y))
    given = btest(x, y, units=(units, 100 + units), kernel=Gaussian(1.0), block_size=10, seed=1)
    assert given.note == ""
    edges = np.append(0, np.cumsum(sizes))
    weights = rng.random(len(x)) * (units > 5)
    sample = UnitSample(x[:, None], weights, edges, True).thinned(8)
    assert np.diff(sample.edges).tolist() == np.minimum(sizes, 8).tolist()
    for unit in range(60):
        before, after = slice(*edges[unit : unit + 2]), slice(*sample.edges[unit : unit + 2])
        assert set(sample.rows[after, 0]) <= set(x[before])
        assert sample.weights[after].sum() == pytest.approx(weights[before].sum())


def test_features_of_units_are_averages_over_rows() -> None:
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(30, 2)), rng.random(30)
    (kernel,) = FisherFamily([Gaussian(1.0)], (3.0,), n_landmarks=8).kernels(Sample(rows[:15]), Sample(rows[15:]))
    starts = np.array([0, 1, 5, 6, 20])
    units = UnitRows(rows, weights, starts)
    (found,) = unit_grams([kernel], units, np.zeros(2))
    gram = weights[:, None] * weights * kernel(rows, rows)
    expected = np.add.reduceat(np.add.reduceat(gram, starts, axis=0), starts, axis=1)
    assert np.allclose(found, expected)


def test_units_have_fisher_discriminants_beside_the_mmd() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    units = np.repeat(np.arange(20), 3)
    found = btest(x, y, units=(units, units + 20), seed=0)
    assert sum(repr(candidate.kernel).startswith("Fisher") for candidate in found.candidates) > 0
