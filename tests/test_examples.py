"""Examples and documents run as they stand, and print what the documents say they print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = (
    "guide",
    "method",
    "compare",
    "pipelines",
    "designs",
    "independence",
    "large",
    "features",
    "anytime",
    "ho-shieh",
)
DOCUMENTS = [path for path in (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in PAGES)) if path.exists()]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^`((?:btests|python) [^`]+)`[^\n]* prints[^\n]*\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What differs from one machine or one run to the next.
_PASSING = re.compile(r"^\s*(time|computed|Picture:)\s.*\n?", re.MULTILINE)


def lasting(text: str) -> str:
    """Return what two runs of a command have in common, numbers to six places."""
    return re.sub(r"(\.\d{6})\d+", r"\1", _PASSING.sub("", text)).strip()


def run(command: str, folder: Path) -> str:
    """Return what a command prints when run in ``folder`` with this interpreter."""
    words = shlex.split(command)
    head = [sys.executable, "-m", "btests"] if words[0] == "btests" else [sys.executable]
    tail = [str(ROOT / word) if word.startswith("examples/") else word for word in words[1:]]
    done = subprocess.run([*head, *tail], cwd=folder, capture_output=True, text=True, check=False)
    # Tests that find a difference or dependence exit with status 1.
    assert done.returncode in ((0, 1) if words[1] in ("compare", "independence") else (0,)), done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_runs_without_a_warning(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no difference found" in done.stdout
    assert "different (p <= 0.05)" in done.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_in_documents_runs_and_prints_what_follows_it(path: Path) -> None:
    blocks = _FENCE.findall(path.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {}
    for i, (language, code) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{path.name}, block {i}", "exec"), namespace)
        if printed.getvalue():
            assert blocks[i + 1][0] == "text", f"block {i} of {path.name} prints, but what it prints does not follow"
            assert lasting(printed.getvalue()) == lasting(blocks[i + 1][1])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_print_what_follows_them(path: Path, tmp_path: Path) -> None:
    for command, shown in _SHOWN.findall(path.read_text(encoding="utf-8")):
        assert lasting(run(command, tmp_path)) == lasting(shown), command


def test_readme_is_one_screen_and_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 90
    shells = "".join(code for language, code in _FENCE.findall(text) if language == "sh")
    commands = [line.split("#")[0].strip() for line in shells.splitlines()]
    assert commands[0].startswith("python -m pip install ")
    assert {"make demo", "make test"} <= set(commands)


def test_table_of_peers_in_the_readme_is_that_of_the_study() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    study = (ROOT / "docs" / "power.md").read_text(encoding="utf-8").split("### n = 200 a side")[1]
    rows = {label: _cells(study, label) for label in ("problem", "mean power", "CPU ms a test")}
    shown = {label: _cells(text, label) for label in ("", "mean power", "CPU ms a test")}
    places = [rows["problem"].index("default" if name == "btests" else name) for name in shown[""]]
    for label in ("mean power", "CPU ms a test"):
        assert shown[label] == [rows[label][place] for place in places]


def _cells(text: str, label: str) -> list[str]:
    found = re.search(rf"^\| {label} ?\|(.*)\|$", text, flags=re.MULTILINE)
    assert found is not None
    return [cell.strip() for cell in found[1].split("|")]


def test_the_guide_shows_real_output() -> None:
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    assert {command for command, _ in _SHOWN.findall(text)} >= {"btests demo", "python examples/strings.py"}


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "src/btests/_core/README.md",
        *(f"docs/{page}.md" for page in PAGES),
    ],
)
def test_documents_name_files_that_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|examples|docs|benchmarks)/[\w./-]+\.\w+)`", text))
    named |= {target for target in re.findall(r"\]\(([\w./-]+)\)", text) if not target.startswith("http")}
    named |= set(re.findall(r"`([\w./-]*\w\.(?:py|hpp|cpp))`", text))
    folders = (ROOT, (ROOT / name).parent, ROOT / "src" / "btests", ROOT / "tests" / "statistics")
    missing = sorted(p for p in named if not any((folder / p).exists() for folder in folders))
    assert not missing
