"""Permutations against all ways to relabel the rows, done by hand and by scipy."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import stats

from btests import Distance, Gamma, Gaussian, Kernel, Linear, Null, Pairwise, Pearson, Permutation, Spectrum, btest
from btests.nulls import memory
from btests.nulls.permutation import _random_labels
from btests.statistics import Gram, Sample, whole
from tests import reference
from tests.bounds import count_bounds
from tests.kernels.formulas import radial
from tests.nulls.summaries import two_samples

GAUSSIAN = radial(1.0)[0].formula
QUADRATIC: list[Null] = [Permutation(199), Spectrum(199), Gamma(), Pearson(), Pearson("bound")]


def gram_of(x: Any, y: Any, kernel: Kernel | None = None) -> Gram:
    """Return the Gram matrix of rows in the order in which they stand."""
    return Gram(kernel or Gaussian(1.0), Sample(np.asarray(x)), Sample(np.asarray(y)))


@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (2, 3), (3, 4), (5, 3), (5, 5)])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_exhaustive_law_is_every_relabelling(n_x: int, n_y: int, shift: float) -> None:
    x, y = two_samples(n_x, n_y, shift)
    rows = np.concatenate([x, y])
    gram = gram_of(x, y)
    law = Permutation().learn(gram, seed=0)
    values = reference.relabelled_values(Gaussian(1.0)(rows, rows), n_x)
    assert law.exhaustive
    np.testing.assert_allclose(law.draws, np.sort(values), rtol=1e-12, atol=1e-14)
    statistic = Permutation().statistic(gram)
    assert statistic == pytest.approx(reference.mmd_unpaired(GAUSSIAN, x.tolist(), y.tolist()), rel=1e-11)
    assert law.pvalue(statistic) == float(np.mean(values >= values[0] - 1e-12))


@pytest.mark.parametrize(("n_x", "n_y"), [(3, 4), (4, 4), (6, 3)])
def test_scipy_finds_the_same_pvalue(n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y, 1.0)
    rows = np.concatenate([x, y])

    def statistic(p: Any, q: Any) -> float:
        return reference.mmd_unpaired(GAUSSIAN, rows[p].tolist(), rows[q].tolist())

    numbers = np.arange(n_x + n_y)
    wanted = stats.permutation_test(
        (numbers[:n_x], numbers[n_x:]), statistic, n_resamples=9999, alternative="greater", vectorized=False
    )
    found = btest(x, y, kernel=Gaussian(1.0), null=Permutation(), seed=1)
    assert found.statistic == pytest.approx(float(wanted.statistic), rel=1e-11)
    assert found.pvalue == pytest.approx(float(wanted.pvalue), rel=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(20, 20), (9, 14)])
def test_random_draws_are_those_of_their_labels(n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y, 0.5)
    rows = np.concatenate([x, y])
    labels = _random_labels(n_x, n_y, 30, seed=5)
    assert (labels.sum(axis=1) == n_x).all()
    assert len(np.unique(labels, axis=0)) == 30
    values = [reference.mmd_unpaired(GAUSSIAN, rows[a].tolist(), rows[~a].tolist()) for a in labels]
    law = Permutation(30).learn(gram_of(x, y), seed=5)
    assert not law.exhaustive
    np.testing.assert_allclose(law.draws, np.sort(values), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("side", [1, 7, 64])
@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_tiles_leave_no_trace(monkeypatch: pytest.MonkeyPatch, null: Null, side: int) -> None:
    x, y = two_samples(40, 40, 0.2)
    one = btest(x, y, kernel=Gaussian(1.0), null=null, seed=3)
    monkeypatch.setattr(whole, "TILE", side)
    two = btest(x, y, kernel=Gaussian(1.0), null=null, seed=3)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-11)
    assert two.pvalue == pytest.approx(one.pvalue, rel=1e-10)
    if isinstance(null, Permutation):
        assert two.pvalue == one.pvalue


def test_ties_do_not_depend_on_the_order_of_additions() -> None:
    """Few different values: most relabellings are ties of others, and rounding must not tell them apart."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 2, size=(n, 1)).astype(float) for n in (30, 34))
    gram = gram_of(x, y)
    law, statistic = Permutation(999).learn(gram, 1), gram.margins().unbiased()
    ones = _random_labels(30, 34, 999, 1) @ np.concatenate([x, y])[:, 0]
    # The statistic depends on the share of ones in x alone, and grows with its distance from that in y.
    distance = np.abs(ones / 30 - (np.concatenate([x, y]).sum() - ones) / 34)
    observed = abs(x.mean() - y.mean())
    assert law.pvalue(statistic) == (1 + int((distance >= observed - 1e-9).sum())) / 1000


