"""Songs of the music experiments: files of the user, free ones that Debian packages, or synthesised ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from studies.reproduce.music.audio import EXTRA, LONGEST, RATE, Recording, can_read, read, to_song
from studies.reproduce.music.features import SECONDS, Windows
from studies.reproduce.music.synthesis import PIPES, PLUCKED, Style, compose

#: The variable that names the folder of Debian's songs where they are not in the default place.
FOLDER = "BTESTS_MUSIC"

# Seconds that are looked at to tell whether two songs are the same, and the correlation from which on they are.
_COMPARED = 60
_SAME = 0.9

_PACKAGE = "wesnoth-1.16-music"
_LICENCE = "GPL-2+"

#: The default pair, chosen in an earlier screening of nine pairs at n = 2000, and other pairs, each by one composer as
#: in the paper, chosen by their names alone. Titles are those that the files give themselves.
_CHOSEN = (
    ("legends_of_the_north.ogg", "Legends of the North"),
    ("northern_mountains.ogg", "Over the Northern Mountains"),
)
_OTHERS = (
    (("breaking_the_chains.ogg", "Breaking the Chains"), ("return_to_wesnoth.ogg", "Return to Wesnoth")),
    (("siege_of_laurelmor.ogg", "Siege of Laurelmor"), ("the_city_falls.ogg", "The City Falls")),
    (("the_dangerous_symphony.ogg", "The Dangerous Symphony"), ("the_deep_path.ogg", "The Deep Path")),
    (("frantic.ogg", "Frantic"), ("northerners.ogg", "Northerners")),
)


@dataclass(frozen=True, slots=True)
class Song:
    """Where a song comes from: small, so that it can be sent to a worker, which loads it there.

    Attributes
    ----------
    title, source
        For tables.
    path
        An audio file, or nothing where the song is synthesised.
    style, seed
        What a synthesised song is made from.
    longest
        Seconds that are used at most.
    """

    title: str
    source: str
    path: str = ""
    style: Style | None = None
    seed: int = 0
    longest: float = LONGEST

    def digest(self) -> str:
        """Return what tells songs apart: the SHA-256 of the file, or of what a synthesised one is made from."""
        if self.style is not None:
            return hashlib.sha256(f"{self.style!r} {self.seed}".encode()).hexdigest()
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def to_dict(self, role: str) -> dict[str, str]:
        """Return what a manifest says of it."""
        name = self.title if self.style is not None else Path(self.path).name
        return {"role": role, "name": name, "sha256": self.digest(), "source": self.source}


@dataclass(frozen=True, slots=True)
class Pair:
    """The two songs, other pairs to show beside them, and what captions say of where they come from."""

    p: Song
    q: Song
    others: tuple[tuple[Song, Song], ...]
    origin: str


def choose_pair(song_p: Path | None, song_q: Path | None, seed: int, longest: float = LONGEST) -> Pair:
    """Return the songs that were asked for, else Debian's where they are installed, else synthesised ones."""
    if song_p is not None and song_q is not None:
        return _named(song_p, song_q, longest)
    folder = find_folder()
    if folder is None:
        return _synthesised(seed, longest, f"the songs of Debian's package {_PACKAGE} are not installed here")
    if not os.environ.get(FOLDER) and not can_read(_CHOSEN[0][0]):
        # Installed by chance perhaps, and not asked for: no reason to refuse.
        found = f"the songs of Debian's package {_PACKAGE} were found here, but reading them needs {EXTRA}"
        return _synthesised(seed, longest, found, f", as reading the songs that were found needs {EXTRA}")
    return _packaged(folder, longest)


def find_folder() -> Path | None:
    """Return the folder that holds the default pair, None where there is none.

    Looked for in the folder that the variable BTESTS_MUSIC names, and then where packages of the game put it below the
    data folders of the system.
    """
    named = os.environ.get(FOLDER)
    if named:
        if not _has_pair(Path(named)):
            names = " and ".join(name for name, _ in _CHOSEN)
            raise ValueError(f"{FOLDER} must name a folder that holds {names}, got {named!r}")
        return Path(named)
    return next((folder for folder in _folders() if _has_pair(folder)), None)


@lru_cache(4)
def load(song: Song) -> Windows:
    """Return the windows of a song; those of the last songs are cached, since one process uses them repeatedly."""
    return Windows(to_song(_recording(song), song.title))


