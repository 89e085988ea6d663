"""Windows of the AM signal against the plain definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import resample_poly

from btests import Gaussian, btest
from btests.plan import Array
from studies.reproduce.music.audio import RATE
from studies.reproduce.music.features import PERIOD, SCALE, SECONDS, UPSAMPLING, WINDOW, Windows


def song(seconds: float = 5.0, seed: int = 0) -> Array:
    noise = np.random.default_rng(seed).standard_normal(int(seconds * RATE) + 7)
    return np.asarray((noise - noise.mean()) / noise.std())


def slow_windows(samples: Array, carrier_hertz: float = 3.0 * RATE) -> Array:
    """Return all windows by the formula, from the whole signal: (m,) to (windows, 1000)."""
    upsampled = resample_poly(samples, 15, 1)
    signal = np.empty(upsampled.size)
    for k, value in enumerate(upsampled):
        # Whole periods away: the sine of a large angle is not exact.
        t = k % (15 * RATE) / (15 * RATE)
        signal[k] = math.sin(2.0 * math.pi * carrier_hertz * t) * (2.0 + 0.3 * value)
    n = signal.size // 1000
    return signal[: 1000 * n].reshape(n, 1000)


def test_windows_are_those_of_the_whole_signal() -> None:
    samples = song()
    right, windows = slow_windows(samples), Windows(samples)
    assert len(windows) == len(right) == 600
    assert np.abs(windows.rows(np.arange(600)) - right).max() < 1e-8
    chosen = np.array([599, 0, 17, 1, 2])
    assert np.abs(windows.rows(chosen) - right[chosen]).max() < 1e-8


def test_upsampling_by_hand() -> None:
    """A windowed sinc, as a double loop: between samples what a band-limited song is, at them the samples."""
    t = np.arange(4000) / RATE
    tone = np.sin(2.0 * np.pi * 500.0 * t)
    rows = Windows(tone).rows(np.arange(20, 40))
    fine = (np.arange(1000 * 20, 1000 * 40) / (15 * RATE)).reshape(20, 1000)
    carrier = np.sin(2.0 * np.pi * np.arange(1000) / 5.0)
    right = carrier * (2.0 + 0.3 * np.sin(2.0 * np.pi * 500.0 * fine))
    assert np.abs(rows - right).max() < 2e-3  # the filter has ripples


def test_a_window_is_as_long_as_the_papers() -> None:
    """The paper: 1000 samples, 8.3e-3 s of the original audio; five samples a period of a carrier of 3 x the rate."""
    assert WINDOW == 1000
    assert SECONDS == WINDOW / (UPSAMPLING * RATE)
    assert round(SECONDS, 4) == 8.3e-3
    assert UPSAMPLING * RATE / (3 * RATE) == PERIOD
    assert SCALE == 0.3
    assert WINDOW % PERIOD == 0  # so that all windows begin with the same phase


def test_turned_rows_have_the_same_distances() -> None:
    windows, other = Windows(song()), Windows(song(seed=1))
    numbers = np.arange(0, 600, 7)
    plain = np.concatenate([windows.rows(numbers), other.rows(numbers)])
    turned = np.concatenate([windows.turned_rows(numbers), other.turned_rows(numbers)])
    assert turned.shape == (len(plain), 264)

    def squares(rows: Array) -> Array:
        return np.asarray(((rows[:, None] - rows) ** 2).sum(axis=-1))

    assert np.abs(squares(plain) - squares(turned)).max() < 1e-10 * squares(plain).max()


@pytest.mark.parametrize("block_size", [2, 10])
def test_turned_rows_have_the_same_tests(block_size: int) -> None:
    windows, other = Windows(song()), Windows(song(seed=1) ** 3 / 4.0)
    numbers = np.arange(400)
    results = [
        btest(
            *(one(numbers) for one in make),
            kernel=Gaussian(5.0),
            block_size=block_size,
            null="normal",
            scale=False,
            seed=0,
        )
        for make in ((windows.rows, other.rows), (windows.turned_rows, other.turned_rows))
    ]
    assert results[0].pvalue == pytest.approx(results[1].pvalue, rel=1e-8)


def test_short_songs_have_no_window() -> None:
    assert len(Windows(np.ones(66))) == 0
    assert len(Windows(np.ones(67))) == 1
