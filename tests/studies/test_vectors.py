"""The study of directions of long vectors: a quick run, and the numbers in the docs."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from studies import vectors
from studies.harness.counts import read_csv

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_a_table(tmp_path: Path) -> None:
    found = CliRunner().invoke(vectors.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    assert "| directions | noise, mean |" in (tmp_path / "vectors.md").read_text()


def test_the_table_in_the_docs_comes_from_the_counts_beside_it() -> None:
    text = (DOCS / "vectors.md").read_text(encoding="utf-8")
    assert text == vectors.text(read_csv(DOCS / "vectors.csv"), "python -m studies.vectors --seed 2013")
