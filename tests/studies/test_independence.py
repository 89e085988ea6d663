"""The study of tests of independence: a quick run, and the tables in the docs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from studies import independence
from studies.harness.counts import read_csv

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [cell for cell in independence.cells(True) if cell.problem in ("linear", "independent: normal")]
    monkeypatch.setattr(independence, "cells", lambda quick: iter(grid))
    found = CliRunner().invoke(independence.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    rows = read_csv(tmp_path / "independence.csv")
    assert len(rows) == 2 * len(independence.METHODS)
    assert "mean power" in (tmp_path / "independence.md").read_text()


def test_every_problem_draws_rows_of_one_length() -> None:
    for draw, noise in independence.PROBLEMS.values():
        x, y = draw(np.random.default_rng(0), 40, noise)
        assert len(x) == len(y) == 40


def test_the_tables_in_the_docs_come_from_the_counts_beside_them() -> None:
    text = (DOCS / "independence.md").read_text(encoding="utf-8")
    report = independence.to_report(read_csv(DOCS / "independence.csv"))
    assert report.text is not None
    assert report.text("python -m studies.independence --seed 2013").rstrip() in text
