"""Audio files: formats, rates, channels, and files that are not what they should be."""

from __future__ import annotations

import builtins
import io
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from btests.plan import Array
from studies.reproduce.music import audio

# How far a file's samples may be from what was written: lossless formats round to 16 bits.
_TOLERANCE = {"wav": 1e-4, "flac": 1e-4, "ogg": 0.05, "mp3": 0.05}


def tone(seconds: float = 2.0, rate: int = 44100, pitch: float = 440.0) -> Array:
    return np.asarray(0.5 * np.sin(2.0 * np.pi * pitch * np.arange(int(seconds * rate)) / rate))


def without_soundfile(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "soundfile":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "mp3"])
def test_every_format_is_read(ending: str, tmp_path: Path) -> None:
    # No skipping: libsndfile of every soundfile that the extra asks for writes them all.
    path, written = tmp_path / f"song.{ending}", tone()
    soundfile.write(path, np.stack([written, written], axis=1), 44100)
    recording = audio.read(path)
    assert recording.rate == 44100
    assert not recording.is_cut
    assert abs(recording.seconds - 2.0) < 0.1  # mp3 pads
    song, right = audio.to_song(recording, path.name), audio.to_song(audio.Recording(written.astype("f4"), 44100), "")
    if ending != "mp3":  # whose beginning is where the encoder wants it
        inside = slice(800, 15000)
        assert np.abs(song[inside] - right[inside]).max() < 2.0 * _TOLERANCE[ending]
    # A tone of 440 Hz, whatever the format.
    spectrum = np.abs(np.fft.rfft(song * np.hanning(song.size)))
    assert abs(np.argmax(spectrum) * audio.RATE / song.size - 440.0) < 1.0


@pytest.mark.parametrize("rate", [4000, 8000, 11025, 16000, 22050, 44100, 48000, 96000])
def test_any_rate_becomes_8_khz(rate: int) -> None:
    song = audio.to_song(audio.Recording(tone(1.0, rate).astype(np.float32), rate), "tone")
    assert abs(song.size - audio.RATE) <= 1
    assert abs(song.mean()) < 1e-12
    assert abs(song.std() - 1.0) < 1e-12
    t = np.arange(song.size) / audio.RATE
    assert np.corrcoef(song[500:-500], np.sin(2.0 * np.pi * 440.0 * t)[500:-500])[0, 1] > 0.999


def test_channels_are_averaged(tmp_path: Path) -> None:
    left, right = tone(0.5, 8000, 300.0), tone(0.5, 8000, 500.0)
    soundfile.write(tmp_path / "two.wav", np.stack([left, right], axis=1), 8000, subtype="DOUBLE")
    assert np.abs(audio.read(tmp_path / "two.wav").samples - (left + right) / 2.0).max() < 1e-6


def test_channels_that_cancel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write(tmp_path / "two.wav", np.stack([tone(), -tone()], axis=1), 44100)
    message = "^the channels of 'two.wav' cancel: nothing is left of it when they are averaged$"
    with pytest.raises(ValueError, match=message):
        audio.to_song(audio.read(tmp_path / "two.wav"), "two.wav")
    without_soundfile(monkeypatch)
    with pytest.raises(ValueError, match=message):
        audio.to_song(audio.read(tmp_path / "two.wav"), "two.wav")


def test_an_offset_does_not_matter() -> None:
    samples = tone(1.0, 8000)
    songs = [audio.to_song(audio.Recording((samples + c).astype(np.float32), 8000), "x") for c in (0.0, 0.25)]
    assert np.abs(songs[0] - songs[1]).max() < 1e-5


