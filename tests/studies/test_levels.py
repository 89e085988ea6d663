"""The study of levels: its machinery, and that the table in the docs is the one that its counts give."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import binomtest

from studies import levels
from studies.counts import Counts, read_counts, write_counts
from studies.problems import DEFAULT_PROBLEMS, PROBLEMS
from studies.tables import misses, write_default_table, write_tables

DOCS = Path(__file__).parents[2] / "docs"


def test_pieces_repeat_and_count_every_null() -> None:
    cell = levels.Cell(0, 40, (2, 20), 6, True)
    counts = levels.run_piece(cell, 0, seed=1)
    assert counts == levels.run_piece(cell, 0, seed=1)
    assert {(c.block_size, c.null) for c in counts} == {(b, null) for b in (2, 20) for null in levels.NULLS}
    assert all(c.trials == 6 and 6 >= c.at_05 >= c.at_01 >= c.at_001 for c in counts)


def test_an_interrupted_study_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [levels.Cell(i, 40, (2,), 4, True) for i in range(len(PROBLEMS))]
    monkeypatch.setattr(levels, "cells", lambda quick: iter(grid))
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    assert CliRunner().invoke(levels.main, options).exit_code == 0
    first = (tmp_path / "levels.csv").read_text()
    pieces = sorted((tmp_path / "pieces-quick-2013").iterdir())
    assert len(pieces) == len(grid)
    pieces[0].unlink()
    kept = pieces[1].stat().st_mtime_ns
    assert CliRunner().invoke(levels.main, options).exit_code == 0
    assert (tmp_path / "levels.csv").read_text() == first
    assert pieces[1].stat().st_mtime_ns == kept


def test_counts_add_and_survive_their_file(tmp_path: Path) -> None:
    one = Counts("coin", 10, 2, True, "Normal", 100, 5, 1, 0)
    total = Counts.total([one, one])
    assert total == [Counts("coin", 10, 2, True, "Normal", 200, 10, 2, 0)]
    write_counts(tmp_path / "counts.csv", total)
    assert read_counts(tmp_path / "counts.csv") == total


@pytest.mark.parametrize("hits", [0, 3, 50, 100])
def test_interval_is_that_of_clopper_and_pearson(hits: int) -> None:
    ours = Counts("coin", 10, 2, True, "Normal", 100, hits, 0, 0).interval(0)
    theirs = binomtest(hits, 100).proportion_ci(0.99, method="exact")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_table_in_the_docs_comes_from_the_counts_beside_it(tmp_path: Path) -> None:
    counts = read_counts(DOCS / "levels.csv")
    text = (DOCS / "levels.md").read_text(encoding="utf-8")
    write_tables(tmp_path / "levels.md", counts, "python -m studies.levels --seed 2013")
    assert (tmp_path / "levels.md").read_text(encoding="utf-8") in text


def test_every_cell_that_misses_its_target_is_named_in_the_docs() -> None:
    text = (DOCS / "levels.md").read_text(encoding="utf-8").split("### Levels")[0]
    for count in misses(read_counts(DOCS / "levels.csv")):
        assert f"`{count.problem}, n = {count.n}, B = {count.block_size}`" in text


def test_the_default_is_counted_with_every_way_to_count_ties() -> None:
    tied = next(i for i, problem in enumerate(DEFAULT_PROBLEMS) if problem.has_ties)
    cell = levels.Cell(tied, 40, (0,), 4, True)
    counts = levels.run_default_piece(cell, 0, seed=1)
    assert counts == levels.run_default_piece(cell, 0, seed=1)
    assert [c.null for c in counts] == list(levels.DEFAULTS)
    assert cell.name not in {other.name for other in levels.cells(False)}
    assert {c.problem for c in levels.run_default_piece(levels.Cell(0, 40, (0,), 2, True), 0, seed=1)} == {"blobs"}


def test_levels_of_the_default_in_the_docs(tmp_path: Path) -> None:
    counts = read_counts(DOCS / "levels-default.csv")
    write_default_table(tmp_path / "table.md", counts, "python -m studies.levels --default --seed 2013")
    assert (tmp_path / "table.md").read_text(encoding="utf-8") in (DOCS / "levels.md").read_text(encoding="utf-8")
    tied = {problem.name for problem in DEFAULT_PROBLEMS if problem.has_ties}
    for c in counts:  # exact but for ties, which are on the safe side, or exact again by a random number
        low, high = c.interval(0)
        assert low <= 0.055
        assert high >= 0.045 or (c.problem in tied and c.null != "ties random")
