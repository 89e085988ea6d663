"""Two files, one question: the whole way through."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from btests.cli import main


def write(path: Path, rng: np.random.Generator, n: int, shift: float = 0.0) -> None:
    """Write a file of numbers and categories."""
    lines = ["size,colour"]
    lines += [f"{rng.normal() + shift:.6f},{rng.choice(['red', 'green', 'blue'])}" for _ in range(n)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(("shift", "status"), [(0.0, 0), (1.0, 1)])
def test_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], shift: float, status: int) -> None:
    rng = np.random.default_rng(1)
    write(tmp_path / "a.csv", rng, 400)
    write(tmp_path / "b.csv", rng, 400, shift)
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert stop.value.code == status
    assert found["verdict"]["different"] == bool(status)
    assert found["columns"][0]["name"] == "size" or not status
