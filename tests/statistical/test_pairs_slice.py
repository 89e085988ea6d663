"""A slice of the study of choices with nulls that are right in the limit: none rejects too often."""

from __future__ import annotations

import pytest

from studies.choices.cells import LIMITS, Cell
from studies.choices.trials import TASK_TRIALS, count
from tests.bounds import FALSE_ALARM, count_bounds

CHOICES = ("MedianHeuristic()", "MaxRatio()", "Weights()")


@pytest.mark.parametrize(
    ("study", "n", "n_tasks"), [("pairs-of-2", 400, 3), ("pairs-of-4", 400, 3), ("pairs-of-all", 60, 1)]
)
def test_no_pair_is_liberal(study: str, n: int, n_tasks: int) -> None:
    """Over 150 or 50 draws of blobs; false alarm 1e-6 over all pairs, for levels of up to .06."""
    nulls = LIMITS[study].nulls
    trials = n_tasks * TASK_TRIALS
    rows = count(Cell(study, "blobs", n, True, CHOICES, nulls, trials), range(trials), seed=7)
    found = {(row["choice"], row["null"]): row["rejections"] for row in rows}
    assert set(found) == {(choice, null) for choice in CHOICES for null in nulls}
    most = count_bounds(trials, 0.0, 0.06, FALSE_ALARM / len(found) / len(LIMITS))[1]
    assert max(found.values()) <= most
