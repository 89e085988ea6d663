"""A slice of the study of choices with nulls that are right in the limit: none rejects too often."""

from __future__ import annotations

import pytest

from studies.choices.grid import LIMITS, Cell
from studies.choices.trials import PIECE, run_piece
from tests.bounds import FALSE_ALARM, count_bounds

CHOICES = ("MedianHeuristic()", "MaxRatio()", "Weights()")


@pytest.mark.parametrize(
    ("study", "n", "n_pieces"), [("pairs-of-2", 400, 3), ("pairs-of-4", 400, 3), ("pairs-of-all", 60, 1)]
)
def test_no_pair_is_liberal(study: str, n: int, n_pieces: int) -> None:
    """Over 150 or 50 draws of blobs; false alarm 1e-6 over all pairs, for levels of up to .06."""
    nulls = LIMITS[study].nulls
    cell = Cell(study, "blobs", n, True, CHOICES, nulls, n_pieces * PIECE)
    found: dict[tuple[str, str], int] = {}
    for piece in range(n_pieces):
        for partial in run_piece(cell, piece, seed=7):
            found[partial.choice, partial.null] = found.get((partial.choice, partial.null), 0) + partial.rejections
    assert set(found) == {(choice, null) for choice in CHOICES for null in nulls}
    most = count_bounds(n_pieces * PIECE, 0.0, 0.06, FALSE_ALARM / len(found) / len(LIMITS))[1]
    assert max(found.values()) <= most
