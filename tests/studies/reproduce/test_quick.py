"""All experiments without music, quick, from the command line: files, resuming, workers, seeds."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from studies.reproduce.__main__ import BLOBS
from studies.reproduce.__main__ import reproduce as command

FILES = {
    "table1": ("csv", "md", "png", "svg"),
    "figure2": ("csv", "md", "png", "svg"),
    "figure3": ("csv", "md", "png", "svg"),
    "figure4": ("csv", "md", "png", "svg"),
    "claims": ("csv", "md", "png", "svg"),
}
OTHERS = ("table1-sizes.csv", "table1-seconds.csv", "claims-distribution.csv", "manifest.json")


def reproduce(out: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [*BLOBS, "--quick", "--out", str(out), *options])


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def test_a_quick_run_of_everything(tmp_path: Path) -> None:
    """One test and not ten: the run is the slow part."""
    out = tmp_path / "results"
    done = reproduce(out, "--workers", "2")
    assert done.exit_code == 0, done.output
    first = files(out)
    assert set(first) == {f"{name}.{ending}" for name, endings in FILES.items() for ending in endings} | set(OTHERS)
    for name in BLOBS:
        text = first[f"{name}.md"].decode()
        assert f"Made by `python -m studies.reproduce {name} --quick --seed 2013`, btests " in text
        assert "A quick run" in text
        rows = list(csv.DictReader(first[f"{name}.csv"].decode().splitlines()))
        assert rows
        assert all(None not in row.values() for row in rows)
    table = first["table1.md"].decode()
    assert "| paper | here | 95 % interval | agrees |" in table
    assert "26400" in table
    assert "They do not repeat" in table

    # Nothing to do: nothing is done.
    tasks = sorted((out / "tasks").rglob("*.json"))
    times = {piece: piece.stat().st_mtime_ns for piece in tasks}
    assert reproduce(out).exit_code == 0
    assert {piece: piece.stat().st_mtime_ns for piece in tasks} == times
    assert files(out) == first

    # A part of every kind of piece is lost, and one worker does it again. Seconds alone would differ.
    for piece in tasks[::5]:
        if piece.name != "seconds.json":
            piece.unlink()
    for name in first:
        if name != "manifest.json":
            (out / name).unlink()
    assert reproduce(out, "--workers", "1").exit_code == 0
    assert files(out) == first
    assert sorted((out / "tasks").rglob("*.json")) == tasks

    refused = reproduce(out, "--seed", "1")
    assert refused.exit_code == 2
    assert "holds results of --seed 2013, not 1; add --force" in refused.output
    assert files(out) == first


def test_another_seed_gives_other_numbers_and_force_starts_anew(tmp_path: Path) -> None:
    results = []
    for options in (["--seed", "1"], ["--seed", "2", "--force"], ["--seed", "1", "--force"]):
        arguments = ["figure2", "--quick", "--out", str(tmp_path), "--workers", "1", *options]
        assert CliRunner().invoke(command, arguments).exit_code == 0
        results.append((tmp_path / "figure2.csv").read_bytes())
        assert json.loads((tmp_path / "manifest.json").read_text())["seed"] == int(options[1])
    assert results[0] == results[2] != results[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure9"], "'figure9' is not one of"),
        ([], "Name what to reproduce"),
        (["figure2", "--song-p", "a.ogg"], "--song-p and --song-q go together"),
        (
            ["figure2", "--song-p", "a.ogg", "--song-q", "b.ogg"],
            "--song-p and --song-q are for table2, figure1, figure5",
        ),
        (["figure2", "--workers", "0"], "0 is not in the range"),
        (["figure2", "--seed", "-1"], "-1 is not in the range"),
        (["figure2", "--out", "file.txt"], "'file.txt' is a file"),
        (["figure2", "--out", "full"], "'full' holds something else than results"),
    ],
)
def test_mistakes_get_one_sentence(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("")
    Path("full").mkdir()
    Path("full/thesis.tex").write_text("")
    refused = CliRunner().invoke(command, [*arguments, "--quick"])
    assert refused.exit_code == 2
    assert message in refused.output
    assert "Traceback" not in refused.output


# Stops at a signal after its first task, whatever else the machine does.
_STOPS = """
import signal, sys
from studies.harness.runner import Progress
from studies.reproduce.__main__ import reproduce

def store_and_stop(self, task, rows, store=Progress.store, number=int(sys.argv.pop(1))):
    store(self, task, rows)
    signal.raise_signal(number)

Progress.store = store_and_stop
reproduce()
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_goes_on(stop: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "results"
    words = ["figure3", "--quick", "--out", str(out), "--workers", "2"]
    stops = [sys.executable, "-c", _STOPS, str(int(stop)), *words]
    run = subprocess.run(stops, capture_output=True, text=True, check=False)
    assert run.returncode == {signal.SIGINT: 130, signal.SIGKILL: -9}[stop], run.stderr
    if stop == signal.SIGINT:
        assert run.stderr.endswith(f"what is done is kept in {str(out)!r}, and the same command goes on from there.\n")
    assert not (out / "figure3.md").exists()
    first = {piece: piece.stat().st_mtime_ns for piece in (out / "tasks").rglob("*.json")}
    assert first
    subprocess.run([sys.executable, "-m", "studies.reproduce", *words], capture_output=True, check=True)
    assert (out / "figure3.md").exists()
    assert all(piece.stat().st_mtime_ns == when for piece, when in first.items())


def test_a_worker_that_is_killed_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.reproduce.figure2.draw_points", kill_worker)
    stopped = CliRunner().invoke(command, ["figure2", "--quick", "--out", str(tmp_path), "--workers", "1"])
    assert stopped.exit_code == 1
    assert "A worker process was killed" in stopped.output
    assert "goes on from there" in stopped.output


def kill_worker(*arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_name_is_asked_for() -> None:
    refused = CliRunner().invoke(command, [])
    assert refused.exit_code == 2
    assert "Name what to reproduce, claims, figure1," in refused.output
