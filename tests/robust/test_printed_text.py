"""Nothing that comes from data reaches a terminal raw: names, cells, messages of readers, warnings, progress bars."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests._text import printable, shortly
from tests.robust.terminal import on_a_terminal

# Clear the screen, colours, C1 controls, bidirectional and zero-width controls, separators, a byte order mark.
HOSTILE = (
    *("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\x85", "\x7f", "\r", "\x08\x08", "\x00"),
    *("\u202e", "\u2066", "\u200f", "\u200b", "\u2028", "\ufeff", "\u061c"),
)
TAG = "".join(HOSTILE)

# Codes of the progress bar: hide and show the cursor, clear the rest of the line.
_BAR = re.compile(rb"\x1b\[\?25[lh]|\x1b\[K")


def _raw(written: bytes) -> set[str]:
    """Return the characters that a terminal would act on, other than those of lines and of the progress bar."""
    text = _BAR.sub(b"", written).decode("utf-8")
    return {letter for letter in text if not letter.isprintable()} - {"\n", "\r"}


def _lines(written: bytes) -> list[bytes]:
    """Return the lines of a terminal; a carriage return before anything but a new line begins a bar again."""
    return written.replace(b"\r\n", b"\n").split(b"\n")


def _csv(path: Path, names: list[str], rng: np.random.Generator, level: str, shift: float = 0.0) -> None:
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = [f'{rng.normal() + shift:.4f},"{rng.choice([level, "x", "y"])}"' for _ in range(60)]
    path.write_text("\n".join([quoted, *rows]) + "\n", encoding="utf-8", newline="")


def _safe(text: str) -> str:
    """Return a text that can be part of a file name and of an argument."""
    return text.replace("\x00", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of tables with hostile names of files and columns, and hostile cells."""
    rng = np.random.default_rng(0)
    cell = _safe(TAG).replace("\r", "")  # an unquoted carriage return ends a line of CSV
    for k, name in enumerate((f"n{_safe(TAG)}x.csv", f"m{_safe(TAG)}y.csv")):
        _csv(tmp_path / name, [f"size{cell}", f"co\nlour{cell}"], rng, f"red{cell}\nblue", 2.0 * k)
    return tmp_path


def _tables(folder: Path) -> list[str]:
    return sorted((path.name for path in folder.glob("*.csv")), reverse=True)


def test_results_on_a_terminal(folder: Path) -> None:
    status, written = on_a_terminal(["compare", *_tables(folder), "--verbose"], folder)
    assert status == 1, written
    assert not _raw(written)
    assert rb"\x1b[2J" in written
    assert rb"\u202e" in written


def test_groups_and_pairs_of_columns_on_a_terminal(folder: Path) -> None:
    table = _tables(folder)[0]
    names = Path(folder, table).read_bytes().decode().split('"')
    for arguments in (["compare", table, "--by", names[3]], ["independence", table, "--all-pairs"]):
        status, written = on_a_terminal(arguments, folder)
        assert status in (0, 1), written
        assert not _raw(written)


@pytest.mark.parametrize("hostile", [TAG, "\udcff"], ids=["controls", "a byte"])
def test_errors_are_one_line_on_a_terminal(folder: Path, hostile: str) -> None:
    """Options and names of files: values that the commands, click and the readers quote."""
    bad = _safe(f"no{hostile}ne")
    for arguments in (
        ["compare", f"{bad}.csv", f"{bad}\n.csv"],
        ["compare", *_tables(folder), "--columns", bad],
        ["compare", *_tables(folder), "--alpha", bad],
        ["help", bad],
    ):
        status, written = on_a_terminal(arguments, folder)
        assert status == 2, written
        assert not _raw(written)
        assert len(_lines(written.rpartition(b"\x1b[?25h")[2].strip())) == 1, written


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [
        ("parquet", b"PAR1"),
        ("arrow", b"ARROW1\x00\x00"),
        ("npy", b"\x93NUMPY\x01\x00v\x00{"),
        ("jsonl", b"{\x1b[2J"),
        ("csv", b"\x00"),
        ("csv.gz", b"\x1f\x8b"),
    ],
)
def test_messages_of_readers_on_a_terminal(tmp_path: Path, suffix: str, magic: bytes) -> None:
    body = magic + b"\x1b[31m\x9b\xc2\x9b\xe2\x80\xae" * 40 + magic
    for name in ("a", "b"):
        Path(tmp_path, f"{name}\x1b[2J.{suffix}").write_bytes(body)
    status, written = on_a_terminal(["compare", f"a\x1b[2J.{suffix}", f"b\x1b[2J.{suffix}"], tmp_path)
    assert status == 2, written
    assert not _raw(written)


def test_advice_that_quotes_a_cell_is_escaped(tmp_path: Path) -> None:
    """A cell of text among numbers is named in the advice on --missing."""
    for name in "ab":
        cells = [f"{i}.5" for i in range(100)] + ["\x1b[2J", "\u202e-"]
        Path(tmp_path, f"{name}.csv").write_text("\n".join(["v", *cells]) + "\n", encoding="utf-8")
    status, written = on_a_terminal(["compare", "a.csv", "b.csv", "--common"], tmp_path)
    assert status in (0, 1, 2)
    assert rb"\x1b[2J" in written
    assert not _raw(written)


