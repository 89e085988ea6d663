"""The command that a comparison names repeats it, to the last digit."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from tests.comparison.conftest import Shell, mixed_csv

# What differs from one run to the next.
_PASSING = ("seconds", "memory_bytes")


def _lasting(told: dict[str, Any]) -> dict[str, Any]:
    test = {key: value for key, value in told["test"].items() if key not in _PASSING}
    return {key: value for key, value in told.items() if key not in _PASSING} | {"test": test}


def _again(command: str, folder: Path, text: str | None = None) -> dict[str, Any]:
    """Run a command as a shell does that it is pasted into."""
    assert command.startswith("btests compare ")
    typed = f"{shlex.quote(sys.executable)} -m {command} --json"
    done = subprocess.run(["sh", "-c", typed], cwd=folder, input=text, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "names", [("a b.csv", "it's.csv"), ('say "x".csv', "$HOME & `id`.csv"), ("über*?.csv", "b.csv")]
)
def test_odd_names(shell: Shell, tmp_path: Path, names: tuple[str, str]) -> None:
    rng = np.random.default_rng(5)
    for name in names:
        Path(name).write_text(mixed_csv(rng, 80), encoding="utf-8")
    told = shell(*names, "--seed", "7", "--json").json
    assert _lasting(_again(told["command"], tmp_path)) == _lasting(told)


def test_all_options(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lines = ['"a,b";"in ""cm""";side;other']
    lines += [f"{x:.4f};{c};{s};{o}" for x, c, s, o in zip(*_columns(rng, 300), strict=True)]
    Path("-odd.csv").write_text("\n".join(lines), encoding="utf-8")
    options = ["--by", "side", "--a", "it's", "--b", "two 2", "--columns", '"a,b"', "--columns", '"in ""cm"""']
    options += ["--tolerance", "0", "--alpha", "0.2", "--kernel", "laplacian", "--null", "third-cumulant"]
    options += ["--missing", "-,9", "--missing", '"a,"', "--categories", '"a,b"']
    options += ["--block-size", "20", "--seed", "3", "--max-rows", "90", "--delimiter", ";", "--common", "--json"]
    told = shell(*options, "--", "-odd.csv").json
    assert [column["name"] for column in told["columns"]] == ["a,b", 'in "cm"'] or len(told["columns"]) == 2
    assert told["settings"]["columns"] == ["a,b", 'in "cm"']
    words = shlex.split(told["command"])
    assert words[-2:] == ["--", "-odd.csv"]
    typed = shlex.join([*words[:2], "--json", *words[2:]])
    done = subprocess.run([sys.executable, "-m", *shlex.split(typed)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert _lasting(json.loads(done.stdout)) == _lasting(told)


def _columns(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    sides = rng.choice(["it's", "two 2", "three"], n)
    return rng.normal(size=n), rng.choice(["x", "y"], n), sides, rng.integers(0, 9, n)


def test_standard_input_is_said_to_be_needed(files: tuple[str, str], tmp_path: Path) -> None:
    text = Path("a.csv").read_text(encoding="utf-8")
    told = _again("btests compare - b.csv --seed 1", tmp_path, text)
    assert told["command"] == "btests compare - b.csv --seed 1"
    assert "read from standard input" in told["command_note"]
    assert _lasting(_again(told["command"], tmp_path, text)) == _lasting(told)


def test_from_python_there_is_no_command() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    told = btests.compare(a, b).to_dict()
    assert told["command"] is None
    from btests.report import render

    assert "Made from Python, so there is no command" in render(told)
    # The settings are enough, whatever seed was drawn.
    settings = {key: told["settings"][key] for key in ("seed", "alpha", "max_rows")}
    assert _lasting(btests.compare(a, b, **settings).to_dict()) == _lasting(told)
