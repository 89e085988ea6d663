"""Sequential test: fair bets, on the past alone, for any sizes of batches."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import product, zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import btests
from btests import (
    Aggregate,
    DegenerateDataWarning,
    Energy,
    Gaussian,
    Linear,
    MedianFamily,
    MedianHeuristic,
    Pairwise,
    Polynomial,
    SequentialResult,
    SequentialTest,
)
from tests.reference import Array


def rows_for(n: int, d: int = 2, shift: float = 0.4, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=(n, d)), rng.normal(shift, 1.2, size=(n, d))


def cut(rows: Array, sizes: list[int]) -> Iterator[Array]:
    """Yield rows in batches of these sizes, over and over."""
    start, i = 0, 0
    while start < len(rows):
        yield rows[start : start + sizes[i % len(sizes)]]
        start, i = start + sizes[i % len(sizes)], i + 1


def outcome_of(x: Array, y: Array, **options: Any) -> SequentialResult:
    test = SequentialTest(**options)
    test.update(x, y)
    return test.result()


def squared(p: Array, q: Array) -> Array:
    return np.asarray(np.exp(-((p[:, None, 0] - q[None, :, 0]) ** 2)))


KERNELS: list[Any] = [
    None,
    "gaussian",
    "energy",
    Gaussian(1.0),
    Energy() + 2.0 * Linear(),
    MedianHeuristic(n_rows=7),
    Aggregate([Gaussian(0.5), Energy()], correction="rank", weights=[1.0, 2.0]),
    squared,
    Pairwise(lambda a, b: float(a[0] == b[0])),
]


# Rows as they come


@settings(max_examples=30)
@given(
    kernel=st.sampled_from(KERNELS),
    n=st.integers(1, 200),
    over=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    cuts=st.tuples(*[st.lists(st.integers(1, 60), min_size=1, max_size=3)] * 2),
    d=st.sampled_from([1, 3, 50]),
)
def test_any_batching_gives_the_same_bits(
    kernel: Any, n: int, over: tuple[int, int], cuts: tuple[list[int], list[int]], d: int
) -> None:
    x, y = (rows[: n + more] for rows, more in zip(rows_for(n + 40, d), over, strict=True))
    test = SequentialTest(kernel, window_size=50)
    for batches in zip_longest(cut(x, cuts[0]), cut(y, cuts[1])):
        test.update(*batches)
    assert test.result() == outcome_of(x, y, kernel=kernel, window_size=50)
    assert test.n_rows == (len(x), len(y))


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_no_row_changes_what_was_before_it(kernel: Any) -> None:
    x, y = rows_for(150)
    other_x, other_y = x.copy(), y.copy()
    other_x[100:] += 3.0
    other_y[100:] *= -5.0
    one, other = SequentialTest(kernel), SequentialTest(kernel)
    for i in range(150):
        one.update(x[[i]], y[[i]])
        other.update(other_x[[i]], other_y[[i]])
        assert (one.result() == other.result()) == (one.result().n_pairs <= 100)


def test_a_result_is_a_value_that_stays_what_it_was() -> None:
    x, y = rows_for(300)
    test = SequentialTest(Gaussian(1.0))
    test.update(x[:100], y[:100])
    before = test.result()
    told = before.to_json()
    test.update(x[100:], y[100:])
    assert before.to_json() == told
    assert before == outcome_of(x[:100], y[:100], kernel=Gaussian(1.0))


def test_an_array_may_be_used_again_by_its_owner() -> None:
    x, y = rows_for(100)
    test = SequentialTest(Gaussian(1.0))
    buffer = np.empty((7, 2))
    for start in range(0, 98, 7):
        buffer[:] = x[start : start + 7]
        test.update(buffer)
    test.update(y=y[:98])
    assert test.result() == outcome_of(x[:98], y[:98], kernel=Gaussian(1.0))


# Fair bets


def average_over_swaps(x: Array, y: Array, first: int, **options: Any) -> float:
    """Return the average wealth over all swaps of x and y in the pairs from ``first`` on."""
    n = len(x) - first
    total: float = 0.0
    for swaps in product((False, True), repeat=n):
        swapped = np.array((False,) * first + swaps)[:, None]
        result = outcome_of(np.where(swapped, y, x), np.where(swapped, x, y), **options)
        assert result.n_pairs == len(x)
        total += result.evalue
    return float(total / 2**n)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Aggregate([Gaussian(0.3), Energy()])])
def test_the_average_over_all_swaps_is_what_was_there_at_the_beginning(kernel: Any) -> None:
    """Rounds of 1, 1, 2 and 4 pairs: 256 equally likely outcomes under the null hypothesis."""
    x, y = rows_for(8, shift=1.5)
    assert abs(outcome_of(x, y, kernel=kernel).evalue - 1.0) > 0.01
    assert average_over_swaps(x, y, 0, kernel=kernel) == pytest.approx(1.0, abs=1e-12)


def test_the_same_where_kernels_are_learned_from_the_first_pairs() -> None:
    x, y = rows_for(14, shift=1.5)
    kernel = Aggregate(MedianFamily([0.5, 2.0], n_rows=7))
    assert outcome_of(x, y, kernel=kernel).n_train == 7
    assert average_over_swaps(x, y, 7, kernel=kernel) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.filterwarnings("ignore::btests.ScaleWarning")  # one cell of 1e6 makes the scales differ
@settings(max_examples=15)
@given(
    st_numpy.arrays(np.float64, (2, 4, 2), elements=st.sampled_from([0.0, 1.0, -2.5, 1e6])), st.sampled_from([1, 99])
)
def test_the_same_for_discrete_rows_and_a_short_memory(rows: Array, window_size: int) -> None:
    average = average_over_swaps(rows[0], rows[1], 0, kernel=Gaussian(1.0), window_size=window_size)
    assert average == pytest.approx(1.0, abs=1e-12)


@given(st_numpy.arrays(np.float64, (2, 60, 1), elements=st.floats(-1e150, 1e150)))
def test_whatever_the_rows_are_the_evidence_is_defined(rows: Array) -> None:
    result = outcome_of(*rows, kernel=Gaussian(1.0))
    assert 0.0 < result.pvalue <= 1.0
    assert 0.0 < result.evalue < np.inf
    assert result.evalue * result.pvalue <= 1.0 + 1e-12


@pytest.mark.parametrize("kernel", KERNELS)
def test_x_and_y_are_treated_alike(kernel: Any) -> None:
    x, y = rows_for(200)
    one, other = outcome_of(x, y, kernel=kernel), outcome_of(y, x, kernel=kernel)
    assert one.log_wealth == other.log_wealth


def test_the_default_does_not_mind_the_scale() -> None:
    x, y = rows_for(200)
    assert outcome_of(x, y).log_wealth == outcome_of(1024.0 * x, 1024.0 * y).log_wealth


# Evidence


@pytest.mark.parametrize("kernel", KERNELS[1:])
def test_a_difference_is_found_and_none_is_not(kernel: Any) -> None:
    x, y = rows_for(400, shift=1.2)
    if callable(kernel):  # whether first cells are equal tells nothing of rows that never are: round them
        x, y = x.round(), y.round()
    found = outcome_of(x, y, kernel=kernel, window_size=40)
    assert found.rejects(0.001)
    assert [n is not None for _, n in found.rejected_at] == [True] * 4
    alike = outcome_of(x, np.random.default_rng(5).permutation(x), kernel=kernel, window_size=40)
    assert not alike.rejects(0.05)


def test_levels_are_noted_when_they_are_reached() -> None:
    x, y = rows_for(400)
    rejected_at = dict(outcome_of(x, y).rejected_at)
    for level, n in rejected_at.items():
        assert n is not None
        n_before = 16 * ((n - 1) // 16)  # rounds end at multiples of 16
        assert not outcome_of(x[:n_before], y[:n_before]).rejects(level)
        assert outcome_of(x[: n_before + 16], y[: n_before + 16]).rejects(level)
    assert list(rejected_at.values()) == sorted(n for n in rejected_at.values() if n is not None)


def test_a_late_change_is_found_too() -> None:
    x, y = rows_for(4000, shift=0.0)
    y /= 1.2
    quiet = outcome_of(x, y)
    assert not quiet.rejects(0.05)
    later = outcome_of(np.concatenate([x, x[:600]]), np.concatenate([y, y[::-1][:600] + 1.0]))
    assert later.rejects(0.001)


def test_samples_that_are_the_same_leave_the_wealth_as_it_is() -> None:
    x, _ = rows_for(500)
    same = outcome_of(x, x)
    assert same.evalue == pytest.approx(1.0, abs=1e-12)
    assert same.pvalue == pytest.approx(1.0, abs=1e-12)
    constant = np.full((200, 3), 1e7)
    with pytest.warns(DegenerateDataWarning, match="no scale to choose a bandwidth by"):
        blind = outcome_of(constant, constant)
    assert blind.evalue == pytest.approx(1.0, abs=1e-12)
    assert outcome_of(constant, constant, kernel=Gaussian(1.0)).evalue == pytest.approx(1.0, abs=1e-12)


def test_overwhelming_evidence_stays_a_number() -> None:
    x, y = rows_for(4000)
    found = outcome_of(x, y + 100.0, kernel=Gaussian(1.0), window_size=20)
    assert found.log_wealth > 1000.0
    assert 0.0 < found.pvalue < 1e-300
    assert 1e300 < found.evalue < np.inf
    assert "Infinity" not in found.to_json()


# Memory and results


def test_memory_is_that_of_the_last_pairs() -> None:
    test = SequentialTest(Gaussian(1.0), window_size=40)
    for i in range(100):
        test.update(*rows_for(33, seed=i))
        assert max(test.n_pending) < 16
        # The window, pending rows and their values; 33 rows more for each update would be 106 kB in the end.
        assert len(pickle.dumps(test)) < 10_000


def test_rows_without_a_partner_wait() -> None:
    test = SequentialTest(Gaussian(1.0))
    test.update(rows_for(100)[0])
    assert (test.n_pending, test.result().evalue) == ((100, 0), 1.0)
    test.update(None, rows_for(70)[1])
    result = test.result()
    assert (result.n_x, result.n_y, result.n_pairs, result.n_pending) == (100, 70, 64, (36, 6))
    assert repr(test) == "SequentialTest(Gaussian(bandwidth=1.0), window_size=256: 64 pairs, 36 and 6 rows pending)"


def test_iterables_are_read_in_turn() -> None:
    x, y = rows_for(640)
    test = SequentialTest(Gaussian(1.0)).consume(cut(x, [64]), cut(y, [10, 30]))
    assert test.result() == outcome_of(x, y, kernel=Gaussian(1.0))
    endless = (x[:50] for _ in iter(int, 1))
    assert SequentialTest(Gaussian(1.0)).consume(endless, [y[:80]]).n_rows == (150, 80)
    with pytest.raises(TypeError, match="x must be an iterable of batches, and is one array"):
        SequentialTest().consume(x, y)


def test_frames_are_matched_by_the_names_of_their_columns() -> None:
    x, y = rows_for(100)
    test = SequentialTest(Gaussian(1.0))
    test.update(pd.DataFrame(x, columns=["a", "b"]), pd.DataFrame(y[:, ::-1], columns=["b", "a"]))
    assert test.result() == outcome_of(x, y, kernel=Gaussian(1.0))
    with pytest.raises(ValueError, match="only in this batch: c"):
        test.update(pd.DataFrame({"a": [1.0], "c": [2.0]}))


def test_the_text_and_json_of_a_result() -> None:
    result = outcome_of(*rows_for(300), kernel=Aggregate([Gaussian(1.0), Gaussian(3.0)]))
    text = str(result)
    assert text.startswith("Sequential test: different (p <= 0.05)\n  p-value   ")
    assert "  rows      300 and 300, 288 pairs\n  pending   12 and 12 rows\n" in text
    assert text.endswith("the best of 2")
    assert result.kernel in (Gaussian(1.0), Gaussian(3.0))
    assert np.logaddexp.reduce([c.score for c in result.candidates]) == pytest.approx(result.log_wealth, abs=1e-12)
    assert result.to_dict()["rejected_at"]["0.05"] == dict(result.rejected_at)[0.05]
    new = SequentialTest().result()
    assert (new.evalue, new.pvalue, new.kernel, new.rejects(0.5)) == (1.0, 1.0, None, False)
    assert "none yet" in str(new)
    assert "Infinity" not in outcome_of(*rows_for(32)).to_json()


# Complaints


def test_a_wrong_batch_is_refused_and_changes_nothing() -> None:
    x, y = rows_for(200)
    test = SequentialTest(Gaussian(1.0))
    test.update(x, y[:100])
    before = test.result()
    hole = y[100:].copy()
    hole[3, 1] = np.nan
    for batch, complaint in (
        (hole, "y has a NaN cell in row 3, column 1"),
        (np.zeros((5, 3)), "this batch of y has 3 columns, and those before had 2"),
        (["a", "b"], "y does not hold numbers"),
        ("y.csv", "read the file first"),
        (3.0, "y must hold"),
    ):
        with pytest.raises((ValueError, TypeError), match=complaint):
            test.update(x, batch)
    assert test.result() == before
    test.update(None, y[100:])
    test.update(y=[])
    test.update()
    assert test.result() == outcome_of(x, y, kernel=Gaussian(1.0))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"window_size": 0}, r"window_size must be a whole number between 1 and 2\^20, got 0"),
        ({"window_size": 2.5}, "window_size must be"),
        ({"window_size": True}, "window_size must be"),
        ({"kernel": "cosine"}, "kernel must be one of energy, gaussian"),
        ({"kernel": Gaussian}, r"write Gaussian\(\.\.\.\)"),
        ({"kernel": [Gaussian(1.0)]}, "to test with all of them write kernel=Aggregate"),
        ({"kernel": btests.Weights()}, "needs rows of its own"),
    ],
)
def test_wrong_arguments_are_named_at_once(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises((ValueError, TypeError), match=complaint):
        SequentialTest(**options)


def test_wrong_kernels_are_named_when_they_are_tried() -> None:
    x, y = rows_for(20)
    for kernel, complaint in (
        (lambda p, q: p @ q.T @ np.ones((len(q), 1)), "the kernel must return a matrix of shape"),
        (lambda p, q: p[:, :1] + 0.0 * q[:, 0], "the kernel is not symmetric"),
        (lambda p, q: np.full((len(p), len(q)), np.nan), "the kernel must return finite real numbers"),
        (Aggregate([Gaussian(1.0)], correction="rank", weights=[1.0, 2.0]), "one weight per kernel: got 2 weights"),
    ):
        with pytest.raises(ValueError, match=complaint):
            outcome_of(x, y, kernel=kernel)
    test = SequentialTest(Polynomial(3))
    test.update(x[:16], y[:16])
    before = test.result()
    with pytest.raises(ValueError, match="overflows"):
        test.update(1e120 * x, 1e120 * y)
    assert (test.result().n_pairs, test.result().log_wealth) == (before.n_pairs, before.log_wealth)


def test_a_batch_on_which_the_kernel_fails_is_not_added() -> None:
    rng = np.random.default_rng(0)
    test = btests.SequentialTest(btests.Linear())
    test.update(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)))
    waiting = test.n_pending
    with pytest.raises(ValueError, match=r"finite|overflow|NaN"):
        test.update(np.full((40, 2), 1e200), rng.normal(size=(40, 2)))
    assert max(test.n_pending) <= max(waiting)
    test.update(rng.normal(size=(64, 2)), rng.normal(size=(64, 2)))
    assert test.result().n_pairs >= 240