def test_json_stays_json_and_holds_the_names_themselves(folder: Path) -> None:
    command = [sys.executable, "-m", "btests", "compare", *_tables(folder), "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.stdout.isascii()
    found = json.loads(done.stdout)
    assert any("\x1b[2J" in column["name"] for column in found["columns"])
    assert any("\n" in column["name"] for column in found["columns"])


def test_letters_that_the_encoding_lacks_are_escapes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in "ab":
        _csv(tmp_path / f"{name}.csv", ["gr\u00f6\u00dfe", "c"], rng, "\u6570")
    command = [sys.executable, "-m", "btests", "compare", "a.csv", "b.csv"]
    around = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, env=around)
    assert done.returncode in (0, 1), done.stderr
    assert rb"gr\xf6\xdfe" in done.stdout


def test_warnings_are_sentences(tmp_path: Path) -> None:
    """A column of whole numbers beyond 2^53 is warned of by its name."""
    script = (
        "import warnings, sys; from btests.cli.terminal import warnings_as_sentences\n"
        "with warnings_as_sentences(str): warnings.warn('column \\x1b[2J\\n\\u202e', UserWarning)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == "btests: warning: column \\x1b[2J\\n\\u202e.\n"


def _messages(function: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function()
        except (ValueError, TypeError) as error:
            return [str(error)]
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("hostile", [*HOSTILE, "\n", "\ud800"], ids=ascii)
def test_messages_of_python_are_printable(tmp_path: Path, hostile: str) -> None:
    """Exceptions and warnings end in logs: names and cells in them are escaped."""
    pd = pytest.importorskip("pandas")
    rng, name = np.random.default_rng(0), f"size{hostile}"
    x, y = rng.normal(size=(2, 40, 2))
    names = pd.Index([name, "b"], dtype=object)
    frames = [pd.DataFrame(rows, columns=names) for rows in (x, y)]
    texts, large, huge, holes = (
        [pd.DataFrame({0: cells, 1: rows[:, 1]}).set_axis(names, axis=1) for rows in (x, y)]
        for cells in (pd.Series([f"cell{hostile}"] * 40, dtype=object), 1e9 * x[:, 0], 2**60 + np.arange(40), np.nan)
    )
    double = [frame.set_axis(pd.Index([name, name], dtype=object), axis=1) for frame in frames]
    other = [frames[0], frames[1].set_axis(pd.Index([f"{hostile}other", "b"], dtype=object), axis=1)]
    path = tmp_path / f"a{_safe(hostile)}.csv".replace("\ud800", "\udc80")
    path.write_text(f"a,b\n1,cell{_safe(hostile).replace(chr(0xD800), '')}\n", encoding="utf-8", newline="")
    found = []
    for pair in (frames, texts, large, huge, holes, double, other):
        found += _messages(lambda pair=pair: btests.btest(*pair, seed=0))
        found += _messages(lambda pair=pair: btests.compare(*pair, seed=0))
        found += _messages(lambda pair=pair: btests.ksample_test([*pair, pair[0]], seed=0))
        found += _messages(lambda pair=pair: btests.independence_test(*pair, seed=0))
    found += _messages(lambda: btests.compare(frames[0], frames[1], columns=[f"no{hostile}"]))
    found += _messages(lambda: btests.compare(texts[0], by=name))
    found += _messages(lambda: btests.compare(texts[0], by=name, value_a=hostile, value_b="b"))
    found += _messages(lambda: btests.compare(path, path))
    found += _messages(lambda: btests.open_source(path))
    found += _messages(lambda: btests.open_source(tmp_path / "no" / path.name))
    found += _messages(lambda: btests.btest(*frames, units=[[f"u{hostile}"] * 40] * 2))
    found += _messages(lambda: btests.btest(*frames, units=f"u{hostile}"))
    found += _messages(lambda: btests.btest(list("ab"), list("cd"), kernel=btests.Pairwise(_failing(hostile))))
    assert len(found) > 20
    for message in found:
        assert message.isprintable(), ascii(message)


def _failing(hostile: str) -> Any:
    def fail(p: object, q: object) -> float:
        raise RuntimeError(f"broken{hostile}\nsecond line")

    return fail


def test_printable_keeps_what_is_printable_and_nothing_else() -> None:
    every = "".join(map(chr, range(0x110000)))
    shown = printable(every)
    assert shown.isprintable()
    assert printable(shown) == shown
    assert printable("gr\u00f6\u00dfe \U0001f600 \u6570") == "gr\u00f6\u00dfe \U0001f600 \u6570"
    assert ast.literal_eval(f'"{printable(TAG)}"') == TAG


def test_one_place_prints() -> None:
    """No module but ``cli/terminal.py`` calls click.echo or print, or writes to a standard stream."""
    root = Path(btests.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("click.echo", "click.secho", "print") or re.match(r"sys\.std(out|err)\.write", called):
                assert path.relative_to(root).as_posix() == "cli/terminal.py", f"{path}:{node.lineno}"


def test_messages_have_no_addresses() -> None:
    assert shortly(ValueError(f"malformed node {object()!r}")) == "malformed node <object object>"