def test_draws_have_the_closed_variance() -> None:
    """Mean and variance of 4000 draws: 5.5 standard errors, false alarm below 1e-6 in all."""
    x, y = two_samples(30, 45)
    rows = np.concatenate([x, y])
    law = Permutation(4000).learn(gram_of(x, y), seed=1)
    z = law.draws / math.sqrt(reference.relabelling_variance(Gaussian(1.0)(rows, rows), 30))
    assert abs(z.mean()) < 5.5 / math.sqrt(4000)
    assert abs(np.mean(z**2) - 1.0) < 5.5 * math.sqrt((float(np.mean(z**4)) - 1.0) / 4000)


def test_the_level_is_held() -> None:
    """400 tests of 15 and 20 equal rows at 10 %: between the bounds of a binomial, false alarm 1e-6."""
    rejections = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(15, 1)), rng.normal(size=(20, 1))
        rejections += btest(x, y, kernel=Gaussian(1.0), null=Permutation(99), seed=seed).rejects(0.1)
    low, high = count_bounds(400, 0.1, 0.1)
    assert low <= rejections <= high


def test_seeds_and_threads() -> None:
    x, y = two_samples(300, 260, 0.05)
    one, two = (btest(x, y, null="permutation", seed=7, n_threads=n) for n in (1, 2))
    assert one == two
    assert one.null == Permutation()
    assert btest(x, y, null="permutation", seed=8).pvalue != one.pvalue


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "99", None])
def test_number_of_resamples(number: int) -> None:
    with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 1"):
        Permutation(number)
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        Spectrum(number)


# All quadratic-time nulls


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_they_see_a_difference_and_agree_with_themselves(null: Null) -> None:
    for shift in (0.0, 0.3, 2.0):
        x, y = two_samples(60, 60, shift)
        result = btest(x, y, kernel=Gaussian(1.0), null=null, seed=1)
        assert (result.n_blocks, result.block_size) == (1, 60)
        for alpha in (0.01, 0.05, 0.3):
            assert result.rejects(alpha) == (result.statistic > result.threshold(alpha))
        assert 0.0 < result.pvalue <= 1.0
    assert result.rejects(0.01)


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Distance(), Linear()], ids=repr)
def test_data_without_a_difference(null: Null, kernel: Kernel) -> None:
    constant = np.full((50, 3), 0.1)
    assert btest(constant, constant, kernel=kernel, null=null, seed=1).pvalue == 1.0
    x, _ = two_samples(50, 50)
    for shuffle in (False, True):
        assert btest(x, x, kernel=kernel, null=null, seed=1, shuffle=shuffle).pvalue > 0.9


@pytest.mark.parametrize("null", [null for null in QUADRATIC if not isinstance(null, Spectrum)], ids=repr)
def test_a_kernel_that_underflows_sees_nothing(null: Null) -> None:
    x, y = two_samples(50, 50)
    assert btest(x, y, kernel=Gaussian(1e-9), null=null, seed=1).pvalue == 1.0


def test_the_spectrum_of_a_kernel_that_underflows_is_flat() -> None:
    """All rows are equally far apart: the statistic is the mean of its law, which is not degenerate."""
    x, y = two_samples(50, 50)
    assert 0.2 < btest(x, y, kernel=Gaussian(1e-9), null=Spectrum(), seed=1).pvalue < 0.8


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
@pytest.mark.parametrize("n", [2, 3])
def test_very_few_rows(null: Null, n: int) -> None:
    x, y = two_samples(n, n, 0.5)
    result = btest(x, y, kernel=Gaussian(1.0), null=null, seed=1)
    assert 0.0 < result.pvalue <= 1.0
    assert math.isfinite(result.statistic)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e100, 1e170])
