"""The study of changes that comparisons say they would have shown: a quick run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import detectable


def test_a_quick_run_writes_counts_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detectable, "cells", lambda quick: iter([detectable.Cell(30, 60, 1, "shift", 4)]))
    found = CliRunner().invoke(detectable.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    assert "| 30 and 60 | 2 | shift |" in (tmp_path / "detectable.md").read_text()
