"""The study of levels: its machinery, and that the table in the docs is the one that its counts give."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.harness.counts import read_csv
from studies.levels import trials
from studies.levels.__main__ import main
from studies.levels.tables import default_tables, level, misses, tables
from studies.problems import DEFAULT_PROBLEMS, PROBLEMS

DOCS = Path(__file__).parents[2] / "docs"


def test_trials_repeat_and_count_every_null() -> None:
    cell = trials.Cell(0, 40, (2, 20), 6, True)
    counts = trials.count(cell, range(6), seed=1)
    assert counts == trials.count(cell, range(6), seed=1)
    assert {(c["block_size"], c["null"]) for c in counts} == {(b, null) for b in (2, 20) for null in trials.NULLS}
    assert all(c["trials"] == 6 and 6 >= c["at_05"] >= c["at_01"] >= c["at_001"] for c in counts)


def test_an_interrupted_study_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [trials.Cell(i, 40, (2,), 4, True) for i in range(len(PROBLEMS))]
    monkeypatch.setattr(trials, "cells", lambda quick: iter(grid))
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    assert CliRunner().invoke(main, options, catch_exceptions=False).exit_code == 0
    first = (tmp_path / "levels.csv").read_text()
    tasks = sorted((tmp_path / "tasks" / "levels").iterdir())
    assert len(tasks) == len(grid)
    tasks[0].unlink()
    stored = tasks[1].stat().st_mtime_ns
    assert CliRunner().invoke(main, options, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "levels.csv").read_text() == first
    assert tasks[1].stat().st_mtime_ns == stored


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "levels.md").read_text(encoding="utf-8")
    assert tables(read_csv(DOCS / "levels.csv"), "python -m studies.levels --seed 2013") in text


def test_every_cell_that_misses_its_target_is_named_in_the_docs() -> None:
    text = (DOCS / "levels.md").read_text(encoding="utf-8").split("### Levels")[0]
    for row in misses(read_csv(DOCS / "levels.csv")):
        assert f"`{row['problem']}, n = {row['n']}, B = {row['block_size']}`" in text


def test_the_default_is_counted_with_every_rule_for_ties() -> None:
    tied = next(i for i, problem in enumerate(DEFAULT_PROBLEMS) if problem.has_ties)
    cell = trials.Cell(tied, 40, (0,), 4, True)
    counts = trials.count_default(cell, range(4), seed=1)
    assert counts == trials.count_default(cell, range(4), seed=1)
    assert [c["null"] for c in counts] == list(trials.DEFAULTS)
    untied = trials.count_default(trials.Cell(0, 40, (0,), 2, True), range(2), seed=1)
    assert {c["problem"] for c in untied} == {"blobs"}


def test_levels_of_the_default_in_the_docs() -> None:
    counts = read_csv(DOCS / "levels-default.csv")
    text = default_tables(counts, f"python -m studies.levels --default --trials {counts[0]['trials']} --seed 2013")
    assert text in (DOCS / "levels.md").read_text(encoding="utf-8")
    tied = {problem.name for problem in DEFAULT_PROBLEMS if problem.has_ties}
    for row in counts:  # exact but for ties, which are on the safe side, or exact again by a random number
        found = level(row, "at_05")
        assert found.low <= 0.055
        assert found.high >= 0.045 or (row["problem"] in tied and row["null"] != "ties random")
