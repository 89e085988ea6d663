"""A full disk under everything that is written: one sentence, and the file that was there stays as it was.

``python -m tests.faults.full_disk FOLDER SAMPLES`` tries all of it on the file system of a folder, which it fills.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults.process import Ended, btests, program, run
from tests.faults.program import SIGNALLED
from tests.faults.report import Outcome
from tests.faults.tables import write_samples, write_tables

# Bytes that a file may have: fewer than everything that is written here has.
_FEW = 512


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that writes a file.

    Attributes
    ----------
    name : str
        For counts.
    command : list of str
        The program, which writes to the file, relative to a folder, or names it.
    file : str
        What it writes, "" for a temporary file and "-" for standard output.
    """

    name: str
    command: list[str]
    file: str


def writers(data: Path) -> list[Writer]:
    """Return programs that read the tables in a folder and write everything that this package writes."""
    tables = [str(data / "a.csv"), str(data / "b.csv")]
    samples = [str(data / "x.parquet"), str(data / "y.parquet")]
    pieces = ["--memory", "1000", "--block-size", "20"]
    return [
        Writer("checkpoint of compare", program("compare", *tables, *pieces, "--checkpoint", "run.npz"), "run.npz"),
        Writer("checkpoint of btest", program("btest", *samples, "run.npz"), "run.npz"),
        Writer("external shuffle", btests("compare", *samples, "--memory", "1000"), ""),
        Writer("report", btests("compare", *tables, "--report", "page.html", "--force"), "page.html"),
        Writer("picture of demo", btests("demo", "--rows", "100", "--out", "demo.png", "--force"), "demo.png"),
        Writer(
            "picture of pairs",
            btests("independence", tables[0], "--all-pairs", "--max-rows", "300", "--out", "pairs.svg", "--force"),
            "pairs.svg",
        ),
        Writer("demo tables", btests("compare", "--demo", "--force"), "reference.csv"),
        Writer("partial result", program("save", "part.npz", "0", "force"), "part.npz"),
        Writer("JSON", btests("compare", *tables, "--max-rows", "300", "--json"), "-"),
        Writer("text", btests("compare", *tables, "--max-rows", "300"), "-"),
    ]


def under_a_limit(folder: Path) -> Iterator[Outcome]:
    """Yield the outcomes with files that may have few bytes (RLIMIT_FSIZE)."""
    data = _data(folder)
    for writer in writers(data):
        with _own(folder) as own:
            yield from _outcomes(writer, own, "file size limit", {resource.RLIMIT_FSIZE: _FEW}, fonts=folder / "fonts")


def on_a_small_disk(folder: Path) -> Iterator[Outcome]:
    """Yield the outcomes on a file system in memory that is full, where one may be mounted."""
    data, disk = _data(folder), folder / "disk"
    disk.mkdir()
    inside = [sys.executable, "-m", "tests.faults.full_disk", str(disk), str(data)]
    script = 'mount -t tmpfs -o size=16m none "$0" && exec "$@"'
    ended = run(["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(disk), *inside], folder)
    if ended.status:
        wrong = "" if not can_mount() else str(ended)
        yield Outcome("small disk", "skipped: no file system can be mounted here", wrong)
        return
    for line in ended.out.splitlines():
        yield Outcome(*json.loads(line))


def can_mount() -> bool:
    """Return whether a file system can be mounted in a name space of its own."""
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(tried, check=False, capture_output=True).returncode == 0


def _on_this_disk(disk: Path, data: Path) -> Iterator[Outcome]:
    for writer in writers(data):
        with _own(disk) as own:
            yield from _outcomes(writer, own, "full disk", {}, fill=True)


def _outcomes(
    writer: Writer,
    folder: Path,
    fault: str,
    limits: Mapping[int, int],
    *,
    fill: bool = False,
    fonts: Path | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome with a file that is there, and with none; matplotlib saves its list of fonts in ``fonts``."""
    variables = {"TMPDIR": str(folder)} | ({} if fonts is None else {"MPLCONFIGDIR": str(fonts)})
    for is_there in (True, False) if writer.file not in ("", "-") else (False,):
        before = _write_good(writer, folder) if is_there else None
        if fill:
            # Python takes another folder for temporary files where it cannot write a few bytes to this one.
            _fill(folder / "filler", 2**15 if writer.file == "" else 0)
        names = {path.name for path in folder.iterdir()}
        out = folder / "out.json" if writer.file == "-" else None
        ended = run(writer.command, folder, limits=limits, out=out, variables=variables)
        left = {path.name for path in folder.iterdir()} - names - {"out.json"}
        how = f"{'refused' if ended.status == 2 else 'an error'}{', the old file is there' * is_there}"
        yield Outcome(f"{writer.name}, {fault}", how, _wrong(ended, writer, folder, left, before))
        for path in folder.iterdir():
            path.unlink()


def _write_good(writer: Writer, folder: Path) -> bytes:
    """Write what was there before, and return it: of a checkpoint that of a run that was killed."""
    path = folder / writer.file
    if "checkpoint" not in writer.name:
        path.write_bytes(b"what was there")
    else:
        run(writer.command, folder, variables={SIGNALLED: f"{int(signal.SIGKILL)}:1"})
    return path.read_bytes()


def _wrong(ended: Ended, writer: Writer, folder: Path, left: set[str], before: bytes | None) -> str:
    is_script = writer.command[-4:-3] == ["btest"]  # which ends with a ValueError, as Python does
    if not (ended.is_refused or (is_script and "ValueError: cannot write 'run.npz': " in ended.err)):
        return str(ended)
    if left:
        return f"left behind: {sorted(left)}"
    if before is not None and (folder / writer.file).read_bytes() != before:
        return "the file that was there is damaged"
    return ""


def _fill(filler: Path, free: int) -> None:
    """Write a file until no more than ``free`` bytes are free."""
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(2**12))
    os.truncate(filler, filler.stat().st_size - free)


def _data(folder: Path) -> Path:
    data = folder / "data"
    if not data.exists():
        data.mkdir()
        write_tables(data, 2000)
        write_samples(data, 5000)
    return data


@contextmanager
def _own(folder: Path) -> Iterator[Path]:
    own = folder / "own"
    own.mkdir()
    try:
        yield own
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    for outcome in _on_this_disk(Path(sys.argv[1]), Path(sys.argv[2])):
        print(json.dumps(outcome))
