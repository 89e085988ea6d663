"""Short forms of the campaign of faults (``python -m tests.faults`` has the counts of the long one)."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("resource")

from tests.faults import full_disk, interruptions, limits, refusals, two_writers
from tests.faults.report import wrongs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are those of POSIX")


def test_interruptions(tmp_path: Path) -> None:
    signals = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
    assert wrongs(interruptions.after_saves(tmp_path, (1, 2), signals)) == []


def test_full_disks(tmp_path: Path) -> None:
    assert wrongs(full_disk.under_a_limit(tmp_path)) == []


def test_a_small_disk(tmp_path: Path) -> None:
    if not full_disk.can_mount():
        pytest.skip("no file system can be mounted here")
    assert wrongs(full_disk.on_a_small_disk(tmp_path)) == []


def test_two_writers(tmp_path: Path) -> None:
    assert wrongs(two_writers.campaign(tmp_path, 1)) == []


def test_few_files(tmp_path: Path) -> None:
    assert wrongs(limits.few_files(tmp_path, forms=("csv", "parquet"))) == []


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing tells the address space of a process")
def test_little_memory(tmp_path: Path) -> None:
    assert wrongs(limits.little_memory(tmp_path, 3)) == []


def test_refusals(tmp_path: Path) -> None:
    assert wrongs(refusals.campaign(tmp_path, 12)) == []
