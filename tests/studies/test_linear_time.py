"""The study of features beside blocks: a quick run of one problem."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import linear_time


def test_a_quick_run_writes_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = list(linear_time.cells(True))[:1]
    monkeypatch.setattr(linear_time, "cells", lambda quick: iter(grid))
    found = CliRunner().invoke(linear_time.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert found.exit_code == 0, found.output
    assert "| energy distance" in (tmp_path / "linear-time.md").read_text(encoding="utf-8")
