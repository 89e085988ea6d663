"""``btests independence``: status, verdict, JSON, pairs and picture."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from btests.cli import main

Run = tuple[object, str, str]


class Shell:
    """Runs ``btests independence`` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Run:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["independence", *arguments])
        return stop.value.code, *self._capsys.readouterr()


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a shell in a folder with the table t.csv."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    lines = ["number,size,colour,day,noise"]
    for i in range(200):
        colour = rng.choice(["red", "green"])
        size = "" if rng.random() < 0.1 else f"{rng.normal() + 3.0 * (colour == 'red'):.4f}"
        lines.append(f"{i},{size},{colour},{np.datetime64('2024-01-01') + int(rng.integers(60))},{rng.normal():.4f}")
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Shell(capsys)


def test_dependent_columns(shell: Shell) -> None:
    status, out, err = shell("t.csv", "--x", "size,day", "--y", "colour")
    assert (status, err) == (1, "")
    assert out.startswith("(size, day) and colour depend on each other (p = 0.0005).\n  p-value   0.0005\n  HSIC ")
    assert "\n  rows      200, in one block\n" in out
    assert "missing     'size' (" in out


@pytest.mark.parametrize(
    ("option", "value"), [("--budget", "1e400"), ("--budget", "nan"), ("--block-size", "9" * 5000)]
)
def test_numbers_beyond_any(shell: Shell, option: str, value: str) -> None:
    status, out, err = shell("t.csv", "--all-pairs", option, value)
    assert (status, out) == (2, "")
    assert option in err
    assert len(err) < 300


def test_independent_columns_and_what_is_excluded(shell: Shell) -> None:
    status, out, err = shell("t.csv", "--x", "noise", "--statistic", "dcov")
    assert (status, err) == (0, "")
    assert out.startswith("No dependence found between noise and (size, colour, day) (p = 0.")
    assert "\n  dCov^2 " in out
    assert "excluded    'number': it numbers the rows, 0 to 199" in out


def test_json_is_one_object_and_repeats_with_its_seed(shell: Shell) -> None:
    arguments = ["t.csv", "--x", "size", "--json", "--seed", "3", "--block-size", "50", "--null", "pearson"]
    runs = [json.loads(shell(*arguments)[1]) for _ in range(2)]
    for run in runs:
        assert run.pop("seconds") >= 0.0
    assert runs[0] == runs[1]
    assert (runs[0]["x"], runs[0]["n_blocks"], runs[0]["block_size"]) == (["size"], 4, 50)


def test_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("t.csv").read_bytes())))
    assert shell("-", "--x", "size", "--y", "colour")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["t.csv"], "Name columns with --x"),
        (["none.csv", "--x", "a"], "no file 'none.csv'"),
        (["t.csv", "--x", "sise"], "--x names 'sise' (did you mean 'size'?)"),
        (["t.csv", "--x", "size", "--y", "size"], "--x and --y both name 'size'"),
        (["t.csv", "--x", "size", "--exclude", "size"], "--x and --exclude both name 'size'"),
        (["t.csv", "--x", "size", "--block-size", "3"], "--block-size must be at least 4"),
        (["t.csv", "--x", "size", "--block-size", "9", "--budget", "1"], "--budget is for the automatic"),
        (["t.csv", "--x", "size", "--out", "p.png"], "--out is for --all-pairs"),
        (["t.csv", "--all-pairs", "--x", "size"], "name no --x and --y"),
        (["t.csv", "--all-pairs", "--null", "permutation"], "--null permutation takes all rows"),
        (["t.csv", "--all-pairs", "--exclude", "size,colour,day"], "--all-pairs needs two columns"),
        (["t.csv", "--all-pairs", "--out", "p.txt"], "--out must end in .png"),
    ],
)
def test_errors_are_one_sentence(shell: Shell, arguments: list[str], fragment: str) -> None:
    status, out, err = shell(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("btests: ")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    assert fragment in err


def test_few_rows_are_an_error(shell: Shell) -> None:
    Path("few.csv").write_text("a,b\n" + "1,2\n3,1\n" * 3, encoding="utf-8")
    status, _, err = shell("few.csv", "--x", "a")
    assert (status, "6 rows; a test of independence needs at least 8" in err) == (2, True)


def test_all_pairs_with_a_picture_that_is_not_overwritten(shell: Shell) -> None:
    status, out, err = shell("t.csv", "--all-pairs", "--out", "p.png")
    assert (status, err) == (1, "")
    assert out.startswith("1 of 6 pairs of columns of t.csv is dependent: size and colour.\n")
    assert "\n* size    colour     0.0005        0.003 " in out
    assert out.endswith("picture     p.png\n")
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    Path("p.png").write_bytes(b"mine")
    status, out, err = shell("t.csv", "--all-pairs", "--out", "p.png")
    assert (status, out, "--force" in err) == (2, "", True)
    assert Path("p.png").read_bytes() == b"mine"
    status, out, _ = shell("t.csv", "--all-pairs", "--out", "p.png", "--force", "--json", "--statistic", "dcov")
    assert (status, len(json.loads(out)["pairs"])) == (1, 6)
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_twenty_pairs_unless_all(shell: Shell) -> None:
    rng = np.random.default_rng(1)
    rows = ["a,b,c,d,e,f,g", *(",".join(f"{v:.3f}" for v in rng.normal(size=7)) for _ in range(40))]
    Path("seven.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    few, many = (shell("seven.csv", "--all-pairs", "--statistic", "dcov", *more)[1] for more in ([], ["--all"]))
    assert "and 1 more pair, none of them marked (--all shows them)" in few
    assert len(many.splitlines()) == len(few.splitlines())
    assert "more pair" not in many
