"""HSIC by random Fourier features: values, swaps and p-values against plain twins, the same bits for any chunks."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from btests import Energy, FeatureHSIC, Gaussian, KernelPair, Laplacian, SignFlip, independence_test
from btests.data.sample import Sample
from btests.execution import out_of_core
from btests.pipeline import run_test
from btests.plan import Array
from btests.statistics import in_memory, plan_for, summarize_all
from btests.statistics.feature_hsic import product_bits

PAIRS = KernelPair(Gaussian(1.0), Gaussian(2.0)), KernelPair(Gaussian(1.0), Laplacian(2.0))


def features(statistic: FeatureHSIC, pair: KernelPair, x: Array, y: Array) -> tuple[Array, Array]:
    assert statistic.sides is not None
    found, bits = [], product_bits(len(x))
    for side, kernel, rows in zip(statistic.sides, (pair.x, pair.y), (x, y), strict=True):
        columns, factors = side.columns(kernel)
        found.append(np.ldexp(side.values(rows, bits)[:, columns], -bits) * factors)
    return found[0], found[1]


def unbiased(phi: Array, psi: Array) -> float:
    """Return the HSIC of Song et al. (2012) of features (n, f) and (n, h)."""
    n, (k, m) = len(phi), (values @ values.T for values in (phi, psi))
    for gram in (k, m):
        np.fill_diagonal(gram, 0.0)
    margins = k.sum(axis=1) @ m.sum(axis=1)
    return float((np.sum(k * m) + k.sum() * m.sum() / ((n - 1) * (n - 2)) - 2.0 * margins / (n - 2)) / (n * (n - 3)))


def swapped(order: Any, cuts: list[int], q: int, elements: Any) -> Any:
    """Return positions after member a of each tuple of group u has the y of member ``a XOR elements[u]``."""
    found = np.array(order)
    for first, last in pairwise(cuts):
        for t in range((last - first) // q):
            own = first + t * q + np.arange(q)
            found[own] = order[first + t * q + (np.arange(q) ^ elements[t % len(elements)])]
    return found


@pytest.mark.parametrize(("n", "size"), [(101, 101), (101, 30), (30, 30), (14, 14), (5, 5)])
def test_swaps_of_moments_are_swaps_of_rows(n: int, size: int) -> None:
    rng = np.random.default_rng(n + size)
    rows = rng.normal(size=(n, 2))
    order = rng.permutation(n)
    x, y = Sample(rows, order), Sample(rows[:, :1] ** 2 + rng.normal(size=(n, 1)), order)
    statistic = FeatureHSIC(PAIRS, 8).prepare(x, y)
    plan = plan_for(statistic, n, n, size)
    cuts = [plan.start(block)[0] for block in range(plan.n_blocks + 1)]
    q, g = statistic.symmetry.tuple_size(n), statistic.symmetry.n_groups(n)
    for pair, found in zip(PAIRS, summarize_all(statistic, x, y, plan), strict=True):
        phi, psi = features(statistic, pair, x.first(n), y.first(n))
        # Rounded cosines and sines have squares that are 1 together only about.
        assert found.mean() == pytest.approx(unbiased(phi, psi), abs=1e-7)
        for _ in range(3):
            elements = rng.integers(0, q, size=g)
            signs = [(-1.0) ** (alpha & int(c)).bit_count() for c in elements for alpha in range(1, q)]
            w = np.array([1.0, *signs])
            value = found.mean() + w @ found.moments[0] @ w - found.moments[0].sum()
            assert value == pytest.approx(unbiased(phi, psi[swapped(np.arange(n), cuts, q, elements)]), abs=1e-7)


def test_the_value_is_near_that_of_the_kernels() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = 0.5 * x + rng.normal(size=2000)
    options: dict[str, Any] = {"kernel_x": Gaussian(1.0), "kernel_y": Gaussian(1.0), "seed": 1}
    by_features, by_blocks = (independence_test(x, y, method=one, **options) for one in ("features", "blocks"))
    assert by_features.statistic == pytest.approx(by_blocks.statistic, rel=0.4)
    assert by_features.pvalue == by_blocks.pvalue == 1 / 2000
    assert (by_features.block_rule, by_features.n_blocks, by_features.n_frequencies) == ("features", 1, 64)
    assert "64 random features" in str(by_features)


def test_pvalues_of_all_swaps_of_tiny_samples_are_uniform() -> None:
    rng = np.random.default_rng(2)
    rows, others = rng.normal(size=(8, 1)), rng.normal(size=(8, 2))
    found = []
    # Four tuples of two rows: every swap of y within tuples, each as data.
    for elements in product((0, 1), repeat=4):
        order = swapped(np.arange(8), [0, 8], 2, np.array(elements))
        both = Sample(rows, np.arange(8)), Sample(others[order], np.arange(8))
        statistic = FeatureHSIC(PAIRS, 8)
        found.append(run_test(statistic, both, plan_for(statistic, 8, 8, 8), in_memory, SignFlip(), seed=0).pvalue)
    assert sorted(found) == pytest.approx(np.arange(1, 17) / 16, abs=1e-12)


def test_pvalues_over_all_permutations_have_the_level() -> None:
    rows, others = np.random.default_rng(3).normal(size=(2, 5, 1))
    found = []
    for order in permutations(range(5)):
        both = Sample(rows, np.arange(5)), Sample(others[list(order)], np.arange(5))
        statistic = FeatureHSIC(PAIRS[:1], 8)
        found.append(run_test(statistic, both, plan_for(statistic, 5, 5, 5), in_memory, SignFlip(), seed=0).pvalue)
    for level in (0.25, 0.5, 0.75, 1.0):  # two tuples have four swaps
        assert np.mean(np.array(found) <= level + 1e-12) <= level + 1e-12


def test_files_give_the_bits_of_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    x = np.sort(rng.normal(size=(900, 2)), axis=0)
    y = np.abs(x[:, :1]) * 0.2 + rng.normal(size=(900, 1))
    monkeypatch.setattr("btests.independence_pipeline.CHUNK_ROWS", 200)
    wanted = independence_test(x, y, method="features", seed=3)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 20_000)
    for name, rows in (("x", x), ("y", y)):
        np.save(tmp_path / f"{name}.npy", rows)
    found = independence_test(tmp_path / "x.npy", tmp_path / "y.npy", method="features", seed=3)
    assert (found.statistic, found.pvalue, found.kernel) == (wanted.statistic, wanted.pvalue, wanted.kernel)


def test_sums_over_chunks_are_exact() -> None:
    rng = np.random.default_rng(9)
    x, y = Sample(rng.normal(size=(720, 2)), np.arange(720)), Sample(rng.normal(size=(720, 1)), np.arange(720))
    statistic = FeatureHSIC(PAIRS, 8).prepare(x, y)
    # Chunks of whole rounds of groups have the same tuples.
    one, many = (summarize_all(statistic, x, y, plan_for(statistic, 720, 720, size)) for size in (720, 144))
    for a, b in zip(one, many, strict=True):
        assert np.array_equal(a.moments, b.moments)
        assert a.mean() == b.mean()


def test_level() -> None:
    rng = np.random.default_rng(10)
    rejected = 0
    for k in range(120):
        x, y = rng.exponential(size=(200, 1)), rng.standard_t(3, size=(200, 1))
        options: dict[str, Any] = {"null": SignFlip(99), "budget": 0.01}
        rejected += independence_test(x, y, method="features", seed=k, **options).pvalue <= 0.05
    # 21 or more of 120 at .05: a probability of 2e-7.
    assert rejected < 21


def test_the_default_takes_features_where_one_block_is_too_much() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 400))
    assert independence_test(x, y, seed=0).block_rule == "one block"
    assert independence_test(x, y, seed=0, budget=1e-4).block_rule == "features"
    assert independence_test(x, y, seed=0, budget=1e-4, method="blocks").block_rule == "budget"
    assert independence_test(x, y, seed=0, budget=1e-4, statistic="dcov").block_rule == "budget"
    assert independence_test(x, y, seed=0, null="pearson", kernel_x="gaussian", block_size=20).block_rule == "given"


def test_bad_input() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"method": "feature"}, "method must be 'blocks', 'features' or None"),
        ({"method": "features", "null": "pearson"}, "takes null='swap'"),
        ({"method": "features", "block_size": 10}, "no blocks"),
        ({"method": "features", "statistic": "dcov"}, "Energy.* has no random Fourier features"),
        ({"method": "features", "kernel_x": Energy()}, "Energy.* has no random Fourier features"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            independence_test(x, y, seed=0, **options)
    constant = independence_test(x, np.ones(100), kernel_y=Gaussian(1.0), method="features", seed=0)
    assert constant.pvalue == 1.0
    assert "constant" in constant.note
    assert 0.0 < independence_test(x[:8], y[:8], method="features", seed=0).pvalue <= 1.0
