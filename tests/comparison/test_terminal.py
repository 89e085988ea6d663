"""What a terminal gets: one screen of any size, a progress bar, and a way out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import btests
from btests.comparison.format import text_width
from btests.comparison.screens import screen
from tests.comparison.conftest import Shell

COMMAND = (sys.executable, "-m", "btests", "compare")


def _on_a_terminal(arguments: list[str], columns: int, lines: int) -> tuple[int, str]:
    """Run a command on a terminal of a size, and return its status and what was written there."""
    pty, termios, fcntl = (pytest.importorskip(name) for name in ("pty", "termios", "fcntl"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, np.array([lines, columns, 0, 0], dtype=np.uint16).tobytes())
    around = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=theirs, env=around) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            written += part
            if not part:
                break
        os.close(ours)
        return process.wait(), written.decode()


def test_long_names_are_told_apart_by_their_ends_and_wide_ones_line_up() -> None:
    rng = np.random.default_rng(0)
    names = ["temperature of the sensor number 17", "temperature of the sensor number 18", "\u6570\u91cf", "u"]
    a, b = ({name: rng.normal(size=60) for name in names} | {"id": np.arange(60) + 60 * k} for k in (0, 1))
    found = btests.compare(a, b, exclude="u", seed=0)
    lines = screen(found.to_dict(), 80).splitlines()
    table = [line for line in lines[lines.index("") :] if "%" in line]
    assert any("mber 17" in line for line in table)
    assert any("mber 18" in line for line in table)
    assert {text_width(line.partition(" %")[0]) for line in table} == {2 + 24 + 2 + 6}


def test_lines_of_all_parts_go_on_below_their_words() -> None:
    rng = np.random.default_rng(0)
    a, b = ({f"column {j}": rng.normal(size=60) for j in range(30)} for _ in range(2))
    lines = screen(btests.compare(a, b, columns="column 1", seed=0).to_dict(), 80).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("excluded"))
    assert len(lines) > start + 1
    assert all(line.startswith(" " * 12) for line in lines[start + 1 :])


def test_streams_that_the_shell_closed(shell: Shell, files: tuple[str, str]) -> None:
    words = " ".join(COMMAND)
    found = [
        subprocess.run(["sh", "-c", f"{words} {rest}"], capture_output=True, text=True, check=False)
        for rest in ("a.csv b.csv >&-", "- b.csv <&-", "a.csv b.csv 2>&-")
    ]
    closed = "btests: standard output is closed, and has no place for an answer.\n"
    assert (found[0].returncode, found[0].stderr) == (2, closed)
    assert (found[2].returncode, found[2].stdout[:13]) == (0, "No difference")
    assert (found[1].returncode, found[1].stderr) == (2, "btests: standard input is closed.\n")


def _many(k: int) -> dict[str, object]:
    rng = np.random.default_rng(k)
    names = [f"a rather long name of the column with number {j}" for j in range(40)]
    return {name: rng.normal(size=120) + (1.5 * k if j % 2 else 0.0) for j, name in enumerate(names)}


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 40), (60, 10), (140, 60)])
def test_a_screen_of_any_size(width: int, height: int) -> None:
    found = btests.compare(_many(0), _many(1), seed=0)
    lines = screen(found.to_dict(), width, height).splitlines()
    assert max(len(line) for line in lines) <= width
    assert len(lines) < height or sum("\u2026" in line for line in lines) <= 10
    if height >= 24:
        assert len(lines) < height
    assert ("more columns" in " ".join(lines)) == (height < 60)
    assert "20 of 40 columns changed" in " ".join(lines[:2])


def test_long_reasons_are_whole_and_told_once() -> None:
    rng = np.random.default_rng(0)
    constants = {f"constant {j}": np.ones(60) for j in range(9)}
    a, b = (constants | {"x": rng.normal(size=60)} for _ in range(2))
    text = screen(btests.compare(a, b, seed=0).to_dict(), 80, 24)
    assert " ".join(text.split()).count("it is constant") == 1
    assert all(f"'constant {j}'" in " ".join(text.split()) for j in range(9))


def test_on_a_terminal_there_is_a_bar_and_elsewhere_nothing(files: tuple[str, str]) -> None:
    status, written = _on_a_terminal(["a.csv", "b.csv"], 80, 24)
    assert status == 0
    assert "compare  [" in written
    assert "100%" in written
    after = written.rpartition("\x1b[?25h")[2]  # the bar has gone, and the cursor is back
    assert "No difference found" in after
    assert "\x1b" not in after
    assert after.count("\n") <= 24
    done = subprocess.run([*COMMAND, "a.csv", "b.csv"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_a_reader_that_leaves_early(files: tuple[str, str], tmp_path: Path) -> None:
    for option in ("", "--json"):
        shell = f"{sys.executable} -m btests compare a.csv b.csv {option} 2>err | head -n 1"
        done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
        assert done.stdout.count("\n") == 1
        assert (tmp_path / "err").read_text() == ""
    with subprocess.Popen([*COMMAND, "a.csv", "b.csv", "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 141


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of another kind there")
def test_stopped_from_the_keyboard(shell: Shell, tmp_path: Path) -> None:
    # Waiting for standard input is as good a moment as any, and a sure one.
    Path("b.csv").write_text("u\n1\n2\n")
    with subprocess.Popen(
        [*COMMAND, "-", "b.csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write("u\n" + "1\n" * 100_000)  # more than a pipe holds: it is being read
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err.strip()) == (130, "", "btests: stopped.")


def test_nothing_is_left_of_a_report_that_could_not_be_written(
    shell: Shell, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import btests.report

    monkeypatch.setattr(btests.report, "render", lambda told: "\ud800")  # no file holds that
    assert shell("a.csv", "b.csv", "--report", "r.html").status == 2
    assert not Path("r.html").exists()


def test_json_and_report_together(shell: Shell, files: tuple[str, str]) -> None:
    told = shell("a.csv", "b.csv", "--json", "--report", "r.html")
    assert told.json["schema"] == "btests.compare/1"
    assert "</html>" in Path("r.html").read_text(encoding="utf-8")
    refused = shell.refused("a.csv", "b.csv", "--json", "--report", "r.html")
    assert "'r.html' exists already; add --force" in refused
    assert "report" in shell("a.csv", "b.csv", "--report", "r.html", "--force").out.splitlines()[-1]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["--columns", '"a,b"'], ["a,b"]),
        (["--columns", "u", "--columns", '"a,b"'], ["a,b", "u"]),
        (["--exclude", '"a,b",u'], ['in "cm"']),
        (["--columns", '"in ""cm""", u'], ["u", 'in "cm"']),
    ],
)
def test_names_with_commas(shell: Shell, given: list[str], names: list[str]) -> None:
    rng = np.random.default_rng(0)
    for side in "pq":
        lines = [f"{x:.4f},{y:.4f},{z:.4f}" for x, y, z in rng.normal(size=(60, 3))]
        Path(f"{side}.csv").write_text('"a,b",u,"in ""cm"""\n' + "\n".join(lines))
    told = shell("p.csv", "q.csv", *given, "--json").json
    assert sorted(column["name"] for column in told["columns"]) == sorted(names)


@pytest.mark.parametrize("given", ["", "u,,v", '"u', ","])
def test_names_that_are_none(shell: Shell, files: tuple[str, str], given: str) -> None:
    assert f"--columns {given!r} has a" in shell.refused("a.csv", "b.csv", "--columns", given)
