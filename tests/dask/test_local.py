"""Folders that workers of killed processes have left are removed, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("fcntl")

from btests.execution.dask.local_workers import local_client, own_folder, remove_stale_folders

_KILLED = """
import os, signal
from pathlib import Path
from btests.execution.dask.local_workers import own_folder
with own_folder() as folder:
    (Path(folder) / "inside").mkdir()
    (Path(folder) / "inside" / "rows").write_bytes(bytes(100))
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def left_behind(among: Path) -> Path:
    """Return the folder that a killed process has left."""
    environment = os.environ | {"TMPDIR": str(among), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    return Path(done.stdout.strip())


def test_folders_of_killed_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, elsewhere = left_behind(tmp_path), left_behind(tmp_path)
    assert not left.exists()  # the second has found it
    assert (elsewhere / "inside" / "rows").exists()
    (elsewhere / "owner").write_text("another machine")
    unlocked, file, precious = (tmp_path / name for name in ("btests-workers-a", "btests-workers-b", "precious"))
    unlocked.mkdir()
    file.write_text("mine")
    precious.mkdir()
    (precious / "owner").write_text((tmp_path / "btests-workers-b").read_text())
    (tmp_path / "btests-workers-c").symlink_to(precious)
    linked = tmp_path / "btests-workers-d"
    linked.mkdir()
    (linked / "owner").symlink_to(precious / "owner")
    last = left_behind(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    with own_folder() as mine, own_folder() as other:
        assert not last.exists()
        remove_stale_folders(tmp_path)  # those of running processes stay
        assert Path(mine).exists()
        assert Path(other).exists()
    assert {path.name for path in tmp_path.iterdir()} == kept - {last.name}
    assert (precious / "owner").exists()


def test_folders_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_behind(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    remove_stale_folders(tmp_path)
    assert left.exists()


def test_workers_listen_on_this_machine_alone_and_leave_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with local_client(1):
        own = psutil.Process()
        found = [one for process in (own, *own.children(recursive=True)) for one in process.net_connections()]
    listening = {one.laddr.ip for one in found if one.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    assert not list(tmp_path.iterdir())