def describe(song: Song, n_rows: int) -> str:
    """Load a song and return its length and rate in words, or raise ValueError where it has fewer rows than needed."""
    windows = load(song)
    seconds = len(windows.song) / RATE
    if len(windows) < n_rows:
        raise ValueError(
            f"{song.title!r} is too short: {seconds:.1f} s make {len(windows)} windows of {1e3 * SECONDS:.2f} ms, "
            f"and {n_rows} are needed, which is {n_rows * SECONDS:.1f} s"
        )
    rate = _recording_rate(song)
    resampled = f"{rate} Hz, resampled to {RATE} Hz" if rate != RATE else f"{RATE} Hz"
    return f"{song.title} ({seconds:.0f} s, {resampled}, {len(windows)} windows)"


def refuse_same(p: Song, q: Song) -> None:
    """Raise ValueError where two songs are one: in another format, louder, cut off, or with some silence before it.

    The beginnings of the songs as they are compared, mean 0 and deviation 1, are held together at all shifts.
    """
    from scipy.signal import correlate

    shared = min(len(load(p).song), len(load(q).song), _COMPARED * RATE)
    one, other = (load(song).song[:shared] for song in (p, q))
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    if norms > 0.0 and float(correlate(one, other, method="fft").max()) > _SAME * norms:
        raise ValueError(f"P and Q must be two songs, and {p.title!r} and {q.title!r} are the same recording")


def _recording(song: Song) -> Recording:
    if song.style is not None:
        return Recording(compose(song.style, song.seed, song.longest).astype(np.float32), RATE)
    return read(Path(song.path), song.longest)


def _recording_rate(song: Song) -> int:
    return RATE if song.style is not None else read(Path(song.path), 0.01).rate


def _named(song_p: Path, song_q: Path, longest: float) -> Pair:
    p, q = (Song(path.name, "a file of the user", str(path), longest=longest) for path in (song_p, song_q))
    for song in (p, q):
        read(Path(song.path), 0.01)  # the reasons why not come before those of comparing them
    if p.digest() == q.digest():
        raise ValueError(f"--song-p and --song-q must be two songs, and {p.title!r} and {q.title!r} are the same")
    return Pair(p, q, (), "The songs are files named by the user.")


def _packaged(folder: Path, longest: float) -> Pair:
    def song(name: str, title: str) -> Song:
        return Song(title, f"{_PACKAGE} ({_LICENCE})", str(folder / name), longest=longest)

    others = [(song(*p), song(*q)) for p, q in _OTHERS if (folder / p[0]).is_file() and (folder / q[0]).is_file()]
    origin = (
        "The paper's songs are copyrighted. These two, both by Mattias Westlund, are free: they come with The Battle "
        f"for Wesnoth, in Debian the package {_PACKAGE} ({_LICENCE}). They were chosen, for errors like the published "
        "ones, in an earlier screening of nine pairs at n = 2000 that is no part of this command; Table 2 shows other "
        "pairs, and at n = 1000 some of them come closer."
    )
    return Pair(song(*_CHOSEN[0]), song(*_CHOSEN[1]), tuple(others), origin)


def _synthesised(seed: int, longest: float, reason: str, note: str = "") -> Pair:
    def song(style: Style, number: int) -> Song:
        title = f"synthesised {style.name} no. {number}"
        return Song(title, f"synthesised by btests{note}", style=style, seed=seed + number, longest=min(longest, 150.0))

    origin = (
        f"**The music is synthesised by this package, not recorded:** {reason}, and no files were named with --song-p "
        "and --song-q."
    )
    return Pair(song(PLUCKED, 0), song(PIPES, 0), ((song(PLUCKED, 1), song(PIPES, 1)),), origin)


def _has_pair(folder: Path) -> bool:
    return all((folder / name).is_file() for name, _ in _CHOSEN)


def _folders() -> Iterator[Path]:
    """Yield where packages of the game put its music: data folders of the system, with and without a version."""
    places = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    for place in dict.fromkeys([*places.split(os.pathsep), "/usr/local/share", "/usr/share"]):
        for game in (Path(place, "games", "wesnoth"), Path(place, "wesnoth")):
            # The latest version first; without a number the files are of no version in particular.
            versions = sorted(game.glob("*/data/core/music"), reverse=True)
            yield from (*versions, game / "data" / "core" / "music")
