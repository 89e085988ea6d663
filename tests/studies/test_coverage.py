"""The study of coverage: exact values of MMD^2, its machinery, and that the table in the docs comes from its counts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from btests.data.sample import Sample
from btests.plan import Plan
from btests.statistics import MMD, summarize
from studies import coverage
from studies.closed_forms import EXACT_PROBLEMS, ExactProblem, integer_mmd2
from studies.coverage import misses_target, ratio, table
from studies.harness.counts import add_up, read_csv
from tests.bounds import FALSE_ALARM, deviations
from tests.statistics.test_closed_form import exact_mmd

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("problem", EXACT_PROBLEMS, ids=lambda problem: problem.name)
def test_exact_values_agree_with_estimates(problem: ExactProblem) -> None:
    """The average of 1000 blocks of 40 rows: false alarm 1e-6 / 15 each."""
    rng = np.random.default_rng(1)
    x, y = Sample(problem.draw(40_000, rng)), Sample(problem.draw_other(40_000, rng))
    values = summarize(MMD(problem.kernel), x, y, Plan.of_size(40_000, 40_000, 40)).values
    error = values.std(ddof=1) / math.sqrt(values.size)
    assert abs(values.mean() - problem.mmd2) < deviations(values.size - 1, FALSE_ALARM / len(EXACT_PROBLEMS)) * error


def test_exact_values_agree_with_other_formulas() -> None:
    by_name = {problem.name: problem.mmd2 for problem in EXACT_PROBLEMS}
    assert by_name["mean shift 0.7, d = 1"] == pytest.approx(exact_mmd(1, 0.7, 1.0, 1.0), rel=1e-12)
    assert by_name["scale 3, d = 1"] == pytest.approx(exact_mmd(1, 0.0, 3.0, 1.0), rel=1e-12)
    coins = integer_mmd2(np.array([0.5, 0.5]), np.array([0.2, 0.8]), 1.0)
    assert coins == pytest.approx(2.0 * 0.3**2 * (1.0 - math.exp(-0.5)), rel=1e-12)


def test_trials_repeat_and_count_both_rules() -> None:
    cell = coverage.Cell(0, 60, 20, 8)
    found = coverage.count(cell, range(8), seed=1)
    assert found == coverage.count(cell, range(8), seed=1)
    assert [row["block_size"] for row in found] == [20, 4]
    assert all(row["trials"] == 8 and row["below"] + row["above"] <= 8 for row in found)


def test_quick_mode_writes_tables_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [coverage.Cell(i, n_x, n_y, 5) for i in (0, 12) for n_x, n_y in ((100, 100), (500, 100))]
    monkeypatch.setattr(coverage, "cells", lambda quick: iter(grid))
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    first = CliRunner().invoke(coverage.main, options)
    assert first.exit_code == 0, first.output
    text = (tmp_path / "coverage.csv").read_text()
    assert len(read_csv(tmp_path / "coverage.csv")) == 2 * len(grid)
    next((tmp_path / "tasks" / "coverage").iterdir()).unlink()
    assert CliRunner().invoke(coverage.main, options).exit_code == 0
    assert (tmp_path / "coverage.csv").read_text() == text


def test_tasks_of_a_cell_add() -> None:
    names = ("problem", "mmd2", "n_x", "n_y", "block_size", "trials", "below", "above", "sum_estimates", "sum_squares")
    one = dict(zip(names, ("a", 0.1, 100, 100, 10, 50, 1, 2, 5.0, 0.6), strict=True))
    (both,) = add_up([one, one])
    assert tuple(both.values()) == ("a", 0.1, 100, 100, 10, 100, 2, 4, 10.0, 1.2)
    assert coverage.coverage(both).value == pytest.approx(0.94)


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    assert table(read_csv(DOCS / "coverage.csv"), "python -m studies.coverage --seed 2013") in text


def test_clear_and_moderate_differences_are_covered_as_wanted() -> None:
    """Of 100 rows or more on both sides, every Monte Carlo interval touches [.94, .96], or the docs name the cell."""
    text = (DOCS / "coverage.md").read_text(encoding="utf-8").split("### Summary")[0]
    for row in read_csv(DOCS / "coverage.csv"):
        if ratio(row) >= coverage.LEAST_RATIO and min(row["n_x"], row["n_y"]) >= 100 and misses_target(row):
            assert f"`{row['problem']}, {row['n_x']} and {row['n_y']} rows, B = {row['block_size']}`" in text
