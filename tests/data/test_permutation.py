"""Orders: bijections that look like chance, the same wherever they are computed."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from btests.data.keyed_permutation import Keyed
from btests.data.row_permutation import MAX_HELD, AsStored, Buffered, Order, Permuted, permutation_of
from btests.plan import Index
from tests.bounds import FALSE_ALARM, deviations


def check_bijection(order: Order) -> None:
    rows = order.rows(0, order.n)
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(np.sort(rows), np.arange(order.n))
    np.testing.assert_array_equal(order.positions(rows), np.arange(order.n))
    np.testing.assert_array_equal(order.at(order.positions(np.arange(order.n))), np.arange(order.n))


@given(st.integers(1, 3000), st.integers(0, 2**70), st.integers(1, 2))
def test_every_row_has_one_position(n: int, seed: int, stream: int) -> None:
    for order in (Keyed(n, (seed, stream)), Permuted(n, (seed, stream)), AsStored(n)):
        check_bijection(order)


@pytest.mark.parametrize("n", [MAX_HELD + 1, 2**22 + 12345, 3_000_000])
def test_every_row_has_one_position_among_millions(n: int) -> None:
    order = Keyed(n, (5, 2))
    seen = np.zeros(n, dtype=bool)
    seen[order.rows(0, n)] = True
    assert seen.all()


@given(st.integers(MAX_HELD + 1, 2**62), st.integers(0, 2**32), st.data())
def test_inverse_of_what_nobody_could_hold(n: int, seed: int, data: st.DataObject) -> None:
    order = permutation_of(n, seed, 1)
    first = data.draw(st.integers(0, n - 1))
    positions = np.arange(first, min(n, first + 100))
    rows = order.rows(first, int(positions[-1]) + 1)
    assert ((rows >= 0) & (rows < n)).all()
    np.testing.assert_array_equal(order.positions(rows), positions)
    np.testing.assert_array_equal(order.at(positions[::-1]), rows[::-1])


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(0, 99), st.integers(1, 200))
def test_a_buffered_order_is_a_bijection_within_buffers(sizes: list[int], seed: int, buffer_rows: int) -> None:
    edges = np.append(0, np.cumsum(sizes)).astype(np.int64)
    order = permutation_of(int(edges[-1]), seed, 1, "buffered", edges=edges, buffer_rows=buffer_rows)
    assert isinstance(order, Buffered)
    check_bijection(order)
    first, largest = 0, max(sizes)
    while first < order.n:
        start, end = order.buffer_at(first)
        assert start == first < end
        assert end - start <= max(buffer_rows, largest)
        # What a buffer holds are whole units.
        units = np.unique(np.searchsorted(edges, order.rows(start, end), side="right") - 1)
        assert sum(sizes[u] for u in units) == end - start
        first = end


def test_up_to_four_million_rows_it_is_numpys_permutation() -> None:
    for n in (2, 1000, MAX_HELD):
        for stream in (1, 2):
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([3, stream])))
            np.testing.assert_array_equal(permutation_of(n, 3, stream).rows(0, n), rng.permutation(n))
    assert isinstance(permutation_of(MAX_HELD + 1, 3, 1), Keyed)


def test_orders_are_values() -> None:
    edges: Index = np.arange(0, 101, 10)
    orders = [
        permutation_of(100, 1, 1),
        permutation_of(10**9, 1, 1),
        permutation_of(9, 1, 1, False),
        permutation_of(100, 1, 1, "buffered", edges=edges),
    ]
    assert [order.how for order in orders] == ["exact", "exact", "as stored", "buffered"]
    for order in orders:
        again = pickle.loads(pickle.dumps(order))
        np.testing.assert_array_equal(again.rows(3, 9), order.rows(3, 9))
        assert len(pickle.dumps(order)) < 3000
    assert permutation_of(10**9, 1, 1) == permutation_of(10**9, 1, 1) != permutation_of(10**9, 1, 2)
    with pytest.raises(ValueError, match="needs the edges"):
        permutation_of(100, 1, 1, "buffered")


def test_what_is_held_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        permutation_of(100, 1, 1).rows(0, 100)[0] = 5


def test_memory_does_not_grow_with_the_rows() -> None:
    peaks = []
    for n in (10**8, 10**16):
        order = permutation_of(n, 1, 1)
        tracemalloc.start()
        order.rows(n // 2, n // 2 + 10**5)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 4 * 2**20


@pytest.mark.parametrize("n", [10**7, 10**11, 2**40, 2**40 + 1])
def test_positions_are_uniform(n: int) -> None:
    """Chi-squared: where neighbours land, alone and together, and the steps between them."""
    order = Keyed(n, (11, 1))
    bins = 64
    for first in (0, n // 3, n - 200_000):
        where = order.rows(first, first + 200_000) / n
        # Four tests for each of the three stretches and the four numbers of rows.
        check_even(np.floor(where * bins), bins, FALSE_ALARM / 48)
        check_even(np.floor(where[:-1] * 8) * 8 + np.floor(where[1:] * 8), 64, FALSE_ALARM / 48)
        check_even(np.floor(((where[1:] - where[:-1]) % 1.0) * bins), bins, FALSE_ALARM / 48)
        back = order.positions(np.arange(first, first + 200_000)) / n
        check_even(np.floor(back * bins), bins, FALSE_ALARM / 48)


def check_even(bins: np.ndarray[tuple[int, ...], np.dtype[np.float64]], n_bins: int, false_alarm: float) -> None:
    counts = np.bincount(bins.astype(np.int64), minlength=n_bins)
    assert stats.chisquare(counts).pvalue > false_alarm


def test_all_permutations_of_a_few_rows_are_as_likely() -> None:
    found = [tuple(Keyed(4, (seed, 1)).rows(0, 4).tolist()) for seed in range(6000)]
    _, counts = np.unique(np.array(found), axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_seeds_and_streams_have_nothing_in_common() -> None:
    n, m = 10**9, 100_000
    orders = [Keyed(n, (seed, stream)).rows(0, m) for seed in (0, 1, 2) for stream in (1, 2)]
    bound = deviations(false_alarm=FALSE_ALARM / 15) / np.sqrt(m)
    correlations = np.asarray(np.corrcoef(orders))[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < bound
