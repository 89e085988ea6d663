"""The command line: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import btests
from btests.cli import main
from btests.cli.command_group import commands
from btests.cli.terminal import as_flags
from btests.nulls import NULLS
from btests.selection import KERNELS


class Output(NamedTuple):
    """What a command left behind."""

    status: object
    out: str
    err: str


class Shell:
    """Runs commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Output:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return Output(stop.value.code, *self._capsys.readouterr())


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a shell in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_demo_prints_both_verdicts_and_draws(shell: Shell) -> None:
    result = shell("demo")
    assert (result.status, result.err) == (0, "")
    verdicts = next(line for line in result.out.splitlines() if line.startswith("verdict"))
    assert verdicts.split(maxsplit=1)[1].split("  ", 1)[0] == "no difference found"
    assert verdicts.endswith(" different")
    for name in ("p-value", "MMD^2", "95 % interval", "rows", "blocks", "time"):
        assert f"\n{name} " in result.out
    assert result.out.endswith("Picture: btests-demo.png\n")
    assert Path("btests-demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_repeats_with_its_seed(shell: Shell) -> None:
    def outcome(seed: int) -> list[object]:
        tests = json.loads(shell("demo", "--json", "--force", "--rows", "200", "--seed", str(seed)).out)["tests"]
        return [(test["statistic"], test["pvalue"], test["threshold"]) for test in tests.values()]

    assert outcome(3) == outcome(3) != outcome(4)


def test_json_is_all_there_is_on_standard_output(shell: Shell) -> None:
    result = shell("demo", "--json", "--rows", "300", "--seed", "5", "--out", "a.svg")
    parsed = json.loads(result.out)
    assert (parsed["rows"], parsed["seed"], parsed["picture"]) == (300, 5, "a.svg")
    assert list(parsed["tests"]) == ["P against P", "P against Q"]
    for test in parsed["tests"].values():
        assert test["rejects"] == (test["pvalue"] <= parsed["level"]) == (test["statistic"] > test["threshold"])
        assert test["confidence_interval"][0] < test["statistic"] < test["confidence_interval"][1]
        assert test["n_x"] == test["n_y"] == 300
    assert Path("a.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize("rows", ["20", "21", "4321"])
def test_demo_takes_any_number_of_rows(shell: Shell, rows: str) -> None:
    assert shell("demo", "--rows", rows, "--out", "a.pdf").status == 0
    assert Path("a.pdf").read_bytes().startswith(b"%PDF")


def test_demo_never_overwrites_unless_told(shell: Shell) -> None:
    Path("btests-demo.png").write_text("mine")
    refused = shell("demo", "--rows", "50")
    assert_refused(refused, "'btests-demo.png' exists already; add --force")
    assert Path("btests-demo.png").read_text() == "mine"
    assert shell("demo", "--rows", "50", "--force").status == 0
    assert Path("btests-demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_does_not_write_through_a_dangling_link(shell: Shell) -> None:
    Path("link.png").symlink_to("elsewhere.png")
    assert_refused(shell("demo", "--rows", "50", "--out", "link.png"), "exists already")
    assert not Path("elsewhere.png").exists()


def test_demo_without_matplotlib_still_answers(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "btests.cli.pictures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = shell("demo", "--rows", "50")
    assert result.status == 0
    assert "p-value" in result.out
    assert "Picture" not in result.out
    assert result.err == "btests: no picture, for want of matplotlib; python -m pip install matplotlib gets it.\n"
    assert not list(Path().iterdir())
    assert json.loads(shell("demo", "--rows", "50", "--json").out)["picture"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--out", "picture.xyz"], "--out must end in .png, .svg or .pdf, got 'picture.xyz'"),
        (["demo", "--out", "picture"], "--out must end in"),
        (["demo", "--out", "folder.png"], "'folder.png' is a folder"),
        (["demo", "--out", "nowhere/a.png"], "There is no folder 'nowhere'"),
        (["demo", "--out", "a" * 300 + ".png"], "File name too long"),
        (["demo", "--rows", "19"], "19 is not in the range"),
        (["demo", "--rows", "many"], "'many' is not a whole number."),
        (["compare", "--demo", "--alpha", "5%"], "'5%' is not a number."),
        (["demo", "--seed", "-1"], "-1 is not in the range"),
        (["demo", "--sed", "1"], "No such option"),
        (["demo", "--rows"], "requires an argument"),
        (["demo", "file.csv"], "unexpected extra argument"),
        (["dmo"], "No such command 'dmo'"),
        (["help", "dmo"], "There is no command 'dmo'; there are compare, demo, help"),
    ],
)
def test_mistakes_get_one_sentence_and_status_two(shell: Shell, arguments: list[str], message: str) -> None:
    Path("folder.png").mkdir()
    assert_refused(shell(*arguments), message)


def assert_refused(result: Output, message: str) -> None:
    """Assert that a command said one sentence, on standard error, and exited with 2."""
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert result.err.startswith("btests: ")
    assert result.err.count("\n") == 1


def test_help_in_all_its_spellings(shell: Shell) -> None:
    texts = {shell(*arguments).out for arguments in ([], ["--help"], ["-h"], ["help"])}
    assert len(texts) == 1
    assert shell("help", "demo").out == shell("demo", "--help").out


def test_examples_of_the_help_work_as_typed(shell: Shell) -> None:
    for text in (shell(*words, "--help").out for words in ([], ["demo"], ["compare"], ["independence"])):
        lines = [
            line.split() for line in text.partition("Examples")[2].splitlines()[1:] if line.startswith("    btests")
        ]
        assert len(lines) >= 3
        for words in lines:
            assert words[0] == "btests"
            # Tests that find a difference or dependence exit with status 1.
            is_test = words[1] in ("compare", "independence") or words[1].endswith(".csv")
            assert shell(*words[1:]).status in ((0, 1) if is_test else (0,)), words
        for file in (*Path().glob("*.png"), *Path().glob("*.svg"), *Path().glob("*.csv")):
            file.unlink()


def test_every_command_explains_itself() -> None:
    assert all(command.help for command in commands.commands.values())


def test_kernels_and_nulls_of_compare_are_those_of_compare_in_python() -> None:
    choices = {option.name: set(getattr(option.type, "choices", ())) for option in commands.commands["compare"].params}
    assert choices["kernel"] == set(KERNELS) - {"rbf"}  # another name of "gaussian"
    # The jackknife is another name of "normal"; the relatives by Ho and Shieh are in Python alone.
    assert choices["null"] == set(NULLS) - {"jackknife", "bootstrap", "tu"}
    for name in choices["null"]:
        assert as_flags(f"take null={type(NULLS[name]()).__name__}()") == f"take --null {name}"


def test_version_and_module() -> None:
    run = subprocess.run([sys.executable, "-m", "btests", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"btests {btests.__version__}\n"


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m btests demo --rows 50 2>err | head -c 1"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=True)
    assert (tmp_path / "err").read_text() == ""
