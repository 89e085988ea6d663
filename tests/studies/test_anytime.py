"""The study of the sequential test: its machinery."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import anytime
from studies.problems import PROBLEMS

COIN = next(i for i, problem in enumerate(PROBLEMS) if problem.name == "coin, d = 1")


def test_trials_repeat() -> None:
    for kind in ("alarms", "delays"):
        cell = anytime.Cell(kind, COIN, 100, 2)
        found = anytime.count(cell, range(2), seed=1)
        assert found == anytime.count(cell, range(2), seed=1)
        assert len(found) == 2
        assert all(len(row) == 5 for row in found)


def test_a_fixed_test_is_searched_once() -> None:
    cell = anytime.Cell("fixed", COIN, 100, 60)
    assert anytime.count(cell, range(50, 60), seed=1) == []
    blocks, whole = (anytime.rows_for_half(PROBLEMS[0], cell, 1, whole) for whole in (False, True))
    assert whole < blocks
    assert {whole, blocks} < set(anytime.SIZES)


def test_the_tables_are_printed_and_an_interrupted_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [anytime.Cell("alarms", COIN, 100, 3), anytime.Cell("delays", COIN, 100, 2)]
    monkeypatch.setattr(anytime, "cells", lambda quick: iter([*cells, anytime.Cell("fixed", COIN, 100, 2)]))
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    first = CliRunner().invoke(anytime.main, options, catch_exceptions=False)
    assert first.exit_code == 0
    assert "| coin, d = 1 | 100 | 3 | 0." in first.output
    text = (tmp_path / "anytime.md").read_text()
    (tmp_path / "tasks" / "anytime" / f"{cells[1].name}.0.json").unlink()
    assert CliRunner().invoke(anytime.main, options, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "anytime.md").read_text() == text
