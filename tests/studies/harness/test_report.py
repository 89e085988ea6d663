"""Reports as files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from studies.harness.report import Report, Table, write_report
from studies.reproduce.timing import machine, seconds


def draw(figure: Figure) -> None:
    figure.subplots().plot([1, 2, 3], label="a line")


REPORT = Report(
    "name",
    "A title",
    "\nA caption.\n",
    [{"a": 1, "b": "x,y"}, {"a": 2, "b": 0.1}],
    (Table("Heading", ("left", "right"), (("1", "2"),)), Table("", ("alone",), ())),
    draw,
    (4.0, 3.0),
    {"name-more": [{"c": 1}], "empty": []},
)


def test_files_of_a_report(tmp_path: Path) -> None:
    paths = write_report(REPORT, tmp_path, "python -m studies.reproduce name --seed 1")
    assert {path.name for path in paths} == {"name.md", "name.csv", "name-more.csv", "name.png", "name.svg"}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}
    assert (tmp_path / "name.csv").read_text() == 'a,b\n1,"x,y"\n2,0.1\n'
    text = (tmp_path / "name.md").read_text()
    assert text.startswith("# A title\n\nA caption.\n\n![A title](name.svg)\n\n## Heading\n\n| left | right |\n")
    assert "| 1 | 2 |\n\n| alone |\n| --- |\n\nMade by `python -m studies.reproduce name --seed 1`, btests " in text
    assert "quick" not in text
    first = [path.read_bytes() for path in paths]
    assert [
        path.read_bytes() for path in write_report(REPORT, tmp_path, "python -m studies.reproduce name --seed 1")
    ] == first


def test_without_matplotlib_there_are_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = write_report(REPORT, tmp_path, "python -m studies.reproduce name --quick")
    assert {path.suffix for path in paths} == {".md", ".csv"}
    text = (tmp_path / "name.md").read_text()
    assert "A quick run" in text
    assert "![" not in text


def test_seconds_are_of_calls_after_the_first() -> None:
    calls = []
    assert seconds(lambda: calls.append(1), least=0.0, repeats=3) >= 0.0
    assert len(calls) == 4
    assert "cores" in machine()
    assert "\n" not in machine()


def test_studies_run_without_matplotlib() -> None:
    program = "import sys; sys.modules['matplotlib'] = None; import studies.harness.command"
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[3], check=True)
