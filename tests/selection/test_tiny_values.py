"""Kernels that see next to nothing: the compiled loops and plain numpy name the same kernel, with the same p-value.

Families are computed as k - 1 where loops are compiled, so that values of less than 1e-16 are lost; numpy has them down
to 1e-307. Neither may show: see ``grains`` in ``statistics/family.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from btests import (
    Aggregate,
    CrossValidation,
    Gaussian,
    Laplacian,
    MaxMMD,
    MaxRatio,
    SignFlip,
    Stream,
    TestResult,
    Weights,
    _core,
    btest,
)
from btests.data.sample import Sample
from btests.kernels import Kernel
from btests.plan import Plan
from btests.selection import bandwidths
from btests.statistics import MMD, summarize, summarize_all
from btests.statistics.mmd import abs_errors
from btests.summary import Summary
from tests.reference import Array

pytestmark = [
    pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built"),
    pytest.mark.filterwarnings("ignore::btests.SelectionWarning"),
]

FAMILIES: dict[str, tuple[Kernel, ...]] = {
    "the paper's": bandwidths(),
    "finer": tuple(Gaussian(2.0 ** (p / 2)) for p in range(-30, 21)),
    "no rule": tuple(Gaussian(3.0**p) for p in range(-9, 7)),
    "Laplacian": bandwidths(make=Laplacian),
    "mixed": (*bandwidths(-8, 10), *bandwidths(-8, 8, Laplacian), 0.5 * Gaussian(1.0) + Laplacian(4.0)),
}
CHOOSERS: dict[str, Callable[[tuple[Kernel, ...]], object]] = {
    "MaxRatio": MaxRatio,
    "MaxMMD": MaxMMD,
    "Weights": Weights,
    "CrossValidation": CrossValidation,
    "Aggregate": Aggregate,
    "rank": lambda family: Aggregate(family, correction="rank"),
}


@dataclass(frozen=True)
class Case:
    """Rows so far apart that narrow kernels see duplicates, or nothing but values that are next to 0."""

    seed: int
    n_x: int
    n_y: int
    d: int
    scale: float
    n_duplicates: int
    block_size: int | None

    def samples(self) -> tuple[Array, Array]:
        """Return two samples of one distribution."""
        rng = np.random.default_rng(self.seed)
        x, y = rng.normal(size=(self.n_x, self.d)), rng.normal(size=(self.n_y, self.d))
        for _ in range(self.n_duplicates):
            for rows in (x, y):
                i, j = rng.integers(len(rows), size=2)
                rows[i] = rows[j]
            y[rng.integers(len(y))] = x[rng.integers(len(x))]
        return self.scale * x, self.scale * y


CASES = [
    Case(0, 48, 48, 2, 1e3, 0, None),
    Case(1, 48, 48, 5, 1e4, 0, 4),
    Case(2, 60, 60, 2, 3e4, 3, 2),
    Case(3, 48, 55, 3, 1e6, 2, None),
    Case(4, 60, 60, 1, 1e6, 0, 4),
    Case(5, 90, 90, 20, 300.0, 0, 45),
    Case(6, 90, 90, 2, 1e5, 4, 40),
]


def both(case: Case, kernel: object) -> tuple[TestResult, TestResult]:
    """Return the result by the compiled loops and by numpy."""
    x, y = case.samples()

    def run() -> TestResult:
        return btest(x, y, kernel=kernel, null=SignFlip(499), block_size=case.block_size, seed=case.seed)  # type: ignore[arg-type]

    compiled = run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "is_available", lambda: False)
        plain = run()
    assert (compiled.engine[:8], plain.engine) == ("compiled", "numpy")
    return compiled, plain


def check(case: Case, kernel: object) -> None:
    """Assert that both paths name the same kernels and the same p-value."""
    compiled, plain = both(case, kernel)
    taken = [[c.kernel for c in result.candidates if c.weight > 0.0] for result in (compiled, plain)]
    assert taken[0] == taken[1]
    assert compiled.pvalue == plain.pvalue
    assert compiled.statistic == pytest.approx(plain.statistic, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.seed}")
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("choose", CHOOSERS.values(), ids=CHOOSERS)
def test_both_paths_agree(
    choose: Callable[[tuple[Kernel, ...]], object], family: tuple[Kernel, ...], case: Case
) -> None:
    check(case, choose(family))


@settings(max_examples=40)
@given(
    case=st.builds(
        Case,
        seed=st.integers(0, 10**6),
        n_x=st.sampled_from([24, 40]),
        n_y=st.sampled_from([24, 40]),
        d=st.sampled_from([1, 2, 5]),
        scale=st.floats(-1.0, 6.0).map(lambda power: 10.0**power),
        n_duplicates=st.sampled_from([0, 0, 1, 3]),
        block_size=st.sampled_from([None, 2, 5, 12]),
    ),
    family=st.sampled_from(list(FAMILIES)),
    choose=st.sampled_from(list(CHOOSERS)),
)
def test_both_paths_agree_on_any_rows(case: Case, family: str, choose: str) -> None:
    check(case, CHOOSERS[choose](FAMILIES[family]))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0)], ids=repr)
@pytest.mark.parametrize("gap", [1019.0, 1020.0, 1021.0, 1022.0, 1040.0, 1080.0])
def test_a_kernel_alone_is_0_from_the_same_value_on(kernel: Kernel, gap: float) -> None:
    """Rows whose kernel values are about 2^-gap: known to some digits down to 2^-1020, and 0 for both from there on."""
    exponent = gap * np.log(2.0)
    step = np.sqrt(2.0 * exponent) if isinstance(kernel, Gaussian) else exponent
    x, y = step * np.arange(8.0)[:, None], step * (100.0 + np.arange(8.0)[:, None])
    for block_size in (2, 8):
        plan = Plan.of_size(8, 8, block_size)
        compiled, plain = (summarize(MMD(kernel, plain=p), Sample(x), Sample(y), plan) for p in (False, True))
        np.testing.assert_allclose(compiled.values, plain.values, rtol=1e-10, atol=0.0)
        assert plain.values.any() == (gap < 1020.5)


def test_who_shares_has_a_grain() -> None:
    family = (Gaussian(1.0), 3.0 * Gaussian(2.0), Laplacian(1.0), Gaussian(4.0))
    assert abs_errors(family, [0.1, 0.1, 0.1, 0.9]) == pytest.approx(
        [1e-11, 3e-11, 0.0, 0.0]
    )  # a Laplacian alone, a wide one
    assert abs_errors((Gaussian(1.0),), [1e-30]) == [0.0]
    assert abs_errors((0.5 * Gaussian(1.0) + 0.5 * Gaussian(2.0),), [1e-3]) == pytest.approx([1e-11])
    assert abs_errors((0.5 * Gaussian(1.0) + 0.5 * Gaussian(2.0),), [1e-30]) == [0.0]  # then they share nothing
    assert abs_errors((Gaussian(1.0), Gaussian(2.0)), [1e-30, 1e-3]) == [1e-11, 1e-11]
    assert abs_errors((Gaussian(1.0), Gaussian(2.0)), [1e-30, 1e-9]) == [0.0, 0.0]


def test_what_is_below_the_grain_is_nothing() -> None:
    plan = Plan.of_size(40, 40, 4, 2)
    x = Sample(np.arange(40.0)[:, None] * 8.0)
    y = Sample(np.arange(40.0)[:, None] * 8.0 + 4.0)
    tiny, wide = summarize_all(MMD((Gaussian(0.5), Gaussian(8.0)), plain=True), x, y, plan)
    assert 0.0 < np.abs(tiny.values).max() < 1e-13
    assert not tiny.resolved().values.any()
    assert not tiny.resolved().moments.any()
    assert wide.resolved() is wide
    alone = summarize(MMD(Gaussian(0.5), plain=True), x, y, plan)
    assert alone.resolved() is alone  # a kernel on its own is known to a rounding of itself


@pytest.mark.parametrize(("n", "block_size"), [(100, 10), (10**6, 1000), (10**9, 2**15)])
def test_one_pair_that_is_alike_is_heard_among_any_number(n: int, block_size: int) -> None:
    plan = Plan.of_size(n, n, block_size, 26)
    moments = np.zeros((plan.n_strata, plan.moment_size, plan.moment_size))
    moments[0, 0, 1] = moments[0, 1, 0] = 1.0 / (block_size * (block_size - 1.0))
    values = np.zeros(plan.n_blocks)
    one = replace(Summary.of(plan, values, moments), abs_error=1e-11)
    assert one.resolved() is one


@pytest.mark.parametrize(
    "choice",
    [
        Aggregate([Gaussian(1.5), Gaussian(1.2)]),
        Aggregate([Gaussian(1.5), Gaussian(1.2)], correction="rank"),
        Gaussian(1.5) + Gaussian(1.2),
        MaxRatio([Gaussian(1.5), Gaussian(1.2)]),
        Weights([Gaussian(1.5), Gaussian(1.2)]),
        Aggregate(bandwidths(-15, 0)),
        Aggregate([Laplacian(3.0), Laplacian(1.5)]),
    ],
    ids=repr,
)
def test_small_values_that_carry_a_difference_are_heard_where_all_are_small(choice: Any) -> None:
    """In a hundred coordinates kernel values of 1e-15 tell samples apart that differ everywhere."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 100)), 0.8 * rng.normal(size=(400, 100))
    result = btest(x, y, kernel=choice, block_size="sqrt", seed=0)
    assert result.pvalue <= 0.001
    assert result.note == ""
    if not isinstance(choice, (MaxRatio, Weights)):
        stream = Stream(choice, 20, seed=0)
        stream.update(x, y)
        assert stream.result().pvalue <= 0.001


@pytest.mark.parametrize("correction", ["max", "rank"])
def test_where_no_kernel_is_heard_the_result_says_so(correction: str) -> None:
    rng = np.random.default_rng(0)
    x, y = np.round(rng.normal(size=(2, 100, 3)), 3)
    family = [Gaussian(1e-6), Gaussian(1e-5)]
    result = btest(x, y, kernel=Aggregate(family, correction=correction), seed=0)  # type: ignore[arg-type]
    assert (result.pvalue, result.statistic) == (1.0, 0.0)
    assert "too narrow" in result.note
