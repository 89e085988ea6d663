"""What the results in a folder are results of: they are gone on with, or refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from btests import __version__
from studies.reproduce.report import replace

_FILE = "manifest.json"
_PIECES = "pieces"
_ENDINGS = ("csv", "md", "png", "svg")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Version, seed, quick or not, and the songs, a dictionary (name, sha256, ...) each; none without music."""

    seed: int
    quick: bool
    songs: tuple[dict[str, str], ...] = ()
    version: str = field(default=__version__)

    def differs_from(self, other: Manifest) -> str:
        """Return in a few words what keeps the two from sharing a folder, nothing where nothing does."""
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
    """Make the folder, or go on with what it holds, and keep other runs out of it while this one lasts.

    Raises ValueError where the folder holds results of another run, or is not ours. With ``force`` everything begins
    anew: the pieces and the reports on them are removed, and nothing that this package did not write.
    """
    found = _read(out / _FILE)
    if found is None and out.is_dir() and any(out.iterdir()):
        if not _is_ours(out):
            raise ValueError(f"{str(out)!r} holds something else than results of the reproduction; name another --out")
        if not force:
            raise ValueError(
                f"{str(out)!r} holds results, but its {_FILE} is missing or cannot be read; add --force to start "
                "anew or name another --out"
            )
    difference = "" if found is None else manifest.differs_from(found)
    if difference and not force:
        raise ValueError(f"{str(out)!r} holds results of {difference}; add --force to start anew or name another --out")
    (out / _PIECES).mkdir(parents=True, exist_ok=True)
    held = _lock(out)
    if force:
        _clear(out)
    elif found is not None and not manifest.songs:
        manifest = Manifest(manifest.seed, manifest.quick, found.songs, manifest.version)
    replace(out / _FILE, (json.dumps(asdict(manifest), indent=2, sort_keys=True) + "\n").encode())
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _read(file: Path) -> Manifest | None:
    """Return what a folder says of itself, None where it says nothing that can be understood."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        songs = tuple(dict(song) for song in found["songs"])
        return Manifest(found["seed"], found["quick"], songs, found["version"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _is_ours(out: Path) -> bool:
    """Whether a folder without a manifest holds pieces, and in their place nothing else."""
    pieces = out / _PIECES
    kept = list(pieces.rglob("*")) if pieces.is_dir() else []
    return bool(kept) and all(path.is_dir() or path.name.endswith((".json", ".partial")) for path in kept)


def _clear(out: Path) -> None:
    """Remove pieces, and the reports of the experiments that they belong to."""
    for kept in (out / _PIECES).iterdir():
        for report in (*(out / f"{kept.name}.{ending}" for ending in _ENDINGS), *out.glob(f"{kept.name}-*.csv")):
            report.unlink(missing_ok=True)
        for piece in (*kept.glob("*.json"), *kept.glob("*.partial")):
            piece.unlink()


def _lock(out: Path) -> int | None:
    """Return what holds the folder as long as it is open, None where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    held = os.open(out / _PIECES, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise ValueError(f"another run is at work in {str(out)!r}; wait for it or name another --out") from None
    return held
