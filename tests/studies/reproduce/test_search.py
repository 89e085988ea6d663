"""The search for the number of rows: where it ends, that it repeats, and how wide its interval is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from studies.reproduce.search import TARGET, Effort, Step, fit, step
from tests.bounds import FALSE_ALARM

EFFORT = Effort(100, 100, 200, 1000, 300)


class Truth:
    """A test with a Type II error of ``Phi(slope log(n / root) + Phi^-1(.05))``, and its trials."""

    def __init__(self, root: float, slope: float, seed: int) -> None:
        self.root, self.slope, self.seed = root, slope, seed

    def errors(self, n: int, piece: int, trials: int) -> int:
        p = ndtr(self.slope * math.log(n / self.root) + ndtri(TARGET))
        return int(np.random.default_rng([self.seed, n, piece]).binomial(trials, p))


def search(
    truth: Truth, first: int = 16, last: int = 65_536
) -> tuple[Step, dict[int, list[int]], list[dict[int, int]]]:
    """Search to the end; return the last step, all counts and what was wanted at each step."""
    counts: dict[int, list[int]] = {}
    asked: list[dict[int, int]] = []
    while True:
        found = step(counts, EFFORT, first, last)
        asked.append(dict(found.wanted))
        missing = [
            (n, piece)
            for n, trials in found.wanted.items()
            for piece in range(len(counts.get(n, [])), trials // EFFORT.task)
        ]
        if not missing:
            return found, counts, asked
        for n, piece in missing:
            counts.setdefault(n, []).append(truth.errors(n, piece, EFFORT.task))


@pytest.mark.parametrize(("root", "slope"), [(20, -2.0), (187, -3.0), (886, -2.5), (26_400, -2.0), (60_000, -4.0)])
def test_the_search_ends_near_the_truth(root: float, slope: float) -> None:
    found, _, _ = search(Truth(root, slope, 1))
    assert found.answer is not None
    assert found.answer.low < found.answer.value < found.answer.high
    # The half-width is 1.96 standard errors; 6 of them are left by chance with a probability below 1e-6.
    half = math.log(found.answer.high / found.answer.value)
    assert abs(math.log(found.answer.value / root)) < 6.0 / 1.96 * half
    assert found.centre / 1.3 < root < 1.3 * found.centre


def test_intervals_cover_as_often_as_they_say() -> None:
    searches = [search(Truth(300, -2.5, seed))[0].answer for seed in range(400)]
    covered = sum(answer is not None and answer.low <= 300 <= answer.high for answer in searches)
    # 95 % nominal; a binomial of 92 % (the search looks at its data, which costs a little) leaves the bound below
    # with a probability of less than FALSE_ALARM.
    from scipy import stats

    assert covered >= stats.binom.ppf(FALSE_ALARM, 400, 0.92)


def test_a_search_takes_the_same_way_again_whatever_is_done_already() -> None:
    found, counts, asked = search(Truth(500, -2.0, 3))
    # With everything there, as in a run that goes on, and with more trials at sizes that were visited early.
    more = {n: [*errors, *[99] * 20] for n, errors in counts.items()}
    for known in (counts, more):
        again = step(known, EFFORT, 16, 65_536)
        assert (dict(again.wanted), again.centre, again.answer) == (asked[-1], found.centre, found.answer)


def test_pieces_that_are_missing_are_asked_for_together() -> None:
    """Points at and beside the answer do not wait for one another."""
    _, counts, asked = search(Truth(500, -2.0, 3))
    new = [set(later) - set(earlier) for earlier, later in itertools.pairwise(asked)]
    assert max(len(sizes) for sizes in new) >= 3
    assert sum(len(errors) for errors in counts.values()) * EFFORT.task < 10_000


def test_a_test_that_never_gets_there_is_said_to_need_more() -> None:
    found, _, _ = search(Truth(10**7, -1.0, 0), last=1000)
    assert found.answer is not None
    assert math.isinf(found.answer.value)
    assert found.centre == max(found.wanted) == 1000


def test_fit_without_a_fall_is_wide_and_finite() -> None:
    for counts in (
        {100: (50, 5), 110: (50, 5)},
        {90: (20, 0), 100: (20, 0), 110: (20, 0)},
        {100: (20, 1), 115: (20, 20)},
    ):
        found = fit(counts, 100)
        assert found.low <= found.value <= found.high
        assert math.isfinite(found.value)
