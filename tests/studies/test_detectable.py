"""The study of changes that comparisons say they would have shown: a quick run, and the numbers in the docs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import detectable
from studies.harness.counts import read_csv

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detectable, "cells", lambda quick: iter([detectable.Cell(30, 60, 1, "shift", 4)]))
    found = CliRunner().invoke(detectable.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    assert "| 30 and 60 | 2 | shift |" in (tmp_path / "detectable.md").read_text()


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "detectable.md").read_text(encoding="utf-8")
    rows = read_csv(DOCS / "detectable.csv")
    assert text == detectable.text(rows, "python -m studies.detectable --seed 2013")


def test_powers_in_the_docs_are_near_their_nominal_value() -> None:
    for row in read_csv(DOCS / "detectable.csv"):
        assert row["verdict"] / row["trials"] == pytest.approx(0.8, abs=0.1)
