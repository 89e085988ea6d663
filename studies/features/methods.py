"""The tests of the study: features with several numbers of frequencies and discriminants, blocks, and plain tests.

Every function takes samples (n, d) and (m, d) and a seed, and returns a p-value; ``ctt`` 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from btests import (
    Aggregate,
    FeatureMMD,
    FisherFamily,
    MedianFamily,
    SignFlip,
    btest,
    default_family,
    fisher_family,
)
from btests.data.sample import Sample
from btests.pipeline import run_test
from btests.plan import Array
from btests.statistics import in_memory, plan_for
from btests.statistics.feature_mmd import features_chunk
from studies.compression import ctt, median_distance
from studies.features.permutations import permuted_features

Test = Callable[[Array, Array, int], float]

#: Discriminants beside the kernels of the default, by the ending of a name.
DISCRIMINANTS: dict[str, FisherFamily | None] = {
    "kernels": None,
    "+ default": fisher_family(),
    "+ wider range": FisherFamily(MedianFamily((2.0, 0.5, 0.125)), ((8.0, 32.0), (32.0,), (64.0,))),
}

_DRAWS = 499
_GROUPS = 64

# Seconds that afford no more than the fewest frequencies.
_SMALL_BUDGET = 1e-6


def by_features(x: Array, y: Array, seed: int, n_frequencies: int, discriminants: FisherFamily | None) -> float:
    """Return the p-value by so many frequencies of the kernels of the default, and discriminants beside them."""
    samples = _sample(x, seed), _sample(y, seed + 1)
    kernels: tuple[Any, ...] = default_family().kernels(*samples)
    if discriminants is not None:
        kernels += discriminants.discriminants(*samples)
    statistic = FeatureMMD(kernels, n_frequencies)
    plan = plan_for(statistic, len(x), len(y), features_chunk(*samples))
    return run_test(statistic, samples, plan, in_memory, SignFlip(), seed=seed, n_threads=1).pvalue


def default(x: Array, y: Array, seed: int, statistic: str = "features") -> float:
    """Return the p-value of ``btest`` with a statistic."""
    return btest(x, y, statistic=statistic, seed=seed, n_threads=1).pvalue


def discriminants_of_one_block(x: Array, y: Array, seed: int) -> float:
    """Return the p-value by features of the kernels of the default, and the discriminants that it has in one block."""
    kernel = Aggregate(default_family(), one_block=replace(fisher_family(), by_features=None), margins=True)
    return btest(x, y, kernel=kernel, statistic="features", seed=seed, n_threads=1).pvalue


def few_frequencies(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of ``btest`` with 64 frequencies, the fewest: levels do not depend on their number."""
    return btest(x, y, statistic="features", budget=_SMALL_BUDGET, seed=seed, n_threads=1).pvalue


def plain_features(x: Array, y: Array, seed: int, n_frequencies: int) -> float:
    """Return the p-value of random features of one Gaussian of median bandwidth, in numpy; swaps of 64 groups."""
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(x), rng.permutation(y)
    width = median_distance(pdist(np.concatenate([x[:100], y[:100]])))
    frequencies = rng.standard_normal((x.shape[1], n_frequencies)) * (math.sqrt(2.0) / width)
    size = len(x) // _GROUPS
    sums = [
        np.array([np.exp(1j * (rows[k * size : (k + 1) * size] @ frequencies)).sum(0) for k in range(_GROUPS)])
        for rows in (x, y)
    ]
    difference = sums[0] - sums[1]
    products = (difference @ difference.conj().T).real
    np.fill_diagonal(products, 0.0)
    signs = rng.choice([-1.0, 1.0], (1 + _DRAWS, _GROUPS))
    signs[0] = 1.0
    values = np.sum((signs @ products) * signs, axis=1)
    return float(np.mean(values >= values[0] * (1.0 - 1e-12)))


