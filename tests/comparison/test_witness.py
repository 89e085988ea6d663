"""The two columns of the map."""

from __future__ import annotations

import numpy as np
import pytest

from btests.comparison.cells import Cells, Mask
from btests.comparison.witness import association, most_changed_pair
from btests.plan import Array, Index

N = 4000
NORMAL = np.random.default_rng(0).normal(size=(3, N))


def number(name: str, values: Array, missing: Mask | None = None) -> Cells:
    """Return a column of numbers, the first half of table a."""
    return Cells(name, "number", values, np.isnan(values) if missing is None else missing, len(values) // 2)


def category(name: str, codes: Index | Mask, n_levels: int) -> Cells:
    """Return a column of levels by their codes."""
    levels = tuple(f"level {j}" for j in range(n_levels))
    return Cells(
        name, "category", np.asarray(codes, dtype=np.float64), np.zeros(len(codes), bool), len(codes) // 2, levels
    )


X = number("x", NORMAL[0])
CODES = np.random.default_rng(1).integers(0, 5, N)


@pytest.mark.parametrize(
    ("other", "low", "high"),
    [
        (number("copy", NORMAL[0]), 1.0, 1.0),
        (number("exponential", np.exp(-NORMAL[0])), 0.999, 1.0),
        (number("nearly", NORMAL[0] + 0.1 * NORMAL[1]), 0.98, 1.0),
        (number("half", NORMAL[0] + NORMAL[1]), 0.6, 0.8),
        # Of 4000 independent rows, beyond 0.1 with probability below 1e-9.
        (number("another", NORMAL[1]), 0.0, 0.1),
        (number("constant", np.ones(N)), 0.0, 0.0),
        (number("empty", np.zeros(N), np.ones(N, bool)), 0.0, 0.0),
        (category("sign", (NORMAL[0] > 0), 2), 0.8, 0.9),
        (category("tenths", np.argsort(np.argsort(NORMAL[0])) * 10 // N, 10), 0.99, 1.0),
        (category("noise", CODES, 5), 0.0, 0.12),
    ],
    ids=lambda value: value.name if isinstance(value, Cells) else "",
)
def test_association_with_a_number(other: Cells, low: float, high: float) -> None:
    for found in (association(X, other), association(other, X)):
        assert low - 1e-9 <= found <= high + 1e-9


def test_association_of_categories() -> None:
    one = category("one", CODES, 5)
    assert association(one, category("renamed", 4 - CODES, 5)) == pytest.approx(1.0)
    assert association(one, category("other", np.random.default_rng(2).integers(0, 3, N), 3)) < 0.12
    assert association(one, category("constant", 0 * CODES, 1)) == 0.0


def test_the_second_column_of_the_map_is_not_the_first_again() -> None:
    columns = [X, number("copy", 2.0 * NORMAL[0]), number("half", NORMAL[0] + NORMAL[1]), number("own", NORMAL[2])]
    changed = [(True, 0.5), (True, 0.49), (True, 0.3), (True, 0.1)]
    pair = most_changed_pair(columns, changed, None)
    assert pair is not None
    assert [cells.name for cells in pair] == ["x", "half"]
    # A column that did not change adds nothing, and is better than the same one twice.
    pair = most_changed_pair(columns[:2] + columns[3:], [*changed[:2], (False, 0.0)], None)
    assert pair is not None
    assert [cells.name for cells in pair] == ["x", "own"]
    pair = most_changed_pair(columns[:2], changed[:2], None)
    assert pair is not None
    assert [cells.name for cells in pair] == ["x", "copy"]
    assert most_changed_pair(columns[:1], changed[:1], None) is None


def test_the_map_is_of_the_relation_where_no_two_columns_changed() -> None:
    columns = [X, number("copy", 2.0 * NORMAL[0]), number("own", NORMAL[2])]
    pair = most_changed_pair(columns, [(True, 0.5), (False, 0.0), (False, 0.0)], ("own", "copy"))
    assert pair is not None
    assert [cells.name for cells in pair] == ["own", "copy"]
