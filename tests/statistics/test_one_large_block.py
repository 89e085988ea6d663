"""One large block without compiled loops: the same by tiles, and in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from btests import Gaussian, Polynomial, btest
from btests.block_range import BlockRange
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize_blocks
from btests.statistics.numpy_backend import summarize_plain


@pytest.mark.parametrize("lengths", [(1100, 1100), (1500, 700)], ids=str)
def test_tiles_give_what_whole_matrices_give(lengths: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    x, y = (Sample(rng.normal(size=(n, 3)), rng.permutation(n)) for n in lengths)
    plan = Plan(*lengths, 1)
    kernel = Gaussian(2.0)
    found = summarize_blocks(MMD((kernel,), plain=True), x, y, plan)[0]
    values, moments = summarize_plain(kernel, x, y, BlockRange.of(plan))
    np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.moments, moments, rtol=1e-9, atol=1e-13)


def test_memory_of_one_block_does_not_grow_with_its_square() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 2500, 2))
    tracemalloc.start()
    result = btest(x, y, kernel=Polynomial(2), seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result.n_blocks, result.engine) == (1, "numpy")
    assert peak < 30e6  # three matrices would take 150 MB
