"""Tables read in pieces: memory stays bounded, a terminal shows how fast, and the level holds."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import btests
from btests.cli.progress import Bars, speed
from btests.comparison import pieces as budget
from tests.bounds import count_bounds
from tests.comparison.conftest import Shell
from tests.comparison.test_large import in_pieces, mixed
from tests.comparison.test_terminal import _on_a_terminal


def test_memory_is_bounded(shell: Shell) -> None:
    # 1.6 gigabytes of tables, most of it long texts, in 2,000,000 rows: what is read at a time, the rows drawn, the
    # interpreter with its libraries, and what the allocators keep on a busy machine, are well below that.
    rng = np.random.default_rng(41)
    n = 1_000_000
    words = np.array([f"{level:02d}" * 400 for level in range(20)])
    size = 0
    for name in "ab":
        codes = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 20, n), pa.int32()), pa.array(words))
        columns = {"text": codes, "size": rng.normal(size=n), "count": rng.poisson(3, n), "flag": rng.random(n) < 0.4}
        pq.write_table(pa.table(columns), f"{name}.parquet", row_group_size=100_000)
        size += n * (800 + 8 + 8)
        del columns, codes
    assert size > 1.6e9
    command = [sys.executable, "-m", "btests", "compare", "a.parquet", "b.parquet", "--memory", "100MB", "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1000000 and 1000000" in done.stdout
    peak = re.search(r"at most (\d+) MB of memory", done.stderr)
    assert peak is not None
    assert int(peak[1]) < 900


def test_a_terminal_shows_rows_per_second_and_the_time_left(shell: Shell) -> None:
    rng = np.random.default_rng(42)
    for name in "ab":
        pq.write_table(mixed(rng, 3000), f"{name}.parquet")
    status, written = _on_a_terminal(["a.parquet", "b.parquet", "--memory", "1kB"], 100, 40)
    assert status in (0, 1)
    for phase in ("reading", "shuffling", "testing"):
        assert f"{phase}  [" in written
    assert "rows/s" in written
    assert "a.parquet and b.parquet" in written.rpartition("\x1b[?25h")[2]


def test_bars_show_the_speed_since_they_began(capsys: pytest.CaptureFixture[str]) -> None:
    bars = Bars()
    bars.report("testing", 500, 1000)  # as after an interruption
    bars.report("testing", 1000, 1000)
    bars.progress(0.9)
    bars.progress(1.0)
    assert capsys.readouterr().out == ""
    assert [speed(n, 2.0) for n in (0, 100, 3000, 5_000_000)] == ["0 rows/s", "50 rows/s", "1.5k rows/s", "2.5M rows/s"]


def test_progress_goes_from_nothing_to_all(shell: Shell) -> None:
    rng = np.random.default_rng(43)
    for name in "ab":
        pq.write_table(mixed(rng, 3000), f"{name}.parquet")
    shares: list[float] = []
    rows: list[tuple[str, int, int]] = []
    in_pieces("a.parquet", "b.parquet", progress=shares.append, report=lambda *told: rows.append(told))
    assert shares == sorted(shares)
    assert (shares[-1], min(shares) >= 0.0) == (1.0, True)
    assert list(dict.fromkeys(phase for phase, _, _ in rows)) == ["reading", "shuffling", "testing"]
    for phase in ("reading", "shuffling", "testing"):
        assert [(done, of) for name, done, of in rows if name == phase][-1] == (6000, 6000)


def test_the_level_holds(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    # Columns from 60 of 240 rows, the joint test on all, by an encoding that was learned on those 60, and the rule of
    # Bonferroni: rejected in 5 % of 100 comparisons of one distribution with itself, or less.
    monkeypatch.setattr(budget, "_FEWEST_ROWS", 60)
    rng = np.random.default_rng(44)
    pvalues = []
    for _ in range(100):
        for name in "ab":
            pq.write_table(mixed(rng, 240), f"{name}.parquet")
        found = in_pieces("a.parquet", "b.parquet", seed=int(rng.integers(2**31)))
        assert found.details["rows"]["a_columns"] == 60
        pvalues.append((found.pvalue, found.result.pvalue))
    for rejections in (np.array(pvalues) <= 0.05).sum(axis=0):
        assert rejections <= count_bounds(100, 0.0, 0.05, 5e-7)[1]  # twice


def test_sizes_in_words() -> None:
    sizes: dict[Any, int] = {"500MB": 500_000_000, "2 GB": 2_000_000_000, "1.5k": 1500, 7: 7, "3GiB": 3_000_000_000}
    assert {size: budget.memory_of(size) for size in sizes} == sizes
    assert budget.memory_of(None) > 0


def test_memory_by_default_is_a_share_of_what_is_free(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(45)
    for name in "ab":
        pq.write_table(mixed(rng, 3000), f"{name}.parquet")
    needed = 2 * budget.bytes_in_memory("a.parquet")
    for free, read in ((needed, "in chunks"), (8 * needed, "at once")):
        monkeypatch.setattr(budget, "free_bytes", lambda free=free: free)
        assert btests.compare("a.parquet", "b.parquet", seed=0).result.read == read
