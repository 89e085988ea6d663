"""What all quadratic-time nulls have in common: tiles, bad data, objects, memory."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from btests import (
    Energy,
    Gamma,
    Gaussian,
    Kernel,
    Linear,
    Null,
    Pairwise,
    Pearson,
    Permutation,
    Polynomial,
    Spectrum,
    _memory,
    btest,
)
from btests.statistics import tiled_gram
from tests.nulls.summaries import gram_of, two_samples
from tests.reference import Array

QUADRATIC: list[Null] = [Permutation(199), Spectrum(199), Gamma(), Pearson(), Pearson("bound")]


@pytest.mark.parametrize("side", [1, 7, 64])
@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
def test_tiles_leave_no_trace(monkeypatch: pytest.MonkeyPatch, null: Null, side: int) -> None:
    x, y = two_samples(40, 40, 0.2)
    one = btest(x, y, kernel=Gaussian(1.0), null=null, seed=3)
    monkeypatch.setattr(tiled_gram, "TILE", side)
    two = btest(x, y, kernel=Gaussian(1.0), null=null, seed=3)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-11)
    assert two.pvalue == pytest.approx(one.pvalue, rel=1e-10)
    if isinstance(null, Permutation):
        assert two.pvalue == one.pvalue


@pytest.mark.parametrize(
    ("name", "null"),
    [("permutation", Permutation()), ("spectrum", Spectrum()), ("gamma", Gamma()), ("pearson", Pearson())],
)
def test_names_and_pickles(name: str, null: Null) -> None:
    x, y = two_samples(50, 50, 0.2)
    one, two = (btest(x, y, null=null_or_name, seed=1) for null_or_name in (name, null))
    assert one == two
    assert one.threshold(0.05) == two.threshold(0.05)
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(null) in str(one)


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
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Energy(), Linear(), Polynomial()], ids=repr)
@pytest.mark.parametrize(("n_x", "n_y"), [(50, 50), (60, 90), (7, 600)])
def test_constant_data_are_not_different(null: Null, kernel: Kernel, n_x: int, n_y: int) -> None:
    n_y = n_x if isinstance(null, Pearson) else n_y
    for cell in (0.0, 0.1, 1e6 + 0.1):
        result = btest(np.full((n_x, 3), cell), np.full((n_y, 3), cell), kernel=kernel, null=null, seed=1)
        assert (result.statistic, result.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Energy(), Linear()], ids=repr)
def test_identical_samples_are_not_different(null: Null, kernel: Kernel) -> None:
    x, _ = two_samples(50, 50)
    for shuffle in (False, True):
        assert btest(x, x, kernel=kernel, null=null, seed=1, shuffle=shuffle).pvalue > 0.9
    if isinstance(null, Pearson):  # flips see nothing at all where each row meets itself
        assert btest(x, x, kernel=kernel, null=null, seed=1, shuffle=False).pvalue == 1.0


@pytest.mark.parametrize("null", QUADRATIC, ids=repr)
@pytest.mark.parametrize("kernel", [None, Gaussian(1.0), Linear(), Energy(), Gaussian(1e-3)], ids=repr)
def test_two_constants(null: Null, kernel: Any) -> None:
    n_y = 60 if isinstance(null, Pearson) else 90
    result = btest(np.zeros((60, 1)), np.ones((n_y, 1)), kernel=kernel, null=null, seed=1)
    assert result.statistic > 0.0
    assert 0.0 < result.pvalue <= 0.005


CELLS = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-300, -1e-160, 1e-20, 3.0, 1e10, 1e150, -1e155, 1e300, 5e-324])


@given(
    st_numpy.arrays(np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=CELLS),
    st_numpy.arrays(np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=CELLS),
    st.sampled_from([None, "laplacian", "energy", "linear", Gaussian(1.0), Polynomial(3)]),
    st.sampled_from(QUADRATIC),
)
@pytest.mark.filterwarnings("ignore::btests.BTestWarning")
def test_a_pvalue_or_a_sentence(x: Array, y: Array, kernel: Any, null: Null) -> None:
    """Extreme cells: a p-value in (0, 1], or a ValueError; no NaN, no numpy warning, nothing else."""
    y = y[: len(x)] if isinstance(null, Pearson) else y
    try:
        result = btest(x, y, kernel=kernel, null=null, seed=1)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert 0.0 < result.pvalue <= 1.0
        assert math.isfinite(result.statistic)
        assert not math.isnan(result.threshold(0.05))


@pytest.mark.parametrize("null", [null for null in QUADRATIC if not isinstance(null, Spectrum)], ids=repr)
def test_a_kernel_that_underflows_sees_nothing(null: Null) -> None:
    x, y = two_samples(50, 50)
    assert btest(x, y, kernel=Gaussian(1e-9), null=null, seed=1).pvalue == 1.0


def test_the_spectrum_of_a_kernel_that_underflows_is_flat() -> None:
    """All rows are equally far apart: the statistic is that of every relabelling, and the mean of the published law."""
    x, y = two_samples(50, 50)
    assert btest(x, y, kernel=Gaussian(1e-9), null=Spectrum(), seed=1).pvalue == 1.0
    assert 0.2 < btest(x, y, kernel=Gaussian(1e-9), null=Spectrum(corrected=False), seed=1).pvalue < 0.8


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
    null.distribution(gram, 1)
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

    monkeypatch.setattr(_memory, "free_bytes", lambda: 10**6)
    x, y = two_samples(900, 900)
    with pytest.raises(
        ValueError, match=r"needs [\d.]+ MB of memory for 900 and 900 rows, and 1 MB are free"
    ) as caught:
        btest(x, y, kernel=kernel, null=null, seed=1)
    assert max(asked, default=0) <= 4, "no more than the probe of the kernel"
    found = int(str(caught.value).partition("block_size=")[2].split()[0])
    assert btest(x, y, kernel=kernel, block_size=found, seed=1).block_size >= found


@pytest.mark.parametrize("null", [Permutation(300), Spectrum(), Gamma(), Pearson()], ids=repr)
@pytest.mark.parametrize("n", [300, 1500])
def test_bytes_are_what_was_said(null: Any, n: int) -> None:
    gram = gram_of(*two_samples(n, n))
    null.distribution(gram_of(*two_samples(5, 5)), 1)  # what is imported does not count
    tracemalloc.start()
    null.distribution(gram, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = null.bytes_needed(n, n)
    assert 0.2 * needed < peak <= needed
    assert isinstance(null, (Spectrum, Pearson)) or n < 1000 or needed < 8 * (2 * n) ** 2 / 2


@pytest.mark.parametrize("null", [Permutation(99), Gamma()], ids=repr)
@pytest.mark.parametrize(("n_x", "n_y"), [(1500, 1500), (1200, 1800)])
def test_a_kernel_of_ones_own_is_never_whole(null: Any, n_x: int, n_y: int) -> None:
    x, y = two_samples(n_x, n_y)
    btest(x[:5], y[:5], kernel=lambda p, q: p @ q.T, null=null, seed=1)  # what is imported does not count
    tracemalloc.start()
    result = btest(x, y, kernel=lambda p, q: p @ q.T, null=null, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.engine == "numpy"
    assert peak <= null.bytes_needed(n_x, n_y) + 4 * x.nbytes + 4 * y.nbytes + 8 * 65 * (n_x + n_y)
    assert peak < 8 * (n_x + n_y) ** 2 / 10


def test_free_memory_is_a_number_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    assert _memory.free_bytes() > 2**20
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "nothing")
    monkeypatch.setattr(_memory, "_GROUPS", ())
    assert _memory.free_bytes() == 4 * 2**30
    monkeypatch.setattr(
        _memory, "_GROUPS", (("", tmp_path, "max", "current"), ("memory", tmp_path / "old", "limit", "usage"))
    )
    assert _memory.free_bytes() == 4 * 2**30

    def limit(folder: str, files: tuple[str, str], most: str, used: int) -> None:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, text in zip(files, (most, str(used)), strict=True):
            (tmp_path / folder / name).write_text(text + "\n")

    limit(".", ("max", "current"), "max", 10**6)
    assert _memory.free_bytes() == 4 * 2**30
    # Groups inside groups, of which any may have a limit.
    monkeypatch.setattr(_memory, "_OWN", tmp_path / "own")
    (tmp_path / "own").write_text("0::/slice/job/step\n")
    limit("slice/job", ("max", "current"), "3000000", 10**6)
    limit("slice/job/step", ("max", "current"), "max", 10**6)
    assert _memory.free_bytes() == 2_000_000
    (tmp_path / "own").write_text("4:cpu,memory:/box\n0::/elsewhere\n")
    limit("old/box", ("limit", "usage"), "500000", 100000)
    assert _memory.free_bytes() == 400_000
    limit("old/box", ("limit", "usage"), "500000", 600000)
    assert _memory.free_bytes() == 0
