"""The smallest p-value of every null distribution is one that it gives, and it gives no smaller one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import btests

_TINY = sys.float_info.min
_NULLS: list[tuple[Any, float]] = [
    (btests.SignFlip(99), 1 / 100),
    (btests.SignFlip(99, ties="midp"), 0.5 / 100),
    (btests.Permutation(99), 1 / 100),
    (btests.Spectrum(99), 1 / 100),
    (btests.Normal(), _TINY),
    (btests.Bootstrap(99), _TINY),
    (btests.ThirdCumulant(), _TINY),
    (btests.CrossMMD(), _TINY),
    (btests.Gamma(), _TINY),
    (btests.Pearson(), _TINY),
    (btests.TU(), _TINY),
]


def _samples(shift: float) -> tuple[Any, Any]:
    x, y = np.random.default_rng(0).normal(size=(2, 400, 1))
    return x, y + shift


@pytest.mark.parametrize(("null", "least"), _NULLS, ids=repr)
@pytest.mark.parametrize("shift", [0.0, 0.3, 50.0])
def test_no_pvalue_is_below_the_smallest(null: Any, least: float, shift: float) -> None:
    size = None if getattr(null, "wants_gram", False) else 10
    found = btests.btest(*_samples(shift), kernel=btests.Gaussian(1.0), null=null, block_size=size, seed=0)
    assert found.smallest_pvalue == pytest.approx(least)
    assert found.pvalue >= found.smallest_pvalue
    if shift == 50.0 and least != _TINY:
        assert found.pvalue == found.smallest_pvalue


def test_the_smallest_of_all_draws() -> None:
    """Of 4 and 4 rows there are 70 relabellings, and those of x and of y exchanged have the same statistic."""
    x, y = np.arange(4.0), np.arange(4.0) + 1000.0
    found = btests.btest(x, y, kernel=btests.Gaussian(100.0), null=btests.Permutation(999), seed=0)
    assert found.pvalue == found.smallest_pvalue == 2 / 70


@pytest.mark.parametrize("correction", ["max", "soft", "rank", "pvalue"])
def test_aggregates(correction: Any) -> None:
    kernel = btests.Aggregate([btests.Gaussian(1.0), btests.Laplacian(1.0)], correction=correction)
    found = btests.btest(*_samples(50.0), kernel=kernel, null=btests.SignFlip(99), block_size=20, seed=0)
    assert found.pvalue == found.smallest_pvalue >= 1 / 100


@pytest.mark.parametrize(
    ("null", "least"),
    [("permutation", 1.5 / 2000), ("spectrum", 1.5 / 2000), ("sign-flip", 1.5 / 2000), ("normal", 3 * _TINY)],
)
def test_comparisons(null: str, least: float) -> None:
    """One column: its test has two thirds of the weight, and the joint test a third."""
    x, y = _samples(0.0)
    pytest.importorskip("pyarrow")
    found = btests.compare({"u": x[:, 0]}, {"u": y[:, 0]}, null=null, seed=0)
    assert found.to_dict()["verdict"]["smallest_pvalue"] == pytest.approx(least)
    far = btests.compare({"u": x[:, 0]}, {"u": y[:, 0] + 50.0}, null=null, seed=0)
    assert far.pvalue >= far.to_dict()["verdict"]["smallest_pvalue"]
