"""Two pieces of music that the package makes itself, for machines without a song: melody, chords, bass and drums.

Nothing is recorded or quoted: notes are drawn from a scale by a seeded generator, and tones are sums of harmonics. Both
pieces have one key and one pulse; they differ in timbre, in how notes begin and end, and in how loud the bass is, as
two songs of one band might.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.plan import Array
from studies.reproduce.music.audio import RATE

#: Seconds of a piece.
SECONDS = 150.0

# The minor scale in semitones above its root, an A of 110 Hz, and the chords of four bars by their lowest degree.
_SCALE = (0, 2, 3, 5, 7, 8, 10)
_ROOT = 110.0
_CHORDS = ((0, 5, 2, 6), (0, 3, 5, 4), (0, 2, 3, 4), (5, 6, 0, 0))

# Beats a second, and beats of a bar.
_PULSE = 2.0
_BAR = 4


@dataclass(frozen=True, slots=True)
class Style:
    """What tells one piece from another.

    Attributes
    ----------
    name
        For tables.
    harmonics
        Amplitudes of the harmonics of a note, the fundamental first.
    attack, decay
        Seconds in which a note swells, and in which it falls to 1/e.
    busy
        The probability that a beat of the melody is split into two notes.
    bass, drums, hiss
        Amplitudes of the bass, of the drums and of the noise of the room, beside that of the melody.
    """

    name: str
    harmonics: tuple[float, ...]
    attack: float
    decay: float
    busy: float
    bass: float
    drums: float
    hiss: float


PLUCKED = Style("plucked strings", (1.0, 0.6, 0.45, 0.3, 0.2, 0.12), 0.005, 2.5, 0.4, 1.4, 0.4, 0.4)
PIPES = Style("pipes", (1.0, 0.12, 0.4, 0.08, 0.2, 0.04), 0.05, 3.0, 0.3, 0.4, 0.4, 0.4)


def compose(style: Style, seed: int, seconds: float = SECONDS) -> Array:
    """Return a piece of music at 8 kHz, the same for the same seed: (8000 seconds,)."""
    rng = np.random.default_rng([seed, *style.name.encode()])
    beat = round(RATE / _PULSE)
    n_beats = int(seconds * RATE) // beat
    piece = style.hiss * rng.standard_normal(n_beats * beat)
    degree = 7
    for bar in range(0, n_beats, _BAR):
        if bar % (4 * _BAR) == 0:
            chords = _CHORDS[rng.integers(len(_CHORDS))]
            loudness = rng.uniform(0.7, 1.2)
        low = chords[bar // _BAR % 4]
        for voice in (0, 2, 4):
            _add(piece, bar * beat, 0.35 * loudness * _note(style, rng, low + voice + 7, _BAR * beat))
        for step in range(min(_BAR, n_beats - bar)):
            start = (bar + step) * beat
            if step % 2 == 0:
                _add(piece, start, style.bass * loudness * _note(style, rng, low, 2 * beat))
            parts = 2 if rng.random() < style.busy else 1
            for part in range(parts):
                # A melody walks, and comes back to where it began.
                degree += int(rng.integers(-2, 3)) - (degree > 18) + (degree < 10)
                _add(
                    piece, start + part * beat // parts, loudness * _note(style, rng, degree, beat // parts + beat // 4)
                )
            _add(piece, start, style.drums * loudness * _drum(rng, is_low=step % 2 == 0))
    return piece


def _note(style: Style, rng: np.random.Generator, degree: int, n: int) -> Array:
    """Return a note of ``n`` samples, a degree of the scale above its root: (n,)."""
    octave, step = divmod(degree, len(_SCALE))
    pitch = _ROOT * 2.0 ** (octave + _SCALE[step] / 12.0)
    t = np.arange(n) / RATE
    pitch *= 1.0 + 0.003 * rng.standard_normal()  # a player varies
    return (
        _tone(pitch, style.harmonics, rng, t) * np.minimum(t / style.attack, 1.0) * np.exp(-t / style.decay) * _fade(n)
    )


def _tone(pitch: float, harmonics: Sequence[float], rng: np.random.Generator, t: Array) -> Array:
    # Harmonics above half of the rate would come back as others.
    audible = [(k, amplitude) for k, amplitude in enumerate(harmonics, 1) if k * pitch < RATE / 2.0]
    tone = np.zeros(t.size)
    for k, amplitude in audible:
        tone += amplitude * np.sin(2.0 * np.pi * (k * pitch * t + rng.random()))
    return tone


def _drum(rng: np.random.Generator, *, is_low: bool) -> Array:
    """Return a beat of a drum: a falling tone, or noise: (n,)."""
    t = np.arange(RATE // 4) / RATE
    sound = np.sin(2.0 * np.pi * (50.0 * t + 3.0 * (1.0 - np.exp(-30.0 * t)))) if is_low else rng.uniform(-1, 1, t.size)
    return np.asarray(2.0 * sound * np.exp(-t / 0.06) * _fade(t.size))


def _fade(n: int) -> Array:
    """Return a factor that lets a sound end without a click: (n,)."""
    return np.minimum((n - np.arange(n)) / (0.02 * RATE), 1.0)


def _add(piece: Array, start: int, sound: Array) -> None:
    """Mix a sound into the piece, as much of it as fits."""
    sound = sound[: len(piece) - start]
    piece[start : start + len(sound)] += sound
