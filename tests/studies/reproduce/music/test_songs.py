"""Where songs come from: files, a package of the system, or this package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from studies.reproduce.music import songs
from studies.reproduce.music.audio import RATE
from studies.reproduce.music.synthesis import PIPES, PLUCKED, compose

PAIR = ("legends_of_the_north.ogg", "northern_mountains.ogg")


def write_song(path: Path, seconds: float = 6.0, rate: int = 16000, pitch: float = 300.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    t = np.arange(int(seconds * rate)) / rate
    soundfile.write(path, 0.5 * np.sin(2.0 * np.pi * pitch * t), rate)
    return path


@pytest.fixture(autouse=True)
def _no_music_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(songs.FOLDER, raising=False)


@pytest.mark.parametrize("place", ["games/wesnoth/1.16/data/core/music", "wesnoth/data/core/music"])
def test_the_package_is_found_below_the_data_folders(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "share" / place
    for pitch, name in enumerate(PAIR, 300):
        write_song(folder / name, pitch=float(pitch))
    monkeypatch.setenv("XDG_DATA_DIRS", f"{tmp_path}/nothing:{tmp_path}/share")
    assert songs.find_folder() == folder
    pair = songs.choose_pair(None, None, 0)
    assert (pair.p.title, pair.q.title) == ("Legends of the North", "Over the Northern Mountains")
    assert "wesnoth-1.16-music (GPL-2+)" in pair.origin
    assert "chosen" in pair.origin
    assert pair.others == ()  # only two files are there
    assert pair.p.to_dict("P") == {
        "role": "P",
        "name": PAIR[0],
        "sha256": pair.p.digest(),
        "source": "wesnoth-1.16-music (GPL-2+)",
    }


def test_a_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PAIR, "frantic.ogg", "northerners.ogg"):
        write_song(tmp_path / name)
    monkeypatch.setenv(songs.FOLDER, str(tmp_path))
    pair = songs.choose_pair(None, None, 0)
    assert Path(pair.p.path).parent == tmp_path
    assert [(p.title, q.title) for p, q in pair.others] == [("Frantic", "Northerners")]
    monkeypatch.setenv(songs.FOLDER, str(tmp_path / "elsewhere"))
    with pytest.raises(ValueError, match="BTESTS_MUSIC must name a folder that holds legends_of_the_north"):
        songs.choose_pair(None, None, 0)


def test_without_the_package_songs_are_synthesised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(songs, "_folders", lambda: iter(()))
    pair = songs.choose_pair(None, None, 7)
    assert "synthesised by this package, not recorded" in pair.origin
    for song in (pair.p, pair.q, *pair.others[0]):
        assert song.source == "synthesised by btests"
        assert "synthesised" in song.title
    digests = {song.digest() for song in (pair.p, pair.q, *pair.others[0])}
    assert len(digests) == 4
    assert pair == songs.choose_pair(None, None, 7)
    assert pair.p.digest() != songs.choose_pair(None, None, 8).p.digest()


def test_songs_that_cannot_be_read_here_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pitch, name in enumerate(PAIR, 300):
        write_song(tmp_path / name, pitch=float(pitch))
    monkeypatch.setattr(songs, "_folders", lambda: iter((tmp_path,)))
    monkeypatch.setitem(sys.modules, "soundfile", None)  # as if it were not installed
    pair = songs.choose_pair(None, None, 7)
    needed = r"pip install 'btests[audio]'"
    assert f"were found here, but reading them needs {needed}, and no files were named" in pair.origin
    assert pair.p.source == f"synthesised by btests, as reading the songs that were found needs {needed}"
    monkeypatch.setenv(songs.FOLDER, str(tmp_path))  # asked for, so refused
    with pytest.raises(ValueError, match="needs the package soundfile"):
        songs.load(songs.choose_pair(None, None, 7).p)


def test_named_songs(tmp_path: Path) -> None:
    p, q = write_song(tmp_path / "a.flac", rate=44100), write_song(tmp_path / "b.wav", rate=8000, pitch=200.0)
    pair = songs.choose_pair(p, q, 0)
    assert songs.describe(pair.p, 700) == "a.flac (6 s, 44100 Hz, resampled to 8000 Hz, 720 windows)"
    assert songs.describe(pair.q, 720) == "b.wav (6 s, 8000 Hz, 720 windows)"
    assert pair.others == ()
    with pytest.raises(
        ValueError,
        match=r"^'b.wav' is too short: 6.0 s make 720 windows of 8.33 ms, and 721 are needed, which is 6.0 s$",
    ):
        songs.describe(pair.q, 721)


def test_a_song_is_not_compared_with_itself(tmp_path: Path) -> None:
    p, q = write_song(tmp_path / "a.wav"), write_song(tmp_path / "copy.wav")
    with pytest.raises(ValueError, match=r"'a.wav' and 'copy.wav' are the same"):
        songs.choose_pair(p, q, 0)
    with pytest.raises(ValueError, match="there is no audio file"):
        songs.choose_pair(tmp_path / "nowhere.wav", tmp_path / "nowhere.wav", 0)


def test_an_excerpt_is_the_beginning(tmp_path: Path) -> None:
    whole = songs.load(songs.Song("a", "", str(write_song(tmp_path / "a.wav"))))
    part = songs.load(songs.Song("a", "", str(tmp_path / "a.wav"), longest=2.0))
    assert len(part.song) == 2 * RATE
    assert np.corrcoef(whole.song[: 2 * RATE], part.song)[0, 1] > 0.9999


def test_synthesis_repeats() -> None:
    one, again, other = (compose(PLUCKED, seed, 4.0) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, compose(PIPES, 1, 4.0))
    assert one.shape == (4 * RATE,)
    assert np.isfinite(one).all()


def test_synthesised_music_is_never_silent() -> None:
    """No window of 8.3 ms without sound, and no jump as at a click."""
    for style in (PLUCKED, PIPES):
        piece = compose(style, 0, 20.0)
        windows = (piece / piece.std())[: len(piece) // 67 * 67].reshape(-1, 67)
        assert windows.std(axis=1).min() > 0.05
