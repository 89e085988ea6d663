"""Tables read in pieces: interruptions, checkpoints, damaged parts, full disks."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import btests
from btests.execution import checkpoint, out_of_core
from tests.comparison.conftest import Shell
from tests.comparison.test_large import LITTLE, mixed
from tests.comparison.test_large import in_pieces as compared


@pytest.fixture
def paths(shell: Shell) -> tuple[str, str]:
    """Write two files of one distribution."""
    rng = np.random.default_rng(31)
    for name in "ab":
        pq.write_table(mixed(rng, 5000), f"{name}.parquet")
    return "a.parquet", "b.parquet"


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save after every chunk, and make chunks small."""
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 2**15)


# Blocks enough to be interrupted between them.
SIZE = ("--block-size", "60")


def in_pieces(*tables: str, **options: Any) -> Any:
    """Return a comparison that was made in pieces, on many blocks."""
    return compared(*tables, block_size=60, **options)


class StopError(Exception):
    """Stands for Ctrl-C."""


def stop_in_the_middle(phase: str, done: int, of: int) -> None:
    """Interrupt the test when half of it is done."""
    if phase == "testing" and done > of / 2:
        raise StopError


def answer(found: Any) -> list[Any]:
    """Return what an interruption must not change."""
    return [found.pvalue, found.result.pvalue, found.result.statistic, found.effect_test.summary.mean(), found.names]


@pytest.mark.usefixtures("often")
def test_an_interrupted_run_goes_on_to_the_same_answer(paths: tuple[str, str]) -> None:
    whole = in_pieces(*paths, seed=5)
    with pytest.raises(StopError):
        in_pieces(*paths, seed=5, checkpoint="run.npz", report=stop_in_the_middle)
    assert Path("run.npz").exists()
    done: list[int] = []

    def count(phase: str, rows: int, _: int) -> None:
        if phase == "testing":
            done.append(rows)

    again = in_pieces(*paths, checkpoint=Path("run.npz"), report=count, seed=None)
    assert again.result.seed == 5  # of the file
    assert done[0] > 4000  # rows of both sides that need not be tested again
    assert answer(again) == answer(whole)
    assert answer(in_pieces(*paths, seed=5, checkpoint="run.npz")) == answer(whole)  # of a run that had ended


