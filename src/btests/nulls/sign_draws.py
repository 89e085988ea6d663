"""Sign flips: random signs, packed 64 to a word, and what they do to a summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests import _core
from btests._memory import amount, free_bytes
from btests.plan import Array
from btests.summary import Summary

Words = npt.NDArray[np.uint64]


def random_words(seed: int, n_strata: int, n_groups: int, n_draws: int) -> Words:
    """Return random bits, bit r of the words of (fold, group) for draw r: (n_folds, n_groups, ceil(n_draws / 64)).

    A counter-based generator gives every fold its own stretch of one stream, wherever it is computed.
    """
    n_words = -(-n_draws // 64)
    stream = np.random.Philox(key=np.random.SeedSequence([seed, 0x51617]).generate_state(2, np.uint64))
    return stream.random_raw(n_strata * n_groups * n_words).reshape(n_strata, n_groups, n_words)


def all_signs(n_strata: int, n_groups: int) -> Words:
    """Return every pattern of signs once, the observed one first: (n_folds, n_groups, words)."""
    n = n_strata * n_groups
    bits = (np.arange(2**n)[None, :] >> np.arange(n)[:, None]) & 1
    padded = np.pad(bits, ((0, 0), (0, -(2**n) % 64))).reshape(n, -1, 64).astype(np.uint64)
    words: Words = (padded << np.arange(64, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)
    return words.reshape(n_strata, n_groups, -1)


def unpack(words: Words, n_draws: int) -> Array:
    """Return the signs, -1 where the bit is set: (f, g, words) to (f, g, n_draws)."""
    bits = (words[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.reshape(*words.shape[:2], -1)[..., :n_draws].astype(np.float64)


def flip_plain(moments: Array, words: Words, n_draws: int) -> Array:
    """Return ``sum_f s_f' C_f s_f`` for each draw of signs: (f, g, g) and words to (n_draws,)."""
    total = np.zeros(n_draws)
    for core, word in zip(moments, words, strict=True):
        signs = unpack(word[None], n_draws)[0]
        total += np.einsum("ur,ur->r", signs, core @ signs)
    return total


@dataclass(frozen=True, slots=True)
class Flips:
    """Draws of sign flips of the rows of some blocks; the same draws may serve several statistics.

    Attributes
    ----------
    words
        The signs of each fold and row of its core: (f, k, words).
    n_draws
        How many draws they hold.
    exhaustive
        Whether they are all patterns of signs, the observed one among them.
    """

    words: Words
    n_draws: int
    exhaustive: bool

    def means(self, summary: Summary) -> Array:
        """Return the average of the block values that each draw gives: (n_draws,)."""
        flip = _core.flip if _core.is_available() else flip_plain
        change = flip(summary.moments, self.words, self.n_draws) - float(summary.moments.sum())
        return np.asarray(change / summary.plan.n_blocks + summary.mean())

    @staticmethod
    def tolerance(summary: Summary) -> float:
        """Return how far means may be apart that are equal on paper.

        Their sums were made in another order, and the cores themselves are differences of larger numbers. What sums do
        is a hundred times less than this: draws apart by as little as rounding may turn out either way, and so next to
        none of them is.
        """
        moving = float(np.abs(summary.moments).sum()) / summary.plan.n_blocks
        return 1e-11 * moving + 4e-16 * abs(summary.mean()) + summary.rounding


def draw_flips(summary: Summary, n_resamples: int, seed: int) -> Flips:
    """Return ``n_resamples`` random sign flips, or all that there are if they are no more."""
    paired = summary.plan.paired
    n_strata, n_groups = len(summary.moments), summary.moments.shape[-1] - (not paired)
    n_patterns = 2 ** min(n_strata * n_groups, 63)
    exhaustive = n_patterns <= n_resamples + 1
    # A bit for each sign, and a number for each draw, sorted in a copy; all patterns are made as whole numbers.
    needed = min(n_resamples, n_patterns) * (n_strata * n_groups * (8 if exhaustive else 1) // 8 + 24)
    if needed > free_bytes():
        raise ValueError(
            f"{n_resamples} sign flips need {amount(needed)} of memory, and {amount(free_bytes())} are free; take fewer"
        )
    if exhaustive:
        words, n_draws = all_signs(n_strata, n_groups), n_patterns
    else:
        words, n_draws = random_words(seed, n_strata, n_groups, n_resamples), n_resamples
    if not paired:  # what has no partner does not swap: its sign is always +1, its bits are 0
        words = np.pad(words, ((0, 0), (0, 1), (0, 0)))
    return Flips(words, n_draws, exhaustive)
