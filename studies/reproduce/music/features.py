r"""The features of the music experiment: pieces of an amplitude-modulated signal.

A song s at 8 kHz is upsampled 15 times and modulates a carrier of three times its sampling rate,

    sin(2 pi f_c t) (2 + A s(t)),    f_c = 24 kHz,  A = 0.3,

which makes 5 samples per period of the carrier, 120,000 a second. A row is a window of 1000 samples, 8.3e-3 s of music;
windows do not overlap, and since 1000 samples are 200 whole periods, the carrier has the same phase in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from btests.plan import Array, Index
from studies.reproduce.music.audio import RATE

#: Samples of the AM signal for each of the song, and for each period of the carrier.
UPSAMPLING = 15
PERIOD = 5

#: Samples in a window: the number of coordinates of a row.
WINDOW = 1000

#: How much of the song is in the signal; the paper's amplitude scaling.
SCALE = 0.3

#: How long a window is.
SECONDS = WINDOW / (UPSAMPLING * RATE)

# Samples of the song on either side that the interpolation between two of them sees.
_REACH = 10

# Samples of the song that a window depends on, wherever it begins between two of them.
_SPAN = (WINDOW + UPSAMPLING - 1) // UPSAMPLING + 2 * _REACH + 1

# Windows begin at one of so many places between two samples of the song.
_PLACES = 3


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a song, made when they are asked for: the AM signal of four minutes would be 230 MB.

    Upsampling is a windowed sinc (Kaiser, beta 5) over ten samples of the song on either side, what
    ``scipy.signal.resample_poly`` does by default; beyond its ends the song is 0, its mean. It is linear, and windows
    begin at three places between two samples of the song, so that three fixed matrices make all windows.

    Attributes
    ----------
    song
        Samples at 8 kHz, mean 0 and standard deviation 1: (m,).
    """

    song: Array
    _padded: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_padded", np.pad(self.song, (_REACH, _SPAN)))

    def __len__(self) -> int:
        return UPSAMPLING * len(self.song) // WINDOW

    def rows(self, numbers: Index) -> Array:
        """Return the windows of these numbers, counted from the beginning of the song: (n,) to (n, 1000)."""
        rows = self._made(numbers, _maps())
        rows += 2.0 * _carrier()
        return rows

    def turned_rows(self, numbers: Index) -> Array:
        """Return the same windows in coordinates of their own: (n,) to (n, 264).

        All windows, of all songs, lie in one affine subspace of so many dimensions. In an orthonormal basis of it their
        distances are those of ``rows`` but for rounding, and tests with kernels of the distance take less time.
        """
        return self._made(numbers, _turned_maps())

    def _made(self, numbers: Index, maps: dict[int, Array]) -> Array:
        first, places = np.divmod(WINDOW * numbers, UPSAMPLING)
        rows = np.empty((len(numbers), maps[0].shape[1]))
        for place, matrix in maps.items():
            (here,) = np.nonzero(places == place)
            rows[here] = self._padded[first[here, None] + np.arange(_SPAN)] @ matrix
        return rows


def _carrier() -> Array:
    """Return the carrier in a window: (1000,)."""
    return np.sin(2.0 * np.pi * np.arange(WINDOW) / PERIOD)


@lru_cache(1)
def _maps() -> dict[int, Array]:
    """Return what makes a window, less its carrier, of the song, by the place where it begins: (span, 1000) each."""
    from scipy.signal import firwin

    half = _REACH * UPSAMPLING
    taps = UPSAMPLING * np.asarray(firwin(2 * half + 1, 1.0 / UPSAMPLING, window=("kaiser", 5.0)))
    maps = {}
    for place in sorted(WINDOW * k % UPSAMPLING for k in range(_PLACES)):
        # From each sample of the song, in samples of the AM signal, to each sample of the window.
        away = place + np.arange(WINDOW) - UPSAMPLING * (np.arange(_SPAN)[:, None] - _REACH)
        weights = np.where(np.abs(away) <= half, taps[np.clip(away, -half, half) + half], 0.0)
        maps[place] = SCALE * _carrier() * weights
    return maps


@lru_cache(1)
def _turned_maps() -> dict[int, Array]:
    """Return the same for windows in the coordinates of the subspace that the maps span: (span, 264) each."""
    maps = _maps()
    basis = np.linalg.qr(np.concatenate(list(maps.values())).T)[0]
    return {place: matrix @ basis for place, matrix in maps.items()}
