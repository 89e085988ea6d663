"""The study of the watched test: its machinery."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import anytime
from studies.problems import PROBLEMS

COIN = next(i for i, problem in enumerate(PROBLEMS) if problem.name == "coin, d = 1")


def test_pieces_repeat() -> None:
    for kind in ("alarms", "found"):
        cell = anytime.Cell(kind, COIN, 100, 2)
        found = anytime.run_piece(cell, 0, seed=1)
        assert found == anytime.run_piece(cell, 0, seed=1)
        assert len(found) == 2
        assert all(len(row) == 3 for row in found)


def test_a_fixed_test_is_searched_once() -> None:
    cell = anytime.Cell("fixed", COIN, 100, 60)
    assert anytime.run_piece(cell, 1, seed=1) == []
    blocks, whole = (
        anytime.rows_for_half(PROBLEMS[0], cell, 1, False),
        anytime.rows_for_half(PROBLEMS[0], cell, 1, True),
    )
    assert whole < blocks
    assert {whole, blocks} < set(anytime.SIZES)


def test_the_tables_are_printed_and_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [anytime.Cell("alarms", COIN, 100, 3), anytime.Cell("found", COIN, 100, 2)]
    fixed = anytime.Cell("fixed", COIN, 100, 60)
    monkeypatch.setattr(anytime, "cells", lambda quick: iter([*grid, fixed]))
    kept = tmp_path / "pieces-quick-2024"
    kept.mkdir()
    anytime.write_rows(kept / f"{fixed.name}.0.csv", [(300, 200)])
    anytime.write_rows(kept / f"{fixed.name}.1.csv", [])
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    first = CliRunner().invoke(anytime.main, options)
    assert first.exit_code == 0
    assert "| coin, d = 1 | 100 | 3 | 0." in first.output
    assert "| 300 | 200 |" in first.output
    (kept / f"{grid[1].name}.0.csv").unlink()
    again = CliRunner().invoke(anytime.main, options)
    assert again.output.splitlines()[-8:] == first.output.splitlines()[-8:]
