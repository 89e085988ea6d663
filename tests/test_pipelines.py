"""Conditions of failure, files of options, and the page that shows both."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests.cli import command_group
from btests.comparison.fail_on import FailOn, failed
from btests.testing import assert_same_distribution

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def table(seed: int, shift: float = 0.0) -> dict[str, Any]:
    """Return a table of two columns, the first one shifted."""
    rng = np.random.default_rng(seed)
    return {"amount": rng.normal(shift, 1.0, 300), "a > b": rng.normal(size=300)}


SAME = btests.compare(table(0), table(1), seed=0)
SHIFTED = btests.compare(table(0), table(1, 1.0), seed=0)  # about 38 % of the rows of one column


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("difference", True),
        ("never", False),
        ("effect", True),
        ("effect>10%", True),
        ("effect > 0.9", False),
        ("columns", True),
        ("columns>0", True),
        ("columns>1", False),
        ("column:amount", True),
        ("column:amount>10%", True),
        ("column:amount>90%", False),
        ("column:a > b", False),
        ("column:a > b>1%", False),
    ],
)
def test_condition(text: str, *, holds: bool) -> None:
    assert FailOn.parse(text).holds(SHIFTED) == holds
    assert not FailOn.parse(text).holds(SAME)


@pytest.mark.parametrize(
    "conditions", [[], (), {}, {"difference": 1}, None, b"difference", ["difference", 1], iter([])]
)
def test_conditions_are_texts_and_one_at_least(conditions: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="fail_on must be difference"):
        assert_same_distribution(table(0), table(1, 1.0), fail_on=conditions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("efect>10%", "did you mean 'effect'"),
        ("effect>10", "a percentage is written 10%"),
        ("effect>many", "a share of the rows"),
        ("effect<10%", "effect>10%"),
        ("columns>1.5", "columns>2"),
        ("column:", "column:NAME"),
        ("", "difference"),
    ],
)
def test_what_is_no_condition(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        FailOn.parse(text)


def test_names_of_columns_are_checked() -> None:
    with pytest.raises(ValueError, match="did you mean 'amount'"):
        failed(SHIFTED, ["column:amuont"])


def test_groups_have_effects() -> None:
    rows = table(0)
    by = np.repeat(["x", "y", "z"], 100)
    found = btests.compare({"amount": rows["amount"] + 3.0 * (by == "z"), "by": by}, by="by", seed=0)
    assert failed(found, ["effect>30%"])
    assert failed(found, ["column:amount"])
    assert not failed(found, ["columns>1"])


def test_assertion_with_conditions() -> None:
    assert_same_distribution(table(0), table(1, 1.0), fail_on="effect>90%")
    with pytest.raises(AssertionError, match="amount"):
        assert_same_distribution(table(0), table(1, 1.0), fail_on=["effect>90%", "column:amount"])
    with pytest.raises(ValueError, match="fail_on must be"):
        assert_same_distribution(table(0), table(0), fail_on="sometimes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with two tables."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("a", table(0)), ("b", table(1, 1.0))):
        lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    """Return the status of ``btests compare a.csv b.csv`` and what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = command_group.run(["compare", "a.csv", "b.csv", *words])
    return status, said.getvalue()


def test_status_and_line(folder: Path) -> None:
    assert run()[0] == 1
    assert run("--fail-on", "never")[0] == 0
    status, text = run("--fail-on", "effect>90%", "--fail-on", "column:amount")
    assert (status, "fail-on     effect>90%, column:amount: holds" in text) == (1, True)
    status, text = run("--fail-on", "effect>90%", "--json")
    assert (status, "--fail-on 'effect>90%'" in text) == (0, True)  # in the command that repeats it
    status, text = run("--fail-on", "columm:amount")
    assert (status, "--fail-on must be" in text) == (2, True)
    status, text = run("--fail-on", "column:amuont")
    assert (status, "did you mean 'amount'" in text) == (2, True)


def test_options_from_a_file(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.btests]\nfail-on = 'effect>90%'\nalpha = 0.01\n")
    status, text = run()
    assert (status, "options from pyproject.toml: alpha, fail-on" in text) == (0, True)
    assert run("--fail-on", "difference")[0] == 1
    assert run("--no-config")[0] == 1
    (folder / "btests.toml").write_text("exclude = 'amount'\ntolerance = '5%'\n")
    status, text = run()
    assert (status, "options from btests.toml: exclude, tolerance" in " ".join(text.split())) == (0, True)
    status, text = run("--exclude", "a > b")
    assert (status, "options from btests.toml: tolerance" in " ".join(text.split())) == (1, True)
    assert run("--config", "pyproject.toml", "--alpha", "0.04", "--fail-on", "difference")[0] == 1


