"""The study of the relatives of the B-test: a quick run, and the tables in the docs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import ho_shieh
from studies.harness.counts import read_csv

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [cell for cell in ho_shieh.cells(True) if cell.problem in ("mean 1, d = 1", "same: blobs")]
    monkeypatch.setattr(ho_shieh, "cells", lambda quick: iter(grid))
    found = CliRunner().invoke(ho_shieh.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    rows = read_csv(tmp_path / "ho-shieh.csv")
    assert len(rows) == 2 * (3 * len(ho_shieh.METHODS) + 1)
    # A shift of one standard deviation of 1000 rows is found by all in blocks of 31 and more.
    powers = [row["rejections"] for row in rows if row["problem"] == "mean 1, d = 1" and row["block_size"] >= 31]
    assert powers == [5] * len(powers)
    assert "more power" in (tmp_path / "ho-shieh.md").read_text()


def test_the_tables_in_the_docs_come_from_the_counts_beside_them() -> None:
    text = (DOCS / "ho-shieh.md").read_text(encoding="utf-8")
    report = ho_shieh.to_report(read_csv(DOCS / "ho-shieh.csv"))
    assert report.text is not None
    assert report.text("python -m studies.ho_shieh --seed 2013").rstrip() in text