KILLED = """
import os, signal, sys
import btests
from btests.execution import checkpoint, out_of_core

checkpoint._SECONDS, out_of_core.CHUNK_BYTES = 0.0, 2**15

def die(phase, done, of):
    if phase == "testing" and done > of / 2:
        os.kill(os.getpid(), signal.SIGKILL)

btests.compare("a.parquet", "b.parquet", memory="1kB", seed=0, block_size=60, checkpoint="run.npz", report=die)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_goes_on(paths: tuple[str, str], shell: Shell, often: None) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED], check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert [path.name for path in Path().iterdir() if path.suffix == ".npz"] == ["run.npz"]
    found = shell(*paths, *SIZE, "--memory", LITTLE, "--checkpoint", "run.npz", "--json")
    assert found.json["test"]["pvalue"] == in_pieces(*paths).result.pvalue
    assert "checkpoint" not in found.json["command"]


@pytest.mark.usefixtures("often")
def test_a_checkpoint_of_another_run_is_refused(paths: tuple[str, str], shell: Shell) -> None:
    in_pieces(*paths, checkpoint="run.npz")
    kept = Path("run.npz").read_bytes()
    for options in (["--seed", "1"], ["--exclude", "flag"], ["--block-size", "50"], ["--missing", "-"]):
        refused = shell.refused(*paths, *SIZE, "--memory", LITTLE, "--checkpoint", "run.npz", *options)
        assert "'run.npz' is not a checkpoint of this run, but of other data, settings or another seed" in refused
    # Without a word on memory it is that of the run: what is free now does not matter.
    assert btests.compare(*paths, block_size=60, seed=0, checkpoint="run.npz").result.read == "in chunks"
    Path("c.parquet").write_bytes(Path(paths[1]).read_bytes())
    assert "is not a checkpoint of this run" in shell.refused(paths[0], "c.parquet", "--checkpoint", "run.npz")
    os.utime(paths[1], (1, 1))
    assert "is not a checkpoint of this run" in shell.refused(*paths, "--checkpoint", "run.npz")
    assert Path("run.npz").read_bytes() == kept


def test_what_is_no_checkpoint_is_refused(paths: tuple[str, str], shell: Shell) -> None:
    Path("notes.txt").write_text("my notes", encoding="utf-8")
    assert "'notes.txt' is no partial result" in shell.refused(*paths, "--memory", LITTLE, "--checkpoint", "notes.txt")
    assert Path("notes.txt").read_text(encoding="utf-8") == "my notes"
    refused = shell.refused(*paths, "--memory", LITTLE, "--checkpoint", "nowhere/run.npz")
    assert "the checkpoint 'nowhere/run.npz' cannot be written" in refused


@pytest.mark.usefixtures("often")
def test_a_full_disk_under_the_checkpoint(
    paths: tuple[str, str], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StopError):
        in_pieces(*paths, checkpoint="run.npz", report=stop_in_the_middle)
    kept = Path("run.npz").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        refused = shell.refused(*paths, *SIZE, "--memory", LITTLE, "--checkpoint", "run.npz")
    assert "cannot write 'run.npz': No space left on device" in refused
    assert Path("run.npz").read_bytes() == kept
    assert sorted(path.name for path in Path().iterdir()) == ["a.parquet", "b.parquet", "run.npz"]
    assert answer(in_pieces(*paths, checkpoint="run.npz")) == answer(in_pieces(*paths))


def test_a_full_disk_under_the_shuffle(paths: tuple[str, str], shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    refused = shell.refused(*paths, "--memory", LITTLE)
    assert "No space left on device" in refused
    assert "TMPDIR" in refused


def test_a_checkpoint_of_tables_in_memory_is_not_needed(paths: tuple[str, str], shell: Shell) -> None:
    found = shell(*paths, "--checkpoint", "run.npz", "--json").json
    assert "the tables fit into memory: the checkpoint 'run.npz' was not needed" in found["notes"]
    assert not Path("run.npz").exists()


@pytest.fixture
def parts(shell: Shell) -> str:
    """Write many parts, one of them cut off in the middle, and a table to compare them with."""
    rng = np.random.default_rng(32)
    Path("parts").mkdir()
    for k in range(30):
        pq.write_table(mixed(rng, 200), f"parts/{k:02d}.parquet")
    whole = Path("parts/07.parquet").read_bytes()
    Path("parts/07.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(mixed(rng, 5000), "b.parquet")
    return "parts"


@pytest.mark.parametrize("memory", [LITTLE, "1GB"])
def test_a_damaged_part_is_named_and_skipped(parts: str, memory: str, shell: Shell) -> None:
    refused = shell.refused(parts, "b.parquet", "--memory", memory)
    assert re.search(r"'parts/07\.parquet' is .*cut off.*; --skip-bad-parts goes on without such parts", refused)
    found = shell(parts, "b.parquet", "--memory", memory, "--skip-bad-parts", "--json").json
    assert found["rows"]["a_given"] == 29 * 200
    assert any("skipped as damaged: 'parts/07.parquet'" in note for note in found["notes"])
    assert "--skip-bad-parts" in found["command"]
    assert found["settings"]["skip_bad_parts"] is True


def test_a_part_that_is_damaged_in_its_middle_leaves_nothing_behind(parts: str) -> None:
    # A page in the middle: the outline of the file is whole, and its first rows can be read.
    rng = np.random.default_rng(33)
    pq.write_table(mixed(rng, 200_000), "parts/07.parquet", row_group_size=50_000)
    damaged = bytearray(Path("parts/07.parquet").read_bytes())
    middle = len(damaged) * 3 // 4
    damaged[middle : middle + 2000] = b"\xff" * 2000
    Path("parts/07.parquet").write_bytes(bytes(damaged))
    with pytest.raises(ValueError, match=r"07\.parquet' is damaged or cut off: .*; `skip_bad_parts=True` goes on"):
        in_pieces(parts, "b.parquet")
    found = in_pieces(parts, "b.parquet", skip_bad_parts=True)
    Path("parts/07.parquet").unlink()
    without = in_pieces(parts, "b.parquet")
    assert found.details["rows"] == without.details["rows"]
    assert answer(found) == answer(without)


@pytest.mark.parametrize("memory", [LITTLE, "1GB"])
def test_a_ragged_text_part_is_skipped(memory: str, shell: Shell) -> None:
    rng = np.random.default_rng(34)
    for k in range(3):
        pa_csv.write_csv(mixed(rng, 1000), f"p{k}.csv")
    text = Path("p1.csv").read_text(encoding="utf-8")
    Path("p1.csv").write_text(text[:-15], encoding="utf-8")
    refused = shell.refused("p*.csv", "p0.csv", "--memory", memory)
    assert "'p1.csv' is ragged" in refused
    found = shell("p*.csv", "p0.csv", "--memory", memory, "--skip-bad-parts", "--json").json
    assert found["rows"]["a_given"] == 2000


def test_parts_of_which_none_can_be_read(shell: Shell) -> None:
    Path("parts").mkdir()
    for k in range(2):
        Path(f"parts/{k}.parquet").write_bytes(b"PAR1" + b"0" * 4000)
    for memory in (LITTLE, "1GB"):
        refused = shell.refused("parts", "parts", "--memory", memory, "--skip-bad-parts")
        assert "'parts' has no part that can be read" in refused


TROUBLE = {
    "infinite": ("number\n" + "1.5\n" * 3000 + "inf\n", "'number' of 'x.csv' has an infinite number in row 3001"),
    "header": ("number,other\n", "no rows"),
    "ragged": (
        "number,other\n" + "1,2\n" * 3000 + "1\n",
        "'x.csv' is ragged: line 3002 has 1 cell and the header has 2",
    ),
    "delimiter": ("number;other\n" + "1;2\n" * 3000, "--delimiter"),
    "doubles": ("number,number\n" + "1,2\n" * 3000, "more than one column called 'number'"),
    "empty": ("\n\n", "'x.csv' is empty"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_bad_files_in_one_sentence(name: str, shell: Shell) -> None:
    text, said = TROUBLE[name]
    Path("x.csv").write_text(text, encoding="utf-8")
    Path("y.csv").write_text(textwrap.dedent("number,other\n" + "1,2\n2,1\n" * 50), encoding="utf-8")
    other = "x.csv" if name in ("infinite", "doubles") else "y.csv"
    assert said in shell.refused("x.csv", other, "--memory", "10")


def test_other_files_than_tables(shell: Shell) -> None:
    rng = np.random.default_rng(35)
    np.savez("x.npz", a=rng.normal(size=(300, 2)))  # which is read whole, whatever its size
    assert shell("x.npz", "x.npz", "--memory", "10", "--json").json["test"]["n_x"] == 300
    np.save("x.npy", np.array([{}] * 10, dtype=object), allow_pickle=True)
    assert "holds Python objects, which are never loaded" in shell.refused("x.npy", "x.npy", "--memory", "10")
    Path("x.json").write_text("[1, 2]\n" * 100, encoding="utf-8")
    assert "in line 2: there is more after the array" in shell.refused("x.json", "x.json", "--memory", "10")
