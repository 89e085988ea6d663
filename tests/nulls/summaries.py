"""Summaries and Gram matrices for tests of nulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests import Gaussian, Kernel
from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, Gram, summarize_blocks
from btests.summary import Summary
from tests.reference import Array


def two_samples(n_x: int, n_y: int, shift: float = 0.0, seed: int = 0) -> tuple[Array, Array]:
    """Return two normal samples in the plane."""
    rng = np.random.default_rng([seed, n_x, n_y])
    return rng.normal(size=(n_x, 2)), rng.normal(shift, 1.0, size=(n_y, 2))


def summarize(x: Array, y: Array, n_blocks: int, kernel: Kernel | None = None, *, plain: bool = False) -> Summary:
    """Return the summary of all blocks."""
    plan = Plan(len(x), len(y), n_blocks)
    return summarize_blocks(MMD(kernel or Gaussian(1.0), plain=plain), Sample(x), Sample(y), plan)[0]


def gram_of(x: Any, y: Any, kernel: Kernel | None = None) -> Gram:
    """Return the Gram matrix of rows in the order in which they stand."""
    return Gram(kernel or Gaussian(1.0), Sample(np.asarray(x)), Sample(np.asarray(y)))
