"""No row is used twice: not for the choice and for the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from btests import (
    CrossValidation,
    Gaussian,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    Pairwise,
    PerCoordinate,
    Selector,
    Weights,
    bandwidths,
    btest,
)
from btests.data.sample import AnySample, Sample
from btests.selection import Setting
from tests.reference import Array

Make = Callable[..., Selector]
SELECTORS: list[Make] = [MaxMMD, MaxRatio, Weights, CrossValidation]

pytestmark = pytest.mark.filterwarnings("ignore::btests.SelectionWarning")


class Watched:
    """Kernels on numbered rows that write down which rows they saw, and whether for the choice or for the test."""

    def __init__(self) -> None:
        self.phase = "choice"
        self.seen: dict[str, set[int]] = {"choice": set(), "test": set()}

    def kernel(self, width: float) -> Callable[[Array, Array], Array]:
        """Return a Gaussian of all but the first column, which is the row's number."""

        def watched(x: Array, y: Array) -> Array:
            self.seen[self.phase] |= {int(row) for row in np.concatenate([x[:, 0], y[:, 0]])}
            return Gaussian(width)(x[:, 1:], y[:, 1:])

        return watched


class Switch:
    """A selector around another that tells the watch when the choice is over."""

    def __init__(self, inner: Selector, watch: Watched) -> None:
        self.inner, self.watch = inner, watch

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Any:
        """Select, and from now on it is the test."""
        found = self.inner.select(x, y, setting)
        self.watch.phase = "test"
        return found


@pytest.mark.parametrize("make", SELECTORS)
@pytest.mark.parametrize(("n_x", "n_y"), [(40, 40), (41, 41), (40, 75), (90, 33)])
@pytest.mark.parametrize("fraction", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("shuffle", [True, False])
def test_no_row_is_used_twice(make: Make, n_x: int, n_y: int, fraction: float, shuffle: bool) -> None:
    watch = Watched()
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(n_x + n_y), rng.normal(size=(n_x + n_y, 2))])
    selector = make([watch.kernel(0.5), watch.kernel(1.0), watch.kernel(2.0)], fraction=fraction)
    result = btest(rows[:n_x], rows[n_x:], kernel=Switch(selector, watch), seed=1, shuffle=shuffle)
    choice, test = watch.seen["choice"], watch.seen["test"]
    assert not choice & test
    assert choice | test == set(range(n_x + n_y))
    assert (result.n_x, result.n_y) == (len([r for r in test if r < n_x]), len([r for r in test if r >= n_x]))
    assert result.n_train == (n_x - result.n_x, n_y - result.n_y)


def words(n: int, letters: str) -> Iterator[str]:
    """Yield different words."""
    rng = np.random.default_rng(len(letters))
    for i in range(n):
        yield "".join(rng.choice(list(letters), size=5)) + str(i)


@pytest.mark.parametrize("make", SELECTORS)
def test_objects_are_not_used_twice_either(make: Make) -> None:
    seen: set[str] = set()

    def shared(a: str, b: str) -> float:
        seen.update((a, b))
        return float(len(set(a) & set(b)))

    def both(a: str, b: str) -> float:
        return shared(a, b) ** 2

    x, y = list(words(40, "abcdef")), list(words(40, "abcxyz"))
    selection = make([Pairwise(shared), Pairwise(both)]).select(_objects(x), _objects(y), Setting())
    left = {str(word) for sample in (selection.x, selection.y) for word in sample.first(len(sample))}
    assert not seen & left
    assert len(left) + len(seen) == len(set(x) | set(y))
    assert btest(x, y, kernel=make([Pairwise(shared), Pairwise(both)]), seed=1).engine == "numpy"


def _objects(items: list[str]) -> Sample:
    rows = np.empty(len(items), dtype=object)
    rows[:] = items
    return Sample(rows)


@pytest.mark.parametrize("make", SELECTORS)
@pytest.mark.parametrize("family", [bandwidths(), MedianFamily(), PerCoordinate()], ids=["26", "median", "coordinates"])
def test_other_rows_for_the_test_do_not_change_the_choice(make: Make, family: Any) -> None:
    """To the last bit, scores included, and whatever the rows of the test are."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 3)), rng.normal(0.3, 1.0, size=(120, 3))
    order_x, order_y = rng.permutation(120), rng.permutation(120)
    one = make(family).select(Sample(x, order_x), Sample(y, order_y), Setting())
    for other in (rng.permutation(x[order_x[60:]]), rng.normal(size=(60, 3)) * 1e9, np.zeros((60, 3))):
        p, q = x.copy(), y.copy()
        p[order_x[60:]], q[order_y[60:]] = other, other[::-1]
        two = make(family).select(Sample(p, order_x), Sample(q, order_y), Setting())
        assert (one.kernel, one.candidates, one.note) == (two.kernel, two.candidates, two.note)


@pytest.mark.parametrize("make", SELECTORS)
def test_the_rows_of_the_choice_do_change_it(make: Make) -> None:
    """So that the test above can fail."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 3)), rng.normal(0.3, 1.0, size=(120, 3))
    one = make().select(Sample(x), Sample(y), Setting())
    two = make().select(Sample(np.concatenate([x[60:], x[:60]])), Sample(y), Setting())
    assert one.candidates != two.candidates


def test_a_leak_would_be_seen() -> None:
    """A selector that hands back the rows it chose on fails the test above."""
    watch = Watched()
    rows = np.column_stack([np.arange(80), np.random.default_rng(0).normal(size=(80, 2))])

    class Leaks:
        def select(self, x: AnySample, y: AnySample, setting: Setting) -> Any:
            from dataclasses import replace

            return replace(MaxMMD([watch.kernel(1.0), watch.kernel(2.0)]).select(x, y, setting), x=x, y=y)

    btest(rows[:40], rows[40:], kernel=Switch(Leaks(), watch), seed=1)
    assert watch.seen["choice"] & watch.seen["test"]