def test_a_long_file_is_cut(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.flac", tone(3.0), 44100)
    assert audio.read(tmp_path / "long.flac", 1.0).seconds == 1.0
    assert audio.read(tmp_path / "long.flac", 1.0).is_cut
    assert not audio.read(tmp_path / "long.flac", 3.0).is_cut


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_wav_needs_no_soundfile(subtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "song.WAV"
    soundfile.write(path, np.stack([tone(0.5), -0.5 * tone(0.5)], axis=1), 44100, subtype=subtype, format="WAV")
    there = audio.read(path, 0.3)
    without_soundfile(monkeypatch)
    here = audio.read(path, 0.3)
    assert (here.rate, here.is_cut) == (there.rate, there.is_cut) == (44100, True)
    assert np.abs(here.samples - there.samples).max() < 1e-6


def test_other_formats_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write(tmp_path / "song.ogg", tone(), 44100)
    (tmp_path / "song.wav").write_bytes(b"RIFFnothing else")
    without_soundfile(monkeypatch)
    with pytest.raises(ValueError, match=r"^reading 'song.ogg' needs .* soundfile: pip install 'btests\[audio\]'"):
        audio.read(tmp_path / "song.ogg")
    with pytest.raises(ValueError, match=r"song.wav' cannot be read as wav: "):
        audio.read(tmp_path / "song.wav")


def encoded(samples: Any, file_format: str, subtype: str | None = None) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, 8000, format=file_format, subtype=subtype)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text.mp3", b"not music at all", "text.mp3' cannot be read as audio: "),
        ("text.wav", b"not music at all", "text.wav' cannot be read as audio: "),
        ("empty.ogg", b"", "empty.ogg' cannot be read as audio: "),
        ("raw.raw", b"\x01\x02" * 1000, "raw.raw' cannot be read as audio: "),
        ("short.flac", encoded(tone(), "FLAC")[:30], "short.flac' cannot be read as audio: "),
        ("short.ogg", encoded(tone(), "OGG")[:200], "short.ogg' cannot be read as audio: "),
        ("no-frames.wav", encoded(np.zeros(0), "WAV"), "no-frames.wav' holds no sound: it is empty"),
        ("nan.wav", encoded([0.0, math.nan, 1.0], "WAV", "FLOAT"), "nan.wav' holds samples that are not finite"),
        ("inf.wav", encoded([0.0, math.inf, 1.0], "WAV", "FLOAT"), "inf.wav' holds samples that are not finite"),
    ],
    # Not by the bytes: those of a WAV file hold the time, and workers that collect in different seconds would disagree.
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_files_that_are_no_music(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        audio.read(tmp_path / name)
    assert "\n" not in str(raised.value)
    assert not str(raised.value).endswith(".")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no audio file '.*nowhere.ogg'"):
        audio.read(tmp_path / "nowhere.ogg")
    with pytest.raises(ValueError, match="is a folder, not an audio file"):
        audio.read(tmp_path)


@pytest.mark.parametrize("rate", [100, 1_000_000])
def test_rates_that_no_recording_has(rate: int, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "odd.wav", tone(1.0, 8000), rate)
    with pytest.raises(ValueError, match=f"must be between 1000 and 768000 a second, got {rate}"):
        audio.read(tmp_path / "odd.wav")


@pytest.mark.parametrize(
    "samples",
    [np.zeros(8000), np.full(8000, 0.7), 1e-7 * tone(1.0, 8000)],
    ids=["zeros", "constant", "inaudible"],
)
def test_silence(samples: Array) -> None:
    with pytest.raises(ValueError, match=r"'quiet.wav' is silent: nothing is left of it at 8000 samples a second"):
        audio.to_song(audio.Recording(samples.astype(np.float32), 8000), "quiet.wav")


def test_silence_at_8_khz() -> None:
    # There is sound, but above 4 kHz.
    high = audio.Recording((tone(1.0, 48000, 20000.0) * np.hanning(48000)).astype(np.float32), 48000)
    with pytest.raises(ValueError, match="is silent"):
        audio.to_song(high, "whistle.wav")


@pytest.mark.parametrize("ending", ["wav", "ogg", "mp3"])
def test_a_truncated_file_is_as_long_as_what_is_there(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Noise, which no format can make small: half of the file is half of the sound.
    noise = 0.1 * np.random.default_rng(0).standard_normal(32_000)
    path, content = tmp_path / f"half.{ending}", encoded(noise, ending.upper())
    path.write_bytes(content[: len(content) // 2])
    assert 1.0 < audio.read(path).seconds < 3.0
    assert capfd.readouterr().err == ""  # decoders have their own opinion
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"


def test_truncated_flac_is_refused(tmp_path: Path) -> None:
    content = encoded(tone(4.0, 8000), "FLAC")
    (tmp_path / "half.flac").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"half.flac' cannot be read as audio: "):
        audio.read(tmp_path / "half.flac")
