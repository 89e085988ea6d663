"""What the results in a folder are results of: they are gone on with, or refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from btests import __version__
from btests.experiments.reproduce.report import replace

_FILE = "manifest.json"


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


def claim(out: Path, manifest: Manifest, *, force: bool) -> None:
    """Make the folder, or go on with what it holds; raise ValueError where that is of another run.

    With ``force`` the results of another run are removed: the pieces, and nothing that this package did not write.
    """
    file, pieces = out / _FILE, out / "pieces"
    found = _read(file)
    if found is None and not force and out.is_dir() and any(out.iterdir()):
        raise ValueError(f"{str(out)!r} holds something else than results of btests reproduce; name another --out")
    difference = "" if found is None else manifest.differs_from(found)
    if difference and not force:
        raise ValueError(f"{str(out)!r} holds results of {difference}; add --force to start anew or name another --out")
    if difference or (force and found is None):
        shutil.rmtree(pieces, ignore_errors=True)
        found = None
    if found is not None and not manifest.songs:
        manifest = Manifest(manifest.seed, manifest.quick, found.songs, manifest.version)
    pieces.mkdir(parents=True, exist_ok=True)
    replace(file, (json.dumps(asdict(manifest), indent=2, sort_keys=True) + "\n").encode())


def _read(file: Path) -> Manifest | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Manifest(found["seed"], found["quick"], tuple(found["songs"]), found["version"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{str(file)!r} is not a manifest of btests reproduce; name another --out") from None
