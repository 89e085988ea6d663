"""Manifest of a folder of results: a run resumes results of the same settings and refuses others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from btests import __version__
from studies.harness.files import write_atomically
from studies.harness.runner import TASKS

_FILE = "manifest.json"
_ENDINGS = ("csv", "md", "png", "svg")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Seed, quick or not, songs of the music experiments (name, sha256, ... each), and the version of btests."""

    seed: int
    quick: bool
    songs: tuple[dict[str, str], ...] = ()
    version: str = field(default=__version__)

    def differs_from(self, other: Manifest) -> str:
        """Return why the two cannot share a folder, in a few words; empty if they can."""
        if self.version != other.version:
            return f"btests {other.version}, this is {self.version}"
        if self.seed != other.seed:
            return f"--seed {other.seed}, not {self.seed}"
        if self.quick != other.quick:
            return "a run with --quick" if other.quick else "a run without --quick"
        if self.songs and other.songs and self.songs != other.songs:
            return f"other songs ({', '.join(song.get('name', '?') for song in other.songs)})"
        return ""


@contextmanager
def claim(out: Path, manifest: Manifest, *, force: bool) -> Iterator[None]:
    """Create the folder or resume its results, and lock it while the context lasts.

    Parameters
    ----------
    out : Path
        Folder of the results.
    manifest : Manifest
        Settings of this run.
    force : bool
        Start anew: remove stored tasks and the reports on them, and nothing else.

    Raises
    ------
    ValueError
        If the folder holds results of another run, or other files, or is locked.
    """
    found = _read(out / _FILE)
    if found is None and out.is_dir() and any(out.iterdir()):
        if not _is_ours(out):
            raise ValueError(f"{str(out)!r} holds something else than results of a study; name another --out")
        if not force:
            raise ValueError(
                f"{str(out)!r} holds results, but its {_FILE} is missing or cannot be read; add --force to start "
                "anew or name another --out"
            )
    difference = "" if found is None else manifest.differs_from(found)
    if difference and not force:
        raise ValueError(f"{str(out)!r} holds results of {difference}; add --force to start anew or name another --out")
    (out / TASKS).mkdir(parents=True, exist_ok=True)
    held = _lock(out)
    if force:
        _clear(out)
    elif found is not None and not manifest.songs:
        manifest = Manifest(manifest.seed, manifest.quick, found.songs, manifest.version)
    write_atomically(out / _FILE, (json.dumps(asdict(manifest), indent=2, sort_keys=True) + "\n").encode())
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _read(file: Path) -> Manifest | None:
    """Return the manifest of a folder; None if it is missing or invalid."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        songs = tuple(dict(song) for song in found["songs"])
        return Manifest(found["seed"], found["quick"], songs, found["version"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _is_ours(out: Path) -> bool:
    """Return whether a folder without a manifest holds stored tasks, and nothing else in their place."""
    tasks = out / TASKS
    stored = list(tasks.rglob("*")) if tasks.is_dir() else []
    return bool(stored) and all(path.is_dir() or path.name.endswith((".json", ".partial")) for path in stored)


def _clear(out: Path) -> None:
    """Remove stored tasks and the reports of their experiments."""
    for folder in (out / TASKS).iterdir():
        for report in (*(out / f"{folder.name}.{ending}" for ending in _ENDINGS), *out.glob(f"{folder.name}-*.csv")):
            report.unlink(missing_ok=True)
        for task in (*folder.glob("*.json"), *folder.glob("*.partial")):
            task.unlink()


def _lock(out: Path) -> int | None:
    """Return a file descriptor that locks the folder while open; None on systems without such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    held = os.open(out / TASKS, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise ValueError(f"another run is at work in {str(out)!r}; wait for it or name another --out") from None
    return held
