"""From an audio file to the song that the features are made of: mono, 8 kHz, mean 0, standard deviation 1."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from btests.plan import Array

#: Samples a second of a song. The paper's windows, 1000 samples of the AM signal in 8.3e-3 s, go with this rate.
RATE = 8000

#: Seconds of a file that are read at most: a limit for the memory, and more than any experiment needs.
LONGEST = 600.0

# Deviation, as a share of full scale, below which there is nothing to hear: -100 dB, less than the last bit of 16.
_SILENT = 1e-5

# Frames that are read and mixed at a time, and the rates that recordings have.
_CHUNK = 1 << 18
_RATES = (1000, 768_000)

#: What to install for all formats.
EXTRA = "pip install 'btests[audio]'"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a file holds, mixed to mono: samples (n,) as shares of full scale, and their rate.

    ``is_cut`` says that the file goes on after the longest time that is read; ``peak`` is the largest share of full
    scale in any one channel.
    """

    samples: npt.NDArray[np.float32]
    rate: int
    is_cut: bool = False
    peak: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate


def read(path: Path, longest: float = LONGEST) -> Recording:
    """Return the recording in a file: wav, flac, ogg, mp3 and what else libsndfile reads.

    All formats need the package soundfile but wav, which scipy reads where soundfile is missing. Raises ValueError, in
    one sentence, where there is no such file or no sound in it.
    """
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder, not an audio file")
    if not path.is_file():
        raise ValueError(f"there is no audio file {str(path)!r}")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    try:
        import soundfile
    except (ImportError, OSError):  # OSError: the package without its library
        if path.suffix.lower() != ".wav":
            raise ValueError(f"reading {path.name!r} needs the package soundfile: {EXTRA}; wav goes without") from None
        recording = _read_wav(path, longest)
    else:
        recording = _read_any(soundfile, path, longest)
    if not recording.samples.size:
        raise ValueError(f"{str(path)!r} holds no sound: it is empty")
    if not np.isfinite(recording.samples).all():
        raise ValueError(f"{str(path)!r} holds samples that are not finite numbers")
    if not _RATES[0] <= recording.rate <= _RATES[1]:
        raise ValueError(
            f"the sampling rate of {str(path)!r} must be between {_RATES[0]} and {_RATES[1]} a second, "
            f"got {recording.rate}"
        )
    return recording


def to_song(recording: Recording, name: str) -> Array:
    """Return the song of a recording at 8 kHz, with mean 0 and standard deviation 1: (n,) to (8000 seconds,).

    Resampling is polyphase filtering (``scipy.signal.resample_poly``), whatever the rate of the recording. The mean
    goes first: an inaudible offset would make the test trivial.
    """
    from scipy.signal import resample_poly

    samples = recording.samples.astype(np.float64)
    samples -= samples.mean()
    common = math.gcd(RATE, recording.rate)
    song = np.asarray(resample_poly(samples, RATE // common, recording.rate // common), dtype=np.float64)
    song -= song.mean()
    deviation = float(song.std())
    if not deviation > _SILENT:
        if recording.peak > 100.0 * max(_SILENT, float(np.abs(recording.samples).max())):
            raise ValueError(f"the channels of {name!r} cancel: nothing is left of it when they are averaged")
        raise ValueError(f"{name!r} is silent: nothing is left of it at {RATE} samples a second")
    return song / deviation


def can_read(name: str) -> bool:
    """Whether files of that name can be read here: wav always, all else with the package soundfile."""
    try:
        import soundfile  # noqa: F401
    except (ImportError, OSError):
        return name.lower().endswith(".wav")
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard messages of the decoders, which go to file descriptor 2."""
    try:
        stderr = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


def _read_any(soundfile: Any, path: Path, longest: float) -> Recording:
    """Read with soundfile, mixing to mono on the way, so that no more than one channel is held."""
    parts, peak = [], 0.0
    try:
        with _quiet(), soundfile.SoundFile(path) as file:
            rate = int(file.samplerate)
            left = math.ceil(longest * rate)
            while left > 0:
                chunk = file.read(min(_CHUNK, left), dtype="float32", always_2d=True)
                if not len(chunk):
                    break
                parts.append(chunk.mean(axis=1))
                peak = max(peak, float(np.abs(chunk).max()))
                left -= len(chunk)
            is_cut = left <= 0 and len(file.read(1)) > 0
    except (soundfile.SoundFileError, RuntimeError, TypeError) as error:
        # TypeError: a name that ends in .raw, which says nothing about what is in it.
        reason = str(error).rpartition(": ")[2].rstrip(".")
        raise ValueError(f"{str(path)!r} cannot be read as audio: {reason}") from None
    samples = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
    return Recording(samples, rate, is_cut, peak)


def _read_wav(path: Path, longest: float) -> Recording:
    """Read a wav file without soundfile."""
    from scipy.io import wavfile

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks that are not sound
            rate, found = wavfile.read(path)
    except Exception as error:  # scipy raises all sorts on files that are not wav
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{str(path)!r} cannot be read as wav: {reason}; more formats with {EXTRA}") from None
    most = math.ceil(longest * rate)
    samples = found[:most].reshape(min(most, len(found)), -1)
    if samples.dtype == np.uint8:  # eight bits are unsigned, all others are not
        samples = samples.astype(np.float32) - 128.0
        samples /= 128.0
    elif np.issubdtype(samples.dtype, np.integer):
        samples = samples / -float(np.iinfo(samples.dtype).min)
    samples = samples.astype(np.float32)
    peak = float(np.abs(samples).max(initial=0.0))
    return Recording(samples.mean(axis=1), int(rate), len(found) > most, peak)
