"""More than tolerated: in the unit of the answer, the share of rows, for the whole and for each column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import btests
from btests.comparison.total_variation import total_variation_bound
from btests.kernels import Energy, Gaussian
from tests.bounds import count_bounds
from tests.comparison.conftest import Shell
from tests.comparison.consistency import contradictions


def moved(rng: np.random.Generator, n: int, share: float) -> dict[str, Any]:
    """Return columns of which ``share`` of the rows of the first two lie elsewhere."""
    away = rng.random((2, n)) < share
    return {
        "size": rng.normal(size=n) + 50.0 * away[0],
        "colour": np.where(away[1], "new", rng.choice(np.array(["red", "green"]), n)),
        "same": rng.normal(size=n),
    }


def test_columns_answer_for_themselves() -> None:
    rng = np.random.default_rng(0)
    a, b = moved(rng, 2000, 0.0), moved(rng, 2000, 0.2)
    less, more = (btests.compare(a, b, seed=0, tolerance=t) for t in (0.1, 0.3))
    assert less.different
    assert {column.name for column in less.columns if column.beyond} == {"size", "colour"}
    assert "differ by more than 10 % of the rows: 2 of 3 columns do" in str(less)
    assert not more.different
    assert not any(column.beyond for column in more.columns)
    # What moved at all, and by how much, is told all the same.
    assert {column.name for column in more.columns if column.changed} == {"size", "colour"}
    assert more.columns[0].effect == pytest.approx(0.2, abs=0.04)
    told = more.to_dict()
    assert told["verdict"]["question"] == "more than the tolerance"
    assert told["verdict"]["pvalue_any_difference"] <= 0.05 < told["verdict"]["pvalue"]
    assert min(column["pvalue_beyond"] for column in told["columns"]) == told["verdict"]["pvalue"]
    assert told["verdict"]["beyond"]["columns"] <= told["verdict"]["pvalue"]


def test_more_than_nothing_is_any_difference() -> None:
    # A change that the test against a tolerance, which counts two thirds of the rows, does not find.
    rng = np.random.default_rng(0)
    a, b = moved(rng, 400, 0.0), {**moved(rng, 400, 0.0), "same": rng.normal(0.3, 1.0, size=400)}
    found, plain = btests.compare(a, b, seed=0, tolerance=0.0), btests.compare(a, b, seed=0)
    assert found.pvalue == plain.pvalue
    assert [(one.name, one.beyond, one.pvalue_beyond) for one in found.columns] == [
        (one.name, one.changed, one.pvalue_corrected) for one in plain.columns
    ]
    assert found.columns[0].beyond
    assert contradictions(found.to_dict(), str(found)) == []


def test_level_at_the_tolerance_itself() -> None:
    # Columns that differ by just as much as is tolerated: a column is found in at most alpha of the trials.
    alpha, trials = 0.1, 300
    count = 0
    for trial in range(trials):
        rng = np.random.default_rng([3, trial])
        found = btests.compare(moved(rng, 150, 0.0), moved(rng, 100, 0.15), tolerance=0.15, alpha=alpha, seed=trial)
        count += any(column.beyond for column in found.columns)
    assert count <= count_bounds(trials, 0.0, alpha)[1]


def test_the_whole_is_bounded_by_the_kernel() -> None:
    # Sides with nothing in common, far apart: MMD^2 is nearly 2, and all rows would have to change.
    assert total_variation_bound(2.0, Gaussian(1.0)) == 1.0
    assert total_variation_bound(-0.1, Gaussian(1.0)) == 0.0
    assert total_variation_bound(0.5, Energy()) is None
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(600, 3)), np.concatenate([rng.normal(size=(420, 3)), rng.normal(size=(180, 3)) + 40.0])
    share = btests.compare(x, y, seed=0).to_dict()["effect"]["total_variation_bound"]
    assert 0.1 < share <= 0.3 + 3.0 * math.sqrt(0.3 * 0.7 / 600)


def test_a_kernel_without_a_bound_leaves_it_to_the_columns() -> None:
    rng = np.random.default_rng(0)
    found = btests.compare(moved(rng, 500, 0.0), moved(rng, 500, 0.3), seed=0, tolerance=0.1, kernel="energy")
    assert found.details["beyond"]["joint"] is None
    assert found.different


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 2), (3, 40)])
def test_few_rows_find_nothing(n_a: int, n_b: int) -> None:
    rng = np.random.default_rng(0)
    assert not btests.compare(moved(rng, n_a, 0.0), moved(rng, n_b, 0.9), seed=0, tolerance=0.05).different


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("12.5 %", 0.125), ("0", 0.0)])
def test_in_the_shell_it_is_a_share(shell: Shell, files: tuple[str, str], text: str, share: float) -> None:
    found = shell("a.csv", "b.csv", "--tolerance", text, "--json").json
    assert found["verdict"]["tolerance"] == share
    assert f"--tolerance {share}" in found["command"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5", "more than all of them; a percentage is written 5%."),
        ("-1", "below 0"),
        ("100%", "all of them: tables never differ by more"),
        ("1", "all of them: tables never differ by more"),
        ("250%", "more than all of them."),
        ("inf", "more than all of them."),
    ],
)
def test_shares_out_of_range(shell: Shell, files: tuple[str, str], text: str, why: str) -> None:
    refused = shell.refused("a.csv", "b.csv", "--tolerance", text)
    assert f"--tolerance must be from 0% to less than 100% of the rows, and {text!r} is {why}" in refused


@pytest.mark.parametrize("text", ["much", "nan", "", "%"])
def test_what_is_no_share_is_refused(shell: Shell, files: tuple[str, str], text: str) -> None:
    refused = shell.refused("a.csv", "b.csv", "--tolerance", text)
    assert f"--tolerance must be a share of the rows, such as 5% or 0.05, got {text!r}" in refused


def test_in_python_too() -> None:
    a = {"u": [1.0, 2.0, 3.0]}
    with pytest.raises(ValueError, match="tolerance must be a share of the rows, from 0 to less than 1, got 5"):
        btests.compare(a, a, tolerance=5)
    with pytest.raises(ValueError, match=r"tolerance must be a share of the rows, such as 5% or 0\.05, got 'five'"):
        btests.compare(a, a, tolerance="five")
    assert btests.compare(a, a, tolerance="5%").to_dict()["settings"]["tolerance"] == 0.05
