"""Random signs, packed 64 to a word, and what they do to cores: the plain twin of the compiled loop."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from btests.blocks import Array

Words = npt.NDArray[np.uint64]


def random_words(seed: int, n_folds: int, n_groups: int, n_draws: int) -> Words:
    """Return random bits, bit r of the words of (fold, group) for draw r: (n_folds, n_groups, ceil(n_draws / 64)).

    A counter-based generator gives every fold its own stretch of one stream, wherever it is computed.
    """
    n_words = -(-n_draws // 64)
    stream = np.random.Philox(key=np.random.SeedSequence([seed, 0x51617]).generate_state(2, np.uint64))
    return stream.random_raw(n_folds * n_groups * n_words).reshape(n_folds, n_groups, n_words)


def all_signs(n_folds: int, n_groups: int) -> Words:
    """Return every pattern of signs once, the observed one first: (n_folds, n_groups, words)."""
    n = n_folds * n_groups
    bits = (np.arange(2**n)[None, :] >> np.arange(n)[:, None]) & 1
    padded = np.pad(bits, ((0, 0), (0, -(2**n) % 64))).reshape(n, -1, 64).astype(np.uint64)
    words: Words = (padded << np.arange(64, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)
    return words.reshape(n_folds, n_groups, -1)


def unpack(words: Words, n_draws: int) -> Array:
    """Return the signs, -1 where the bit is set: (f, g, words) to (f, g, n_draws)."""
    bits = (words[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.reshape(*words.shape[:2], -1)[..., :n_draws].astype(np.float64)


def flip_plain(cores: Array, words: Words, n_draws: int) -> Array:
    """Return ``sum_f s_f' C_f s_f`` for each draw of signs: (f, g, g) and words to (n_draws,)."""
    total = np.zeros(n_draws)
    for core, word in zip(cores, words, strict=True):
        signs = unpack(word[None], n_draws)[0]
        total += np.einsum("ur,ur->r", signs, core @ signs)
    return total