def all_permutations(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of exact values of the kernels of the default, by permutations of all rows.

    The largest MMD^2 over its standard deviation counts, as in the default. Kernels are made from pooled rows at
    random, which no permutation changes.
    """
    rng = np.random.default_rng(seed)
    pooled = np.concatenate([x, y])
    order = rng.permutation(len(pooled))
    half = len(pooled) // 2
    halves = Sample(pooled, order[:half]), Sample(pooled, order[half : 2 * half])
    kernels = default_family().kernels(*halves) + fisher_family().discriminants(*halves)
    prepared = FeatureMMD(kernels, 256).prepare(*halves).kernels
    labels = np.argsort(rng.random((1 + _DRAWS, len(pooled))), axis=1)[:, : len(y)]
    labels[0] = len(x) + np.arange(len(y))
    of_y = np.zeros((len(labels), len(pooled)))
    np.put_along_axis(of_y, labels, 1.0, axis=1)
    largest = np.full(len(labels), -math.inf)
    for kernel in prepared:
        values = _mmd(np.asarray(kernel(pooled, pooled)), of_y)
        spread = float(np.sqrt(np.mean(values**2)))
        if spread > 0.0:
            largest = np.maximum(largest, values / spread)
    return float(np.mean(largest >= largest[0] - 1e-9))


def _mmd(gram: Array, of_y: Array) -> Array:
    """Return the unbiased MMD^2 for labels (r, n) of the rows of y: (r,)."""
    gram = gram - np.diag(np.diag(gram))
    m = float(of_y[0].sum())
    n = len(gram) - m
    with_y = of_y @ gram
    yy = np.sum(with_y * of_y, axis=1)
    xy = with_y.sum(axis=1) - yy
    xx = gram.sum() - yy - 2.0 * xy
    return np.asarray(xx / (n * (n - 1.0)) + yy / (m * (m - 1.0)) - 2.0 * xy / (n * m))


def _sample(rows: Array, seed: int) -> Sample:
    return Sample(rows, np.random.default_rng([seed, len(rows)]).permutation(len(rows)))


def _ctt(x: Array, y: Array, seed: int) -> float:
    return 0.0 if ctt(x, y, seed, 2) else 1.0


def _grid(frequencies: tuple[int, ...], endings: tuple[str, ...]) -> dict[str, Test]:
    return {
        f"{n} {ending}": partial(by_features, n_frequencies=n, discriminants=DISCRIMINANTS[ending])
        for ending in endings
        for n in frequencies
    }


_OWN: dict[str, Test] = {"default": default, "blocks": partial(default, statistic="blocks")}
_PLAIN: dict[str, Test] = {
    "numpy, 10": partial(plain_features, n_frequencies=10),
    "numpy, 50": partial(plain_features, n_frequencies=50),
}

#: Tests of samples of one length by the number of rows, in the order of the tables.
EQUAL: dict[int, dict[str, Test]] = {
    16_384: _OWN
    | _grid((32, 64, 128, 256), ("kernels", "+ default"))
    | _grid((64, 128, 256), ("+ wider range",))
    | _PLAIN
    | {"CTT": _ctt},
    65_536: _OWN | _grid((64, 128), ("+ default", "+ wider range")) | _PLAIN | {"CTT": _ctt},
}

#: Tests of many rows a side.
LARGE: dict[str, Test] = {"default": default, **_PLAIN, "CTT": _ctt}

#: Tests of samples of different lengths.
UNEQUAL: dict[str, Test] = {
    **_OWN,
    "all permutations": permuted_features,
    "all permutations, exact values": all_permutations,
}

#: Tests that differ in their discriminants.
CHOICES: dict[str, Test] = {"default": default, "discriminants of one block": discriminants_of_one_block}

#: Tests that take most of the time, and are run in the first trials alone.
SLOW = ("blocks", "CTT", "all permutations, exact values")


def runs(name: str) -> bool:
    """Return whether the package that a test needs is installed."""
    return name != "CTT" or find_spec("goodpoints") is not None
