"""The same subjects twice: only the two rows of a subject swap places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import btests
from btests import Gaussian, Permutation, Stream, btest


def measured_twice(n: int, shift: float, trial: int = 0) -> tuple[Any, Any]:
    """Return two measurements of subjects that differ much from one another."""
    rng = np.random.default_rng([n, trial])
    subject = rng.normal(size=(n, 1)) * [3.0, 3.0]
    return subject + rng.normal(size=(n, 2)), subject + shift + rng.normal(size=(n, 2))


def test_pairs_find_what_the_differences_of_subjects_hide() -> None:
    x, y = measured_twice(300, 0.5)
    assert btest(x, y, kernel="energy", seed=1).pvalue > 0.05
    found = btest(x, y, kernel="energy", paired=True, seed=1)
    assert found.pvalue == 0.0005
    assert "300 pairs, in one block" in str(found)
    assert found.to_dict()["paired"] is True


@pytest.mark.parametrize("options", [{}, {"block_size": 10, "kernel": "gaussian"}])
def test_level(options: dict[str, Any]) -> None:
    """Of 400 trials, rejections at 5 % exceed the bound with probability 1e-6 at most."""
    rejected = sum(
        btest(*measured_twice(50, 0.0, k), paired=True, seed=k, **options).pvalue <= 0.05 for k in range(400)
    )
    assert 1 <= rejected <= binom.isf(1e-6, 400, 0.05)


def test_rows_stay_side_by_side_in_files_and_streams(tmp_path: Path) -> None:
    x, y = measured_twice(300, 0.3)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    wanted = btest(x, y, kernel=Gaussian(3.0), paired=True, block_size=20, seed=2)
    found = btest(tmp_path / "x.npy", tmp_path / "y.npy", kernel=Gaussian(3.0), paired=True, block_size=20, seed=2)
    assert (found.statistic, found.pvalue) == (wanted.statistic, wanted.pvalue)
    stream = Stream(Gaussian(3.0), 20, seed=2)
    stream.update(x, y)
    in_order = btest(x, y, kernel=Gaussian(3.0), paired=True, block_size=20, shuffle=False, seed=2)
    assert stream.result().pvalue == in_order.pvalue


def test_what_does_not_go_with_pairs_is_refused() -> None:
    x, y = measured_twice(30, 0.0)
    with pytest.raises(ValueError, match="row i of both is of one subject"):
        btest(x, y[:20], paired=True)
    with pytest.raises(ValueError, match="breaks pairs"):
        btest(x, y, paired=True, null=Permutation())
    with pytest.raises(ValueError, match="Stream takes batches"):
        btest(iter([x]), iter([y]), paired=True)
    with pytest.raises(TypeError, match="paired must be True or False"):
        btest(x, y, paired="yes")  # type: ignore[arg-type]


def test_energy_test_is_the_test_with_the_energy_kernel() -> None:
    x, y = measured_twice(100, 0.5)
    assert btests.energy_test(x, y, seed=1) == btest(x, y, kernel="energy", seed=1)
    assert btests.energy_test(x, y, exponent=0.5, seed=1).kernel == btests.Energy(0.5)
    with pytest.raises(TypeError, match="energy_test has the kernel"):
        btests.energy_test(x, y, kernel="gaussian")
