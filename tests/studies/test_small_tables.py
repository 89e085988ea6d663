"""The study of random small tables: a quick run, the numbers in the docs, and the level in short."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from studies import small_tables
from studies.harness.counts import read_csv
from tests.bounds import count_bounds

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_tables, "cells", lambda quick: iter([small_tables.Cell(8, 12, False, 4)]))
    arguments = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    for _ in range(2):  # the second run has nothing left to do
        found = CliRunner().invoke(small_tables.main, arguments)
        assert found.exit_code == 0, found.output
    rows = read_csv(tmp_path / "small-tables.csv")
    assert {row["test"] for row in rows} <= set(small_tables.TESTS)
    assert "| 8 to 12 | unequal | verdict |" in (tmp_path / "small-tables.md").read_text()


def test_tables_have_ties_missing_cells_and_their_lengths() -> None:
    cells = []
    for seed in range(20):
        a, b = small_tables.random_tables(np.random.default_rng(seed), 30, 20)
        assert list(a) == list(b)
        assert all(len(column) == 30 for column in a.values())
        assert all(len(column) == 20 for column in b.values())
        cells += [*a.values(), *b.values()]
    assert any(None in column for column in cells)
    assert any(len(set(column)) < len(column) / 3 for column in cells)
    assert {type(cell).__name__ for column in cells for cell in column} >= {"float", "int", "str", "bool", "date"}


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "small-tables.md").read_text(encoding="utf-8")
    rows = read_csv(DOCS / "small-tables.csv")
    assert text == small_tables.tables(rows, "python -m studies.small_tables --seed 2013")


def test_levels_of_the_document_are_what_they_should_be() -> None:
    # A level may be lower than its nominal value, by ties and by Bonferroni's rule. The bound from above fails with
    # probability 1e-6 for each of 32 counts.
    for row in read_csv(DOCS / "small-tables.csv"):
        for name, alpha in small_tables.LEVELS.items():
            assert row[name] <= count_bounds(row["trials"], 0.0, alpha)[1], row


def test_numbers_of_the_guide_are_those_of_the_study() -> None:
    rows = [row for row in read_csv(DOCS / "small-tables.csv") if row["test"] == "verdict"]
    n = sum(row["trials"] for row in rows)
    at_05, at_01 = (100.0 * sum(row[name] for row in rows) / n for name in small_tables.LEVELS)
    text = " ".join((DOCS / "compare.md").read_text(encoding="utf-8").split())
    assert f"Of {n:,} such pairs" in text
    assert f"{at_05:.1f} % at level 5 % and {at_01:.1f} % at level 1 %" in text


def test_level() -> None:
    """At most as many of 60 verdicts as a level of 5 % allows; fails with probability below 1e-6."""
    rows = small_tables.count(small_tables.Cell(8, 30, False, 60), range(60), 77)
    found = {row["test"]: row for row in rows}
    for name in small_tables.TESTS:
        assert found[name]["rejections"] <= count_bounds(found[name]["trials"], 0.0, 0.05)[1]
