"""The short cuts of the trials give what the library gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from btests import Normal, SignFlip, btest
from btests._warnings import BTestWarning
from btests.block_size import BlockRule
from btests.data.sample import Sample
from btests.selection import Selector, Setting
from studies.reproduce.methods import BEYOND, BY_KEY, MEDIANS, PAPER, TAKEN_LITERALLY
from studies.reproduce.published import SAMPLES, SECONDS, leeway
from studies.reproduce.trials import LEVEL, STRATEGIES, draw, rejects, selections


@pytest.mark.parametrize("is_null", [True, False])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_trial_is_the_test_of_the_library(strategy: str, is_null: bool) -> None:
    outcomes = set()
    for trial in range(12):
        x, y = draw(300, (5, trial), is_null=is_null)
        for b, selection in selections(strategy, Sample(x), Sample(y), (2, 7, 17, 60)):
            for null in (Normal(), SignFlip(99)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BTestWarning)
                    result = btest(
                        x, y, kernel=STRATEGIES[strategy], block_size=b, null=null, seed=trial, shuffle=False
                    )
                assert repr(result.kernel) == repr(selection.kernel)
                assert rejects(selection, b, null, trial) == result.rejects(LEVEL)
                outcomes.add(result.rejects(LEVEL))
    assert outcomes  # and where P is not Q, both outcomes are seen
    assert is_null or strategy == "median" or outcomes == {True, False}


def test_learning_gives_the_weights_of_the_library() -> None:
    for trial in range(30):
        x, y = (Sample(rows) for rows in draw(200, (6, trial), is_null=trial % 2 == 0))
        chooser = STRATEGIES["multiple"]
        assert isinstance(chooser, Selector)
        for b, mine in selections("multiple", x, y, (2, 10, 50)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BTestWarning)
                theirs = chooser.select(x, y, Setting(BlockRule(b)))
            assert [c.weight for c in mine.candidates] == [c.weight for c in theirs.candidates]
            assert np.array_equal(mine.x.first(200), theirs.x.first(200))
            assert np.array_equal(mine.y.first(200), theirs.y.first(200))


def test_draws_repeat_and_differ() -> None:
    first, again, other = (draw(50, (1, k), is_null=False) for k in (0, 0, 1))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_every_published_number_has_a_row() -> None:
    assert [method.key for method in PAPER] == list(SAMPLES) == list(SECONDS)
    assert all(method.published for method in (*PAPER, *TAKEN_LITERALLY))
    assert not any(method.published for method in (*BEYOND, *MEDIANS))
    assert len(BY_KEY) == len(PAPER) + len(TAKEN_LITERALLY) + len(BEYOND) + len(MEDIANS)


def test_published_numbers_have_three_digits() -> None:
    assert [leeway(n) for n in (886, 3850, 1700, 37000)] == pytest.approx([9.36, 43.5, 22.0, 420.0])


@pytest.mark.parametrize("key", BY_KEY)
def test_every_method_tests(key: str) -> None:
    method = BY_KEY[key]
    x, y = draw(80, (7,), is_null=False)
    assert 0.0 < method.pvalue(x, y, 0) == method.pvalue(x, y, 0) <= 1.0
    assert 2 <= method.size(80) <= 80
    assert method.rejections(80, 1, 0, 4, is_null=True) <= 4
    assert method.cost(1000) > method.cost(100) > 0.0
