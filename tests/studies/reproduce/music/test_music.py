"""The experiments on music from the command line, quick: files, captions, resuming, mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner, Result

from studies.reproduce.__main__ import reproduce as command
from studies.reproduce.music import prepare, songs
from studies.reproduce.music.published import B_TESTS, QUADRATIC

FILES = {
    *(f"{name}.{ending}" for name in ("table2", "figure1", "figure5") for ending in ("csv", "md", "png", "svg")),
    *("table2-seconds.csv", "manifest.json"),
}


def reproduce(out: Path, *options: str) -> Result:
    arguments = ["table2", "figure1", "figure5", "--quick", "--out", str(out), *options]
    return CliRunner().invoke(command, arguments)


@pytest.fixture
def no_music(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Debian's songs."""
    monkeypatch.delenv(songs.FOLDER, raising=False)
    monkeypatch.setattr(songs, "_folders", lambda: iter(()))


@pytest.mark.usefixtures("no_music")
def test_a_quick_run_on_synthesised_music(tmp_path: Path) -> None:
    """One test and not ten: the run is the slow part."""
    done = reproduce(tmp_path, "--workers", "2")
    assert done.exit_code == 0, done.output
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert set(files) == FILES
    texts = {name: files[f"{name}.md"].decode() for name in ("table2", "figure1", "figure5")}
    for text in texts.values():
        assert "synthesised by this package, not recorded" in text
        assert "| trend | paper | here | 95 % interval | agrees |" in text
    for line in (*B_TESTS.values(), *QUADRATIC.values()):
        assert f"| {line.type_2:g} |" in texts["table2"]
    assert "They do not repeat" in texts["table2"]
    manifest = json.loads(files["manifest.json"])
    assert [song["source"] for song in manifest["songs"]] == ["synthesised by btests"] * 2
    assert [song["role"] for song in manifest["songs"]] == ["P", "Q"]
    rows = list(csv.DictReader(files["table2.csv"].decode().splitlines()))
    assert {row["part"] for row in rows} == {"paper", "larger", "quadratic", "pairs-0"}
    assert all(0 <= int(row["rejections"]) <= int(row["trials"]) for row in rows)

    # A part of every kind of piece is lost, and one worker does it again. Seconds alone would differ.
    tasks = sorted((tmp_path / "tasks").rglob("*.json"))
    for piece in tasks[::5]:
        if piece.name != "seconds.json":
            piece.unlink()
    assert reproduce(tmp_path, "--workers", "1").exit_code == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == files


def write(path: Path, seconds: float, rate: int, seed: int) -> Path:
    soundfile.write(path, 0.1 * np.random.default_rng(seed).standard_normal(int(seconds * rate)), rate)
    return path


def test_named_songs_of_two_rates(tmp_path: Path) -> None:
    p, q = write(tmp_path / "p.flac", 10.0, 44100, 0), write(tmp_path / "q.wav", 8.0, 11025, 1)
    experiments, manifest = prepare(p, q, 0, True)
    assert [experiment.name for experiment in experiments] == ["table2", "figure1", "figure5"]
    assert [song["name"] for song in manifest] == ["p.flac", "q.wav"]
    assert not any("/" in value for song in manifest for value in song.values())
    run = CliRunner().invoke(
        command,
        ["figure5", "--quick", "--out", str(tmp_path / "out"), "--song-p", str(p), "--song-q", str(q)],
    )
    assert run.exit_code == 0, run.output
    text = (tmp_path / "out" / "figure5.md").read_text()
    assert "P: p.flac (10 s, 44100 Hz, resampled to 8000 Hz, 1200 windows)" in text
    assert "Q: q.wav (8 s, 11025 Hz, resampled to 8000 Hz, 960 windows)" in text


def test_one_song_twice_in_another_guise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rate = 8000
    song = 0.1 * np.random.default_rng(0).standard_normal(10 * rate)
    guises = {
        "p.flac": song,
        "quiet.wav": 0.5 * song,
        "p.ogg": song,
        "later.wav": np.concatenate([np.zeros(700), song]),
        "part.wav": song[: 8 * rate],
    }
    soundfile.write(tmp_path / "p.wav", song, rate)
    for name, samples in guises.items():
        soundfile.write(tmp_path / name, samples, rate)
        with pytest.raises(ValueError, match=f"^P and Q must be two songs, and 'p.wav' and '{name}' are the same rec"):
            prepare(tmp_path / "p.wav", tmp_path / name, 0, True)
    for name, samples in (("legends_of_the_north.ogg", song), ("northern_mountains.ogg", 0.5 * song)):
        soundfile.write(tmp_path / name, samples, rate)
    monkeypatch.setenv(songs.FOLDER, str(tmp_path))
    with pytest.raises(ValueError, match=r"^P and Q must be two songs, and 'Legends of the North' and"):
        prepare(None, None, 0, True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.ogg", "there is no audio file"),
        ("text.mp3", "cannot be read as audio"),
        ("silent.wav", "'silent.wav' is silent"),
        ("short.wav", "'short.wav' is too short: 1.0 s make 120 windows of 8.33 ms, and 800 are needed"),
        ("folder", "is a folder, not an audio file"),
        ("good.wav", "must be two songs, and 'good.wav' and 'good.wav' are the same"),
    ],
)
def test_mistakes_get_one_sentence(name: str, message: str, tmp_path: Path) -> None:
    good = write(tmp_path / "good.wav", 10.0, 8000, 0)
    write(tmp_path / "short.wav", 1.0, 8000, 0)
    soundfile.write(tmp_path / "silent.wav", np.zeros(80_000), 8000)
    (tmp_path / "text.mp3").write_text("not music")
    (tmp_path / "folder").mkdir()
    refused = reproduce(tmp_path / "out", "--song-p", str(tmp_path / name), "--song-q", str(good))
    assert refused.exit_code == 2
    assert message in refused.output
    assert "Traceback" not in refused.output
    assert not (tmp_path / "out").exists()