def test_both_files_may_have_the_table_of_the_tool(folder: Path) -> None:
    (folder / "btests.toml").write_text("[tool.btests]\ntolerance = 0.01\n")
    status, text = run()
    assert (status, "options from btests.toml: tolerance" in " ".join(text.split())) == (1, True)


def test_a_file_of_another_tool_is_left_alone(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.black]\nline-length = = 3\n")
    assert run()[0] == 1
    (folder / "pyproject.toml").write_text("[project]\ndependencies = ['btests']\n")
    status, text = run()
    assert (status, "options from" in text) == (1, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "toleranse = 0.1",
            "btests.toml has 'toleranse', which is no option of a comparison; did you mean 'tolerance'?\n",
        ),
        ("alpha = 2", "btests.toml: a level must be between 0 and 1"),
        ("fail-on = 'sometimes'", "btests.toml: fail_on must be"),
        ("fail-on = 3", "btests.toml: fail_on must be"),
        ("alpha = ", "'btests.toml' is not valid TOML"),
        ("tolerance = 'much'", "such as 5% or 0.05, got 'much'"),
        ("columns = {a = 1}", "columns must be a text or a list of texts"),
        ("budget = 1.0\nblock-size = 9", "block_size"),
        ("report = 'page.html'", "'report', which is no option of a comparison"),
        ("table = 3", "table must be the name of a table in files that hold several, or None, got 3"),
        ("fail-on = []", "fail_on must be difference"),
        (f"seed = {'9' * 5000}", "'btests.toml' is not valid TOML: Exceeds the limit"),
        (f"seed = {'[' * 9000}", "'btests.toml' is not valid TOML"),
        (f"a{'.a' * 30_000} = 1", "'btests.toml' has a key of more than 500 parts"),
        (f"columns = '{'x' * 9000}'", "--columns names a text of 9000 characters"),
        (f"{'k' * 9000} = 1", "btests.toml has a text of 9000 characters"),
    ],
    ids=lambda text: text[:30],
)
def test_trouble_in_a_file_is_one_sentence(folder: Path, text: str, message: str) -> None:
    (folder / "btests.toml").write_text(text)
    status, printed = run()
    assert (status, message in printed) == (2, True), printed


def test_a_named_file_must_be_there(folder: Path) -> None:
    status, text = run("--config", "other.toml")
    assert (status, "other.toml" in text) == (2, True)
    (folder / "pyproject.toml").write_text("[project]\n")
    assert run("--config", "pyproject.toml")[0] == 2
    assert run("--config", "pyproject.toml", "--no-config")[0] == 2


def test_yaml_and_toml_of_the_page_can_be_read(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    blocks = _FENCE.findall(PAGE)
    read = [yaml.safe_load(text) for language, text in blocks if language == "yaml"]
    assert {"jobs"} <= read[0].keys()
    commands_of_page = [step["run"] for step in read[0]["jobs"]["compare"]["steps"] if "run" in step]
    assert any(line.startswith("btests compare ") for line in commands_of_page)
    (text,) = (text for language, text in blocks if language == "toml")
    assert "fail-on" in tomllib.loads(text)
    (folder / "btests.toml").write_text(text.replace('"id", "loaded_at"', '"a > b"').replace("paid", "amount"))
    assert run()[0] == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page has lines of a shell")
def test_shell_of_the_page_runs(tmp_path: Path) -> None:
    shells = [text for language, text in _FENCE.findall(PAGE) if language == "sh"]
    start = f'btests() {{ "{sys.executable}" -m btests "$@"; }}\ndbt() {{ :; }}\n'
    subprocess.run(["bash", "-c", f"{start}btests compare --demo"], cwd=tmp_path, capture_output=True, check=False)
    with sqlite3.connect(tmp_path / "warehouse.sqlite") as base:
        for name in ("orders_yesterday", "orders"):
            base.execute(f"create table {name} (id integer, amount real)")
            base.executemany(f"insert into {name} values (?, ?)", [(j, float(j % 10)) for j in range(100)])
    statuses = []
    for text in shells:
        done = subprocess.run(["bash", "-c", start + text], cwd=tmp_path, capture_output=True, text=True, check=False)
        statuses.append(done.returncode)
    assert statuses == [1, 0]
    assert (tmp_path / "drift.html").exists()