@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_scale_of_the_kernel_does_not_matter(null: Null, scale: float) -> None:
    x, y = two_samples(30, 30, 0.4)
    one, two = (btest(x, y, kernel=s * Gaussian(1.0), null=null, seed=1) for s in (1.0, scale))
    assert two.pvalue == pytest.approx(one.pvalue, rel=1e-8)


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_functions_and_objects(null: Null) -> None:
    rng = np.random.default_rng(0)
    x, y = (["".join(rng.choice(list(letters), 4)) for _ in range(12)] for letters in ("abcde", "efghi"))

    def by_matrix(p: list[str], q: list[str]) -> Any:
        return np.array([[len(set(a) & set(b)) for b in q] for a in p])

    one = btest(x, y, kernel=Pairwise(lambda a, b: float(len(set(a) & set(b)))), null=null, seed=1)
    two = btest(x, y, kernel=by_matrix, null=null, seed=1)
    assert one.statistic == two.statistic
    assert one.pvalue == two.pvalue < 0.05


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_the_kernel_is_evaluated_once(null: Any) -> None:
    calls = []

    def kernel(p: Any, q: Any) -> Any:
        calls.append(len(p) * len(q))
        return Gaussian(1.0)(p, q)

    x, y = two_samples(20, 20)
    gram = gram_of(x, y, kernel)
    null.learn(gram, 1)
    null.statistic(gram)
    assert sum(calls) == 1 + 3 * 20 * 20


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_all_rows_are_one_block(null: Null) -> None:
    x, y = two_samples(30, 30)
    with pytest.raises(ValueError, match="tests all rows at once: block_size must be 30 or None, got 5"):
        btest(x, y, null=null, block_size=5, seed=1)


# Memory


@pytest.mark.parametrize("null", [Spectrum(), Pearson()], ids=repr)
def test_too_little_memory_is_said_before_it_is_spent(monkeypatch: pytest.MonkeyPatch, null: Null) -> None:
    asked = []

    def kernel(p: Any, q: Any) -> Any:
        asked.append(len(p))
        return p @ q.T

    monkeypatch.setattr(memory, "free_bytes", lambda: 10**6)
    x, y = two_samples(900, 900)
    with pytest.raises(
        ValueError, match=r"needs [\d.]+ MB of memory for 900 and 900 rows, and 1 MB are free"
    ) as caught:
        btest(x, y, kernel=kernel, null=null, seed=1)
    assert max(asked) <= 4, "no more than the probe of the kernel"
    found = int(str(caught.value).partition("block_size=")[2].split()[0])
    assert btest(x, y, kernel=kernel, block_size=found, seed=1).block_size >= found


@pytest.mark.parametrize("null", [Permutation(300), Spectrum(), Gamma(), Pearson()], ids=repr)
@pytest.mark.parametrize("n", [300, 1500])
def test_bytes_are_what_was_said(null: Any, n: int) -> None:
    gram = gram_of(*two_samples(n, n))
    null.learn(gram_of(*two_samples(5, 5)), 1)  # what is imported does not count
    tracemalloc.start()
    null.learn(gram, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = null.bytes_needed(n, n)
    assert 0.2 * needed < peak <= needed
    assert isinstance(null, (Spectrum, Pearson)) or n < 1000 or needed < 8 * (2 * n) ** 2 / 2


def test_free_memory_is_a_number_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    assert memory.free_bytes() > 2**20
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "nothing")
    monkeypatch.setattr(memory, "_GROUPS", ())
    assert memory.free_bytes() == 4 * 2**30
    (tmp_path / "limit").write_text("3000000\n")
    (tmp_path / "used").write_text("1000000\n")
    (tmp_path / "max").write_text("max\n")
    monkeypatch.setattr(
        memory, "_GROUPS", ((str(tmp_path / "max"), str(tmp_path / "used")), (tmp_path / "limit", tmp_path / "used"))
    )
    assert memory.free_bytes() == 2_000_000
