"""A shell in an empty folder, and tables to compare in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from btests.cli import main


class Output(NamedTuple):
    """What a command left behind."""

    status: object
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


class Shell:
    """Runs ``btests compare`` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Output:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["compare", *arguments])
        return Output(stop.value.code, *self._capsys.readouterr())

    def refused(self, *arguments: str) -> str:
        """Return the one sentence with which a command is refused."""
        result = self(*arguments)
        assert (result.status, result.out) == (2, ""), result
        assert result.err.startswith("btests: ")
        assert result.err.count("\n") == 1, result.err
        assert result.err.endswith(".\n")
        assert "Traceback" not in result.err
        return result.err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a shell in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


@pytest.fixture
def files(shell: Shell) -> tuple[str, str]:
    """Write two CSV files of one distribution: a number, a category, a boolean, a date, and holes."""
    rng = np.random.default_rng(5)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(mixed_csv(rng, 300), encoding="utf-8")
    return "a.csv", "b.csv"


def mixed_csv(rng: np.random.Generator, n: int) -> str:
    """Return the text of a CSV file."""
    lines = ["size,colour,flag,day"]
    for _ in range(n):
        size = "" if rng.random() < 0.1 else f"{rng.normal():.5f}"
        day = np.datetime64("2024-01-01") + int(rng.integers(60))
        lines.append(f"{size},{rng.choice(['red', 'green', 'blue'])},{rng.choice(['true', 'false'])},{day}")
    return "\n".join(lines) + "\n"
